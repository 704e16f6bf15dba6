package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// writeConfig writes a file of fake servers by name, in this order, and further top-level lines of YAML.
func writeConfig(t *testing.T, extra string, servers ...[2]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("mcp:\n  servers:\n")
	for _, s := range servers {
		fmt.Fprintf(&b, "    - {id: %q, command: %q, args: [%q]}\n", s[0], faketest.Binary(t), s[1])
	}
	b.WriteString(extra)
	file := filepath.Join(t.TempDir(), "mcp.yaml")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

type statusReport struct {
	Servers []struct {
		Name, State, Error, Reason string
		Connected, Enabled         bool
		ToolCount                  int     `json:"tool_count"`
		LatencyMs                  float64 `json:"latency_ms"`
	}
	Pool struct {
		TotalServers, ActiveConnections, IdleConnections int
		MaxConnections                                   int    `json:"max_connections"`
		MaxIdleTime                                      string `json:"max_idle_time"`
	}
}

func (o outcome) status(t *testing.T) (r statusReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.out), &r); err != nil {
		t.Fatalf("%v: %.500s\n%.500s", err, o.out, o.stderr)
	}
	return r
}

// Of three servers one is broken: the other two are connected and counted, and the exit code is the broken one's. With one
// connection at most they take turns.
func TestS6_S15_O4_StatusOfAllServers(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "  pool: {max_connections: 1, max_idle_time: 90s}\n",
		[2]string{"good", string(behave.Good)}, [2]string{"broken", string(behave.ExitAtOnce)}, [2]string{"fine", string(behave.Modern)})
	o := mcphud(t, "status", "--config", file, "--format", "json")
	o.exits(t, cli.ExitUnreachable)
	r := o.status(t)
	if len(r.Servers) != 3 {
		t.Fatalf("%d servers: %s", len(r.Servers), o.out)
	}
	for i, want := range []string{"good", "broken", "fine"} {
		s := r.Servers[i]
		works := want != "broken"
		if s.Name != want || s.Connected != works || !s.Enabled || (s.ToolCount > 0) != works || (s.LatencyMs > 0) != works || (s.Error == "") != works {
			t.Errorf("server %d: %+v, want %s", i, s, want)
		}
	}
	if p := r.Pool; p.TotalServers != 3 || p.MaxConnections != 1 || p.MaxIdleTime != "1m30s" || p.ActiveConnections+p.IdleConnections > 1 {
		t.Errorf("pool: %+v", p)
	}
	text := mcphud(t, "status", "--config", file, "--format", "text")
	for _, want := range []string{"good", "connected", "exited", "pool: 3 servers", "limit 1"} {
		assert.Contains(t, text.out, want)
	}
}

// With continue_on_error: false the first failure ends the rest, and its exit code is the command's.
func TestS15_StatusStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "  continue_on_error: false\n", [2]string{"deaf", string(behave.NoAnswer)}, [2]string{"broken", string(behave.ExitAtOnce)})
	o := mcphud(t, "status", "--config", file, "--connect-timeout", "2m", "--format", "json")
	r := o.status(t)
	if o.code != cli.ExitUnreachable || !strings.Contains(r.Servers[0].Error, "another server failed") || !strings.Contains(r.Servers[1].Error, "exited") || r.Servers[1].Reason != "/etc/fakemcp.conf does not exist" {
		t.Errorf("exit %d: %s\n%s", o.code, o.out, o.stderr)
	}
	if e := o.errorLine(t); e.Kind != "SpawnFailed" {
		t.Errorf("the error is of kind %s", e.Kind)
	}
	o = mcphud(t, "tools", "list", "--all", "--config", file, "--connect-timeout", "2m", "--format", "json")
	o.prints(t, cli.ExitUnreachable, `{"server":"deaf","error":"another server failed`, `{"server":"broken","error":"/etc/fakemcp.conf does not exist (starting: `)
	on := writeConfig(t, "", [2]string{"deaf", string(behave.NoAnswer)}, [2]string{"broken", string(behave.ExitAtOnce)})
	o = mcphud(t, "status", "--config", on, "--connect-timeout", "1s", "--format", "json")
	if r := o.status(t); o.code != cli.ExitTimeout || !strings.Contains(r.Servers[0].Error, "no answer") {
		t.Errorf("exit %d: %s\n%s", o.code, o.out, o.stderr)
	}
}

func TestStatusOfDisabledUntrustedAndNoServers(t *testing.T) {
	t.Parallel()
	cmd := command(t, "status", "--format", "text")
	entry := fmt.Sprintf(`{"command": %q, "args": ["good"]}`, faketest.Binary(t))
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, ".mcp.json"), []byte(`{"mcpServers": {"alien": `+entry+`}}`), 0o600))
	finish(t, cmd).prints(t, 0, "alien   ! not trusted\n", "\nalien: from a file of this folder: ")
	off := filepath.Join(t.TempDir(), "mcp.yaml")
	require.NoError(t, os.WriteFile(off, []byte("servers:\n  off: {enabled: false, command: x}\n"), 0o600))
	if o := mcphud(t, "status", "--config", off, "--format", "json"); o.code != 0 || o.status(t).Servers[0].Enabled {
		t.Errorf("exit %d: %s\n%s", o.code, o.out, o.stderr)
	}
	// What keeps a server away has the words that the screen has.
	require.NoError(t, os.WriteFile(off, []byte("servers:\n  off: {enabled: false, command: x}\n  bad: {command: '${A_VARIABLE_THAT_NOBODY_HAS_SET}'}\n"), 0o600))
	mcphud(t, "status", "--config", off, "--format", "text").prints(t, cli.ExitFailure, "off     ⊘ disabled\n", "bad     ✗ cannot start\n", "pool: 2 servers, 0 active, 0 idle;", "\nbad: ")
	ownProcess(t, "status", "--format", "text").prints(t, 0, "no servers found")
	if o := mcphud(t, "status", "--url", "http://127.0.0.1:1"); o.code != cli.ExitFailure || o.errorLine(t).Kind != "Usage" {
		t.Errorf("--url: exit %d, %s", o.code, o.stderr)
	}
}

