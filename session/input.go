package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/pending"
	"github.com/mcphud/mcphud/session/rpc"
)

// maxRounds bounds how often one call may be answered with further questions.
const maxRounds = 50

// asksForInput reports whether a result is an input_required one (2026-07-28). It is a handful of members: a result of any size
// that is not one must not be searched to its end, so the mark is looked for near both of its ends only.
func asksForInput(result []byte) bool {
	const near = 64 << 10
	mark := []byte(`"resultType"`)
	if len(result) > 2*near && !bytes.Contains(result[:near], mark) && !bytes.Contains(result[len(result)-near:], mark) {
		return false
	}
	return bytes.Contains(result, mark) && jsonrpc.GetString(result, "resultType") == "input_required"
}

// answerInput answers what an input_required result asks, and gives the members that the call is made again with.
func (s *Session) answerInput(ctx context.Context, r *rounds, result []byte) ([]rpc.Member, error) {
	bad := func(what string, err error) error {
		return &failure.Error{Kind: failure.Protocol, Message: what, Data: result, Err: err, Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
	}
	r.n++
	state, requests := jsonrpc.Get(result, "requestState"), jsonrpc.Get(result, "inputRequests")
	if state == nil && requests == nil {
		return nil, bad("input_required without inputRequests and requestState", nil)
	}
	changed := r.state != nil && !bytes.Equal(state, r.state)
	r.state = bytes.Clone(state)
	var out []rpc.Member
	if requests != nil {
		var asked []pending.Question
		if err := jsonrpc.Members(requests, func(key string, request []byte) bool {
			x := r.question(key, request)
			x.StateChanged = changed
			asked = append(asked, x)
			return len(asked) <= maxAsked
		}); err != nil {
			return nil, bad("inputRequests is not an object: "+err.Error(), err)
		}
		if len(asked) > maxAsked {
			return nil, bad(fmt.Sprintf("the server asks more than %d questions at once", maxAsked), nil)
		}
		results, err := s.all(ctx, asked)
		var e *failure.Error
		if errors.As(err, &e) && e.Kind == failure.NeedsInput {
			e.Data = result
		}
		if err != nil {
			return nil, err
		}
		r.answered(asked, results)
		var responses []jsonrpc.Change
		for i, x := range asked {
			answer := results[i]
			if answer == nil {
				answer = []byte("{}")
			}
			responses = append(responses, jsonrpc.Set(answer, x.Key))
		}
		object, err := jsonrpc.Update(nil, responses...)
		if err != nil {
			return nil, bad("inputRequests cannot be answered: "+err.Error(), err)
		}
		out = append(out, rpc.Member{Name: "inputResponses", Value: object})
	}
	if state != nil {
		out = append(out, rpc.Member{Name: "requestState", Value: state})
	}
	return out, nil
}
