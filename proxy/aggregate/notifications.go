package aggregate

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// handleNotification takes a notification of the client. Those that it does not know end here, as they would at a server.
func (c *client) handleNotification(env jsonrpc.Envelope) {
	if c.id == "" {
		return // callers who share sessions cannot speak for each other
	}
	switch mcp.MCPMethod(env.Method) {
	case mcp.MethodNotificationCancelled:
		id := jsonrpc.Get(env.Params, "requestId")
		c.mu.Lock()
		defer c.mu.Unlock()
		for x, cancel := range c.running {
			if jsonrpc.SameID(x.env.ID, id) {
				cancel(errCancelled)
			}
		}
	case mcp.MethodNotificationRootsListChanged:
		// Agents that are not connected yet ask for the roots when they want them.
		for _, agent := range c.agents() {
			if sess, ok := c.m.Server(agent); ok && sess.Status().Era == session.Legacy {
				c.background(func(ctx context.Context) {
					if err := sess.Notify(ctx, env.Method, env.Params); err != nil {
						c.s.log.Debug("cannot notify agent of changed roots", "agent", agent, "err", err)
					}
				})
			}
		}
	}
}

// receiveNotification takes a notification of an agent that no request of this client took for its own. Ids in it (tasks, tokens, loggers) become those
// that the client knows; what it says of a request goes to that request's stream.
func (c *client) receiveNotification(sess *session.Session, frame []byte) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return
	}
	agent := sess.Name()
	switch mcp.MCPMethod(env.Method) {
	case mcp.MethodNotificationCancelled, mcp.MethodNotificationSubscriptionsAcknowledged:
		return // between us and the agent
	case mcp.MethodNotificationProgress:
		token := jsonrpc.Get(frame, "params", "progressToken")
		c.mu.Lock()
		x := c.expected[string(token)]
		c.mu.Unlock()
		if x == nil || !x.handleOwnMessage(agent, frame, token) {
			c.taskProgress(agent, frame)
		}
		return
	case mcp.MethodNotificationTasksStatus:
		frame = c.taskIn(agent, frame, "params", "taskId")
	case mcp.MethodNotificationMessage:
		if x := c.exchangeWith(agent, false); x != nil && x.log(agent, frame) {
			return
		}
		frame = c.nameLogger(agent, frame)
	case mcp.MethodNotificationResourceUpdated:
		c.forwardUpdate(agent, env, frame)
		return
	}
	c.notify(env.Method, frame)
}

// notify gives a message that belongs to no request to all who want it: the listeners by their filters, and the session's own stream. Mailboxes are
// bounded, so that a client that reads nothing holds up nobody.
func (c *client) notify(method string, frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listeners {
		if l.wants(method) {
			l.put(frame)
		}
	}
	if c.id != "" {
		c.general.put(frame)
	}
}

// announce sends notifications of changed lists.
func (c *client) announce(lists ...mcp.MCPMethod) {
	for _, l := range lists {
		c.notify(string(l), jsonrpc.NewNotification(string(l), nil))
	}
}

// exchangeWith finds the request under way at an agent whose stream can carry a message: the only one, or with any set some.
func (c *client) exchangeWith(agent string, any bool) (to *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for x := range c.running {
		if x.agent == agent && x.events {
			to = x
			n++
		}
	}
	if n > 1 && !any {
		return nil
	}
	return to
}

// forwardUpdate passes on that a resource changed, under the URI by which the client follows it.
func (c *client) forwardUpdate(agent string, env jsonrpc.Envelope, frame []byte) {
	uri := jsonrpc.GetString(env.Params, "uri")
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, w := range c.watched {
		if w.agent != agent || w.uri != uri {
			continue
		}
		out := frame
		if name != uri {
			out = replace(frame, jsonrpc.Quote(name), "params", "uri")
		}
		for l := range c.listeners {
			if slices.Contains(l.uris, name) {
				l.put(out)
			}
		}
		if c.id != "" {
			c.general.put(out)
		}
	}
}
