package aggregate

import (
	"context"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxWatched bounds what one client can make us remember.
const maxWatched = 1000

// watched is a resource that a client follows.
type watched struct {
	agent, uri string // the agent's own URI
	n          int    // of subscriptions
}

// subscribe follows a resource by the URI that the client uses, which may be one with the agent's name. The agent is asked once, however many listen.
func (c *client) subscribe(ctx context.Context, uri string) error {
	if len(uri) > maxURI {
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: uri is longer than %d bytes", maxURI).With("field", "uri")
	}
	c.watching.Lock()
	defer c.watching.Unlock()
	c.mu.Lock()
	w, have := c.watched[uri]
	full := len(c.watched) >= maxWatched
	if have {
		w.n++
		c.watched[uri] = w
	}
	c.mu.Unlock()
	switch {
	case have:
		return nil
	case full:
		return jsonrpc.Errorf(jsonrpc.KindQueueFull, "too many subscriptions: the maximum of a client is %d; unsubscribe from some", maxWatched)
	}
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Patience)
	defer cancel()
	agent, own, err := c.owner(ctx, uri)
	if err != nil {
		return err
	}
	sess, err := c.connect(ctx, agent)
	if err != nil {
		return agentError(agent, err)
	}
	c.mu.Lock() // before the agent knows, or its first word would be lost
	c.watched[uri] = watched{agent, own, 1}
	c.mu.Unlock()
	if err := sess.Subscribe(ctx, own); err != nil {
		c.mu.Lock()
		delete(c.watched, uri)
		c.mu.Unlock()
		return agentError(agent, err)
	}
	return nil
}

// unsubscribe ends one subscription to a resource; in a session, which counts none, all of it. The agent is told when nobody follows it any more.
func (c *client) unsubscribe(ctx context.Context, uri string) error {
	c.watching.Lock()
	defer c.watching.Unlock()
	c.mu.Lock()
	w, have := c.watched[uri]
	if w.n--; w.n > 0 && c.id == "" { // of callers who share a session others still listen
		c.watched[uri] = w
		c.mu.Unlock()
		return nil
	}
	delete(c.watched, uri)
	shared := false // by another spelling of the URI
	for _, o := range c.watched {
		shared = shared || o.agent == w.agent && o.uri == w.uri
	}
	c.mu.Unlock()
	if !have || shared {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Patience)
	defer cancel()
	sess, err := c.connect(ctx, w.agent)
	if err == nil {
		err = sess.Unsubscribe(ctx, w.uri)
	}
	if err != nil {
		return agentError(w.agent, err)
	}
	return nil
}

// follows reports whether a resource of an agent is followed.
func (c *client) follows(agent string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watched {
		if w.agent == agent {
			return true
		}
	}
	return false
}

// resubscribe follows at a new connection what was followed at the one before.
func (c *client) resubscribe(ctx context.Context, sess *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Limit(sess.Name()))
	defer cancel()
	c.mu.Lock()
	var uris []string
	for _, w := range c.watched {
		if w.agent == sess.Name() {
			uris = append(uris, w.uri)
		}
	}
	c.mu.Unlock()
	for _, uri := range uris {
		if err := sess.Subscribe(ctx, uri); err != nil {
			c.s.log.Debug("cannot subscribe to a resource again", "agent", sess.Name(), "uri", uri, "err", err)
		}
	}
}
