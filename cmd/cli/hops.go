package cli

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Hops joins what routers and agents of this user record of the traces that sessions begin, from the first request on that has one.
type Hops struct {
	ctx    context.Context
	J      *journal.Journal
	once   sync.Once
	mu     sync.Mutex
	began  func(trace string) bool // nil before there is a manager
	joiner *tap.Joiner
}

// TracingOf is which requests carry a trace context: as the flag says, else all of them where somebody records what becomes of them.
func (a *App) TracingOf(own bool) session.Tracing {
	switch a.Options.Traceparent {
	case "all":
		return session.TraceAll
	case "none":
		return session.TraceNone
	case "": // the default
		if own || a.Tracing || telemetry.Collected("") {
			return session.TraceAll
		}
	}
	return session.TraceRouted
}

// ExportCalls sends each call of a journal to the collector that the environment names, if there is one; end sends the rest. What goes
// wrong is written to w.
func (a *App) ExportCalls(j *journal.Journal, w io.Writer) (end func()) {
	if !telemetry.Collected("") {
		return func() {}
	}
	log := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := trace.ExportCalls(j, telemetry.Options{Name: "mcphud", Version: Version(), Logger: log})
	if err != nil {
		a.Note("mcphud: calls are not exported: " + err.Error())
		return func() {}
	}
	return func() {
		if err := c.Close(context.Background()); err != nil {
			a.Note("mcphud: not all calls were exported: " + mask.Text(err.Error()))
		}
	}
}

// NewHops gives o what calls join.
func NewHops(ctx context.Context, j *journal.Journal, o *session.Options) *Hops {
	h := &Hops{ctx: ctx, J: j}
	o.Traced = func() { h.once.Do(h.join) }
	return h
}

func (h *Hops) join() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.joiner == nil && h.began != nil {
		h.joiner = tap.JoinTraces(h.ctx, h.J, h.began)
	}
}

// Of says whose traces they are, before the first request.
func (h *Hops) Of(m *session.Manager) {
	h.mu.Lock()
	h.began = m.BeganTrace
	h.mu.Unlock()
}

// Ready joins those that there are, before a request.
func (h *Hops) Ready(ctx context.Context) {
	h.once.Do(h.join)
	if h.joiner == nil {
		return
	}
	select {
	case <-h.joiner.Scanned():
	case <-ctx.Done():
	}
}

// Close stops joining.
func (h *Hops) Close() {
	h.once.Do(func() {}) // whoever comes now joins nothing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.joiner != nil {
		h.joiner.Close()
	}
}
