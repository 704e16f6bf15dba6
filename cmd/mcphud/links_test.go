package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// linkedServers are an agent with a token, and a router that sends it: servers where clients may have a connection of their own.
func linkedServers(t *testing.T) (agent, router string) {
	t.Helper()
	a := serveIn(t, t.TempDir(), []string{"AGENT_TOKEN=t0ken", "AGENT_SSE=true"}, "--ephemeral", "--profile", "everything", "--websocket")
	r := launch(t, routerCommand(t, fmt.Sprintf(`{"websocket":true,"sse":true,"routes":{"one":{"url":"%s","stream":true,"headers":{"Authorization":"Bearer t0ken"}}}}`, a.url), nil, "--port", "0"), routerReady)
	return strings.TrimSuffix(a.url, "/mcp"), strings.TrimSuffix(r.url, "/mcp")
}

// A WebSocket has all that Streamable HTTP has: each era, progress, questions of the server, cancellation.
func TestP14b_AgentAndRouterTakeWebSockets(t *testing.T) {
	t.Parallel()
	agent, router := linkedServers(t)
	ws := func(url string) string { return "ws" + strings.TrimPrefix(url, "http") }
	token := []string{"-H", "Authorization: Bearer t0ken"}
	for _, target := range [][]string{append(token, "--url", ws(agent)+"/mcp"), {"--url", ws(router) + "/mcps/one/mcp"}, {"--url", ws(router) + "/mcp"}} {
		prefix := ""
		if strings.HasSuffix(target[len(target)-1], "/mcp") && !strings.Contains(target[len(target)-1], "/one/") && len(target) == 2 {
			prefix = "mcp__one__"
		}
		for _, version := range []string{"2024-11-05", "2025-11-25", "2026-07-28"} {
			args := append([]string{"tools", "call", prefix + "echo", "message=over it", "--protocol", version, "--format", "json"}, target...)
			if out := mcphud(t, args...).ok(t); !strings.Contains(out, "over it") {
				t.Errorf("%q: %s", args, out)
			}
		}
		for _, version := range []string{"2025-11-25", "2026-07-28"} { // asked on the way, in either era
			args := append([]string{"tools", "call", prefix + "test_elicitation_sep1034_defaults", "--answer", "accept", "--protocol", version, "--format", "json"}, target...)
			if out := mcphud(t, args...).ok(t); !strings.Contains(out, "John Doe") {
				t.Errorf("%q: %s", args, out)
			}
		}
	}
	// What travels in headers over Streamable HTTP, too, does not here.
	mirrored := append([]string{"tools", "call", "test_header_params", "region=eu", "--protocol", "2026-07-28", "--format", "json", "--url", ws(agent) + "/mcp"}, token...)
	assert.Contains(t, mcphud(t, mirrored...).ok(t), "eu")
	mcphud(t, "ping", "--url", ws(agent)+"/mcp").exits(t, cli.ExitAuth)
	if o := mcphud(t, "ping", "--url", ws(router)+"/mcps/none/mcp"); o.code == 0 || !strings.Contains(o.stderr, "404") {
		t.Errorf("no such agent: exit %d, %s", o.code, o.stderr)
	}
	for _, at := range []string{agent + "/mcp", router + "/mcp", router + "/mcps/one/mcp"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		require.NoError(t, err)
		for name, v := range map[string]string{
			"Origin": "https://evil.example", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
			"Authorization": "Bearer t0ken",
		} {
			req.Header.Set(name, v)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v %v", at, res, err)
		}
		_ = res.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestP14b_R3b_OffUnlessAskedFor(t *testing.T) {
	t.Parallel()
	a := serveIn(t, t.TempDir(), nil, "--ephemeral")
	r := launch(t, routerCommand(t, fmt.Sprintf(`{"websocket":true,"sse":true,"routes":{"one":{"url":"%s"}}}`, a.url), []string{"ROUTER_SSE=false"}, "--port", "0", "--websocket=false"), routerReady)
	for _, base := range []string{strings.TrimSuffix(a.url, "/mcp"), strings.TrimSuffix(r.url, "/mcp"), strings.TrimSuffix(r.url, "/mcp") + "/mcps/one"} {
		if o := mcphud(t, "ping", "--url", "ws"+strings.TrimPrefix(base, "http")+"/mcp"); o.code != cli.ExitUnreachable && o.code != cli.ExitProtocol {
			t.Errorf("%s: exit %d, %s", base, o.code, o.stderr)
		}
		for _, page := range []string{"/sse", "/messages"} {
			res, err := http.Get(base + page)
			if err != nil || res.StatusCode != http.StatusNotFound {
				t.Errorf("%s%s: %v %v", base, page, res, err)
			}
			_ = res.Body.Close()
		}
	}
	http.DefaultClient.CloseIdleConnections()
	for _, command := range []string{"agent", "router"} {
		for _, flag := range []string{"--websocket", "--sse"} {
			finish(t, routerOrAgent(t, command, "--stdio", flag)).exits(t, cli.ExitFailure, "do not apply with --stdio")
		}
	}
}

// The SSE client of mcp-go, which knows nothing newer.
func TestR3b_ClientOfHTTPWithSSE(t *testing.T) {
	t.Parallel()
	agent, router := linkedServers(t)
	for at, tool := range map[string]string{agent + "/sse": "test_tool_with_progress", router + "/mcps/one/sse": "test_tool_with_progress", router + "/sse": "mcp__one__test_tool_with_progress"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c, err := client.NewSSEMCPClient(at, transport.WithHeaders(map[string]string{"Authorization": "Bearer t0ken"}))
		require.NoError(t, err)
		progress := make(chan string, 100)
		c.OnNotification(func(n mcp.JSONRPCNotification) { progress <- n.Method })
		if err := c.Start(ctx); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		var hello mcp.InitializeRequest
		hello.Params.ProtocolVersion, hello.Params.ClientInfo = "2024-11-05", mcp.Implementation{Name: "old", Version: "1"}
		if _, err := c.Initialize(ctx, hello); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil || len(tools.Tools) < 10 {
			t.Errorf("%s: %v %v", at, tools, err)
		}
		var call mcp.CallToolRequest
		call.Params.Name, call.Params.Meta = tool, &mcp.Meta{ProgressToken: "p"}
		if res, err := c.CallTool(ctx, call); err != nil || res.IsError {
			t.Errorf("%s: %+v %v", at, res, err)
		}
		select {
		case m := <-progress:
			assert.Equalf(t, m, "notifications/progress", "%s", at)
		case <-ctx.Done():
			t.Errorf("%s: no progress", at)
		}
		assert.NoError(t, c.Close())
		cancel()
	}
	for _, url := range []string{agent + "/sse", router + "/sse"} { // and our own
		if out := mcphud(t, "tools", "list", "--transport", "sse", "--url", url, "-H", "Authorization: Bearer t0ken").ok(t); !strings.Contains(out, "test_simple_text") {
			t.Errorf("%s: %s", url, out)
		}
	}
	mcphud(t, "ping", "--transport", "sse", "--url", agent+"/sse").exits(t, cli.ExitAuth)
}

// routerOrAgent is one of the servers, which ends by itself if its settings are refused.
func routerOrAgent(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, append([]string{name}, args...)...)
	cmd.Env = append(cmd.Env, "ROUTER_HOST=", "ROUTER_PORT=")
	return cmd
}

func TestR3b_PeerOverSSE(t *testing.T) {
	a := serveIn(t, t.TempDir(), nil, "--ephemeral", "--profile", "everything", "--sse")
	r := launch(t, routerCommand(t, fmt.Sprintf(`{"routes":{"one":{"url":%q}}}`, a.url), nil, "--port", "0", "--sse"), routerReady)
	base := strings.TrimSuffix(r.url, "/mcp")
	for url, tool := range map[string]string{
		strings.TrimSuffix(a.url, "/mcp") + "/sse": "test_tool_with_progress", base + "/sse": "mcp__one__test_tool_with_progress", base + "/mcps/one/sse": "test_tool_with_progress",
	} {
		if got := peertest.OverSSE(t, url, tool); got.Tools < 10 || got.Progress == 0 || len(got.Content) < 10 {
			t.Errorf("%s: %+v", url, got)
		}
	}
}
