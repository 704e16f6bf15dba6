package aggregate

import (
	"context"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLevel sets the log level at all agents, now or when they are connected.
func (x *exchange) setLevel(ctx context.Context) ([]byte, error) {
	level := jsonrpc.GetString(x.env.Params, "level")
	if !slices.Contains(levels, level) {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: level is not a valid log level").With("field", "level")
	}
	c := x.c
	c.mu.Lock()
	c.level = level
	c.mu.Unlock()
	agents, began := c.agents(), time.Now()
	fetches := make([]*fetch, len(agents))
	for i, a := range agents {
		fetches[i] = c.fetch(a, hello)
	}
	for i, a := range agents {
		_ = c.await(ctx, fetchKey{a, hello}, fetches[i], began, c.s.o.Patience) // an agent that cannot be reached gets the level when it can
	}
	// A connection that was being made for somebody else may have got the level before.
	for _, a := range agents {
		if sess, ok := c.m.Server(a); ok && sess.Status().State == session.Connected {
			c.setUp(ctx, sess)
		}
	}
	return []byte("{}"), nil
}

// wantsLevel sees to it that an agent of the legacy era sends what a caller of the modern one, who asks for log messages with
// each request, wants to have.
func (x *exchange) wantsLevel(ctx context.Context, sess *session.Session) {
	level := x.level()
	if level == "" || !sess.Supports(string(mcp.MethodSetLogLevel)) {
		return
	}
	c, agent, conn := x.c, sess.Name(), sess.Status().Conn
	c.mu.Lock()
	was := c.delivered[agent]
	enough := was.conn == conn && was.level != "" && slices.Index(levels, was.level) <= slices.Index(levels, level)
	if !enough {
		c.delivered[agent] = delivered{conn: conn, level: level, doubt: was.doubt}
	}
	c.mu.Unlock()
	if enough {
		return
	}
	if err := sess.SetLevel(ctx, level); err != nil {
		c.s.log.Debug("cannot set log level", "agent", agent, "err", err)
	}
}

// level is from which level on the caller wants to have log messages, "" for none.
func (x *exchange) level() string {
	level := ""
	if x.modern {
		level = jsonrpc.GetString(x.env.Params, "_meta", mcp.MetaKeyLogLevel)
	} else {
		x.c.mu.Lock()
		defer x.c.mu.Unlock()
		if level = x.c.level; level == "" {
			return levels[0]
		}
	}
	if !slices.Contains(levels, level) {
		return ""
	}
	return level
}

// log passes on what an agent logged about this request; false if that has to find another way.
func (x *exchange) log(agent string, frame []byte) bool {
	said := jsonrpc.GetString(frame, "params", "level")
	level := x.level()
	if level == "" || slices.Index(levels, said) < slices.Index(levels, level) {
		return true // not wanted
	}
	return x.send(x.c.nameLogger(agent, frame))
}

// nameLogger is a log message whose logger names the agent first, where there can be several.
func (c *client) nameLogger(agent string, frame []byte) []byte {
	if c.s.o.Sole != nil {
		return frame
	}
	if own := jsonrpc.GetString(frame, "params", "logger"); own != "" {
		agent += "/" + own
	}
	frame, _ = jsonrpc.Update(frame, jsonrpc.Set(jsonrpc.Quote(agent), "params", "logger")) // was scanned; has params that are an object
	return frame
}
