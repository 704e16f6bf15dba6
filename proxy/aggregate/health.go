package aggregate

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// health is what the answers of agents say about them, to any client: clients are notified when the tools of one go and come
// back, and nobody waits long for one that others waited for in vain.
type health struct {
	s *Server

	mu    sync.Mutex           // never held while an agent or a client is waited for
	down  map[string]bool      // cannot be reached
	slow  map[string]bool      // did not answer in time
	busy  map[string]bool      // is being probed
	seen  map[string]time.Time // when it last answered with a result; of agents that there are, see retain
	timer *time.Timer          // of the next tick, nil for none
	ended bool
}

const (
	lookEvery = 2 * time.Second // while somebody listens, for an agent that is away
	fresh     = 5 * time.Second // an agent that answered so lately is not away because it refuses something
)

// noteStatus takes the HTTP status of an answer to a request to an agent. 502 says that it is away, 503 only where nothing else was heard of it lately:
// agents refuse with it, too. Other errors say nothing.
func (h *health) noteStatus(agent string, status int) {
	up := status >= 200 && status < 300
	h.mu.Lock()
	if up {
		if h.seen == nil {
			h.seen = map[string]time.Time{}
		}
		h.seen[agent] = time.Now()
	} else if status != http.StatusBadGateway && (status != http.StatusServiceUnavailable || time.Since(h.seen[agent]) < fresh) {
		h.mu.Unlock()
		return
	}
	changed := h.down[agent] == up && !h.ended
	if changed {
		setMember(&h.down, agent, !up)
		h.arm()
	}
	h.mu.Unlock()
	if !changed {
		return
	}
	h.s.log.Debug("agent is up or down now", "agent", agent, "up", up)
	for _, c := range h.s.allClients() {
		c.background(func(ctx context.Context) { c.healthChanged(ctx, agent, up) })
	}
}

// setMember puts a member into a set, which may be nil, or takes it out.
func setMember(set *map[string]bool, agent string, is bool) {
	if *set == nil {
		*set = map[string]bool{}
	}
	if is {
		(*set)[agent] = true
	} else {
		delete(*set, agent)
	}
}

// noteLate and notePrompt record whether an agent answered in time.
func (h *health) noteLate(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	setMember(&h.slow, agent, true)
	h.arm()
}

func (h *health) notePrompt(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	setMember(&h.slow, agent, false)
}

// isLate reports whether others waited for an agent in vain, so that one should not wait long.
func (h *health) isLate(agent string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slow[agent]
}

// wake checks soon whether agents are back: a client has begun to listen.
func (h *health) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.arm()
}

// arm schedules the next check, if there is something to check; h.mu is held.
func (h *health) arm() {
	if h.timer == nil && !h.ended && len(h.down)+len(h.slow) > 0 {
		h.timer = time.AfterFunc(lookEvery, h.tick)
	}
}

// tick probes agents that are away, on behalf of a client that listens. While no client does, none is probed.
func (h *health) tick() {
	var listening []*client
	for _, c := range h.s.allClients() {
		if c.listening() {
			listening = append(listening, c)
		}
	}
	names := h.s.o.Agents()
	h.mu.Lock()
	h.timer = nil
	var away []string
	for _, set := range []map[string]bool{h.down, h.slow} {
		for agent := range set {
			switch {
			case !slices.Contains(names, agent):
				delete(set, agent)
				delete(h.seen, agent)
			case !h.busy[agent] && !slices.Contains(away, agent):
				away = append(away, agent)
			}
		}
	}
	if len(listening) > 0 {
		h.arm()
	}
	h.mu.Unlock()
	for _, agent := range away {
		for _, c := range listening {
			if slices.Contains(c.agents(), agent) {
				h.probe(c, agent)
				break
			}
		}
	}
}

// probe probes an agent with a client's session.
func (h *health) probe(c *client, agent string) {
	h.mu.Lock()
	setMember(&h.busy, agent, !h.ended)
	h.mu.Unlock()
	if !c.background(func(ctx context.Context) { h.check(ctx, c, agent) }) {
		h.mu.Lock()
		setMember(&h.busy, agent, false)
		h.mu.Unlock()
	}
}

