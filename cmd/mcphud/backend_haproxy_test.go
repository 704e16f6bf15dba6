package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// balancer starts HAProxy by the configuration of proxy/README.md in front of the routers, and returns where it listens.
func (r *replicas) balancer() string {
	t := r.t
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		if os.Getenv("MCPHUD_BACKENDS") == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	readme, err := os.ReadFile("../../proxy/README.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(readme), "```haproxy\n")
	text, _, end := strings.Cut(text, "```")
	if !ok || !end || strings.Count(text, "127.0.0.1:808") != 4 {
		t.Fatalf("proxy/README.md has another configuration than this test knows: %s", text)
	}
	for from, to := range map[string]int{"127.0.0.1:8080": r.front, "127.0.0.1:8088": r.ports[0], "127.0.0.1:8089": r.ports[1]} {
		text = strings.ReplaceAll(text, from, "127.0.0.1:"+strconv.Itoa(to))
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	var log bytes.Buffer
	cmd := exec.Command(program, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("haproxy: %s", log.String())
		}
	})
	url := "http://127.0.0.1:" + strconv.Itoa(r.front)
	require.Eventually(t, "the balancer", func() bool {
		res, err := http.Get(url + "/health")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return url
}

// replicas are two routers of the same routes and session keys.
type replicas struct {
	t      *testing.T
	routes string
	ports  [2]int
	front  int // of the balancer
	args   []string
	up     [2]*served
}

// routers starts two routers with these routes, a JSON object, and further arguments.
func routers(t *testing.T, routes string, args ...string) *replicas {
	t.Helper()
	if os.Getenv("MCPHUD_BACKENDS") == "" {
		t.Skip("MCPHUD_BACKENDS is not set")
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "keys")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("k", 32)+"\n"), 0o600))
	routesFile(t, dir, fmt.Sprintf(`{"sessionKey":%q,"routes":%s}`, key, routes))
	r := &replicas{t: t, routes: filepath.Join(dir, "routing.json"), args: args, front: nettest.FreePort(t)}
	for i := range r.ports {
		r.ports[i] = nettest.FreePort(t)
		r.start(i)
	}
	return r
}

func (r *replicas) start(i int) {
	r.t.Helper()
	args := append([]string{"--port", strconv.Itoa(r.ports[i]), "--routes", r.routes, "--allow-host", "127.0.0.1:" + strconv.Itoa(r.front), "--log-level", "warning"}, r.args...)
	r.up[i] = launch(r.t, routerCommand(r.t, "", nil, args...), routerReady)
}

// stop ends a router as whoever updates it does.
func (r *replicas) stop(i int) {
	r.t.Helper()
	r.up[i].signal(syscall.SIGTERM)
	if code := r.up[i].exit(); code != 0 && code != cli.ExitInterrupted {
		r.t.Errorf("the router ended with %d: %s", code, r.up[i].log())
	}
}

// served is how many requests the router had.
func (r *replicas) requests(i int) int64 {
	r.t.Helper()
	var s struct {
		Agents map[string]struct {
			Requests int64 `json:"requests"`
		} `json:"agents"`
	}
	require.NoError(r.t, json.Unmarshal([]byte(r.up[i].get("/status").body), &s))
	return s.Agents["a"].Requests
}

// caller is one client of a balancer, with a connection of its own.
type caller struct {
	http    *http.Client
	url     string
	session string
}

func (c *caller) post(body string, headers ...string) (status int, answer string, err error) {
	req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if id := res.Header.Get("Mcp-Session-Id"); c.session == "" && id != "" {
		c.session = id
	}
	return res.StatusCode, string(raw), err
}

const (
	openSession = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	addMore     = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":40,"b":2},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	addPlain = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":40,"b":2}}}`
)

// call calls add, in a session or without one, and opens a session before that where there is to be one.
func (c *caller) call(session bool) error {
	body, headers := addMore, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "add"}
	if session {
		if c.session == "" {
			if status, answer, err := c.post(openSession); err != nil || status != http.StatusOK {
				return fmt.Errorf("initialize: %d %.300s %w", status, answer, err)
			}
		}
		body, headers = addPlain, nil
	}
	status, answer, err := c.post(body, headers...)
	if err != nil || status != http.StatusOK || !strings.Contains(answer, "42") {
		return fmt.Errorf("session %t: %d %.300s %w", session, status, answer, err)
	}
	return nil
}

// keepCalling calls through a balancer until stop; it returns how many calls there were, and the first of those that failed.
func keepCalling(t *testing.T, url string, stop <-chan struct{}) func() (calls, failed int64, first error) {
	var n, bad atomic.Int64
	var mu sync.Mutex
	var first error
	var working sync.WaitGroup
	for i := range 6 {
		working.Go(func() {
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			c := &caller{http: &http.Client{Transport: tr, Timeout: time.Minute}, url: url}
			for {
				select {
				case <-stop:
					return
				default:
				}
				n.Add(1)
				if err := c.call(i%2 == 0); err != nil {
					bad.Add(1)
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	return func() (int64, int64, error) {
		working.Wait()
		return n.Load(), bad.Load(), first
	}
}

// Two routers and two agents; each router ends and comes back under load.
func TestBackendHAProxy_NoRequestFailsWhileRoutersAreReplaced(t *testing.T) {
	one, two := serveAgent(t, "--ephemeral", "--rate-limit", "0"), serveAgent(t, "--ephemeral", "--rate-limit", "0")
	r := routers(t, fmt.Sprintf(`{"a":{"urls":[%q,%q],"stream":true}}`, one.url, two.url), "--drain-delay", "2s")
	url := r.balancer()
	stop := make(chan struct{})
	done := keepCalling(t, url+"/mcps/a/mcp", stop)
	for i := range r.up {
		for j := range r.up {
			was := r.requests(j)
			require.Eventually(t, "both routers to have work", func() bool { return r.requests(j) > was+10 })
		}
		r.stop(i)
		r.start(i)
	}
	require.Eventually(t, "the last one to have work", func() bool { return r.requests(1) > 10 })
	close(stop)
	calls, failed, first := done()
	if failed > 0 || calls < 100 {
		t.Errorf("%d of %d calls failed: %v", failed, calls, first)
	}
	t.Logf("%d calls", calls)
}
