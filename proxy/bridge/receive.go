package bridge

import (
	"bytes"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Frame takes what the process wrote.
func (c *child) Frame(frame []byte) {
	if first := bytes.TrimLeft(frame, " \t\r"); len(first) > 0 && first[0] == '[' && jsonrpc.Valid(first) == nil {
		_ = jsonrpc.Elements(first, func(one []byte) bool { // a batch, which 2025-03-26 allows servers to send
			c.frame(one)
			return true
		})
		return
	}
	c.frame(frame)
}

func (c *child) frame(frame []byte) {
	env, err := jsonrpc.Scan(frame)
	switch env.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		if x := c.take(env.ID); x != nil {
			if c.modern || x.method == string(mcp.MethodInitialize) {
				if env.Kind == jsonrpc.Response && !c.introduced.Swap(true) && c.b.o.Judge != nil {
					_, _ = c.b.o.Judge(nil)
				}
			}
			x.out.Put(message{pieces: replaceAt(frame, x.id, "id"), final: true, env: env, status: status(env, c.modern)})
		}
	case jsonrpc.Notification:
		c.handleNotification(env, frame)
	case jsonrpc.Request:
		c.handleRequest(env, frame)
	default:
		c.b.log.Warn("agent wrote a line that is not JSON-RPC; servers must log to stderr", "pid", c.pid(), "err", err)
		c.b.record(journal.Entry{Dir: journal.In, Kind: journal.Bad, Note: "not JSON-RPC"}, []byte(c.b.hide(string(frame))))
		if env.Method != "" {
			return
		}
		if x := c.take(env.ID); x != nil {
			x.out.Fail(fmt.Errorf("malformed answer: %w", err))
		}
	}
}

// status is the HTTP status that an answer comes with.
func status(env jsonrpc.Envelope, modern bool) int {
	if env.Kind == jsonrpc.Response {
		return 200
	}
	e, err := jsonrpc.ParseError(env.Error)
	if err != nil {
		return 200
	}
	return jsonrpc.StatusOf(e.Code, modern)
}

// replaceAt is text in pieces, with another value where path leads; text itself if it leads nowhere.
func replaceAt(text, value []byte, path ...string) [][]byte {
	start, end, ok := jsonrpc.Find(text, path...)
	if !ok {
		return [][]byte{text}
	}
	return [][]byte{text[:start], value, text[end:]}
}

func (c *child) handleNotification(env jsonrpc.Envelope, frame []byte) {
	if env.Method == string(mcp.MethodNotificationProgress) {
		if x := c.find(jsonrpc.Get(env.Params, "progressToken")); x != nil && x.token != nil {
			x.send(message{pieces: replaceAt(frame, x.token, "params", "progressToken")})
		}
		return
	}
	if c.modern {
		c.notifiedModern(env, frame)
		return
	}
	s, x := c.cause()
	switch env.Method {
	case string(mcp.MethodNotificationMessage):
		if x != nil && x.send(message{pieces: [][]byte{frame}}) {
			return
		}
		if s != nil && !c.common {
			s.send(message{pieces: [][]byte{frame}}, false)
			return
		}
		c.each(func(s *clientSession) { s.send(message{pieces: [][]byte{frame}}, false) })
	case string(mcp.MethodNotificationCancelled): // of a request of its own
		id := jsonrpc.IDKey(string(jsonrpc.Get(env.Params, "requestId")))
		c.mu.Lock()
		to := c.asks[id]
		delete(c.asks, id)
		c.mu.Unlock()
		if to != nil {
			to.send(message{pieces: [][]byte{frame}}, true)
		}
	case string(mcp.MethodNotificationResourceUpdated):
		uri := jsonrpc.GetString(env.Params, "uri")
		c.each(func(s *clientSession) {
			if !c.common || s.watches(uri) {
				s.send(message{pieces: [][]byte{frame}}, true)
			}
		})
	default:
		c.each(func(s *clientSession) { s.send(message{pieces: [][]byte{frame}}, true) })
	}
}

// notifiedModern gives a notification of the modern era to the request that it belongs to. One that does not say to which is
// for the only one that asked for log messages, or for nobody.
func (c *child) notifiedModern(env jsonrpc.Envelope, frame []byte) {
	if start, end, ok := jsonrpc.Find(env.Params, "_meta", mcp.MetaKeySubscriptionID); ok {
		if x := c.find(env.Params[start:end]); x != nil && x.endless() {
			x.send(message{pieces: replaceAt(frame, x.id, "params", "_meta", mcp.MetaKeySubscriptionID)})
		}
		return
	}
	c.mu.Lock()
	var to *exchange
	n := 0
	for _, x := range c.pending {
		if x.logs && !x.endless() {
			to = x
			n++
		}
	}
	c.mu.Unlock()
	if n == 1 {
		to.send(message{pieces: [][]byte{frame}})
	}
}

// send forwards a notification to the caller; false if the caller accepts only the answer.
func (x *exchange) send(m message) bool {
	if !x.events {
		return false
	}
	x.out.Put(m)
	return true
}

func (c *child) each(f func(*clientSession)) {
	c.mu.Lock()
	all := make([]*clientSession, 0, len(c.sessions))
	for s := range c.sessions {
		all = append(all, s)
	}
	c.mu.Unlock()
	for _, s := range all {
		f(s)
	}
}

// handleRequest forwards a request of the process to the session that caused it. It is refused at once where that session
// cannot be determined, or its client did not declare the capability.
func (c *child) handleRequest(env jsonrpc.Envelope, frame []byte) {
	if env.Method == string(mcp.MethodPing) {
		c.write(jsonrpc.NewResult(env.ID, nil))
		return
	}
	s, x := c.cause()
	if s == nil && !c.common {
		c.each(func(only *clientSession) { s = only })
	}
	why := ""
	switch {
	case c.modern:
		why = "protocol version " + mcp.ProtocolVersion20260728 + " has no requests from servers"
	case s == nil:
		why = "its client cannot be determined"
	case len(env.ID) > ingress.MaxID:
		why = "its id is too long"
	case c.common && !s.answers(env.Method):
		why = "the client cannot answer it"
	default:
		id := jsonrpc.IDKey(string(env.ID))
		c.mu.Lock()
		if c.dead == nil && len(c.asks) < maxPending {
			c.asks[id] = s
		}
		c.mu.Unlock()
		m := message{pieces: [][]byte{frame}}
		if x != nil && x.send(m) || s.send(m, true) {
			return
		}
		c.mu.Lock()
		delete(c.asks, id)
		c.mu.Unlock()
		why = "the client has no open stream for it"
	}
	refusal := jsonrpc.NewError(env.ID, jsonrpc.CodeMethodNotFound, env.Method+" is not possible here: "+why, nil)
	conn := uint64(1<<30 | c.pid()&(1<<30-1)) // apart from those of clients
	c.b.record(journal.Entry{Dir: journal.In, Conn: conn}, frame)
	c.b.record(journal.Entry{Dir: journal.Out, Conn: conn}, refusal)
	c.write(refusal)
}
