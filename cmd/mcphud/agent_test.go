package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	verbserve "github.com/mcphud/mcphud/cmd/verb/serve"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/safe"
)

func TestAgentHelpHasOnlyItsOwnFlags(t *testing.T) {
	t.Parallel()
	out := mcphud(t, "agent", "--help").ok(t)
	for _, flag := range []string{"--port", "--profile", "--ephemeral", "--stdio", "--drain-timeout", "--format", "--config"} {
		if !strings.Contains(out, flag+" ") {
			t.Errorf("no %s in %s", flag, out)
		}
	}
	for _, flag := range []string{"--url", "--server", "--journal", "--cwd", "--linear"} {
		if strings.Contains(out, flag+" ") {
			t.Errorf("%s, which does not apply to a server, is in %s", flag, out)
		}
	}
}

func TestAgentUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"--url http://127.0.0.1:1/mcp", "--url does not apply to the agent"},
		{"--linear", "--linear does not apply"},
		{"--profile nice", "demo, everything, hostile, fault"},
		{"--port many", "from 0 to 65535"},
		{"--concurrency 0", "from 1 to"},
		{"--timeout never", "30s"},
		{"--max-request-size big", "10mb"},
		{"--log-level loud", "debug, info, warning, error"},
		{"--config /nowhere/at/all.yaml", "/nowhere/at/all.yaml"},
		{"--ephemeral --store x.db", "--store exclude each other"},
		{"--kb /nowhere/at/all --ephemeral --port 0", "/nowhere/at/all"},
		{"--host 0.0.0.0 --port 0", "AGENT_TOKEN"},
		{"--host :: --port 0", "--jwks"},
		{"more", "takes no arguments, and got \"more\""},
	} {
		o := mcphud(t, append([]string{"agent"}, strings.Fields(c.args)...)...)
		if e := o.errorLine(t); o.code != cli.ExitFailure || o.out != "" || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: exit %d, stdout %q, stderr %s", c.args, o.code, o.out, o.stderr)
		}
	}
}

func TestAgentCompletion(t *testing.T) {
	t.Parallel()
	if out := mcphud(t, "__complete", "agent", "--profile", "").ok(t); !strings.HasPrefix(out, "demo\neverything\nhostile\nfault\n") {
		t.Error(out)
	}
	if out := mcphud(t, "__complete", "agent", "--log-level", "").ok(t); !strings.HasPrefix(out, "debug\ninfo\nwarning\nerror\n") || strings.Contains(out, "critical") {
		t.Error(out)
	}
	if out := mcphud(t, "__complete", "agent", "--").ok(t); !strings.Contains(out, "--queue-capacity") || strings.Contains(out, "--journal") {
		t.Error(out)
	}
}

// What a client sends ends up in log lines, and must neither act on the terminal nor start a line of its own.
func TestAgentLogLinesForPeople(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	log := slog.New(verbserve.NewLineHandler(&b, slog.LevelInfo))
	log.With("session", "a b").WithGroup("tool").Info("MCP tool called", "tool", "x\x1b]52;c;eA==\a\u202e\ny", "duration_ms", 3)
	log.Debug("not shown")
	log.Error("\x1b[2Jline\nbreak")
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], ` INFO  MCP tool called session="a b" tool.tool="x\x1b]52;c;eA==\a\u202e\ny" tool.duration_ms=3`) || !strings.Contains(lines[1], " ERROR ") {
		t.Errorf("%q", lines)
	}
	marks := strings.Repeat("\u0301", 30)
	b.Reset()
	log.Info("e"+marks, "tool", "x"+marks, slog.Group("args", "e"+marks, 1))
	if n := strings.Count(b.String(), "\u0301"); n > 3*safe.MaxMarks {
		t.Errorf("%d combining marks reached the terminal: %q", n, b.String())
	}
	for _, r := range b.String() {
		if r < ' ' && r != '\n' || r == 0x202e {
			t.Errorf("%U reached the terminal: %q", r, b.String())
		}
	}
}

