package tap

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// socketDir is a folder whose path is short enough for sockets.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tap")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "mcphud")
}

func open(t testing.TB, o Options) *Producer {
	t.Helper()
	if o.Dir == "" {
		o.Dir = socketDir(t)
	}
	p, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	return p
}

// msg is one message of the stream.
type msg struct {
	kind    byte
	hello   Hello
	head    head
	body    string
	dropped uint64
}

// dial reads a producer's stream by hand.
type dialled struct {
	t testing.TB
	c *net.UnixConn
	r *bufio.Reader
}

func dial(t testing.TB, p *Producer) *dialled {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: p.Path(), Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &dialled{t, c, bufio.NewReader(c)}
}

// next is the next message, spans left out.
func (d *dialled) next() msg {
	d.t.Helper()
	for {
		m, err := d.try()
		require.NoError(d.t, err)
		if m.head.Kind != "span" {
			return m
		}
	}
}

// span is the next span.
func (d *dialled) span() (m msg, s span.Span) {
	d.t.Helper()
	for m.head.Kind != "span" {
		var err error
		if m, err = d.try(); err != nil {
			d.t.Fatal(err)
		}
	}
	s, err := span.Parse([]byte(m.body))
	if err != nil {
		d.t.Fatal(err, m.body)
	}
	return m, s
}

func (d *dialled) try() (m msg, err error) {
	_ = d.c.SetReadDeadline(time.Now().Add(20 * time.Second))
	kind, text, body, err := read(d.r)
	if err != nil {
		return m, err
	}
	m.kind, m.body = kind, string(body)
	switch kind {
	case msgHello:
		err = json.Unmarshal(text, &m.hello)
	case msgEntry:
		err = json.Unmarshal(text, &m.head)
	case msgDropped:
		var n dropped
		err = json.Unmarshal(text, &n)
		m.dropped = n.Dropped
	}
	return m, err
}

// rest reads to the end of the stream.
func (d *dialled) rest() (all []msg) {
	d.t.Helper()
	for {
		m, err := d.try()
		if err == io.EOF {
			return all
		}
		require.NoError(d.t, err)
		all = append(all, m)
	}
}

func frame(p *Producer, s string) { p.Append(journal.Entry{Dir: journal.Out}, []byte(s)) }
