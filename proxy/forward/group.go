// Package forward sends calls to agents and their answers back, as bytes. Only two things in a body are changed: the
// server's name in the answers to initialize and server/discover, and the id of a request that is not unique on a
// session that several callers share, which is restored in the answer.
//
// An exchange goes through its files in this order: group.go (to which upstream), target.go (what the call asks for, and in which
// session), session.go (for callers who have none), exchange.go (the request, its time, and what becomes of it without an answer),
// connection.go (over the wire), and back through answer.go or, for event streams, stream.go.
//
//	g := &forward.Group{Route: r, Targets: []*forward.Target{forward.New(r, forward.NewHTTP(r), shared)}}
//	if t := g.Acquire(call); t != nil { // nil: the route is not in force any more
//		t.Serve(call)
//		t.Release()
//	}
//
// Who calls is authenticated before, and what a call may do is decided before: nothing here asks for rights. A call's credentials, cookies and other
// headers stay with the router; what the agent gets is listed in exchange.go (passed), and what the caller gets back in answer.go (returned).
//
// A request goes to an agent once. It is sent again only where nothing of it can have been read: the connection could not be made, or was found
// closed before the first byte (errStale, flow.ErrNotSent).
package forward

import (
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Group is an agent and the ways to it: a target for each upstream of its route, at least one. A session stays at the upstream that
// opened it; what has no session goes to the one that has least to do.
type Group struct {
	Route   *routes.Route // as it is written, with all upstreams
	Targets []*Target     // each with a route of its own, which has one upstream; never changed
	next    atomic.Uint32 // where pick begins to look, so that equals have their turns
}

// avoided is how long an upstream that could not be reached is passed over where there is another.
const avoided = time.Second

// Acquire is the target for a call, to be released; nil if it is retired. c is nil for what has no session.
func (g *Group) Acquire(c *flow.Call) *Target {
	tried := map[*Target]bool(nil)
	if len(g.Targets) > 1 {
		tried = map[*Target]bool{}
	}
	t := g.bound(c)
	if t == nil {
		return g.pick(c, tried)
	}
	if !t.Acquire() {
		return nil
	}
	if len(g.Targets) > 1 {
		c.Elsewhere = func() bool { return g.serveElsewhere(c, tried) }
	}
	return t
}

// bound is the target that a call's session is at, which is any for an id that is not known: that one refuses it. nil where the call has no session, and
// may go to any of several.
func (g *Group) bound(c *flow.Call) *Target {
	if len(g.Targets) == 1 {
		return g.Targets[0]
	}
	if c == nil || c.Modern || len(c.R.Header[ingress.HeaderSession]) != 1 {
		return nil
	}
	if s, err := g.Targets[0].lookup(c.R.Header[ingress.HeaderSession][0], c); err == nil {
		s.Release()
		if t := g.at(s.Endpoint); t != nil {
			return t
		}
	}
	return g.Targets[0]
}

// at is the target with that endpoint, nil if there is none.
func (g *Group) at(endpoint string) *Target {
	for _, t := range g.Targets {
		if t.where == endpoint {
			return t
		}
	}
	return nil
}

// pick acquires the target that serves the fewest calls of those that were not tried, and can be reached; each in its turn among
// equals.
func (g *Group) pick(c *flow.Call, tried map[*Target]bool) *Target {
	now, from := time.Now().UnixNano(), int(g.next.Add(1))
	for len(tried) < len(g.Targets) {
		var best *Target
		least := 0
		for i := range g.Targets {
			t := g.Targets[(from+i)%len(g.Targets)]
			n := t.Calls()
			if t.avoid.Load() > now {
				n += 1 << 30
			}
			if !tried[t] && (best == nil || n < least) {
				best, least = t, n
			}
		}
		tried[best] = true
		if !best.Acquire() {
			continue
		}
		if c != nil {
			c.Elsewhere = nil // the last one says what is wrong
			if len(tried) < len(g.Targets) {
				c.Elsewhere = func() bool { return g.serveElsewhere(c, tried) }
			}
		}
		return best
	}
	return nil
}

// serveElsewhere serves a call by a target that was not tried; false if there is none.
func (g *Group) serveElsewhere(c *flow.Call, tried map[*Target]bool) bool {
	t := g.pick(c, tried)
	if t == nil {
		return false
	}
	defer t.Release()
	c.Route = t.Route
	t.Serve(c)
	return true
}

// Calls is how many calls are being served.
func (g *Group) Calls() (n int) {
	for _, t := range g.Targets {
		n += t.Calls()
	}
	return n
}

// Abandon ends a session at the agent, in the background. One at an upstream that the route does not have any more is left to time out there.
func (g *Group) Abandon(p sessions.Binding) {
	if t := g.at(p.Endpoint); t != nil {
		t.Abandon(p)
	}
}