// Whoever only looks at the agent over stdio leaves nothing behind, also where the machine is so busy that the agent is killed.
func TestALookLeavesNoDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i, look := range [][]string{
		{"info"},
		{"tools", "list"},
		{"resources", "list"},
		{"prompts", "list"},
		{"resources", "read", "system-agents://list"},
		{"tools", "call", "echo", "message=x"},
		{"tools", "call", "search_knowledge_base", "query=session", "tenant_id=default"},
		{"tools", "call", "lookup_entity", "entity_type=service", "query=express", "tenant_id=default"},
	} {
		if i%3 != 0 && !budget.All() { // each is two processes
			continue
		}
		// In 2026-07-28 a call that takes a slow machine long becomes a task, which is kept.
		stdioAgent(t, home, append(look, "--protocol", "2025-11-25")...).ok(t)
		if left := states(t, home); len(left) != 0 {
			t.Fatalf("%q left %v", look, left)
		}
	}
}

// states are the files that agents keep.
func states(t *testing.T, home string) (names []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(home, ".state", "mcphud", "*"))
	require.NoError(t, err)
	for _, f := range all {
		names = append(names, filepath.Base(f))
	}
	return names
}

// stdioAgent runs a command on an agent of its own.
func stdioAgent(t *testing.T, home string, args ...string) outcome {
	t.Helper()
	c := command(t, args...)
	c.Args = append(c.Args, "--", c.Path, "agent", "--stdio")
	c.Dir = home
	c.Env = append(c.Env, "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, ".state"))
	return finish(t, c)
}

// What is to be kept is kept, in one closed file. A client waits only some ms for a server to end, which a busy machine may not
// give it.
func TestStdioAgentClosesItsDatabase(t *testing.T) {
	var left []string
	for range 20 {
		home := t.TempDir()
		stdioAgent(t, home, "tools", "call", "create_agent", "agent_name=ada", "tenant_id=acme", "user_id=u", "description=x", `output_schema:={"type":"object"}`).ok(t)
		if o := stdioAgent(t, home, "raw", "resources/read", `{"uri":"my-agents://list","_meta":{"tenant_id":"acme"}}`); !strings.Contains(o.out, "ada") {
			t.Fatalf("it is not kept: %s %s", o.out, o.stderr)
		}
		if left = states(t, home); len(left) == 1 && left[0] == options.StdioStore {
			return
		}
	}
	t.Errorf("20 agents left %v", left)
}

// A store that cannot be used is refused at the start, with its name and what to do.
func TestDamagedStoreIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent.db")
	whole := filepath.Join(t.TempDir(), "whole.db")
	s := serveAgent(t, "--store", whole)
	s.call("create_agent", `{"agent_name":"a","tenant_id":"t","user_id":"u","description":"x","output_schema":{"type":"object"}}`).text(t)
	s.signal(os.Interrupt)
	s.exit()
	raw, err := os.ReadFile(whole)
	if err != nil || len(raw) < 8192 {
		t.Fatal(len(raw), err)
	}
	torn := slices.Clone(raw)
	for i := 100; i < len(torn); i++ {
		torn[i] ^= 0x5a
	}
	for name, content := range map[string][]byte{"another file": bytes.Repeat([]byte("no database "), 1000), "torn": torn, "cut": raw[:5000]} {
		require.NoError(t, os.WriteFile(file, content, 0o600))
		if e := refused(t, nil, "--port", "0", "--store", file); !strings.Contains(e.Message, file+" is damaged or not a database; remove it") || strings.Count(e.Message, "remove it") != 1 {
			t.Errorf("%s: %s", name, e.Message)
		}
	}
}

