package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// maxRounds bounds how often one call may be answered with further questions. Each round may have waited for a person, so no time bounds it.
const maxRounds = 50

// inputRequired is the type of a result that asks before it answers.
const inputRequired = "input_required"

// resultType is what kind of result it says to be (2026-07-28), "" where it says nothing. A result of any size must not be searched
// to its end, so the mark is looked for near both of its ends only.
func resultType(result []byte) string {
	const near = 64 << 10
	mark := []byte(`"resultType"`)
	if len(result) > 2*near && !bytes.Contains(result[:near], mark) && !bytes.Contains(result[len(result)-near:], mark) {
		return ""
	}
	if !bytes.Contains(result, mark) {
		return ""
	}
	return jsonrpc.GetString(result, "resultType")
}

// checkResultType returns an error for a result whose type the protocol does not have: what it means nobody here knows.
func checkResultType(result []byte) error {
	switch kind := resultType(result); kind {
	case "", "complete", "task", inputRequired:
		return nil
	default:
		return &failure.Error{
			Kind: failure.Protocol, Message: fmt.Sprintf("the answer is of an unknown type (resultType %q)", text.Clip(kind, 60)), Data: result,
			Next: "see the answer as it was sent", Remedy: failure.SeeTraffic,
		}
	}
}

// unanswered adds to the error of a call that waits for input which call that is, with its metadata, for whoever answers later.
func unanswered(err error, method string, params json.RawMessage, meta []rpc.Member) error {
	var e *failure.Error
	if !errors.As(err, &e) || e.Kind != failure.NeedsInput || e.Data == nil {
		return err
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	for _, m := range meta {
		if with, bad := jsonrpc.Update(params, jsonrpc.Default([]byte("{}"), "_meta"), jsonrpc.Default(m.Value, "_meta", m.Name)); bad == nil {
			params = with
		}
	}
	e.Method, e.Params = method, params
	return err
}

// answerInput answers what an input_required result asks, and gives the members that the call is made again with: inputResponses, an object with
// the keys of inputRequests, and requestState as it came, which is the server's own and may be anything. A result with requestState alone only
// wants the call again.
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
		results, err := s.askAll(ctx, asked)
		var e *failure.Error
		if errors.As(err, &e) && e.Kind == failure.NeedsInput {
			e.Data = result
		}
		if err != nil {
			return nil, err
		}
		r.keepAnswers(asked, results)
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