// The full name of a tool, in either spelling, names its server; with --server it is accepted as well. Of two servers that a
// name could mean, the one that has the tool is called; where one cannot be asked, the name is refused.
func TestS6_N1_N2_FullNameNamesTheServer(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "", [2]string{"good", string(behave.Good)}, [2]string{"good__er", string(behave.Good)},
		[2]string{"bad", string(behave.ExitAtOnce)}, [2]string{"bad__er", string(behave.Good)})
	for _, args := range [][]string{
		{"mcp__good__echo"},
		{"mcp:good:echo"},
		{"mcp__good__echo", "--server", "good"},
		{"mcp:good:echo", "--server", "good"},
		{"echo", "--server", "good"},
		{"mcp:good__er:echo"},
		{"mcp__good__er__echo"},
		{"mcp__good__er__echo", "--server", "good__er"},
	} {
		o := mcphud(t, append([]string{"tools", "call", "--config", file}, append(args, "text=hello")...)...)
		o.prints(t, 0, "hello")
	}
	if o := mcphud(t, "tools", "show", "mcp__good__echo", "--config", file); !strings.Contains(o.ok(t), `"echo"`) {
		t.Errorf("tools show: %s", o.out)
	}
	for name, why := range map[string]string{"mcp__bad__er__echo": "ambiguous", "mcp__good__er__nothing": "none of the servers", "mcp__nobody__echo": "names no server", "mcp__good__nothing": "no tool"} {
		o := mcphud(t, "tools", "call", name, "--config", file)
		if e := o.errorLine(t); o.code != cli.ExitTool || e.Kind != "InvalidToolName" || !strings.Contains(e.Message, why) {
			t.Errorf("%s: exit %d, %s", name, o.code, o.stderr)
		}
	}
}

// tools list --all is the tools of all servers under their full names, in the order of the config, each as its server sent it. Servers that
// fail are named in it.
func TestS6_N1_ToolsOfAllServersInOneList(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "", [2]string{"b", string(behave.Good)}, [2]string{"a", string(behave.Good)}, [2]string{"broken", string(behave.ExitAtOnce)})
	alone := mcphud(t, "tools", "list", "--server", "a", "--config", file, "--format", "json")
	var one, all struct {
		Tools []map[string]any
		Meta  struct {
			Missing []struct{ Server, Error string } `json:"mcphud/missing"`
		} `json:"_meta"`
	}
	require.NoError(t, json.Unmarshal([]byte(alone.ok(t)), &one))
	for spelling, format := range map[string]string{"underscore": "mcp__%s__%s", "colon": "mcp:%s:%s"} {
		o := mcphud(t, "tools", "list", "--all", "--names", spelling, "--config", file, "--format", "json")
		all.Tools, all.Meta.Missing = nil, nil
		if err := json.Unmarshal([]byte(o.out), &all); err != nil || o.code != cli.ExitUnreachable {
			t.Fatalf("exit %d, %v: %s", o.code, err, o.stderr)
		}
		if len(all.Tools) != 2*len(one.Tools) || len(all.Meta.Missing) != 1 || all.Meta.Missing[0].Server != "broken" {
			t.Fatalf("%d tools, missing %+v", len(all.Tools), all.Meta.Missing)
		}
		for i, tool := range all.Tools {
			of := one.Tools[i%len(one.Tools)]
			want := fmt.Sprintf(format, []string{"b", "a"}[i/len(one.Tools)], of["name"])
			if tool["name"] != want || fmt.Sprint(tool["inputSchema"]) != fmt.Sprint(of["inputSchema"]) {
				t.Errorf("tool %d is %v, want %s", i, tool["name"], want)
			}
		}
	}
	for flag, value := range map[string]string{"--server": "a", "--protocol": "2025-06-18", "--log-level": "debug"} {
		mcphud(t, "tools", "list", "--all", flag, value, "--config", file).exits(t, cli.ExitFailure, flag)
	}
	names := slices.Collect(func(yield func(string) bool) {
		for _, tool := range all.Tools {
			if !yield(fmt.Sprint(tool["name"])) {
				return
			}
		}
	})
	if o := mcphud(t, "tools", "call", names[0], "--config", file); o.code == cli.ExitFailure || strings.Contains(o.stderr, "InvalidToolName") {
		t.Errorf("a listed name cannot be called: exit %d, %s", o.code, o.stderr)
	}
}

// A tool whose full name another server's tool has is named, not left out in silence.
func TestS6_N1_ToolsOfOneFullName(t *testing.T) {
	t.Parallel()
	tool := func(name string) string {
		return agent(t, agentsrv.Options{Tools: []server.ServerTool{{Tool: mcp.NewTool(name), Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("x"), nil
		}}}})
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"mcpServers":{"a":{"url":%q},"a__b":{"url":%q}}}`, tool("b__c"), tool("c")), 0o600))
	o := mcphud(t, "tools", "list", "--all", "--config", file, "--format", "json")
	if out := o.ok(t); strings.Count(out, `"mcp__a__b__c"`) != 1 || !strings.Contains(out, `"mcphud/missing":[{"server":"a`) {
		t.Errorf("%.300s", out[max(0, len(out)-300):])
	}
}
