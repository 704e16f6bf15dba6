package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// changeable is a server whose tools a test replaces.
func changeable(t *testing.T, tools ...server.ServerTool) (s *server.MCPServer, url string) {
	t.Helper()
	s = server.NewMCPServer("changeable", "1.0.0", server.WithToolCapabilities(true))
	s.SetTools(tools...)
	h := httptest.NewServer(server.NewStreamableHTTPServer(s, server.WithStateLess(true)))
	t.Cleanup(h.Close)
	return s, h.URL + "/mcp"
}

func answering(tool mcp.Tool, result *mcp.CallToolResult) server.ServerTool {
	return server.ServerTool{Tool: tool, Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil }}
}

// What a router saw first is what its user's checks compare with, found by the URL; others name the file.
func TestCheckSafetyPins(t *testing.T) {
	t.Parallel()
	tool := func(about string, options ...mcp.ToolOption) server.ServerTool {
		return answering(mcp.NewTool("find", append(options, mcp.WithDescription(about))...), mcp.NewToolResultText("found"))
	}
	s, url := changeable(t, tool("Finds pages.", mcp.WithReadOnlyHintAnnotation(true)), answering(mcp.NewTool("stay", mcp.WithDescription("Stays.")), mcp.NewToolResultText("")))
	cmd := routerCommand(t, `{"routes":{"pages":{"url":"`+url+`"}}}`, nil, "--port", "0")
	r := launch(t, cmd, routerReady)
	again := func(args ...string) outcome {
		c := command(t, args...)
		c.Env = cmd.Env // the same user
		return finish(t, c)
	}
	if o := again("tools", "list", "--url", r.url+"/mcps/pages/mcp"); o.code != 0 {
		t.Fatal(o.stderr)
	}
	r.signal(syscall.SIGTERM)
	r.exit()
	if o := again("check", "safety", "--format", "text", "--url", url); o.code != 0 || !strings.Contains(o.out, "2 tools were compared with what a router (agent pages in ") || strings.Contains(o.out, "changed-under-pin") {
		t.Errorf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	s.SetTools(tool("Finds pages, and edits them.", mcp.WithReadOnlyHintAnnotation(false)), answering(mcp.NewTool("stay", mcp.WithDescription("Stays.")), mcp.NewToolResultText("")))
	want := func(o outcome) {
		t.Helper()
		for _, w := range []string{"safety/changed-under-pin", "security: readOnlyHint true → false, first seen on ", "behaviour change: description changed: ", "agent pages in "} {
			assert.Contains(t, o.out, w)
		}
		if o.code != cli.ExitAssertion || strings.Contains(o.out, `"name":"stay"`) {
			t.Errorf("exit %d %s%s", o.code, o.out, o.stderr)
		}
	}
	want(again("check", "safety", "--format", "json", "--url", url))
	// This process is another user, who has no router.
	mcphud(t, "check", "safety", "--format", "json", "--url", url).prints(t, 0, `"findings":[]`)
	files, err := filepath.Glob(filepath.Join(cmd.Dir, "..", "*", ".state", "mcphud", "routers", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	want(mcphud(t, "check", "safety", "--format", "json", "--pins", files[0], "--url", url))
	mcphud(t, "check", "safety", "--pins", files[0]+".no", "--url", url).exits(t, cli.ExitFailure, "--pins: ")
}

// Secrets in results are found in journals, in the history, and in what other sections of the run receive, and are shown nowhere.
func TestCheckSafetyResults(t *testing.T) {
	t.Parallel()
	const token = "ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr"
	result := mcp.NewToolResultStructured(map[string]any{"db_password": "hunt9rGreen", "next_page_token": "q83hf92kdl2mzx8"}, "the token is "+token)
	_, url := changeable(t, answering(mcp.NewTool("settings", mcp.WithDescription("Says the settings."), mcp.WithReadOnlyHintAnnotation(true)), result))
	dir := t.TempDir()
	file := filepath.Join(dir, "calls.jsonl")
	call := command(t, "tools", "call", "settings", "--url", url, "--journal", file, "--journal-raw") // a journal has no secrets otherwise
	call.Env = append(call.Env, cli.NoHistory+"=")                                                    // which isolate turned off
	if o := finish(t, call); o.code != 0 {
		t.Fatal(o.stderr)
	}
	for name, c := range map[string]struct{ args, want []string }{
		"a journal":     {[]string{"--evidence", file}, []string{"/content/0/text has a GitHub token, 32 characters", "/structuredContent/db_password has a secret by its name, 11 characters", "looked for secrets in 1 result"}},
		"the history":   {[]string{"--evidence", "history"}, []string{"/structuredContent/db_password has a secret by its name, which was hidden when it was kept"}},
		"other section": {[]string{"fuzz", "--allow", "settings", "--runs", "2", "--failures", ""}, []string{"/content/0/text has a GitHub token, 32 characters", "seen in this session, entry "}},
		"nothing":       {nil, nil},
	} {
		examine := command(t, append(append([]string{"check", "safety"}, c.args...), "--format", "json", "--url", url)...)
		examine.Env = call.Env // the same user
		o := finish(t, examine)
		for _, w := range c.want {
			if !strings.Contains(o.out, w) {
				t.Errorf("%s: no %s in %s%s", name, w, o.out, o.stderr)
			}
		}
		if strings.Contains(o.out, "A8s7") || strings.Contains(o.out, "hunt9r") || strings.Contains(o.out, "q83h") {
			t.Errorf("%s: a secret in %s", name, o.out)
		}
		if strings.Contains(o.out, "secret-in-result") != (c.want != nil) || strings.Contains(o.out, "next_page_token") {
			t.Errorf("%s: exit %d %s%s", name, o.code, o.out, o.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(call.Dir, ".mcphud")); err == nil {
		t.Error("something is left")
	}
}
