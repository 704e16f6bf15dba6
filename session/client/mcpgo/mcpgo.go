// Package mcpgo joins sessions and mcp-go in both directions.
//
// [From] makes any transport of mcp-go one that a session can be opened over: give it to session.Options.Dial, and what it carries is
// journalled, timed out and cancelled like frames of our own transports. The session owns what From returns, and closes it.
//
// [Client] makes a session the transport of mcp-go's typed client, so that a program written against mcp-go has the session's
// reconnection, logins and journal. Closing that client leaves the session open for others.
package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// From carries a session's frames over any transport of mcp-go, such as its in-process one: what mcp-go can reach,
// a session can. mcp-go decodes the envelopes, so the journal holds them as they are encoded again; results and params
// of requests are the bytes that arrived, data of errors and params of notifications are not. The transports of this
// package keep every byte and are faster.
func From(t mcptransport.Interface) transport.Transport {
	a := &fromMCPGo{t: t, asked: map[string]chan<- *mcptransport.JSONRPCResponse{}}
	if h, ok := t.(mcptransport.HTTPConnection); ok {
		return &fromMCPGoHTTP{a, h}
	}
	return a
}

type fromMCPGo struct {
	t    mcptransport.Interface
	stop context.CancelFunc
	once sync.Once

	mu     sync.RWMutex       // held for reading while the receiver is called, so that Close waits for that
	in     transport.Receiver // nil before Start and after Close
	askMu  sync.Mutex
	asked  map[string]chan<- *mcptransport.JSONRPCResponse // requests of the server that wait, by id
	closed error                                           // what closing said
}

// fromMCPGoHTTP is over HTTP, which mcp-go tells apart by this method.
type fromMCPGoHTTP struct {
	*fromMCPGo
	h mcptransport.HTTPConnection
}

// Traits has the headers.
func (a *fromMCPGoHTTP) Traits() transport.Traits {
	return transport.Traits{Kind: config.HTTP, HTTP: a}
}

// SetVersion passes the version on.
func (a *fromMCPGoHTTP) SetVersion(v string) { a.h.SetProtocolVersion(v) }

// SessionID is mcp-go's.
func (a *fromMCPGoHTTP) SessionID() string { return a.h.GetSessionId() }

// Traits are those of memory: what mcp-go reaches over HTTP has its own.
func (a *fromMCPGo) Traits() transport.Traits { return transport.Traits{Kind: "memory"} }

// Start connects. mcp-go ties a connection's life to the context that it was started with, so it gets one of its own.
func (a *fromMCPGo) Start(ctx context.Context, in transport.Receiver) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	a.mu.Lock()
	a.in = in
	a.mu.Unlock()
	a.t.SetNotificationHandler(func(n mcp.JSONRPCNotification) { a.deliver(n) })
	if b, ok := a.t.(mcptransport.BidirectionalInterface); ok {
		b.SetRequestHandler(a.ask)
	}
	if l, ok := a.t.(interface{ SetConnectionLostHandler(func(error)) }); ok {
		l.SetConnectionLostHandler(func(err error) { a.receive(func(in transport.Receiver) { in.Lost(err) }) })
	}
	bound := context.AfterFunc(ctx, stop)
	err := a.t.Start(life)
	if !bound() && err == nil {
		err = ctx.Err()
	}
	return err
}

// receive calls f unless the transport is closed.
func (a *fromMCPGo) receive(f func(transport.Receiver)) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.in != nil {
		f(a.in)
	}
}

// deliver encodes a message of the server again.
func (a *fromMCPGo) deliver(message any) {
	frame, err := json.Marshal(message)
	if err != nil { // it was JSON before mcp-go decoded it
		return
	}
	a.receive(func(in transport.Receiver) { in.Frame(frame) })
}

