package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
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
		if o := ownProcess(t, "ping", "--url", s.URL); o.code != cli.ExitAuth || !strings.Contains(o.stderr, "401") {
			t.Errorf("%s past the router: exit %d, %s", s.Name, o.code, o.stderr)
		}
		token := tokenOf(t, u.Processes[i].PID)
		if len(token) < 26 || strings.Contains(all, token) {
			t.Fatalf("%s has the token %q", s.Name, token)
		}
		ownProcess(t, "ping", "--url", s.URL, "-H", "Authorization: Bearer "+token).ok(t)
		if o := ownProcess(t, "ping", "--url", s.URL, "-H", "Authorization: Bearer "+token+"x"); o.code != cli.ExitAuth {
			t.Errorf("%s with another token: exit %d, %s", s.Name, o.code, o.stderr)
		}
		all += token + "\n"
	}
	shown := u.log() + fmt.Sprintf("%+v", u.upSummary)
	for _, pid := range marked(t, u.mark) {
		shown += contents(fmt.Sprintf("/proc/%d/cmdline", pid))
	}
	for _, token := range strings.Fields(all) {
		if strings.Contains(shown, token) {
			t.Errorf("a token is shown: %s", shown)
		}
	}
	if strings.Contains(u.log(), "warning") {
		t.Error(u.log())
	}
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
	require.Eventually(t, "the demo", func() bool { return strings.Contains(out.log(), "reset_counter") })
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
		if strings.Contains(out.log()+recorded, token) {
			t.Error("a token is shown or recorded")
		}
	}
}
