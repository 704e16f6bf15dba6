package stack

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// stranger listens on a port of its own.
func stranger(t *testing.T, addr string) (ln net.Listener, port int) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln, ln.Addr().(*net.TCPAddr).Port
}

// Whoever has the port of a server's URL does not pass for the server: not at the first start, and not at a later one.
func TestStrangerOnAServersPort(t *testing.T) {
	port := nettest.FreePort(t) // it comes and goes
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	ln, _ := stranger(t, addr)
	taken := fmt.Sprintf("cannot listen on port %d, which is taken", port)
	s := supervise(t, Options{Backoff: Backoff{Loop: 1}}, Spec{Name: "f", Kind: Server, Args: []string{"--port", fmt.Sprint(port)}, URL: "http://" + addr + "/mcp"})
	assert.ErrorContains(t, s.Ready(bounded(t)), "f cannot start: "+taken)
	for _, l := range s.Log("f", 0) {
		if strings.Contains(l.Text, "started, pid") || strings.HasPrefix(l.Text, string(Ready)) {
			t.Errorf("it was started: %s", l.Text)
		}
	}
	_ = ln.Close()
	until(t, s, "f", func(st Status) bool { return st.State == Ready })
	require.NoError(t, s.Stop(bounded(t), "f"))
	stranger(t, addr)
	assert.ErrorContains(t, s.Run(bounded(t), "f"), taken)
}

func TestServersPortIsTaken(t *testing.T) {
	_, port := stranger(t, "127.0.0.1:0")
	plan := func(text string) (*Plan, error) {
		f, err := source.Parse("/p/x.yaml", []byte(text))
		require.NoError(t, err)
		return f.Plan(t.Context(), Place{Dir: t.TempDir()})
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0"} {
		_, err := plan(fmt.Sprintf("servers: {web: {command: ./web, url: \"http://%s:%d/mcp\"}}\nrouter: false\n", host, port))
		var taken *TakenError
		if !errors.As(err, &taken) || !errors.Is(err, syscall.EADDRINUSE) || taken.Port != port ||
			!strings.HasPrefix(err.Error(), fmt.Sprintf("web cannot listen on port %d, which is taken", port)) {
			t.Errorf("%s: %v", host, err)
		}
	}
	// One that nobody of this stack starts is somebody else's by intent.
	if _, err := plan(fmt.Sprintf("servers: {web: {url: \"http://127.0.0.1:%d/mcp\"}}\nrouter: false\n", port)); err != nil {
		t.Error(err)
	}

	free := nettest.FreePort(t)
	_, err := plan(fmt.Sprintf("servers: {a: {command: x, port: %d}, b: {command: x, url: \"http://localhost:%d/\"}}\nrouter: false\n", free, free))
	assert.ErrorContains(t, err, "which is taken by a of the same stack")
}

// A server's port is not the default of another process.
func TestServersPortIsKept(t *testing.T) {
	port := nettest.FreePort(t)
	p := &ports{ctx: t.Context()}
	defer p.close()
	p.claim("web", fmt.Sprintf("http://127.0.0.1:%d/mcp", port))
	p.choose("a", 0, port)
	if p.err != nil || p.of["a"] == port || len(p.notes) != 1 || !strings.Contains(p.notes[0], "is taken by web of the same stack") {
		t.Errorf("%v %v %v", p.err, p.of, p.notes)
	}
}
