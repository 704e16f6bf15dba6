package conform

import (
	"context"
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// batch sends two requests in an array, and returns what came back, and how many of the two were answered with a result. The answers may come in an
// array or one by one, as one body or as a stream: all of it is waited for, over a pipe as long as settle.
// https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
func (p *probe) batch() (a answer, served int, err error) {
	var frame []byte
	var ids []string
	for _, one := range [][]byte{p.conn.harmlessRequest(), p.conn.harmlessRequest()} {
		env, _ := jsonrpc.Scan(one) // our own
		ids = append(ids, string(env.ID))
		frame = append(append(frame, ','), one...)
	}
	frame = append(frame, ']')
	frame[0] = '['
	mark := 0
	if p.http != nil {
		p.conn.enough = func(frames [][]byte) bool { return countServed(frames, ids) == len(ids) }
		defer func() { p.conn.enough = nil }()
	} else if p.conn.pipe != nil {
		mark = p.conn.pipe.framesSoFar()
	}
	if a, err = p.exchangeUnchecked(string(frame)); err != nil {
		return a, 0, fmt.Errorf("a batch: %w", err)
	}
	if p.http != nil {
		return a, countServed(append([][]byte{a.body, a.frame}, a.others...), ids), nil
	}
	received := func() int {
		frames, _ := p.conn.pipe.framesAfter(mark)
		return countServed(frames, ids)
	}
	ctx, cancel := context.WithTimeout(p.ctx, settle)
	defer cancel()
	_, _ = p.conn.pipe.await(ctx, mark, func(jsonrpc.Envelope) bool { return received() == len(ids) }) // what has come by then counts
	return a, received(), nil
}

// countServed counts the ids that frames answer with a result, each frame being a response or an array of them.
func countServed(frames [][]byte, ids []string) int {
	served := map[string]bool{}
	take := func(one []byte) bool {
		if env, err := jsonrpc.Scan(one); err == nil && env.Result != nil {
			served[jsonrpc.IDKey(string(env.ID))] = true
		}
		return true
	}
	for _, frame := range frames {
		if jsonrpc.Elements(frame, take) != nil {
			take(frame)
		}
	}
	n := 0
	for _, id := range ids {
		if served[jsonrpc.IDKey(id)] {
			n++
		}
	}
	return n
}

// tryBatchRefused is for revisions without batches. That nothing is said to one is fine; over HTTP its status is an answer.
func tryBatchRefused(p *probe) error {
	a, served, err := p.batch()
	switch {
	case err != nil:
		return err
	case served > 0 || a.result() != nil:
		return newViolation("a batch of two requests: it was served")
	case p.http != nil && a.status/100 == 2 && a.env.Error == nil && a.status != 202:
		return newViolation("a batch of two requests: %s", a.summary())
	}
	return nil
}

// tryBatchServed is for the one revision in which a server has to take batches.
func tryBatchServed(p *probe) error {
	a, served, err := p.batch()
	switch {
	case err != nil:
		return err
	case served == 0:
		return newViolation("a batch of two requests: %s", a.summary())
	case served == 1:
		return newViolation("a batch of two requests: only one was answered with a result")
	}
	return nil
}
