package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// serve answers a request of the server in the legacy era. ctx ends when nobody waits for the answer any more.
func (s *Session) serve(ctx context.Context, env jsonrpc.Envelope) ([]byte, *jsonrpc.Error) {
	if env.Method == "ping" {
		return nil, nil
	}
	x := pending.Question{Key: string(env.ID), Method: env.Method, Params: json.RawMessage(env.Params)}
	if method, target, started, ok := rpc.CauseOf(ctx); ok {
		x.Cause = pending.Cause{Method: method, Target: target, Started: started}
	}
	if t, ok := s.tasks.table.Get(jsonrpc.GetString(env.Params, "_meta", tasks.Related, "taskId")); ok {
		x.Cause = causeOf(t)
	}
	result, fault, err := s.answer(ctx, x)
	switch {
	case err == nil:
		return result, fault
	case x.Method == methodElicit:
		return pending.ActionResult(pending.Cancel), nil
	}
	return nil, &jsonrpc.Error{Code: pending.CodeDeclined, Message: "Nobody answers any more"}
}

// answer answers what a server asks, in either era. err is why nobody waits for it any more.
func (s *Session) answer(ctx context.Context, x pending.Question) ([]byte, *jsonrpc.Error, error) {
	s.tasks.ask(1)
	defer s.tasks.ask(-1)
	if s.opts.Serve != nil {
		if result, fault, ok := s.opts.Serve(ctx, s, x.Method, x.Params); ok {
			return result, fault, nil
		}
	}
	x.Server, x.Title, x.Conn = s.Name(), s.Title(), s.link.snapshot().conns
	kind := pending.KindOf(x.Method, x.Params)
	switch {
	case x.Method == methodElicit && s.opts.Pending != nil && !s.declares(kind):
		mode := cmp.Or(jsonrpc.GetString(x.Params, "mode"), "form") // 2025-11-25, client/elicitation, "Error Handling"
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "mcphud does not support elicitation of mode " + text.Clip(mode, 100)}, nil
	case x.Method == "roots/list" && (len(s.Roots()) > 0 || s.opts.Pending.Attended() || jsonrpc.Get(s.nextClient().Capabilities, "roots") != nil):
		return s.listRoots(), nil, nil
	case s.opts.Pending != nil && kind != pending.Other:
		defer rpc.Asking(ctx)()
		return s.opts.Pending.Ask(ctx, x, s.notifyChange)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "mcphud does not support " + text.Clip(x.Method, 100)}, nil
}

// declares reports whether elicitation of a kind agrees with what the server was told: the modes that were declared, or forms where
// none was. A server that was told of no elicitation and asks all the same is answered: people want to see what it does.
func (s *Session) declares(kind pending.Kind) bool {
	if kind == pending.Other {
		return false
	}
	c := s.current()
	if c == nil {
		return true
	}
	caps := c.caps
	if c.era == Modern {
		caps = c.modernCaps
	}
	modes := jsonrpc.Get(caps, "elicitation")
	if modes == nil {
		return true
	}
	url := jsonrpc.Get(modes, "url") != nil
	if kind == pending.URL {
		return url
	}
	return !url || jsonrpc.Get(modes, "form") != nil
}

const (
	methodElicit = "elicitation/create"
	// maxVisits is how often a call is made again because it wants pages to be visited (-32042).
	maxVisits = 5
	// maxEarlier is up to which size a question and its answer are kept for the rounds after, and maxEarlierAll all of them.
	maxEarlier    = 256 << 10
	maxEarlierAll = 16 * maxEarlier
	// maxAsked is how many questions one round may have.
	maxAsked = 64
)

// rounds is what was asked and answered because of one call, which is made again with the answers.
type rounds struct {
	cause   pending.Cause
	n       int
	pages   int
	earlier []pending.Exchange
	kept    int    // bytes of earlier
	state   []byte // that was sent back last; nil for none
}

