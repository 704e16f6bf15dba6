package proxy

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// named answers each request within a session with the agent's name.
func named(t testing.TB, name string) *agent {
	t.Helper()
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) { reply(w, e.ID, `{"by":"`+name+`"}`) }
	return a
}

const modernCall = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// modern makes a request without a session in the newest version.
func (f *fixture) modern(t testing.TB) response {
	t.Helper()
	return f.post(t, "/mcps/a/mcp", modernCall, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo", "Accept", accept)
}

func TestUpstreamsShareTheWork(t *testing.T) {
	one, two := named(t, "one"), named(t, "two")
	f := start(t, Options{}, `"a":{"urls":["`+one.at()+`","`+two.at()+`"]}`)
	by := map[string]int{}
	for range 10 {
		got := f.modern(t)
		if got.status != 200 {
			t.Fatalf("%+v", got)
		}
		by[got.body[strings.Index(got.body, `"by"`):]]++
	}
	if len(by) != 2 || by[`"by":"one"}}`] != 5 {
		t.Errorf("each in its turn: %v", by)
	}
	// A session stays where it was opened.
	where := map[string]bool{}
	for range 4 {
		id := f.open(t, "/mcps/a/mcp")
		first := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id)
		for range 4 {
			if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 || got.body != first.body {
				t.Errorf("%+v, before %s", got, first.body)
			}
		}
		where[first.body] = true
	}
	if len(where) != 2 {
		t.Errorf("all sessions are at one: %v", where)
	}
	for range 4 { // one session of the router's at each
		if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 {
			t.Errorf("%+v", got)
		}
	}
}

func TestAnUpstreamThatIsGoneIsPassedOver(t *testing.T) {
	t.Parallel()
	one, two := named(t, "one"), named(t, "two")
	f := start(t, Options{Breaker: breaker.Options{Failures: 2}}, `"a":{"urls":["`+one.at()+`","`+two.at()+`"]}`)
	ids := map[string]string{}
	for len(ids) < 2 {
		id := f.open(t, "/mcps/a/mcp")
		ids[f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).body] = id
	}
	one.CloseClientConnections()
	one.Close()
	opened := func() bool { return f.Status().Agents["a"].Breaker.Upstreams[one.at()].State != breaker.Closed }
	require.Eventually(t, "the breaker of the one", func() bool {
		for _, got := range []response{f.modern(t), f.post(t, "/mcps/a/mcp", callEcho)} {
			if got.status != 200 || !strings.Contains(got.body, "two") {
				t.Fatalf("%+v", got)
			}
		}
		f.open(t, "/mcps/a/mcp")
		return opened()
	})
	s := f.Status().Agents["a"]
	if s.State != "ok" || s.Breaker.State != breaker.Closed || s.Breaker.Upstreams[two.at()].State != breaker.Closed {
		t.Errorf("%+v", s)
	}
	for body, id := range ids {
		gone := strings.Contains(body, "one") // with 503 while its breaker is open, else with 404
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); (got.status == 200) == gone {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestASessionWhoseUpstreamIsGoneIsReportedLost(t *testing.T) {
	one, two := named(t, "one"), named(t, "two")
	f := start(t, Options{}, `"a":{"urls":["`+one.at()+`","`+two.at()+`"]}`)
	var id string
	for !strings.Contains(f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).body, "one") {
		id = f.open(t, "/mcps/a/mcp")
	}
	one.CloseClientConnections()
	one.Close()
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
}

// Agents come and go with their files, and what runs at those that stay is not disturbed.
func TestUpstreamsComeAndGoInAFolder(t *testing.T) {
	one, two := named(t, "one"), named(t, "two")
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put("a.one.json", table(route("a", one.at(), `"transport":"http"`)))
	put("bad.json", `{"routes":`)
	r, err := New(Options{Routes: dir, RoutesMust: true, Poll: 10 * time.Millisecond})
	require.NoError(t, err)
	defer func() { assert.NoError(t, r.Close(t.Context())) }()
	require.NoError(t, r.Start(t.Context()))
	f := &fixture{Router: r, client: http.DefaultClient}
	defer http.DefaultClient.CloseIdleConnections()
	if s := f.Status().Routes; !strings.Contains(s.Error, "bad.json") {
		t.Errorf("%+v", s)
	}
	id := f.open(t, "/mcps/a/mcp")
	put("a.two.json", table(route("a", two.at(), `"transport":"http"`)))
	require.Eventually(t, "the second to serve", func() bool { return strings.Contains(f.modern(t).body, "two") })
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); !strings.Contains(got.body, "one") {
		t.Errorf("the session moved: %+v", got)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "a.one.json")))
	require.Eventually(t, "the session to be gone", func() bool { return f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).status == 404 })
	for range 4 {
		if got := f.modern(t); !strings.Contains(got.body, "two") {
			t.Errorf("%+v", got)
		}
	}
}

func TestARegisteredRouteWaitsForItsProcesses(t *testing.T) {
	f := start(t, Options{}, `"a":{"registered":true}`)
	if got := f.modern(t); got.status != 503 || !strings.Contains(got.body, "no process of 'a' is registered") || got.header.Get("Retry-After") == "" {
		t.Errorf("%+v", got)
	}
	if got := f.send(t, "GET", "/status", ""); !strings.Contains(got.body, `"upstream":"registered"`) {
		t.Errorf("%+v", got)
	}
}
