package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// keys writes a file of session keys, each of one letter.
func keys(t testing.TB, letters string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	var text []byte
	for _, k := range letters {
		text = append(append(text, bytes.Repeat([]byte(string(k)), 32)...), '\n')
	}
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// replica is a router that keeps no sessions, in front of agent a.
func replica(t testing.TB, keys, at string, o Options) *fixture {
	t.Helper()
	f := start(t, o)
	f.write(t, `{"sessionKey":`+string(jsonrpc.Quote(keys))+`,"routes":{`+route("a", at, `"stream":true`)+`}}`)
	require.NoError(t, f.Reload())
	return f
}

// balance is a load balancer that gives each request to the next replica, whoever sends it.
func balance(t testing.TB, replicas ...*fixture) *fixture {
	t.Helper()
	var n atomic.Int64
	front := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			u, err := url.Parse(replicas[int(n.Add(1))%len(replicas)].URL())
			if err != nil {
				t.Error(err)
				return
			}
			r.SetURL(u)
		},
	})
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		front.CloseClientConnections()
		front.Close()
	})
	return &fixture{base: front.URL, client: http.DefaultClient}
}

// passed is how many requests each replica had.
func passed(replicas ...*fixture) (n []int64) {
	for _, f := range replicas {
		n = append(n, f.Status().Agents["a"].Requests)
	}
	return n
}

func TestR10_TwoReplicasServeOneSession(t *testing.T) {
	a := newAgent(t)
	said := make(chan string)
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		if r.Method == http.MethodPost {
			reply(w, e.ID, `{"in":"`+r.Header.Get("Mcp-Session-Id")+`"}`)
			return
		}
		rc := sseHead(w)
		for err := rc.Flush(); err == nil; err = rc.Flush() {
			select {
			case text := <-said:
				_, _ = fmt.Fprintf(w, "data: %s for %s\n\n", text, r.Header.Get("Mcp-Session-Id")) // the client sees what is missing
			case <-r.Context().Done():
				return
			}
		}
	}
	key := keys(t, "k")
	one, two := replica(t, key, a.at(), Options{}), replica(t, key, a.at(), Options{})
	f := balance(t, one, two)
	id := f.open(t, "/mcps/a/mcp")
	before := passed(one, two)
	if before[0]+before[1] != 1 {
		t.Fatalf("requests: %v", before)
	}
	for range 6 {
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 || got.body != `{"jsonrpc":"2.0","id":2,"result":{"in":"up-1"}}` {
			t.Errorf("%+v", got)
		}
	}
	if now := passed(one, two); now[0] < 3 || now[1] < 3 {
		t.Errorf("requests: %v; the balancer gives all to one", now)
	}
	// The stream of the session, through whichever replica, and its end through the other.
	res := f.stream(t.Context(), t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", id)
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewReader(res.Body)
	said <- "one"
	if line, err := lines.ReadString('\n'); err != nil || line != "data: one for up-1\n" {
		t.Errorf("%q, %v", line, err)
	}
	if got := f.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id); got.status != 204 {
		t.Errorf("%+v", got)
	}
	if got := a.ended(); len(got) != 1 || got[0] != "up-1" {
		t.Errorf("ended at the agent: %q", got)
	}
	// Nobody remembers that it ended but the agent, which is asked each time.
	for i := range 4 {
		callAt := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`, i)
		got := f.post(t, "/mcps/a/mcp", callAt, "Mcp-Session-Id", id)
		got.check(t, 404, -32000, noSession)
		if _, body := a.seen(); body != callAt {
			t.Errorf("the agent was not asked: %s", body)
		}
	}
	for range 2 { // at either replica
		if got := f.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id); got.status != 204 {
			t.Errorf("again: %+v", got)
		}
	}
	assert.Equalf(t, one.Sessions()+two.Sessions(), 0, "something is kept")
}

func TestR10_ReplicasComeAndGo(t *testing.T) {
	a := newAgent(t)
	one, two := replica(t, keys(t, "k"), a.at(), Options{}), replica(t, keys(t, "k"), a.at(), Options{})
	id := one.open(t, "/mcps/a/mcp")
	require.NoError(t, one.Close(t.Context()))
	assert.Equalf(t, len(a.ended()), 0, "a replica that leaves ended the sessions that others serve")
	use := func(f *fixture, want int) {
		t.Helper()
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != want {
			t.Errorf("%+v, want %d", got, want)
		}
	}
	use(two, 200)
	// A new key seals, the old one still opens; with a key alone that did not seal it, it is nobody's.
	rotated, stranger := replica(t, keys(t, "nk"), a.at(), Options{}), replica(t, keys(t, "s"), a.at(), Options{})
	use(rotated, 200)
	_, last := a.seen()
	stranger.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":5,"method":"ping"}`, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
	stranger.send(t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
	if got := stranger.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id); got.status != 204 || len(a.ended()) != 0 {
		t.Errorf("%+v; ended %q", got, a.ended())
	}
	if _, now := a.seen(); now != last {
		t.Errorf("a stranger's session reached the agent: %s", now)
	}
	id = rotated.open(t, "/mcps/a/mcp")
	use(two, 404)
	use(rotated, 200)
}

