package main

import (
	"fmt"
	"strings"
	"testing"
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
		if o := ownProcess(t, "ping", "--url", s.URL); o.code != exitAuth || !strings.Contains(o.stderr, "401") {
			t.Errorf("%s past the router: exit %d, %s", s.Name, o.code, o.stderr)
		}
		token := tokenOf(t, u.Processes[i].PID)
		if len(token) < 26 || strings.Contains(all, token) {
			t.Fatalf("%s has the token %q", s.Name, token)
		}
		ownProcess(t, "ping", "--url", s.URL, "-H", "Authorization: Bearer "+token).ok(t)
		if o := ownProcess(t, "ping", "--url", s.URL, "-H", "Authorization: Bearer "+token+"x"); o.code != exitAuth {
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
