package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/inspector"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// inspectorOf runs one of the Inspector's command lines on a server.
func inspectorOf(t *testing.T, mode behave.Mode, args ...string) outcome {
	t.Helper()
	s := faketest.Stdio(t, mode)
	return finish(t, command(t, append(append(append([]string{verbinspect.Inspecting}, args...), "--", s.Command), s.Args...)...))
}

func TestInspectorCallsATool(t *testing.T) {
	t.Parallel()
	o := inspectorOf(t, behave.Good, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hi", "--format", "json")
	if !strings.HasPrefix(o.ok(t), `{"result":{`) || strings.Count(o.out, "\n") != 1 || !strings.Contains(o.out, "hi") {
		t.Error(o.out)
	}
	if o := inspectorOf(t, behave.Good, "--method", "tools/call", "--tool-name", "none"); o.code != cli.ExitTool || lastLine(o) != `{"error":{"code":"tool_not_found","message":"Tool 'none' not found on server."}}` {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

func TestInspectorWritesResultsToFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out")
	args := []string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hi", "--output", file}
	if o := inspectorOf(t, behave.Good, append(args, "--output-format", "raw")...); o.ok(t) != "" || contents(file) != `{"text":"hi"}` || !strings.Contains(o.stderr, "Wrote 13 bytes (raw) to "+file) {
		t.Errorf("%q, %s, %s", contents(file), o.out, o.stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	want := `{"result":`
	if o := inspectorOf(t, behave.Good, append(args, "--format", "json")...); strings.Contains(o.ok(t), want) || !strings.Contains(o.out, `"format":"json"`) {
		t.Error(o.out)
	}
}

// The options about logins use those of mcphud auth login.
func TestInspectorUsesStoredLogins(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(&loginGuard{Handler: library{}})
	t.Cleanup(s.Close)
	home, url := t.TempDir(), s.URL+"/mcp"
	run := func(args ...string) outcome {
		cmd := command(t, append([]string{verbinspect.Inspecting}, args...)...)
		cmd.Env = append(cmd.Env, "HOME="+home, "XDG_STATE_HOME="+home+"/.state", "MCPHUD_CREDENTIALS=file", "CI=1")
		return finish(t, cmd)
	}
	list := []string{"--server-url", url, "--method", "tools/list"}
	if o := run(append(list, "--use-stored-auth")...); o.code != inspector.ExitAuth || !strings.Contains(lastLine(o), `"code":"no_stored_token"`) || !strings.Contains(o.stderr, "mcphud auth login "+url) {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	keep(t, home, s.URL, url, auth.Token{Access: "good", Refresh: "again"})
	run(append(list, "--use-stored-auth", "--header", "authorization: Bearer bad")...).ok(t)
}

func TestInspectorPrintsCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if got, want := mcphud(t, verbinspect.Inspecting, "--completion", shell).ok(t), mcphud(t, "completion", shell).ok(t); got != want {
			t.Errorf("%s: %.300s\nwant\n%.300s", shell, got, want)
		}
	}
	if got, want := mcphud(t, "__complete", verbinspect.Inspecting, "--format=").ok(t), "text\njson\n:4\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is not taken is said in one line with the command of ours that does it, which there is. Nothing is started for it.
func TestInspectorPointsElsewhere(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"--strict", "--verify", "--require-digests", "--skill-catalog-max-skills", "--skill-catalog-max-bytes", "--load", "--load-concurrency", "--load-duration", "--load-requests",
		"--load-rate", "--wait-for-auth", "--print-handoff", "--relogin", "--no-revoke", "--list-stored-auth", "--rename", "servers/list", "servers/show", "servers/add", "servers/edit", "servers/remove",
	} {
		verb := inspector.Elsewhere(word)
		if err := parsed(t, append(strings.Fields(verb)[1:], "--help")); verb == "" || err != nil {
			t.Errorf("%s: %s: %v", word, verb, err)
		}
		args := []string{verbinspect.Inspecting, "--method", "tools/list", word}
		if !strings.HasPrefix(word, "-") {
			args = []string{verbinspect.Inspecting, "--method", word, "--server", "x"}
		}
		o := finish(t, command(t, append(args, "--", "./no-such-program")...))
		want := `{"error":{"code":"error","message":"` + word + ` is not taken by mcphud --cli: use ` + verb + ` (see ` + verb + ` --help)"}}` + "\n"
		if o.code != inspector.ExitUsage || o.stderr != want || o.out != "" {
			t.Errorf("%s: exit %d, %s%s", word, o.code, o.out, o.stderr)
		}
	}
}

func TestInspectorListsItsOptions(t *testing.T) {
	t.Parallel()
	help := mcphud(t, verbinspect.Inspecting, "--help").ok(t)
	for _, option := range []string{"--tool-arg <pairs...>", "-q, --quiet", "--protocol-era <era>", "--load\n      mcphud bench"} {
		if !strings.Contains(help, option) {
			t.Errorf("no %s in %s", option, help)
		}
	}
	if got, want := mcphud(t, verbinspect.Inspecting, "-V").ok(t), cli.Version()+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