func TestC2_FileInTheConfigurationFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".config", "mcphud", "agent.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	port := strconv.Itoa(nettest.FreePort(t))
	require.NoError(t, os.WriteFile(path, []byte("name: from file\nmaxRequestSize: 1kb\nconcurrency: 3\ncolour: blue\nport: "+port+"\n"), 0o600))
	s := serveIn(t, home, []string{"AGENT_PORT=" + port})
	assert.Contains(t, s.get("/health").body, `"from file"`)
	if r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"` + strings.Repeat("x", 1024) + `"}}}`); r.status != 413 {
		t.Errorf("maxRequestSize: %d %.200s", r.status, r.body)
	}
	assert.Contains(t, s.get("/queue").body, `"concurrency":3`)
	assert.Contains(t, s.log(), `"line":4`, "colour")
	e := refused(t, nil, "--port", "0", "--config", filepath.Join(home, "none.yaml"))
	assert.Contains(t, e.Message, "none.yaml")
}

// On stderr is the line that says it is ready, and log records as JSON.
func TestAgentLogsJSONLines(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral", "--log-level", "debug")
	s.call("echo", `{"message":"a\nb"}`).text(t)
	require.Eventually(t, "the call in the log", func() bool { return strings.Contains(s.log(), "MCP tool called") })
	called, settings := 0, map[string]any{}
	for line := range strings.Lines(s.log()) {
		if strings.HasPrefix(line, "listening on ") {
			continue
		}
		var rec map[string]any
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Errorf("no JSON: %q", line)
			continue
		}
		switch rec["msg"] {
		case "MCP tool called":
			called++
			for _, key := range []string{"tool", "tenant_id", "duration_ms", "trace_id"} {
				if _, ok := rec[key]; !ok {
					t.Errorf("no %s in %s", key, line)
				}
			}
		case "settings":
			settings = rec
		}
	}
	if called != 1 || settings["ephemeral"] != "true (flag)" || settings["concurrency"] != "1 (default)" {
		t.Errorf("%d calls, settings from %v", called, settings)
	}
}

const madeAgent = `{"agent_name":"a","tenant_id":"t","user_id":"u","description":"x","output_schema":{"type":"object"}}`

// Two agents on one database are one to their users; a server that goes fails calls, which work again when it is back.
func TestBackendAgentsShareAStore(t *testing.T) {
	t.Parallel()
	pg := pgtest.Private(t)
	url := pg.URL("postgres")
	a, b := serveAgent(t, "--store", url), serveIn(t, t.TempDir(), []string{"AGENT_STORE=" + url})
	a.call("create_agent", madeAgent).text(t)
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"my-agents://list","_meta":{"tenant_id":"t"}}}`
	assert.Contains(t, b.post(read).body, "agentlet://user/u/a")
	assert.Contains(t, b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_agent","arguments":`+madeAgent+`}}`).body, "is taken")
	if got := b.call("lookup_entity", `{"tenant_id":"t","entity_type":"person","query":"a"}`).text(t); !strings.Contains(got, "nearest") && !strings.Contains(got, "success") {
		t.Error(got)
	}
	require.NoError(t, pg.Stop())
	for _, tool := range []string{`"create_agent","arguments":` + strings.Replace(madeAgent, `"a"`, `"b"`, 1), `"lookup_entity","arguments":{"tenant_id":"t","entity_type":"person","query":"a"}`} {
		r := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + tool + `}}`)
		assert.Contains(t, r.body, "the store cannot be reached", "PostgreSQL at ", `"retryAfterMs":1000`)
	}
	gone := agentCommand(t, t.TempDir(), nil, "--port", "0", "--store", url)
	finish(t, gone).exits(t, cli.ExitUnreachable, "cannot reach PostgreSQL at ")
	require.NoError(t, pg.Start())
	b.call("create_agent", strings.Replace(madeAgent, `"a"`, `"b"`, 1)).text(t)
	assert.Contains(t, a.post(read).body, "agentlet://user/u/b")
}

// A password is neither shown nor left unmentioned.
func TestTheStoresPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	const url = "postgres://u:pw12345@127.0.0.1:1/d?sslmode=disable"
	for _, env := range []string{"", "AGENT_STORE=" + url} {
		args := []string{"--port", "0"}
		if env == "" {
			args = append(args, "--store", url)
		}
		o := finish(t, agentCommand(t, t.TempDir(), []string{env}, args...))
		if o.code != cli.ExitUnreachable || strings.Contains(o.stderr, "pw12345") || !strings.Contains(o.stderr, "cannot reach PostgreSQL at 127.0.0.1:1: check that it runs, and the address") {
			t.Errorf("exit %d: %s", o.code, o.stderr)
		}
		if warned := strings.Contains(o.stderr, "the password of --store is in process listings"); warned != (env == "") {
			t.Errorf("warned %v: %s", warned, o.stderr)
		}
	}
	o := finish(t, agentCommand(t, t.TempDir(), nil, "--port", "0", "--queue", "nats://u:pw12345@127.0.0.1:1", "--register", "nats://u:pw12345@127.0.0.1:1/routes"))
	if strings.Contains(o.stderr, "pw12345") || !strings.Contains(o.stderr, "set AGENT_QUEUE instead") || !strings.Contains(o.stderr, "set AGENT_REGISTER instead") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if o := mcphud(t, "config", "explain", "agent", "--store", url, "--format", "text"); strings.Contains(o.out, "pw12345") || !strings.Contains(o.out, "postgres://***@127.0.0.1:1/d") {
		t.Error(o.out)
	}
}
