package mock

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// middleware answers everything but what the transport itself is about.
func (m *Mock) middleware(next front.Next) front.Next {
	return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		if x.ID == nil {
			return m.handleNotification(ctx, x, next)
		}
		if x.Method != string(mcp.MethodInitialize) && !m.speaks(x) {
			return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method not found: %s", clip(x.Method))
		}
		switch method := mcp.MCPMethod(x.Method); {
		case method == mcp.MethodInitialize:
			return m.initialize(ctx, x, next)
		case method == mcp.MethodServerDiscover:
			return m.discover(x)
		case method == mcp.MethodPing, method == mcp.MethodSubscriptionsListen:
			return next(ctx, x)
		case method == mcp.MethodSetLogLevel, method == mcp.MethodResourcesSubscribe, method == mcp.MethodResourcesUnsubscribe:
			return m.change(ctx, x, next)
		case lists[x.Method] != "":
			return m.list(ctx, x)
		}
		return m.call(ctx, x)
	}
}

// handleNotification takes a notification: what the server did upon it follows.
func (m *Mock) handleNotification(ctx context.Context, x *front.Exchange, next front.Next) (json.RawMessage, error) {
	result, err := next(ctx, x)
	if calls := m.rec.callsOf(group{method: x.Method}); len(calls) > 0 && x.Session != nil {
		s := m.stateOf(x)
		m.follow(x, s, m.rec.calls[calls[s.turn(m.rec.hash([]byte(x.Method)), len(calls))]])
	}
	return result, err
}

// change is a request that changes what the transport sends. It has the answer that is recorded, if there is one.
func (m *Mock) change(ctx context.Context, x *front.Exchange, next front.Next) (json.RawMessage, error) {
	result, err := next(ctx, x)
	if err != nil {
		return nil, err
	}
	s := m.stateOf(x)
	if x.Method == string(mcp.MethodSetLogLevel) {
		s.mu.Lock()
		s.level = jsonrpc.GetString(x.Params, "level")
		s.mu.Unlock()
	}
	found, ok := m.rec.find(question(x.Method, x.Params))
	if !ok {
		return result, nil
	}
	return m.give(ctx, x, s, found)
}

// list is a list as it was recorded, all pages of it at once.
func (m *Mock) list(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
	if asked := jsonrpc.Get(x.Params, "cursor"); len(asked) > 0 && string(asked) != "null" {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: unknown cursor; list again without one").With("field", "cursor")
	}
	all := m.rec.lists[x.Method]
	if len(all) == 0 {
		result := m.rec.listingOfCalls(x.Method)
		if result == nil {
			return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method not found: %s is not in the recording", clip(x.Method))
		}
		m.log.Warn("no listing is recorded: answered with what was called", "method", x.Method)
		return m.fit(x, x.Method, result, false), nil
	}
	s := m.stateOf(x)
	l := all[s.turn(m.rec.hash([]byte(x.Method)), len(all))]
	var first uint64
	for _, seq := range l.pages {
		e, _ := m.rec.j.Get(seq)
		if first == 0 {
			first = e.Peer
		}
		if _, err := m.play(ctx, x, s, call{e.Peer, seq}, 0); err != nil {
			return nil, err
		}
	}
	return m.fit(x, x.Method, m.rec.joinPages(x.Method, l), m.rec.modern(first)), nil
}

// call answers any other request.
func (m *Mock) call(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
	s := m.stateOf(x)
	if state := jsonrpc.GetString(x.Params, "requestState"); strings.HasPrefix(state, statePrefix) {
		return m.resume(ctx, x, s, state)
	}
	q := question(x.Method, x.Params)
	found, ok := m.rec.find(q)
	if !ok && (q.task || x.Method == string(mcp.MethodToolsCall)) { // the client of the recording had a task, or had none
		if as, ok := m.otherwise(x, q); ok {
			return m.finish(ctx, x, s, as)
		}
	}
	if !ok && !m.o.Strict {
		if found, ok = m.rec.nearest(q); ok {
			m.log.Warn("not recorded with these arguments: answered by the nearest recording", "method", x.Method, "target", clip(q.target), "seq", m.rec.calls[found.near].seq)
		} else if result := m.example(q); result != nil {
			m.log.Warn("not recorded: answered with an example of the output schema", "method", x.Method, "target", clip(q.target))
			return m.fit(x, x.Method, result, false), nil
		}
	}
	if !ok && !m.o.Strict && x.Method == string(mcp.MethodCompletionComplete) {
		return m.fit(x, x.Method, []byte(`{"completion":{"values":[]}}`), false), nil
	}
	if !ok {
		return nil, m.errNotRecorded(q)
	}
	return m.give(ctx, x, s, found)
}

