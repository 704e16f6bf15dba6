package access

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// streams are the event streams without an end. Their callers were authenticated once, so that their tokens have to be
// checked again and again.
type streams struct {
	mu    sync.Mutex
	all   map[*stream]struct{}
	timer *time.Timer // nil while there is no stream
}

type stream struct {
	principal, agent string
	cancel           context.CancelCauseFunc
}

// Bind returns a context for an event stream. It is cancelled, with a *jsonrpc.RequestError of status 401 as cause,
// about a second after the principal lost the right to call the agent; agent "" is none in particular. The caller calls
// free in the end.
func (g *Guard) Bind(ctx context.Context, principal, agent string) (bound context.Context, free func()) {
	bound, cancel := context.WithCancelCause(ctx)
	s := &stream{principal, agent, cancel}
	g.streams.mu.Lock()
	defer g.streams.mu.Unlock()
	if g.streams.all == nil {
		g.streams.all = map[*stream]struct{}{}
	}
	g.streams.all[s] = struct{}{}
	if g.streams.timer == nil {
		g.streams.timer = time.AfterFunc(lookEvery, g.look)
	}
	return bound, func() {
		cancel(nil)
		g.streams.mu.Lock()
		defer g.streams.mu.Unlock()
		if delete(g.streams.all, s); len(g.streams.all) == 0 && g.streams.timer != nil {
			g.streams.timer.Stop()
			g.streams.timer = nil
		}
	}
}

// look checks the token file, and ends the streams of callers who lost their rights.
func (g *Guard) look() {
	now := g.current()
	g.streams.mu.Lock()
	defer g.streams.mu.Unlock()
	for s := range g.streams.all {
		if !now.may(s.principal, s.agent) {
			s.cancel(ingress.Unauthorized("invalid_token", "the bearer token is no longer accepted"))
		}
	}
	if g.streams.timer != nil {
		g.streams.timer.Reset(lookEvery)
	}
}

// may reports whether a principal who was authenticated may still call the agent.
func (s *state) may(principal, agent string) bool {
	if s.tokens == nil {
		return true
	}
	p, ok := s.tokens.byName[principal]
	return ok && (agent == "" || p.May(agent))
}

// Streams ends event streams without an end once their callers lose their rights. It needs the envelope, so it belongs
// behind the ingress.
func (g *Guard) Streams(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		if c.R.Method == http.MethodGet && !c.Task || c.Env.Method == string(mcp.MethodSubscriptionsListen) {
			ctx, free := g.Bind(c.R.Context(), c.Principal, c.Agent)
			defer free()
			c.R = c.R.WithContext(ctx)
		}
		next(c)
	}
}
