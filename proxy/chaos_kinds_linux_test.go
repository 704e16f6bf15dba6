package proxy

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/wire/sse"
)

// agents are those that a client may call: over HTTP, as a process of the router, and those that things are done to.
var (
	chaosHTTP    = []string{"calm", "shifting", "coming", "wild1", "wild2"}
	chaosAgents  = append([]string{"pipe", "shared"}, chaosHTTP...)
	chaosVictims = map[string]bool{"wild1": true, "wild2": true, "pipe": true, "shared": true}
)

// ask is a call of a random kind.
func ask(agent string) chaosAsk {
	a := chaosAsk{agent: agent, path: "/mcps/" + agent + "/mcp", id: "1"}
	switch n := rand.IntN(100); {
	case n < 20:
		a.do = doSlow
	case n < 30:
		a.do = doHuge
	case n < 40:
		a.do = doFail
	case n < 44 && chaosVictims[agent]:
		a.do = doHang
	case n < 45 && chaosVictims[agent]:
		a.do = doDie
	case n < 46 && chaosVictims[agent]:
		a.do = doHalf
	}
	return a
}

// sessionless callers all use one id, and take JSON.
func (c *chaosClients) sessionless() {
	for !c.over() {
		c.pause(c.call(ask(pick(chaosAgents...))))
	}
}

// readers take event streams, some of them a flood.
func (c *chaosClients) readers() {
	for !c.over() {
		a := ask(pick(chaosAgents...))
		a.sse, a.notes, a.id = true, pick(0, 1, 5, 300), `"same"`
		c.pause(c.call(a))
	}
}

// modern callers speak 2026-07-28.
func (c *chaosClients) modern() {
	for n := 0; !c.over(); n++ {
		a := ask(pick(chaosHTTP...))
		a.modern, a.sse, a.id = true, n%2 == 0, id(n)
		if a.sse {
			a.notes = pick(0, 3, 100)
		}
		c.pause(c.call(a))
	}
}

// holders have sessions, which they end some time.
func (c *chaosClients) holders() {
	for !c.over() {
		agent := pick(chaosAgents...)
		a := ask(agent)
		if a.session = c.open(agent, a.path); a.session == "" {
			c.pause(gotDown)
			continue
		}
		outcome := ""
		for n := range 20 {
			next := ask(agent)
			next.session, next.sse, next.id = a.session, n%3 == 0, id(n)
			if next.sse {
				next.notes = pick(0, 2, 50)
			}
			if outcome = c.call(next); outcome == gotGone || c.over() {
				break
			}
			c.pause(outcome)
		}
		res, err := c.send(c.t.Context(), "DELETE", a.path, nil, "Mcp-Session-Id", a.session)
		if err != nil {
			c.t.Errorf("%s: DELETE: %v", agent, err)
			return
		}
		_ = res.Body.Close()
		if res.StatusCode != 204 {
			if agent != c.absent || res.StatusCode != 404 {
				c.t.Errorf("%s: DELETE: %d", agent, res.StatusCode)
			}
			continue
		}
		a.do, a.id = "", "2"
		if outcome := c.call1(a); outcome != gotGone && (agent != c.absent || outcome != gotNoAgent) {
			c.t.Errorf("%s: after DELETE: %s", agent, outcome)
		}
	}
}

// call1 is call for a call that must fail.
func (c *chaosClients) call1(a chaosAsk) string {
	outcome, err := c.answer(a, "none")
	if err != nil {
		c.t.Errorf("%+v: %s: %v", a, outcome, err)
	}
	return outcome
}

// leavers do not wait for what they ask for.
func (c *chaosClients) leavers() {
	for n := 0; !c.over(); n++ {
		a := ask(pick(chaosAgents...))
		a.leave, a.sse = time.Duration(1+rand.IntN(40))*time.Millisecond, n%2 == 0
		if a.sse {
			a.notes = pick(5, 300)
		}
		c.call(a)
	}
}

// merged callers call all agents at one address, in a session, without one, and in the modern era.
func (c *chaosClients) merged() {
	session := ""
	for n := rand.IntN(3); !c.over(); n++ {
		a := ask(pick(chaosAgents...))
		a.path, a.tool, a.id = "/mcp", "mcp__"+a.agent+"__echo", id(n)
		if session == "" {
			session = c.open("calm", "/mcp")
		}
		switch n % 3 {
		case 0:
			a.session = session
		case 1:
			a.modern = true
		}
		if a.sse = n%2 == 0; a.sse {
			a.notes = pick(0, 3, 100)
		}
		c.pause(c.call(a))
	}
	if res, err := c.send(c.t.Context(), "DELETE", "/mcp", nil, "Mcp-Session-Id", session); err != nil || res.StatusCode != 204 {
		c.t.Errorf("DELETE: %v, %v", res, err)
	} else {
		_ = res.Body.Close()
	}
}

// listener has a stream of its session's own, on which each notification comes that its calls caused, in order.
func (c *chaosClients) listener() {
	a := chaosAsk{agent: "calm", path: "/mcps/calm/mcp", do: doTell, id: "9"}
	if a.session = c.open(a.agent, a.path); a.session == "" {
		return
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	res, err := c.send(ctx, "GET", a.path, nil, "Mcp-Session-Id", a.session, "Accept", "text/event-stream")
	if err != nil || res.StatusCode != 200 {
		c.t.Errorf("GET: %v, %v", res, err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	events := sse.NewReader(res.Body, 1<<20, 0)
	for n := 0; !c.over(); n++ {
		a.id, a.token = id(n), crand.Text()
		if outcome := c.call(a); outcome != gotResult {
			return
		}
		e, err := events.Next()
		if err != nil || !strings.Contains(string(e.Data), `"`+a.token+`"`) {
			c.t.Errorf("GET: %s, %v", e.Data, err)
			return
		}
	}
}
