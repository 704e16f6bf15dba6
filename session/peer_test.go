package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the server's end of a connection in memory; a test says what it does, frame by frame.
type peer struct {
	ctx context.Context
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// next reads one frame; false when the client is gone.
func (p *peer) next() (jsonrpc.Envelope, bool) {
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		return jsonrpc.Envelope{}, false
	}
	env, err := jsonrpc.Scan(line)
	if err != nil {
		panic(fmt.Sprintf("the client sent %q: %v", line, err))
	}
	return env, true
}

// say writes one line.
func (p *peer) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, format+"\n", args...) // the client may be gone
}

// answer writes a result for a request.
func (p *peer) answer(to jsonrpc.Envelope, result string) {
	p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result)
}

// refuse writes an error response.
func (p *peer) refuse(to jsonrpc.Envelope, code int, data string) {
	p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"refused"%s}}`, to.ID, code, data)
}

// greet is the server's side of the legacy handshake.
func (p *peer) greet(capabilities string) {
	for {
		env, ok := p.next()
		if !ok {
			return
		}
		switch env.Method {
		case "server/discover":
			p.refuse(env, -32601, "")
		case "initialize":
			p.answer(env, `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"peer","version":"1","extra":9007199254740993}}`)
		case "notifications/initialized":
			return
		}
	}
}

// serve calls f for every frame until the client is gone.
func (p *peer) serve(f func(env jsonrpc.Envelope)) {
	for {
		env, ok := p.next()
		if !ok {
			return
		}
		f(env)
	}
}

// dialPeer is Options.Dial for a scripted server; script runs once per connection, n = 1, 2, 3 …
func dialPeer(script func(n int, p *peer)) func(config.Server) (Transport, bool) {
	var mu sync.Mutex
	n := 0
	return func(config.Server) (Transport, bool) {
		mu.Lock()
		n++
		this := n
		mu.Unlock()
		return NewMemory(func(ctx context.Context, in io.Reader, out io.Writer) error {
			script(this, &peer{ctx: ctx, in: bufio.NewReader(in), out: out})
			return nil
		}), true
	}
}

// open registers one server and connects it. The manager is closed at the end of the test.
func open(t *testing.T, o Options, cfg config.Server) (*Manager, *Session) {
	t.Helper()
	m, s := register(t, o, cfg)
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m, s
}

func register(t *testing.T, o Options, cfg config.Server) (*Manager, *Session) {
	t.Helper()
	m := NewManager(o)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if cfg.Name == "" {
		cfg.Name = "peer"
	}
	s, err := m.Register(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

// notes are the notes of journal entries of a kind.
func notes(m *Manager, kind journal.Kind) string {
	var all []string
	for _, e := range m.Journal().Snapshot(0, nil) {
		if e.Kind == kind && e.Note != "" {
			all = append(all, e.Note)
		}
	}
	return strings.Join(all, "\n")
}