// question is one that the call waits for.
func (r *rounds) question(key string, request []byte) pending.Question {
	return pending.Question{
		Key: key, Method: jsonrpc.GetString(request, "method"), Params: json.RawMessage(jsonrpc.Get(request, "params")), Cause: r.cause, Round: r.n, Earlier: r.earlier,
	}
}

// keepAnswers keeps what was asked and answered, for the questions of the rounds to come.
func (r *rounds) keepAnswers(asked []pending.Question, results [][]byte) {
	for i, x := range asked {
		e := pending.Exchange{Method: x.Method}
		if n := len(x.Params) + len(results[i]); n <= maxEarlier && r.kept+n <= maxEarlierAll {
			e.Params, e.Result = bytes.Clone(x.Params), results[i] // a message that a server filled up is not held by a part of it
			r.kept += n
		}
		r.earlier = append(r.earlier, e)
	}
}

// askInTurn runs f, which asks one question, beside the caller, and returns when it is over or waits for a person.
func (s *Session) askInTurn(ctx context.Context, wg *sync.WaitGroup, f func(context.Context)) {
	if s.opts.Pending == nil {
		wg.Go(func() { f(ctx) })
		return
	}
	turn, next := context.WithCancel(context.Background())
	wg.Go(func() {
		defer next()
		f(pending.InTurn(ctx, next))
	})
	<-turn.Done()
}

// askAll asks the questions of one round at once.
func (s *Session) askAll(ctx context.Context, asked []pending.Question) ([][]byte, error) {
	ctx, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	defer cancel()
	asks := s.link.askContext()
	defer context.AfterFunc(asks, func() { end(context.Cause(asks)) })()
	results, errs := make([][]byte, len(asked)), make([]error, len(asked))
	var wg sync.WaitGroup
	for i, x := range asked {
		s.askInTurn(ctx, &wg, func(ctx context.Context) {
			var fault *jsonrpc.Error
			if results[i], fault, errs[i] = s.answer(ctx, x); fault != nil {
				errs[i] = refusal(x, fault)
			}
			if errs[i] != nil && (s.opts.Pending.Attended() || failure.KindOf(errs[i]) != failure.NeedsInput) {
				cancel() // one that is missing makes the others useless; where nobody is, all are named
			}
		})
	}
	wg.Wait()
	var first error // but for those that others ended
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return results, first
}

// refusal is the error of a call whose question was not answered.
func refusal(x pending.Question, fault *jsonrpc.Error) error {
	if fault.Code == pending.CodeDeclined {
		return &failure.Error{Kind: failure.Interrupted, Message: text.Clip(x.Method, 100) + " was declined"}
	}
	return &failure.Error{
		Kind: failure.NeedsInput, Message: "the server asks for input (" + text.Clip(x.Method, 100) + ") that nobody can give here", Next: "call it where a person can answer",
	}
}

// visit has the pages visited that a call wants first (2025-11-25, client/elicitation, "URL Elicitation Required Error"). It reports
// whether the call shall be made again.
func (s *Session) visit(ctx context.Context, r *rounds, failed error) (bool, error) {
	var e *failure.Error
	if !errors.As(failed, &e) || e.Code == nil || *e.Code != jsonrpc.CodeURLElicitation || !s.opts.Pending.Answers(pending.URL) || r.pages >= maxVisits {
		return false, nil
	}
	var asked []pending.Question
	err := jsonrpc.Elements(jsonrpc.Get(e.Data, "elicitations"), func(page []byte) bool {
		asked = append(asked, pending.Question{Method: methodElicit, Params: json.RawMessage(page), Cause: r.cause, Earlier: r.earlier, Required: true})
		return len(asked) < maxVisits
	})
	if err != nil || asked == nil {
		return false, nil // nothing to visit: the error stands for itself
	}
	r.pages++
	results, err := s.askAll(ctx, asked)
	if err != nil {
		return false, err
	}
	for _, result := range results {
		if jsonrpc.GetString(result, "action") != pending.Accept {
			return false, nil
		}
	}
	r.keepAnswers(asked, results)
	return true, nil
}