// check pings an agent. That it answers takes it off the slow ones here; whether it is down noteStatus learns from the answer itself.
func (h *health) check(ctx context.Context, c *client, agent string) {
	ctx, cancel := context.WithTimeout(ctx, h.s.o.Limit(agent))
	defer cancel()
	sess, err := c.connect(ctx, agent)
	if err == nil {
		_, err = sess.Ping(ctx)
	}
	h.mu.Lock()
	setMember(&h.busy, agent, false)
	if err == nil {
		setMember(&h.slow, agent, false)
	}
	h.mu.Unlock()
}

// retain forgets all agents but these: names come and go, and may be another agent's later.
func (h *health) retain(agents []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.seen, func(agent string, _ time.Time) bool { return !slices.Contains(agents, agent) })
	for _, set := range []map[string]bool{h.down, h.slow} {
		maps.DeleteFunc(set, func(agent string, _ bool) bool { return !slices.Contains(agents, agent) })
	}
}

// close ends the checks. One that runs ends with the client whose session it uses.
func (h *health) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.timer != nil {
		h.timer.Stop()
	}
}

// healthChanged notifies a client that an agent is down, or back; then the client's connection is set up again.
func (c *client) healthChanged(ctx context.Context, agent string, up bool) {
	if !slices.Contains(c.agents(), agent) {
		return
	}
	sess, ok := c.m.Server(agent)
	if ok {
		sess.Invalidate()
	}
	c.announce(allChanged...)
	if attentive := c.listening() || c.follows(agent); !up || !attentive {
		c.markDoubtful(agent)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Limit(agent))
	defer cancel()
	if sess, err := c.connect(ctx, agent); err == nil {
		c.renew(ctx, sess)
	}
}

// renew finds out whether an agent is still what a connection takes it for, and follows again what was followed there.
func (c *client) renew(ctx context.Context, sess *session.Session) {
	st := sess.Status()
	stale := st.Era == session.Legacy && st.SessionID == "" // it would not say that it does not know us
	if st.Era == session.Modern {
		r, err := sess.Call(ctx, string(mcp.MethodServerDiscover), nil, session.CallOptions{})
		stale = err == nil && !bytes.Equal(jsonrpc.Get(r.Result, "capabilities"), st.Capabilities)
	} else if !stale {
		_, _ = sess.Ping(ctx) // a session that is lost is made again
	}
	if stale && sess.Use().Inflight == 0 {
		if err := sess.Reconnect(ctx); err != nil {
			c.s.log.Debug("cannot reconnect to agent", "agent", sess.Name(), "err", err)
		}
	}
	c.setUp(ctx, sess)
	c.resubscribe(ctx, sess)
}

// markDoubtful has the agent's session renewed when it is needed again.
func (c *client) markDoubtful(agent string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, ok := c.delivered[agent]; ok {
		was.doubt = true
		c.delivered[agent] = was
	}
}

// RoutesChanged says that Agents returns something else now: clients are notified, those that listen learn of new
// agents' changes too, and what they followed at agents that are no more ends.
func (s *Server) RoutesChanged() {
	s.names.retain(s.o.Agents())
	s.health.retain(s.o.Agents())
	s.left.reset()
	for _, c := range s.allClients() {
		c.background(func(ctx context.Context) {
			c.forgetGone()
			for _, sess := range c.m.Servers() {
				sess.Invalidate() // its name may mean another agent now
			}
			c.announce(allChanged...)
			for _, agent := range c.agents() {
				sess, ok := c.m.Server(agent)
				switch attentive := c.listening() || c.follows(agent); {
				case ok && attentive:
					c.background(func(ctx context.Context) {
						ctx, cancel := context.WithTimeout(ctx, s.o.Limit(agent))
						defer cancel()
						if sess.Connect(ctx) == nil {
							c.renew(ctx, sess)
						}
					})
				case ok:
					c.markDoubtful(agent)
				case attentive:
					c.fetch(agent, hello)
				}
			}
		})
	}
}
