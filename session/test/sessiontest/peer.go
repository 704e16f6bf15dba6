// Package sessiontest has servers for tests that follow a script, in the test's own process and within its virtual time.
//
// [Dial] runs a function for each connection, which reads and writes frames as a [Peer]; [Open] connects a session to it. A [Server] is one
// with tools that can be changed, told to hang, and counted; [Fleet] is a Manager of several. They end with their test.
package sessiontest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Peer is the server's end of a connection in memory; a test says what it does, frame by frame.
type Peer struct {
	Context context.Context
	in      *bufio.Reader
	mu      sync.Mutex
	out     io.Writer
}

// Next reads one frame; false when the client is gone.
func (p *Peer) Next() (jsonrpc.Envelope, bool) {
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

// Send writes one line.
func (p *Peer) Send(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, format+"\n", args...) // the client may be gone
}

// Answer writes a result for a request.
func (p *Peer) Answer(to jsonrpc.Envelope, result string) {
	p.Send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result)
}

// Refuse writes an error response.
func (p *Peer) Refuse(to jsonrpc.Envelope, code int, data string) {
	p.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"refused"%s}}`, to.ID, code, data)
}

// Handshake is the server's side of the legacy handshake.
func (p *Peer) Handshake(capabilities string) {
	for {
		env, ok := p.Next()
		if !ok {
			return
		}
		switch env.Method {
		case "server/discover":
			p.Refuse(env, -32601, "")
		case "initialize":
			p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"peer","version":"1","extra":9007199254740993}}`)
		case "notifications/initialized":
			return
		}
	}
}

// Serve calls f for every frame until the client is gone.
func (p *Peer) Serve(f func(env jsonrpc.Envelope)) {
	for {
		env, ok := p.Next()
		if !ok {
			return
		}
		f(env)
	}
}

// Dial is Options.Dial for a scripted server; script runs once per connection, n = 1, 2, 3 …
func Dial(script func(n int, p *Peer)) func(config.Server) (transport.Transport, bool) {
	var mu sync.Mutex
	n := 0
	return func(config.Server) (transport.Transport, bool) {
		mu.Lock()
		n++
		this := n
		mu.Unlock()
		return transport.NewMemory(func(ctx context.Context, in io.Reader, out io.Writer) error {
			script(this, &Peer{Context: ctx, in: bufio.NewReader(in), out: out})
			return nil
		}), true
	}
}

// Open registers one server and connects it. The manager is closed at the end of the test.
func Open(t *testing.T, o session.Options, cfg config.Server) (*session.Manager, *session.Session) {
	t.Helper()
	m, s := Register(t, o, cfg)
	require.NoError(t, s.Connect(t.Context()))
	return m, s
}

// Register registers one server and leaves it disconnected.
func Register(t *testing.T, o session.Options, cfg config.Server) (*session.Manager, *session.Session) {
	t.Helper()
	m := session.NewManager(o)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if cfg.Name == "" {
		cfg.Name = "peer"
	}
	s, err := m.Register(cfg)
	require.NoError(t, err)
	return m, s
}

// Notes are the notes of journal entries of a kind.
func Notes(m *session.Manager, kind journal.Kind) string {
	var all []string
	for _, e := range m.Journal().Snapshot(0, nil) {
		if e.Kind == kind && e.Note != "" {
			all = append(all, e.Note)
		}
	}
	return strings.Join(all, "\n")
}