// give plays the call whose turn it is.
func (m *Mock) give(ctx context.Context, x *front.Exchange, s *state, found match) (json.RawMessage, error) {
	i := found.calls[s.turn(found.key, len(found.calls))]
	result, err := m.play(ctx, x, s, m.rec.calls[i], 0)
	if err == nil && found.near >= 0 {
		q := question(x.Method, m.rec.envelope(m.rec.calls[found.near].seq).Params)
		result = addNote(result, append(append([]byte(`{"nearest":`), q.base...), '}'))
	}
	return result, err
}

// metaKey is under which a result says that it is not what was recorded for the request.
const metaKey = "mcphud/mock"

func addNote(result, note []byte) []byte {
	out, err := jsonrpc.Update(result, jsonrpc.Set(note, "_meta", metaKey))
	if err != nil {
		return result
	}
	return out
}

// play does what the server did about a call, from a step on.
func (m *Mock) play(ctx context.Context, x *front.Exchange, s *state, c call, from int) (json.RawMessage, error) {
	steps := m.rec.script(c)
	clock := m.clock()
	for i := min(from, len(steps)); i < len(steps); i++ {
		if err := clock.wait(ctx, steps[i].wait); err != nil {
			return nil, err
		}
		env := m.rec.envelope(steps[i].seq)
		switch steps[i].kind {
		case notify:
			m.notify(x, s, env, false)
		case ask:
			if !x.Can(env.Method) {
				m.log.Warn("not asked: the client declared no capability for it", "method", env.Method)
				continue
			}
			if x.Modern && !slices.Contains(counted, x.Method) {
				continue // only these have rounds
			}
			if x.Modern {
				return newInputRequired(env, fmt.Sprintf("%s%d:%d", statePrefix, c.seq, i+1))
			}
			if err := m.ask(ctx, x, env.Method, env.Params); err != nil {
				return nil, err
			}
			clock.now()
		case answer:
			m.sendLateProgress(x, s, c)
			m.follow(x, s, c)
			return m.answer(ctx, x, s, c)
		}
	}
	m.log.Warn("the recorded request was cancelled before it was answered: this one waits for the same", "method", x.Method)
	<-ctx.Done()
	return nil, ctx.Err()
}

// answer is the recorded answer, for the era of the client.
func (m *Mock) answer(ctx context.Context, x *front.Exchange, s *state, c call) (json.RawMessage, error) {
	result, err := m.rec.result(c.answer)
	if err != nil {
		return nil, err
	}
	modern := m.rec.modern(c.seq)
	switch {
	case !x.Modern && jsonrpc.GetString(result, "resultType") == "input_required":
		return m.rounds(ctx, x, s, c, result)
	case x.Method == string(mcp.MethodToolsCall) && taskOf(result) != "" && !takesTask(x, modern):
		return m.finish(ctx, x, s, c)
	}
	return m.fit(x, x.Method, result, modern), nil
}

// statePrefix begins the requestState of a call that was recorded in the legacy era.
const statePrefix = "mcphud-mock:"

// newInputRequired makes the answer of the modern era that asks the client for something.
func newInputRequired(env jsonrpc.Envelope, state string) (json.RawMessage, error) {
	one := append([]byte(`{"method":`), jsonrpc.Quote(env.Method)...)
	if env.Params != nil {
		one = append(append(one, `,"params":`...), env.Params...)
	}
	out := append(append([]byte(`{"resultType":"input_required","inputRequests":{"question":`), one...), `}},"requestState":`...)
	return append(append(out, jsonrpc.Quote(state)...), '}'), nil
}

// resume goes on with a call after the client's input. A state that is none of ours, or is another request's, is refused.
func (m *Mock) resume(ctx context.Context, x *front.Exchange, s *state, state string) (json.RawMessage, error) {
	seq, at, _ := strings.Cut(strings.TrimPrefix(state, statePrefix), ":")
	root, err1 := strconv.ParseUint(seq, 10, 64)
	from, err2 := strconv.Atoi(at)
	i, ok := m.rec.callAt(root)
	ok = ok && err1 == nil && err2 == nil && from > 0
	if ok {
		steps := m.rec.script(m.rec.calls[i])
		ok = from <= len(steps) && steps[from-1].kind == ask
	}
	if !ok || question(x.Method, m.rec.envelope(root).Params).group != question(x.Method, x.Params).group {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: requestState is not one that was given for this request; make it again without").With("field", "requestState")
	}
	return m.play(ctx, x, s, m.rec.calls[i], from)
}
