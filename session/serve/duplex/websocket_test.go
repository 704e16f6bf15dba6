package duplex

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// dial opens a WebSocket.
func dial(t *testing.T, h *host, header http.Header) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), h.url+"/ws", &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{"mcp"}})
	require.NoError(t, err)
	if c.Subprotocol() != "mcp" {
		t.Errorf("subprotocol %q", c.Subprotocol())
	}
	c.SetReadLimit(-1)
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

func say(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	require.NoError(t, c.Write(t.Context(), websocket.MessageText, []byte(text)))
}

// hears reads a message with this in it.
func hears(t *testing.T, c *websocket.Conn, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	kind, b, err := c.Read(ctx)
	if err != nil || kind != websocket.MessageText || !strings.Contains(string(b), want) {
		t.Fatalf("%v %v %.300s, want %s", kind, err, b, want)
	}
}

func TestP14b_BothWaysOverAWebSocket(t *testing.T) {
	h := newHost(t, Options{Heartbeat: 20 * time.Millisecond})
	c := dial(t, h, http.Header{"Authorization": {"Bearer ann"}, "X-Tenant-Id": {"acme"}, "Mcp-Session-Id": {"forged"}})
	say(t, c, handshake)
	hears(t, c, `"id":1,"result":{"protocolVersion":"2024-11-05"`)
	head := wait(t, "a request", h.headers)
	if head.Get("Authorization") != "Bearer ann" || head.Get("X-Tenant-Id") != "acme" || head.Get("Mcp-Session-Id") != "" || head.Get("Upgrade") != "" || head.Get("Sec-Websocket-Key") != "" {
		t.Errorf("headers %v", head)
	}
	say(t, c, ready)
	hears(t, c, "notifications/tools/list_changed") // of the session's own stream
	say(t, c, "{\"jsonrpc\":\"2.0\",\n\"id\":\"a\",\"method\":\"ping\"}")
	hears(t, c, `"id":"a","result":{}`)
	say(t, c, `{"jsonrpc":"2.0","id":2,"method":"hang"}`)
	wait(t, "the call", h.started)
	say(t, c, `{"jsonrpc":"2.0","id":3,"method":"big","params":{"n":3000000}}`) // overtakes
	hears(t, c, `"id":3,"result":"xxx`)
	assert.NoError(t, c.Close(websocket.StatusNormalClosure, ""))
	if got := wait(t, "the end of the session", h.ended); got != "s1" {
		t.Errorf("session %q ended", got)
	}
	require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })
}

func TestP14b_WhoMayOpenAWebSocket(t *testing.T) {
	h := newHost(t, Options{Most: 1})
	for origin, want := range map[string]int{"https://evil.example": 403, "null": 403, strings.Replace(h.url, "http://", "https://", 1): 403, "http://localhost:1": 403, h.url: 101} {
		c, res, err := websocket.Dial(t.Context(), h.url+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if res == nil || res.StatusCode != want {
			t.Errorf("%s: %v %v", origin, res, err)
		}
		if c != nil {
			_ = c.Close(websocket.StatusNormalClosure, "")
			require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })
		}
	}
	if _, res, _ := websocket.Dial(t.Context(), h.url+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer eve"}}}); res == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("%+v", res)
	}
	dial(t, h, nil)
	if _, res, _ := websocket.Dial(t.Context(), h.url+"/ws", nil); res == nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("%+v", res)
	}
}

// raw is a WebSocket as bytes.
type raw struct {
	net.Conn
	r *bufio.Reader
}

func rawDial(t *testing.T, h *host) *raw {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", strings.TrimPrefix(h.url, "http://")); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(res, err)
	}
	return &raw{c, r}
}

// frame writes a frame: first has fin and opcode.
func (c *raw) frame(t *testing.T, first byte, masked bool, payload string) {
	t.Helper()
	b := []byte{first}
	mask := byte(0)
	if masked {
		mask = 0x80
	}
	switch n := len(payload); {
	case n < 126:
		b = append(b, mask|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, mask|127), uint64(n))
	}
	if masked {
		b = append(b, 1, 2, 3, 4)
		for i := range len(payload) {
			b = append(b, payload[i]^byte(i%4+1))
		}
	} else {
		b = append(b, payload...)
	}
	_, _ = c.Write(b) // the server may have closed it
}

// next reads a frame of the server's.
func (c *raw) next(t *testing.T) (opcode byte, payload string) {
	t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(c.r, head); err != nil {
		t.Fatal(err)
	}
	n := int(head[1])
	switch n {
	case 126:
		var l uint16
		_ = binary.Read(c.r, binary.BigEndian, &l)
		n = int(l)
	case 127:
		var l uint64
		_ = binary.Read(c.r, binary.BigEndian, &l)
		n = int(l)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b); err != nil {
		t.Fatal(err)
	}
	return head[0] & 0xf, string(b)
}

// closed reads until the server closes with this code.
func (c *raw) closed(t *testing.T, code uint16) {
	t.Helper()
	for {
		op, p := c.next(t)
		if op != 8 {
			continue
		}
		if len(p) < 2 || binary.BigEndian.Uint16([]byte(p)) != code {
			t.Errorf("closed with %q, want %d", p, code)
		}
		return
	}
}

