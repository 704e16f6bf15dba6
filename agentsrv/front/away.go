package front

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Away is what another process needs to know of an exchange to work on it. The session's id is not in it, nor are the headers
// by which the client showed who it is.
type Away struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
	Token   json.RawMessage `json:"token,omitempty"`
	Modern  bool            `json:"modern,omitempty"`
	Version string          `json:"version,omitempty"`
	Caller  kit.Identity    `json:"caller"`
	Hops    []string        `json:"hops,omitempty"`

	Session bool                   `json:"session,omitempty"` // it belongs to one, of a client that is:
	Info    mcp.Implementation     `json:"info"`
	Caps    mcp.ClientCapabilities `json:"capabilities"`
	Level   mcp.LoggingLevel       `json:"level,omitempty"`
}

// Line leads to where the exchange arrived, and so to the client. Its methods are safe for concurrent use; once the answer is out Send gives ErrOver.
type Line interface {
	// Send has a frame written on the request's own stream. It waits while the client is slow.
	Send(frame []byte) error
	// Ask puts a question to the client, as Exchange.Ask does.
	Ask(ctx context.Context, method string, params []byte) (json.RawMessage, error)
	// Hangup is Exchange.Hangup.
	Hangup(retry time.Duration) bool
}

// Away is x for another process.
func (x *Exchange) Away() Away {
	a := Away{ID: x.ID, Method: x.Method, Params: x.Params, Token: x.Token, Modern: x.Modern, Version: x.Version, Caller: x.Caller, Hops: x.Header[ingress.HeaderHops]}
	if c := x.clientInfo(); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		a.Session, a.Info, a.Caps, a.Level = true, c.info, c.caps, c.level
	}
	return a
}

// Exchange is the exchange in the process that works on it.
func (a Away) Exchange(to Line) *Exchange {
	x := &Exchange{ID: a.ID, Method: a.Method, Params: a.Params, Token: a.Token, Modern: a.Modern, Version: a.Version, Caller: a.Caller, Header: http.Header{}}
	if a.Hops != nil {
		maps.Copy(x.Header, http.Header{ingress.HeaderHops: a.Hops})
	}
	x.out, x.line = senderFunc(to.Send), to
	if a.Session {
		x.remote = &client{info: a.Info, caps: a.Caps, version: a.Version, level: a.Level, ready: true}
	}
	return x
}

// clientInfo is the client of x's session, here or in another process; nil without a session.
func (x *Exchange) clientInfo() *client {
	if x.Session != nil {
		return &x.Session.client
	}
	return x.remote
}
