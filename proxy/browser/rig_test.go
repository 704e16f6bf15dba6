package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) { // the agent's execute_code starts this very program
		sandbox.WorkerMain()
		return
	}
	_ = flag.Set("test.parallel", "8") // most tests wait
	leaktest.Main(m)
}

// agent starts one of ours, and returns its base URL, which is its endpoint without /mcp.
func agent(t *testing.T, o agentsrv.Options) string {
	t.Helper()
	o.RateLimit = -1
	a, err := agentsrv.New(o)
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, a.Close(ctx))
	})
	return strings.TrimSuffix(a.URL(), "/mcp")
}

// serve is a router with the agents, by name and base URL, and with what this package offers. It returns the router's origin.
func serve(t *testing.T, agents map[string]string) string {
	t.Helper()
	var r *proxy.Router
	table := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		table[name] = map[string]any{"url": agents[name] + "/mcp", "stream": true}
	}
	raw, err := json.Marshal(map[string]any{"routes": table})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "routing.json")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	r, err = proxy.New(proxy.Options{
		Routes: file, RoutesMust: true,
		Handlers: browser.Routes(browser.Options{Agents: func(*http.Request) (all []browser.Agent) {
			for _, name := range r.Routes().Names() {
				all = append(all, browser.Agent{Name: name, State: r.State(name)})
			}
			return all
		}}),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections() // of get
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, r.Close(ctx))
	})
	require.NoError(t, r.Start(t.Context()))
	u, err := url.Parse(r.URL())
	require.NoError(t, err)
	return u.Scheme + "://" + u.Host
}

// forwarder passes requests on to an agent. Each is read to its end before that: what reads it otherwise, while the answer of a quick agent
// is written already, finds it closed and breaks the answer off.
func forwarder(t *testing.T, agent string) http.Handler {
	t.Helper()
	target, err := url.Parse(agent)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Origin") // was judged by the guard
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	})
}

// get asks for a page, and returns the answer with its whole body.
func get(t *testing.T, method, target string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp, body.Bytes()
}

var passed = regexp.MustCompile(`(?m)^# pass (\d+)$`)

// node runs one of the test files of testdata with Node, and fails unless at least that many tests in it passed. The
// variables are added to its environment.
func node(t *testing.T, file string, atLeast int, env ...string) {
	t.Helper()
	bin := peertest.Node(t)
	client := serve(t, nil) + "/MCPBrowserClient.js"
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "--test", "--test-reporter=tap", filepath.Join("testdata", file))
	cmd.Env = append(append(os.Environ(), "CLIENT_URL="+client), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, failures(out))
	}
	m := passed.FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s says nothing of what passed:\n%s", file, out)
	}
	if n, err := strconv.Atoi(string(m[1])); err != nil || n < atLeast {
		t.Errorf("%s: %d tests passed, it has %d:\n%s", file, n, atLeast, out)
	}
}

// failures is the part of TAP that tells what failed.
func failures(tap []byte) string {
	var b strings.Builder
	failing := false
	for line := range strings.Lines(string(tap)) {
		if strings.HasPrefix(line, "ok ") {
			failing = false
		} else if strings.HasPrefix(line, "not ok ") {
			failing = true
		}
		if failing && !strings.HasPrefix(line, "# ") {
			b.WriteString(line)
		}
	}
	if b.Len() == 0 {
		return string(tap)
	}
	return b.String()
}