const (
	fin                                      = 0x80
	opText, opBinary, opClose, opPing        = 1, 2, 8, 9
	ping                                     = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	statusProtocol, statusUnsupported        = 1002, 1003
	statusTooBig                      uint16 = 1009
)

func TestP14b_HostileFrames(t *testing.T) {
	h := newHost(t, Options{Limit: 10_000, Body: time.Second})
	for name, c := range map[string]struct {
		hurt func(*raw)
		code uint16
	}{
		"reserved bit":          {func(c *raw) { c.frame(t, fin|0x40|opText, true, ping) }, statusProtocol},
		"unknown opcode":        {func(c *raw) { c.frame(t, fin|3, true, ping) }, statusProtocol},
		"fragmented ping":       {func(c *raw) { c.frame(t, opPing, true, "x") }, statusProtocol},
		"long ping":             {func(c *raw) { c.frame(t, fin|opPing, true, strings.Repeat("x", 200)) }, statusProtocol},
		"continuation of none":  {func(c *raw) { c.frame(t, fin, true, ping) }, statusProtocol},
		"message in a message":  {func(c *raw) { c.frame(t, opText, true, "{"); c.frame(t, fin|opText, true, ping) }, statusProtocol},
		"binary":                {func(c *raw) { c.frame(t, fin|opBinary, true, ping) }, statusUnsupported},
		"much more than it may": {func(c *raw) { c.frame(t, fin|opText, true, strings.Repeat("x", 200_000)) }, statusTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			conn := rawDial(t, h)
			c.hurt(conn)
			conn.closed(t, c.code)
		})
	}
	t.Run("no mask", func(t *testing.T) {
		conn := rawDial(t, h)
		conn.frame(t, fin|opText, false, ping)
		if b, err := io.ReadAll(conn.r); len(b) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q %v", b, err)
		}
	})
	t.Run("a message that does not end", func(t *testing.T) {
		conn := rawDial(t, h)
		conn.frame(t, opText, true, `{"jsonrpc":`)
		if _, err := conn.r.ReadByte(); err == nil {
			t.Error("it is waited for")
		}
	})
	t.Run("what is in order", func(t *testing.T) {
		conn := rawDial(t, h)
		want := func(op byte, text string) {
			t.Helper()
			if got, p := conn.next(t); got != op || !strings.Contains(p, text) {
				t.Fatalf("%d %q, want %d %q", got, p, op, text)
			}
		}
		for i, r := range ping { // one byte each, with pings between
			first := byte(0)
			if i == 0 {
				first = opText
			}
			conn.frame(t, first, true, string(r))
			if i%10 == 0 {
				conn.frame(t, fin|opPing, true, "p")
				want(10, "p")
			}
		}
		conn.frame(t, fin, true, "")
		want(opText, `"id":7,"result":{}`)
		conn.frame(t, fin|opText, true, `{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"`+strings.Repeat("x", 20_000)+`"}}`) // too large, and answered
		want(opText, `"id":8,"error":{"code":-32600`)
		for _, bad := range []string{"nonsense", "[]", `{"jsonrpc":"2.0","id":9,"id":10,"method":"ping"}`, "\xff\xfe"} {
			conn.frame(t, fin|opText, true, bad)
			want(opText, `"error":{"code":-32`)
		}
		conn.frame(t, fin|opText, true, "")
		conn.frame(t, fin|opText, true, ping)
		want(opText, `"id":7,"result":{}`)
		conn.frame(t, fin|opClose, true, "\x03\xe8")
		conn.closed(t, 1000)
	})
	require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })
}

// A client that reads nothing, or is gone without a word, is not waited for.
func TestP14b_ClientThatDoesNotRead(t *testing.T) {
	h := newHost(t, Options{Write: 300 * time.Millisecond})
	conn := rawDial(t, h)
	for range 20 {
		conn.frame(t, fin|opText, true, `{"jsonrpc":"2.0","id":1,"method":"big","params":{"n":3000000}}`)
	}
	require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })

	h = newHost(t, Options{Write: 100 * time.Millisecond, Heartbeat: 20 * time.Millisecond})
	rawDial(t, h) // answers no ping
	require.Eventually(t, "a connection", func() bool { return h.Connections() == 1 })
	require.Eventually(t, "no connection", func() bool { return h.Connections() == 0 })
}

// What runs when the server closes has its answer, and then the client is told.
func TestP14b_CloseLetsCallsEnd(t *testing.T) {
	h := newHost(t, Options{})
	c := dial(t, h, nil)
	say(t, c, `{"jsonrpc":"2.0","id":1,"method":"hang","params":{"for":"xxx"}}`)
	wait(t, "the call", h.started)
	over := make(chan struct{})
	go func() {
		defer close(over)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		h.Close(ctx)
	}()
	hears(t, c, `"id":1,"result":"late"`)
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
	wait(t, "the end", over)
	if _, res, _ := websocket.Dial(t.Context(), h.url+"/ws", nil); res == nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%+v", res)
	}
	// One that does not end is cancelled.
	h = newHost(t, Options{})
	c = dial(t, h, nil)
	say(t, c, `{"jsonrpc":"2.0","id":1,"method":"hang"}`)
	wait(t, "the call", h.started)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	h.Close(ctx)
	assert.Equalf(t, h.Connections(), 0, "connections")
}
