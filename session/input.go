package session

import (
	"bytes"
	"context"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
)

// maxRounds bounds how often a server may answer one request by asking for input.
const maxRounds = 10

// asksForInput says whether a result is the modern era's input_required. One that fills megabytes is not, unless it says
// so at its beginning or end: reading 50 MB for a member that is never there costs more than routing them.
func asksForInput(result []byte) bool {
	const near = 64 << 10
	mark := []byte(`"resultType"`)
	if len(result) > 2*near && !bytes.Contains(result[:near], mark) && !bytes.Contains(result[len(result)-near:], mark) {
		return false
	}
	return bytes.Contains(result, mark) && textOf(result, "resultType") == "input_required"
}

// answerInput answers what an input_required result asks for: an object with inputResponses and requestState, to be
// added to the params of the next try. If something cannot be answered, the error has kind NeedsInput.
func (s *Session) answerInput(ctx context.Context, result []byte) ([]byte, error) {
	out := []byte("{}")
	var failed error
	if requests := memberOf(result, "inputRequests"); requests != nil {
		responses := []byte("{}")
		err := jsonrpc.Members(requests, func(id string, request []byte) bool {
			env := jsonrpc.Envelope{Method: textOf(request, "method"), Params: memberOf(request, "params")}
			answer, fault := s.serve(ctx, env)
			if fault != nil {
				failed = &failure.Error{
					Kind: failure.NeedsInput, Message: "the server asks for input (" + text.Clip(env.Method, 100) + ") that nobody can give here", Data: result,
					Next: "call it where a person can answer",
				}
				return false
			}
			responses, failed = withMember(responses, member{id, answer}, true)
			return failed == nil
		})
		if err != nil {
			return nil, &failure.Error{Kind: failure.Protocol, Message: "inputRequests is not an object: " + err.Error(), Data: result, Err: err, Next: "see the traffic view"}
		}
		if failed != nil {
			return nil, failed
		}
		if out, err = withMember(out, member{"inputResponses", responses}, true); err != nil {
			return nil, err
		}
	}
	if state := memberOf(result, "requestState"); state != nil {
		return withMember(out, member{"requestState", state}, true)
	}
	if string(out) == "{}" {
		return nil, &failure.Error{Kind: failure.Protocol, Message: "input_required without inputRequests and requestState", Data: result, Next: "see the traffic view"}
	}
	return out, nil
}

func inputMembers(answers []byte) []member {
	var all []member
	_ = jsonrpc.Members(answers, func(key string, value []byte) bool { // nil has none
		all = append(all, member{key, value})
		return true
	})
	return all
}