// ask hands a request of the server to the receiver and waits for its answer.
func (a *fromMCPGo) ask(ctx context.Context, r mcptransport.JSONRPCRequest) (*mcptransport.JSONRPCResponse, error) {
	id, err := json.Marshal(r.ID)
	if err != nil {
		return nil, err
	}
	answer := make(chan *mcptransport.JSONRPCResponse, 1)
	a.askMu.Lock()
	a.asked[string(id)] = answer
	a.askMu.Unlock()
	defer func() {
		a.askMu.Lock()
		delete(a.asked, string(id))
		a.askMu.Unlock()
	}()
	a.deliver(r)
	select {
	case resp := <-answer:
		resp.ID = r.ID
		return resp, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Send makes the exchange of a request, or passes a notification or an answer on.
func (a *fromMCPGo) Send(ctx context.Context, m transport.Message) error {
	switch m.Env.Kind {
	case jsonrpc.Request:
		return a.request(ctx, m)
	case jsonrpc.Notification:
		var n mcp.JSONRPCNotification
		if err := json.Unmarshal(m.Frame, &n); err != nil {
			return err
		}
		return a.t.SendNotification(ctx, n)
	}
	resp := new(mcptransport.JSONRPCResponse)
	if err := json.Unmarshal(m.Frame, resp); err != nil {
		return err
	}
	a.askMu.Lock()
	waits := a.asked[string(m.Env.ID)]
	delete(a.asked, string(m.Env.ID))
	a.askMu.Unlock()
	if waits != nil {
		waits <- resp
	}
	return nil
}

func (a *fromMCPGo) request(ctx context.Context, m transport.Message) error {
	r := mcptransport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, Method: m.Env.Method, Header: m.Header}
	if err := json.Unmarshal(m.Env.ID, &r.ID); err != nil {
		return err
	}
	if m.Env.Params != nil {
		r.Params = json.RawMessage(m.Env.Params)
	}
	resp, err := a.t.SendRequest(ctx, r)
	switch {
	case errors.Is(err, mcptransport.ErrSessionTerminated):
		return fmt.Errorf("%w: %w", transport.ErrSessionLost, &transport.HTTPError{Status: http.StatusNotFound, Method: http.MethodPost})
	case err != nil:
		return err
	case resp.Error != nil:
		var data []byte
		if resp.Error.Data != nil {
			if data, err = json.Marshal(resp.Error.Data); err != nil {
				return err
			}
		}
		frame := jsonrpc.NewError(m.Env.ID, int64(resp.Error.Code), resp.Error.Message, data)
		a.receive(func(in transport.Receiver) { in.Frame(frame) })
		return nil
	}
	frame := jsonrpc.NewResult(m.Env.ID, resp.Result)
	a.receive(func(in transport.Receiver) { in.Frame(frame) })
	return nil
}

// Close closes mcp-go's mcptransport.
func (a *fromMCPGo) Close() error {
	a.once.Do(func() {
		a.mu.Lock()
		a.in = nil
		a.mu.Unlock()
		a.closed = a.t.Close()
		if a.stop != nil {
			a.stop()
		}
	})
	return a.closed
}

// Client is the session as a transport for mcp-go's typed client, which needs no handshake over it:
//
//	c := client.NewClient(mcpgo.Client(s), client.WithSession())
//	err := c.Start(ctx) // connects the session, and counts it as in use until c.Close
//
// Requests go through the session, with its reconnecting, timeouts, journal and the members that the server's era wants;
// what mcp-go makes of the answers is its own. mcp-go's client sees the notifications that the server sends.
func Client(s *session.Session) mcptransport.Interface { return &toMCPGo{s: s} }

type toMCPGo struct {
	s    *session.Session
	once sync.Once
	mu   sync.Mutex
	off  []func()
}

// Start connects the session.
func (t *toMCPGo) Start(ctx context.Context) error {
	t.once.Do(func() { t.defers(t.s.Hold()) })
	return t.s.Connect(ctx)
}

func (t *toMCPGo) defers(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.off = append(t.off, f)
}

// SendRequest makes one call. Its header is left out: the session knows which ones the server wants.
func (t *toMCPGo) SendRequest(ctx context.Context, r mcptransport.JSONRPCRequest) (*mcptransport.JSONRPCResponse, error) {
	var params json.RawMessage
	if r.Params != nil {
		var err error
		if params, err = json.Marshal(r.Params); err != nil {
			return nil, err
		}
		if string(params) == "null" {
			params = nil
		}
	}
	resp := &mcptransport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: r.ID}
	reply, err := t.s.Call(ctx, r.Method, params, session.CallOptions{})
	var e *failure.Error
	if errors.As(err, &e) && e.Code != nil {
		resp.Error = &mcp.JSONRPCErrorDetails{Code: int(*e.Code), Message: e.Message}
		if e.Data != nil {
			resp.Error.Data = e.Data
		}
		return resp, nil
	}
	resp.Result = reply.Result
	return resp, err
}

// SendNotification drops what a session does by itself, which is all that mcp-go's client sends after the handshake:
// a cancelled context has already cancelled the request at the server.
func (t *toMCPGo) SendNotification(context.Context, mcp.JSONRPCNotification) error { return nil }

// SetNotificationHandler gives handler the server's notifications until Close.
func (t *toMCPGo) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	t.defers(t.s.OnNotification(func(frame []byte) {
		var n mcp.JSONRPCNotification
		if json.Unmarshal(frame, &n) == nil {
			handler(n)
		}
	}))
}

// Close lets go of the session, which stays connected for others.
func (t *toMCPGo) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.off {
		f()
	}
	t.off = nil
	return nil
}

// GetSessionId is the Mcp-Session-Id, "" where there is none.
func (t *toMCPGo) GetSessionId() string { return t.s.Status().SessionID }
