package mock

import (
	"context"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A step is something that the server did about a request.
type step struct {
	seq  uint64
	kind stepKind
	wait time.Duration // since the step before, or what the client did last
}

type stepKind uint8

const (
	notify stepKind = iota // a notification
	ask                    // a request to the client
	answer                 // the result, or an error
)

// maxWait bounds a pause: clocks jump, and machines sleep.
const maxWait = 5 * time.Minute

// script is what the server did about a call.
func (r *recording) script(c call) []step {
	seqs := r.during[c.seq]
	if c.answer != 0 {
		seqs = append(slices.Clip(seqs), c.answer)
	}
	return r.steps(c.seq, seqs)
}

// steps are what the entries say, timed from the one before them all.
func (r *recording) steps(from uint64, seqs []uint64) (out []step) {
	before := r.time(from)
	for _, seq := range seqs {
		e, ok := r.j.Get(seq)
		if !ok {
			continue
		}
		s := step{seq: seq, wait: min(max(0, e.Time.Sub(before)), maxWait)}
		before = e.Time
		switch {
		case e.Dir == journal.Out:
			continue // the client's answer: the next step is timed from it
		case e.Kind == journal.Request:
			s.kind = ask
		case e.Kind == journal.Notification:
			s.kind = notify
		default:
			s.kind = answer
		}
		out = append(out, s)
	}
	return out
}

// clock paces the steps of one script, so that what sending takes is not added to the pauses.
type clock struct {
	m   *Mock
	due time.Time
}

func (m *Mock) clock() *clock { return &clock{m, time.Now()} }

// wait returns when a step is due that was recorded d after the one before.
func (c *clock) wait(ctx context.Context, d time.Duration) error {
	c.due = c.due.Add(time.Duration(float64(d) / c.m.o.Speed))
	left := time.Until(c.due)
	if left <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// now is when the client did something.
func (c *clock) now() { c.due = time.Now() }

// result is the result of an answer, or its error.
func (r *recording) result(seq uint64) ([]byte, error) {
	env := r.envelope(seq)
	switch env.Kind {
	case jsonrpc.Response:
		return env.Result, nil
	case jsonrpc.ErrorResponse:
		e, _ := jsonrpc.ParseError(env.Error) // what can be read of it
		if e == nil {
			e = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "an error that cannot be read is recorded"}
		}
		return nil, e
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindInternal, "the recorded answer cannot be read")
}