// How long a session lasts is in its id: a replica that never saw it refuses it as well, and does not ask the agent.
func TestR10_ASealedSessionExpires(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	key := keys(t, "k")
	one, two := replica(t, key, a.at(), Options{SessionTTL: 3 * time.Second}), replica(t, key, a.at(), Options{})
	id := one.open(t, "/mcps/a/mcp")
	if got := two.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 {
		t.Errorf("%+v", got)
	}
	require.Eventually(t, "the session to expire", func() bool {
		return two.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).status == 404
	})
	const late = `{"jsonrpc":"2.0","id":3,"method":"ping"}`
	one.post(t, "/mcps/a/mcp", late, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
	if _, body := a.seen(); body == late {
		t.Error("an expired session reached the agent")
	}
}

// Clients as others write them, and our own, notice nothing of the replicas.
func TestR10_ClientsOfTwoReplicas(t *testing.T) {
	bare := httptest.NewServer(server.NewStreamableHTTPServer(bareServer()))
	defer bare.Close()
	key := keys(t, "k")
	one, two := replica(t, key, bare.URL, Options{}), replica(t, key, bare.URL, Options{})
	f := balance(t, one, two)
	at := f.URL() + "/mcps/a/mcp"
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	t.Run("mcp-go", func(t *testing.T) {
		//lint:ignore SA1019 the legacy era still has it, and clients of it
		c, err := client.NewStreamableHttpClient(at, transport.WithContinuousListening())
		require.NoError(t, err)
		defer func() { assert.NoError(t, c.Close()) }()
		require.NoError(t, c.Start(ctx))
		var hello mcp.InitializeRequest
		hello.Params.ProtocolVersion, hello.Params.ClientInfo = "2025-06-18", mcp.Implementation{Name: "c", Version: "1"}
		if _, err := c.Initialize(ctx, hello); err != nil {
			t.Fatal(err)
		}
		if id := c.GetSessionId(); !strings.HasPrefix(id, "mcphud1.") {
			t.Errorf("session %q", id)
		}
		for i := range 10 {
			var call mcp.CallToolRequest
			text := fmt.Sprint("hello ", i)
			call.Params.Name, call.Params.Arguments = "echo", map[string]any{"text": text}
			got, err := c.CallTool(ctx, call)
			if err != nil || len(got.Content) != 1 || got.Content[0].(mcp.TextContent).Text != text {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
	t.Run("own", func(t *testing.T) {
		m := session.NewManager(session.Options{Unrecorded: true, HealthInterval: -1})
		defer func() { assert.NoError(t, m.Close()) }()
		s, err := m.Register(config.Server{Name: "a", Transport: config.HTTP, URL: at, Protocol: "2025-06-18", NoReconnect: true})
		require.NoError(t, err)
		require.NoError(t, s.Connect(ctx))
		for i := range 10 {
			text := fmt.Sprint("hello ", i)
			got, err := s.CallTool(ctx, "echo", json.RawMessage(`{"text":"`+text+`"}`), session.CallOptions{})
			if err != nil || !strings.Contains(string(got.Result), `"`+text+`"`) {
				t.Errorf("%s, %v", got.Result, err)
			}
		}
	})
	if n := passed(one, two); n[0] < 8 || n[1] < 8 {
		t.Errorf("requests: %v; the balancer gives all to one", n)
	}
}
