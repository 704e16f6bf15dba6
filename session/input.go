package session

import (
	"bytes"
	"context"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/rpc"
	"github.com/mcphud/mcphud/session/text"
)

// maxRounds bounds how often a server may answer one request by asking for input.
const maxRounds = 10

// asksForInput reports whether a result is the modern era's input_required. One that fills megabytes is not, unless it says
// so at its beginning or end: reading 50 MB for a member that is never there costs more than routing them.
func asksForInput(result []byte) bool {
	const near = 64 << 10
	mark := []byte(`"resultType"`)
	if len(result) > 2*near && !bytes.Contains(result[:near], mark) && !bytes.Contains(result[len(result)-near:], mark) {
		return false
	}
	return bytes.Contains(result, mark) && jsonrpc.GetString(result, "resultType") == "input_required"
}

// answerInput answers what an input_required result asks for: inputResponses and requestState, the members that the params
// of the next try get. If something cannot be answered, the error has kind NeedsInput.
func (s *Session) answerInput(ctx context.Context, result []byte) ([]rpc.Member, error) {
	var out []rpc.Member
	var failed error
	if requests := jsonrpc.Get(result, "inputRequests"); requests != nil {
		var responses []jsonrpc.Change
		err := jsonrpc.Members(requests, func(id string, request []byte) bool {
			env := jsonrpc.Envelope{Method: jsonrpc.GetString(request, "method"), Params: jsonrpc.Get(request, "params")}
			answer, fault := s.serve(ctx, env)
			if fault != nil {
				failed = &failure.Error{
					Kind: failure.NeedsInput, Message: "the server asks for input (" + text.Clip(env.Method, 100) + ") that nobody can give here", Data: result,
					Next: "call it where a person can answer",
				}
				return false
			}
			if answer == nil {
				answer = []byte("{}")
			}
			responses = append(responses, jsonrpc.Set(answer, id))
			return true
		})
		if failed != nil {
			return nil, failed
		}
		var object []byte
		if err == nil {
			object, err = jsonrpc.Update(nil, responses...)
		}
		if err != nil {
			return nil, &failure.Error{Kind: failure.Protocol, Message: "inputRequests is not an object: " + err.Error(), Data: result, Err: err, Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
		}
		out = append(out, rpc.Member{Name: "inputResponses", Value: object})
	}
	if state := jsonrpc.Get(result, "requestState"); state != nil {
		out = append(out, rpc.Member{Name: "requestState", Value: state})
	}
	if out == nil {
		return nil, &failure.Error{Kind: failure.Protocol, Message: "input_required without inputRequests and requestState", Data: result, Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
	}
	return out, nil
}
