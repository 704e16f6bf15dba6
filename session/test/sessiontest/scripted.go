package sessiontest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Server is a server in memory that counts what it is asked.
type Server struct {
	Modern  bool
	List    string            // more members of a tools/list result, such as `,"ttlMs":1000`
	Slow    time.Duration     // before a handshake is answered
	Results map[string]string // more results, by method
	Broken  bool              // ends instead of answering

	mu      sync.Mutex
	tools   []string
	Starts  int
	running int
	calls   map[string]int
	mute    bool // of the running connection: answers nothing
	send    func(frame string)
}

// NewServer is a server that lists tools of these names.
func NewServer(tools ...string) *Server { return &Server{tools: tools, calls: map[string]int{}} }

// Count is how often a method was asked for.
func (f *Server) Count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// State is how many connections there were, and are.
func (f *Server) State() (starts, running int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Starts, f.running
}

// Change gives the server other tools, and has it say so.
func (f *Server) Change(tools ...string) {
	f.mu.Lock()
	f.tools = tools
	send := f.send
	f.mu.Unlock()
	send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

// Hang makes the running connection answer nothing any more.
func (f *Server) Hang() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mute = true
}

// Serve speaks MCP over one connection, for transport.NewMemory.
func (f *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var wmu sync.Mutex
	send := func(frame string) {
		wmu.Lock()
		defer wmu.Unlock()
		_, _ = io.WriteString(out, frame+"\n") // the client may have gone
	}
	f.mu.Lock()
	f.Starts++
	f.running++
	f.send, f.mute = send, false
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	for sc := bufio.NewScanner(in); sc.Scan(); {
		if f.Broken {
			return fmt.Errorf("broken on purpose")
		}
		env, err := jsonrpc.Scan(sc.Bytes())
		if err != nil || env.Kind != jsonrpc.Request {
			continue
		}
		f.mu.Lock()
		f.calls[env.Method]++
		mute := f.mute
		f.mu.Unlock()
		if mute {
			continue
		}
		send(f.answer(ctx, env))
	}
	return nil
}

func (f *Server) answer(ctx context.Context, env jsonrpc.Envelope) string {
	result, fault := "", ""
	switch env.Method {
	case "initialize", "server/discover":
		if (env.Method == "initialize") == f.Modern {
			fault = `{"code":-32601,"message":"no such method"}`
			break
		}
		select {
		case <-time.After(f.Slow):
		case <-ctx.Done():
		}
		result = `{"protocolVersion":"2025-11-25","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{}},"serverInfo":{"name":"scripted","version":"1"}}`
	case "tools/list":
		f.mu.Lock()
		var items []string
		for _, name := range f.tools {
			items = append(items, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		f.mu.Unlock()
		result = `{"tools":[` + strings.Join(items, ",") + `]` + f.List + `}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"called"}]}`
	case "ping":
		result = `{}`
	default:
		var ok bool
		if result, ok = f.Results[env.Method]; !ok {
			fault = `{"code":-32601,"message":"no such method"}`
		}
	}
	if fault != "" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, env.ID, fault)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, result)
}

// Fleet is a Manager of scripted servers, registered in the order of names.
func Fleet(t *testing.T, servers map[string]*Server, names ...string) *session.Manager {
	t.Helper()
	m := session.NewManager(session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}, Dial: func(c config.Server) (transport.Transport, bool) {
		f, ok := servers[c.Name]
		return transport.NewMemory(f.Serve), ok
	}})
	for _, name := range names {
		cfg := config.Server{Name: name}
		if f := servers[name]; f != nil && !f.Modern {
			cfg.Protocol = "2025-11-25"
		}
		if _, err := m.Register(cfg); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// CloseAll ends a pool and its manager.
func CloseAll(t *testing.T, m *session.Manager, closers ...interface{ Close() }) {
	t.Helper()
	for _, c := range closers {
		c.Close()
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
