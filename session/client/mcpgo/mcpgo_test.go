package mcpgo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/client"
	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

var (
	_ transport.Transport = (*fromMCPGo)(nil)
	_ transport.Versioned = (*fromMCPGoHTTP)(nil)
)

// A session over mcp-go's in-process transport, in both eras: lists, calls, progress, errors, cancellation, list_changed.
func TestS3_OverMCPGosTransport(t *testing.T) {
	for _, protocol := range []string{"", "2025-06-18"} {
		synctest.Test(t, func(t *testing.T) {
			started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			srv := sessiontest.WaitingServer(started, ended)
			m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
				return From(mcptransport.NewInProcessTransport(srv)), true
			}}, config.Server{Protocol: protocol})
			if l, err := s.List(t.Context(), offer.Tools); err != nil || len(l.Items) != 2 || l.Items[0].Name != "echo" {
				t.Fatal(l, err)
			}
			r, err := s.CallTool(t.Context(), "echo", []byte(`{"text":"hello"}`), session.CallOptions{})
			if c, cerr := offer.Contents(r.Result); err != nil || cerr != nil || len(c) != 1 || c[0].Text != "hello" {
				t.Error(string(r.Result), err, cerr)
			}
			synctest.Wait()
			progress := 0
			for _, e := range m.Journal().Snapshot(0, nil) {
				if e.Kind == journal.Notification && e.Method == "notifications/progress" {
					progress++ // the token went out and came back
				}
			}
			assert.Equalf(t, progress, 1, "progress notifications")
			var e *failure.Error
			if _, err := s.Call(t.Context(), "no/such", nil, session.CallOptions{}); !errors.As(err, &e) || e.Code == nil || *e.Code != -32601 {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-started; cancel() }()
			if _, err := s.CallTool(ctx, "wait", nil, session.CallOptions{}); failure.KindOf(err) != failure.Interrupted {
				t.Error(err)
			}
			<-ended
			if err := m.Close(); err != nil { // before the bubble ends
				t.Error(err)
			}
		})
	}
}

// asks is a transport of mcp-go whose server asks the client something during each request.
type asks struct {
	mcptransport.Interface
	handle mcptransport.RequestHandler
	lost   func(error)
	got    chan *mcptransport.JSONRPCResponse
}

func (a *asks) Start(context.Context) error                                     { return nil }
func (a *asks) Close() error                                                    { return nil }
func (a *asks) SetNotificationHandler(func(mcp.JSONRPCNotification))            {}
func (a *asks) SetRequestHandler(h mcptransport.RequestHandler)                 { a.handle = h }
func (a *asks) SetConnectionLostHandler(f func(error))                          { a.lost = f }
func (a *asks) SendNotification(context.Context, mcp.JSONRPCNotification) error { return nil }

func (a *asks) SendRequest(ctx context.Context, r mcptransport.JSONRPCRequest) (*mcptransport.JSONRPCResponse, error) {
	if r.Method == "initialize" {
		return mcptransport.NewJSONRPCResultResponse(r.ID, []byte(`{"protocolVersion":"2025-06-18","capabilities":{}}`)), nil
	}
	resp, err := a.handle(ctx, mcptransport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId("q"), Method: "roots/list"})
	if err != nil {
		return nil, err
	}
	a.got <- resp
	return mcptransport.NewJSONRPCErrorResponse(r.ID, -31999, "no", map[string]any{"n": 1}), nil
}

// Requests of the server are answered, errors keep their data, and a lost connection is noticed.
func TestS3_RequestsOverMCPGosTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asks{got: make(chan *mcptransport.JSONRPCResponse, 1)}
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}, Dial: func(config.Server) (transport.Transport, bool) { return From(a), true }},
			config.Server{Protocol: "2025-06-18", Roots: []string{"file:///r"}})
		_, err := s.Call(t.Context(), "x", nil, session.CallOptions{})
		var e *failure.Error
		if !errors.As(err, &e) || e.Code == nil || *e.Code != -31999 || string(e.Data) != `{"n":1}` {
			t.Errorf("%+v", err)
		}
		if r := <-a.got; string(r.Result) != `{"roots":[{"uri":"file:///r"}]}` || r.Error != nil || r.ID != mcp.NewRequestId("q") {
			t.Errorf("%+v", r)
		}
		a.lost(errors.New("gone"))
		synctest.Wait()
		if st := s.Status(); st.State != session.Failed {
			t.Errorf("%+v", st)
		}
		assert.NoError(t, m.Close())
	})
}

// mcp-go's typed client works over a session, and lets go of it without ending it.
func TestS3_MCPGosClientOverASession(t *testing.T) {
	for _, protocol := range []string{"", "2025-06-18"} {
		synctest.Test(t, func(t *testing.T) {
			started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			srv := sessiontest.WaitingServer(started, ended)
			m, s := sessiontest.Register(t, session.Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
				return From(mcptransport.NewInProcessTransport(srv)), true
			}}, config.Server{Protocol: protocol})
			c := client.NewClient(Client(s), client.WithSession())
			heard := make(chan string, 4)
			c.OnNotification(func(n mcp.JSONRPCNotification) { heard <- n.Method })
			if err := c.Start(t.Context()); err != nil || s.Status().State != session.Connected || !s.Use().Held {
				t.Fatal(err, s.Status().State)
			}
			l, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil || len(l.Tools) != 2 {
				t.Error(l, err)
			}
			call := mcp.CallToolRequest{}
			call.Params.Name, call.Params.Arguments = "echo", map[string]any{"text": "typed"}
			r, err := c.CallTool(t.Context(), call)
			if err != nil || len(r.Content) != 1 || r.Content[0].(mcp.TextContent).Text != "typed" {
				t.Error(r, err)
			}
			for got := ""; got != "notifications/progress"; got = <-heard { // the modern era acknowledges that we listen first
			}
			call.Params.Name = "no such tool"
			if _, err := c.CallTool(t.Context(), call); err == nil {
				t.Error("a tool that is not there was called")
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-started; cancel() }()
			call.Params.Name = "wait"
			if _, err := c.CallTool(ctx, call); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			<-ended
			if err := c.Close(); err != nil || s.Use().Held || s.Status().State != session.Connected {
				t.Error(err, s.Use(), s.Status().State)
			}
			assert.NoError(t, m.Close())
		})
	}
}
