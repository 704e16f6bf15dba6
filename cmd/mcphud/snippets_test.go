package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// node runs a module with Node, in the folder of the snippets, and returns what it prints.
func node(t *testing.T, module string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, peertest.Node(t), "--input-type=module")
	cmd.Dir = "testdata"
	cmd.Stdin = strings.NewReader(module)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func snippet(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(b)
}

func TestPeerNode_R15_R16_TheAgentsOwnClient(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "b", "c")
	port := "ROUTER_PORT=" + strconv.Itoa(portOf(tm.router))
	// Without a token it sends `Bearer undefined`, which nobody asks for.
	assert.Equal(t, node(t, snippet(t, "agent_client_use.mjs"), port, "ROUTER_HOST=", "AGENT_TOKEN="), "all of it worked\n")
	assert.NotContains(t, tm.agents["b"].log()+tm.router.log(), "undefined")
}

// The port of the snippet is taken if it can be had.
func TestPeerNode_R2_R12_ASessionAsTheProxyWasDesigned(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral")
	port := 8080
	if ln, err := net.Listen("tcp", "127.0.0.1:8080"); err != nil {
		port = nettest.FreePort(t)
	} else {
		_ = ln.Close()
	}
	text := fmt.Sprintf(`{"port":%d,"routes":{"node-dev":{"url":%q}}}`, nettest.FreePort(t), a.url)
	r := launch(t, routerCommand(t, text, []string{"ROUTER_PORT=" + strconv.Itoa(nettest.FreePort(t))}, "--port", strconv.Itoa(port)), routerReady)
	if portOf(r) != port {
		t.Fatalf("it listens on %d", portOf(r))
	}
	module := strings.ReplaceAll(snippet(t, "proxy_session.mjs"), "localhost:8080", fmt.Sprintf("localhost:%d", port))
	module += `
console.log(JSON.stringify([response.status, result, sessionId, toolsResponse.status, await toolsResponse.json()]))`
	var first, second int
	var result, tools json.RawMessage
	var session string
	require.NoError(t, json.Unmarshal([]byte(node(t, module)), &[]any{&first, &result, &session, &second, &tools}))
	if first != 200 || second != 200 || len(session) != 36 || !strings.Contains(string(result), `"protocolVersion":"2025-06-18"`) ||
		!strings.Contains(string(result), `"mcphud-router-proxy:node-dev"`) || !strings.Contains(string(tools), `"execute_code"`) {
		t.Errorf("%d %s %s %d %.300s", first, result, session, second, tools)
	}
}

func TestR2_TheUsualPort(t *testing.T) {
	t.Parallel()
	cmd := routerCommand(t, `{"routes":{}}`, nil)
	var s served
	cmd.Stderr = &s
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	// Another program may have the port on the machine that runs the tests; then its number is in the error.
	require.Eventually(t, "it to say its port", func() bool { return strings.Contains(s.log(), ":8088") })
}

// What httpx sends for json=request with this header, replayed through the router.
func TestPeerCurl_V2_R15_AnHttpxRequestThroughTheRouter(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("curl")
	if err != nil {
		if os.Getenv(peertest.RequireEnv) == "required" {
			t.Fatalf("no curl: %v; install it", err)
		}
		t.Skip("curl is not installed")
	}
	tm := teamOf(t, nil, "b")
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_agent","arguments":{"agent_uri":"percolate-test-agent","tenant_id":"test-tenant","prompt":"Test"}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_agent", "arguments": {"agent_uri": "percolate-researcher", "tenant_id": "my-tenant", "prompt": "Summarize recent docs"}}}`,
	} {
		cmd := exec.Command(path, "--silent", "--show-error", "--max-time", "30", "--write-out", "\n%{http_code}", "--data-binary", "@-",
			"-H", "Accept: */*", "-H", "Accept-Encoding: gzip, deflate", "-H", "Connection: keep-alive", "-H", "User-Agent: python-httpx/0.28.1",
			"-H", "Content-Type: application/json", tm.router.url+"/mcps/b/mcp")
		cmd.Stdin = strings.NewReader(body)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		answer, status, _ := strings.Cut(string(out), "\n")
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != "200" || got["result"] == nil || got["error"] != nil {
			t.Errorf("%s %v: %s", status, err, answer)
		}
	}
}
