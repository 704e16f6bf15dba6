package main

import (
	"context"
	"sync"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/journal"
)

// hops joins what routers and agents of this user record of the traces that sessions begin, from the first request on that has one.
type hops struct {
	ctx    context.Context
	j      *journal.Journal
	once   sync.Once
	mu     sync.Mutex
	began  func(trace string) bool // nil before there is a manager
	joiner *tap.Joiner
}

// newHops gives o what calls join.
func newHops(ctx context.Context, j *journal.Journal, o *session.Options) *hops {
	h := &hops{ctx: ctx, j: j}
	o.Traced = func() { h.once.Do(h.join) }
	return h
}

func (h *hops) join() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.joiner == nil && h.began != nil {
		h.joiner = tap.JoinTraces(h.ctx, h.j, h.began)
	}
}

// of says whose traces they are, before the first request.
func (h *hops) of(m *session.Manager) {
	h.mu.Lock()
	h.began = m.BeganTrace
	h.mu.Unlock()
}

// close stops joining.
func (h *hops) close() {
	h.once.Do(func() {}) // whoever comes now joins nothing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.joiner != nil {
		h.joiner.Close()
	}
}
