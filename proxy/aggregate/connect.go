package aggregate

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// delivered is what a connection with an agent was sent.
type delivered struct {
	conn  uint64 // which connection
	level string
	doubt bool // whether it is of use still
}

// connect is the session with an agent, connected.
func (c *client) connect(ctx context.Context, agent string) (*session.Session, error) {
	sess, err := c.connectAgent(ctx, agent)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	was := c.delivered[agent]
	doubt := was.doubt
	if was.doubt = false; doubt {
		c.delivered[agent] = was
	}
	c.mu.Unlock()
	if doubt {
		c.renew(ctx, sess)
	} else {
		c.setUp(ctx, sess)
	}
	return sess, nil
}

// status is connect, with the connection's status, whose era requests have to follow. If the connection is lost meanwhile,
// another one is made.
func (c *client) status(ctx context.Context, agent string) (*session.Session, session.Status, error) {
	if sess, ok := c.m.Server(agent); ok {
		if err := c.ended(sess); err != nil {
			return nil, session.Status{}, err
		}
		if st := sess.Status(); st.Era != "" && c.isSetUp(agent, st.Conn) {
			return sess, st, nil
		}
	}
	for try := 1; ; try++ {
		sess, err := c.connect(ctx, agent)
		if err != nil {
			return nil, session.Status{}, err
		}
		st := sess.Status()
		switch {
		case st.Era != "":
			return sess, st, nil
		case try == 3:
			return nil, st, &failure.Error{Kind: failure.ChannelClosed, Server: agent, Message: "its connections end as soon as they are made"}
		}
	}
}

// connectAgent is the session with an agent, of the era that suits both, once it is connected.
func (c *client) connectAgent(ctx context.Context, agent string) (*session.Session, error) {
	for try := 1; ; try++ {
		sess, err := c.sessionWith(agent)
		if err != nil {
			return nil, err
		}
		if err := c.ended(sess); err != nil {
			return nil, err
		}
		if err = sess.Connect(ctx); err == nil {
			return sess, nil
		}
		now, _ := c.m.Server(agent)
		switch {
		case ctx.Err() != nil || try == 3:
			return nil, err
		case modernOnly(sess, err):
			c.switchEra(agent, sess)
		case now == sess: // else somebody else has put another in its place
			return nil, err
		}
	}
}

// modernOnly reports whether an agent that did not take initialize may know the modern era only, whose questions are asked and
// answered in other ways.
func modernOnly(sess *session.Session, err error) bool {
	var e *failure.Error
	return sess.Config().Protocol != "" && errors.As(err, &e) &&
		(e.Kind == failure.RpcError && e.Status < 500 || e.Kind == failure.Protocol || e.Status >= 400 && e.Status < 500)
}

// switchEra gives up a session of the legacy era for one of the agent's own choice.
func (c *client) switchEra(agent string, was *session.Session) {
	c.switching.Lock()
	defer c.switching.Unlock()
	c.mu.Lock()
	c.modern[agent] = true
	c.mu.Unlock()
	if now, ok := c.m.Server(agent); ok && now == was {
		_ = c.m.Unregister(agent) // what it says is of no interest any more
	}
}

func agentURL(agent string) string { return "http://127.0.0.1/mcps/" + agent + "/mcp" }

// sessionWith is the session with an agent, not connected yet. That of a client of the legacy era is of that era too: agents
// ask such a client by requests, and send it what they log. Agents that know the modern era only are the exception.
func (c *client) sessionWith(agent string) (*session.Session, error) {
	if sess, ok := c.m.Server(agent); ok {
		return sess, nil
	}
	limit := c.s.o.Limit(agent)
	cfg := config.Server{
		Name: agent, Transport: config.HTTP, URL: agentURL(agent), NoReconnect: true,
		ConnectTimeout: limit, Timeout: limit, MaxTimeout: maxCall,
	}
	c.mu.Lock()
	legacy := c.id != "" && !c.modern[agent]
	c.mu.Unlock()
	if legacy {
		cfg.Protocol = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	if sole := c.s.o.Sole; sole != nil {
		cfg = sole.Server
		cfg.NoReconnect = cfg.NoReconnect || cfg.Command != "" // see ended
	}
	sess, err := c.m.Register(cfg)
	if err != nil {
		if sess, ok := c.m.Server(agent); ok { // somebody else was first
			return sess, nil
		}
		return nil, err
	}
	sess.OnNotification(func(frame []byte) { c.receiveNotification(sess, frame) })
	return sess, nil
}

// isSetUp reports whether setUp has nothing to do for a connection.
func (c *client) isSetUp(agent string, conn uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.delivered[agent] == delivered{conn: conn, level: c.level}
}

// setUp sends a new connection the log level and, if it replaced another, the client's subscriptions.
func (c *client) setUp(ctx context.Context, sess *session.Session) {
	agent, conn := sess.Name(), sess.Status().Conn
	c.mu.Lock()
	was := c.delivered[agent]
	level := c.level
	c.delivered[agent] = delivered{conn: conn, level: level, doubt: was.doubt}
	c.mu.Unlock()
	again := was.conn != 0 && was.conn != conn
	if level != "" && (was.conn != conn || was.level != level) && sess.Supports(string(mcp.MethodSetLogLevel)) {
		if err := sess.SetLevel(ctx, level); err != nil {
			c.s.log.Debug("cannot set log level", "agent", agent, "err", err)
		}
	}
	if again {
		c.background(func(ctx context.Context) { c.resubscribe(ctx, sess) })
	}
}
