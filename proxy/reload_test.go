package proxy

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestC11_ReloadKeepsTheLastGoodRoutes(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Poll: 10 * time.Millisecond}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	for _, bad := range []string{`{"routes":`, `{"routes":{"a":{}}}`, "", "\x00", `{"routes":{"a":{"hostPort":1},"a":{"hostPort":2}}}`} {
		f.write(t, bad)
		if err := f.Reload(); err == nil || f.RoutesErr() == nil || !strings.Contains(err.Error(), "the last valid ones stay in force") {
			t.Errorf("%q: %v", bad, err)
		}
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 {
			t.Errorf("after %q: %+v", bad, got)
		}
	}
	require.NoError(t, os.Remove(f.file))
	require.Eventually(t, "the missing file to be noticed", func() bool { return strings.Contains(fmt.Sprint(f.RoutesErr()), "no such file") })
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 {
		t.Errorf("%+v", got)
	}
	// A link to a file elsewhere, replaced as deployments do it.
	other := filepath.Join(t.TempDir(), "r.json")
	require.NoError(t, os.WriteFile(other, []byte(table(route("a", a.at(), ""), route("b", a.at(), ""))), 0o600))
	require.NoError(t, os.Symlink(other, f.file))
	require.Eventually(t, "the new routes", func() bool { return f.RoutesErr() == nil && f.post(t, "/mcps/b/mcp", callEcho).status == 200 })
	// What did not change keeps its sessions; what is gone answers as if it had never been.
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 {
		t.Errorf("%+v", got)
	}
	require.NoError(t, os.WriteFile(other, []byte(table(route("b", a.at(), ""))), 0o600))
	require.Eventually(t, "the route to be gone", func() bool { return f.post(t, "/mcps/a/mcp", callEcho).status == 404 })
	f.post(t, "/mcps/a/mcp", callEcho).check(t, 404, -32601, "Agent 'a' not found")
}

func TestC11_AnotherPortWaitsForTheNextStart(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{RoutesPort: true}, route("a", a.at(), ""))
	for port, want := range map[int]int{1: 1, int(f.port.Load()): 0} {
		f.write(t, strings.Replace(table(route("a", a.at(), "")), "{", fmt.Sprintf(`{"port":%d,`, port), 1))
		require.NoError(t, f.Reload())
		if w := f.Status().Routes.Warnings; len(w) != want || want > 0 && !strings.Contains(w[0], "port 1 takes effect at the next start") {
			t.Errorf("port %d: %q", port, w)
		}
	}
}

func TestC11_ASessionIsNotCarriedToAnotherAgent(t *testing.T) {
	a, b := newAgent(t), newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	f.write(t, table(route("a", b.at(), "")))
	require.NoError(t, f.Reload())
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
	if h, _ := b.seen(); h != nil {
		t.Errorf("the other agent saw the session: %v", h)
	}
}

func TestC11_ReloadUnderLoadDropsNothing(t *testing.T) {
	a := newAgent(t)
	slow := make(chan struct{})
	var begun atomic.Bool
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		if e.Method == "slow" {
			begun.Store(true)
			<-slow
		}
		reply(w, e.ID, "{}")
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	late := make(chan response, 1)
	go func() { late <- f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"method":"slow"}`) }()
	require.Eventually(t, "the slow call", begun.Load)
	ctx, stop := context.WithCancel(t.Context())
	reloads := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			f.write(t, table(route("a", a.at(), fmt.Sprintf(`"timeout":"%ds"`, 30+n%2))))
			assert.NoError(t, f.Reload())
		}
		reloads <- n
	}()
	res, err := budget.RunLoad(t.Context(), budget.Load{
		URL: f.URL() + "/mcps/a/mcp", Clients: 8, Requests: 2000,
		Body: func(n int) []byte { return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"x"}`, n) },
		Check: func(n int, _ *http.Response, body []byte) error {
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n); string(body) != want {
				return fmt.Errorf("got %s", body)
			}
			return nil
		},
	})
	stop()
	n := <-reloads
	if err != nil || res.Failed > 0 || n < 3 {
		t.Errorf("%d reloads, %d of %d requests failed: %v, %v", n, res.Failed, res.Requests, res.First, err)
	}
	close(slow)
	if got := <-late; got.status != 200 {
		t.Errorf("a call that a reload met: %+v", got)
	}
}

func TestStopLetsRunningCallsFinish(t *testing.T) {
	a := newAgent(t)
	slow, begun := make(chan struct{}), make(chan struct{})
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		close(begun)
		<-slow
		reply(w, e.ID, "{}")
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	late := make(chan response, 1)
	go func() { late <- f.post(t, "/mcps/a/mcp", callEcho) }()
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- f.Close(context.Background()) }()
	require.Eventually(t, "the router to stop", func() bool { return f.drain.Err() != nil })
	close(slow)
	if got := <-late; got.status != 200 {
		t.Errorf("%+v", got)
	}
	assert.NoError(t, <-closed)
	if ended := a.ended(); len(ended) != 1 {
		t.Errorf("the session for callers without one was not ended: %q", ended)
	}
}
