package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// tokenOf is the token with which a process was started.
func tokenOf(t *testing.T, pid int) string {
	t.Helper()
	for _, v := range strings.Split(contents(fmt.Sprintf("/proc/%d/environ", pid)), "\x00") {
		if token, ok := strings.CutPrefix(v, "AGENT_TOKEN="); ok {
			return token
		}
	}
	return ""
}

// An agent of a stack takes calls of the router alone, and of whoever knows the token that the stack made for it.
func TestX7b_AgentsOfAStackCalledPastTheRouter(t *testing.T) {
	t.Parallel()
	u := stackOf(t, "agents: {a: {ephemeral: true}, b: {ephemeral: true, profile: everything}}\n", "mcphud.stack.yaml")
	call := func(url string, more ...string) outcome {
		t.Helper()
		return ownProcess(t, append([]string{"tools", "call", "call_agent", "agent=b", "tool=echo", `args:={"message":"hello"}`, "--url", url, "--format", "json"}, more...)...)
	}
	if out := call(u.Servers[0].Routed).ok(t); !strings.Contains(out, "hello") { // which goes through the router, too
		t.Error(out)
	}
	all := ""
	for i, s := range u.Servers {
		ownProcess(t, "ping", "--url", s.URL).exits(t, cli.ExitAuth, "401")
		token := tokenOf(t, u.Processes[i].PID)
		if len(token) < 26 || strings.Contains(all, token) {
			t.Fatalf("%s has the token %q", s.Name, token)
		}
		ownProcess(t, "ping", "--url", s.URL, "-H", "Authorization: Bearer "+token).ok(t)
		ownProcess(t, "ping", "--url", s.URL, "-H", "Authorization: Bearer "+token+"x").exits(t, cli.ExitAuth)
		all += token + "\n"
	}
	shown := u.log() + fmt.Sprintf("%+v", u.upSummary)
	for _, pid := range marked(t, u.mark) {
		shown += contents(fmt.Sprintf("/proc/%d/cmdline", pid))
	}
	for _, token := range strings.Fields(all) {
		assert.NotContains(t, shown, token)
	}
	assert.NotContains(t, u.log(), "warning")
}

func TestX7b_AuthOffIsLoud(t *testing.T) {
	t.Parallel()
	u := stackOf(t, "agents: {a: {ephemeral: true}}\nauth: off\n", "mcphud.stack.yaml")
	ownProcess(t, "ping", "--url", u.Servers[0].URL).ok(t)
	ownProcess(t, "ping", "--url", u.Servers[0].Routed).ok(t)
	if !strings.Contains(u.log(), "warning: auth is off: every program and user of this machine may call a;") || tokenOf(t, u.Processes[0].PID) != "" {
		t.Error(u.log())
	}
}

// The UI of the demo calls the agents directly, by their tokens, and shows and records none of them.
func TestX7b_TheDemoHidesItsTokens(t *testing.T) {
	t.Parallel()
	cmd := command(t, "demo", "--linear", "--journal", "traffic.jsonl")
	mark := fmt.Sprintf("MCPHUD_TEST_STACK=hidden%d", time.Now().UnixNano())
	cmd.Env = append(cmd.Env, mark, "XDG_RUNTIME_DIR="+cmd.Dir, "TMPDIR="+cmd.Dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out := &served{t: t} // as something that may be read while it is written
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	say := func(line, want string) {
		t.Helper()
		_, _ = in.Write([]byte(line + "\n"))
		require.Eventually(t, want, func() bool { return strings.Contains(out.log(), want) })
	}
	require.Eventually(t, "the demo", func() bool { return strings.Contains(out.log(), "Try first") })
	say(":tools", "reset_counter")
	tokens := map[string]bool{}
	for _, pid := range marked(t, mark) {
		if token := tokenOf(t, pid); token != "" {
			tokens[token] = true
		}
	}
	say(":doctor", " ok · ")
	say("/took it", "the entry has an Authorization header, and the server took it") // which a long list may leave out
	say(":stack", "everything (ready)")
	say(":traffic", "tools/list #") // whatever number it has
	_, _ = in.Write([]byte("q\n"))
	_ = in.Close()
	_ = cmd.Wait()
	recorded := contents(filepath.Join(cmd.Dir, "traffic.jsonl"))
	if len(tokens) != 3 || !strings.Contains(recorded, "Bearer ***") {
		t.Errorf("%d tokens, %.500s", len(tokens), recorded)
	}
	for token := range tokens {
		assert.NotContains(t, out.log()+recorded, token)
	}
}

// Replicas stand behind one route, and one that dies is missed by nobody.
func TestUpRunsReplicas(t *testing.T) {
	long(t, "TestUp")
	t.Parallel()
	u := stackOf(t, "agents: {one: {replicas: 2, ephemeral: true}}\nauth: off\nrouter: {}\n", "mcphud.stack.yaml")
	if len(u.Servers) != 2 || len(u.Processes) != 3 || u.Servers[0].Name != "one-1" || u.Servers[1].Name != "one-2" || u.Servers[0].URL == u.Servers[1].URL ||
		u.Servers[0].Routed != u.Servers[1].Routed || !strings.HasSuffix(u.Servers[0].Routed, "/mcps/one/mcp") {
		t.Fatalf("%+v", u.upSummary)
	}
	call := func() {
		t.Helper()
		assert.Contains(t, mcphud(t, "tools", "call", "add", "a=1", "b=2", "--url", u.Servers[0].Routed, "--format", "json").ok(t), "3")
	}
	// Calls that need no session: each replica has one of the first few, between which the router asks for lists of its own.
	u.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	had := func(i int) bool {
		r, err := u.send(http.MethodGet, strings.TrimSuffix(u.Servers[i].URL, "/mcp")+"/metrics", "")
		return err == nil && strings.Contains(r.body, `mcp_tool_name="add"`)
	}
	for n := 0; !had(0) || !had(1); n++ {
		if n == 10 {
			t.Fatalf("one of the replicas had none of %d calls", n)
		}
		r, err := u.send(http.MethodPost, u.Servers[0].Routed, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "add")
		if err != nil || r.status != http.StatusOK || !strings.Contains(r.body, "3") {
			t.Errorf("%v %+v", err, r)
		}
	}
	require.NoError(t, syscall.Kill(u.Processes[0].PID, syscall.SIGKILL))
	require.Eventually(t, "the replica to be gone", func() bool { return syscall.Kill(u.Processes[0].PID, 0) != nil })
	for range 4 {
		call()
	}
	// At its port, or at another if somebody took that one in the meantime: it was not asked for in the file.
	ready := regexp.MustCompile(`one-1        ready      at (http://127\.0\.0\.1:\d+/mcp)`)
	require.Eventually(t, "the replica to come back", func() bool { return len(ready.FindAllString(u.log(), -1)) == 2 })
	u.Servers[0].URL = ready.FindAllStringSubmatch(u.log(), -1)[1][1]
	require.Eventually(t, "the replica to be called again", func() bool {
		call()
		return had(0)
	})
}
