package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/inspector"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
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

// Of what other clients may refuse --strict makes exit code 6, and only of the errors.
func TestInspectorStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		property, said string
		code           int
	}{
		{`true`, `{"error":{"code":"schema_unportable","message":"1 tool schema portability error found (--strict)."}}`, 6},
		{`{"type":["string","null"]}`, `0 errors, 1 warning across 1 tool.`, 0},
		{`{"type":"string"}`, "", 0},
	} {
		url := listing(t, `{"name":"a","inputSchema":{"type":"object","properties":{"x":`+c.property+`}}}`)
		o := finish(t, command(t, verbinspect.Inspecting, url, "--method", "tools/list", "--strict"))
		lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
		if o.code != c.code || lines[len(lines)-1] != c.said {
			t.Errorf("%s: exit %d, %s", c.property, o.code, o.stderr)
		}
		if o := finish(t, command(t, verbinspect.Inspecting, url, "--method", "tools/list")); o.code != 0 {
			t.Errorf("%s without --strict: exit %d, %s", c.property, o.code, o.stderr)
		}
	}
}

// listing is a server that lists one tool.
func listing(t *testing.T, tool string) (url string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		env, err := jsonrpc.Scan(b)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case err != nil || env.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case env.Method == "initialize":
			_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"one","version":"1"}}`)))
		case env.Method == "tools/list":
			_, _ = w.Write(jsonrpc.NewResult(env.ID, []byte(`{"tools":[`+tool+`]}`)))
		default:
			_, _ = w.Write(jsonrpc.NewError(env.ID, jsonrpc.CodeMethodNotFound, "no such method", nil))
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp"
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

// Skills are verified, and the exit code says what came of it.
func TestInspectorVerifiesSkills(t *testing.T) {
	t.Parallel()
	url := serveAgent(t, "--profile", "everything").url
	run := func(args ...string) outcome {
		return finish(t, command(t, append([]string{verbinspect.Inspecting, url, "--verify", "--method"}, args...)...))
	}
	if o := run("skills/get", "--uri", "skill://everything/see-features/SKILL.md"); strings.Count(o.ok(t), "\n") != 1 || !strings.Contains(o.out, `"outcome":"verified"`) || !strings.Contains(o.stderr, "Verified 1 skill") {
		t.Errorf("%s%s", o.out, o.stderr)
	}
	if o := run("skills/list", "--require-digests", "-q"); o.code != inspector.ExitSkillUnverifiable || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, "skills_unverifiable") || !strings.Contains(o.out, "dynamic-resources") {
		t.Errorf("exit %d, %s%s", o.code, o.out, o.stderr)
	}
	if o := run("skills/list", "--skill-catalog-max-skills", "1"); o.code != inspector.ExitSkillIncomplete || !strings.Contains(lastLine(o), "skills_incomplete") {
		t.Errorf("exit %d, %s%s", o.code, o.out, o.stderr)
	}
	wrong := httptest.NewServer(wrongSkills())
	t.Cleanup(wrong.Close)
	url = wrong.URL + "/mcp"
	if o := run("skills/list"); o.code != inspector.ExitSkillFailed || !strings.Contains(lastLine(o), "skills_nonconformant") {
		t.Errorf("exit %d, %s%s", o.code, o.out, o.stderr)
	}
}

// The options about logins use those of mcphud auth login.
func TestInspectorUsesStoredLogins(t *testing.T) {
	t.Parallel()
	g := &loginGuard{Handler: wrongSkills()}
	s := httptest.NewServer(g)
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
	if o := run("--list-stored-auth"); !strings.Contains(o.ok(t), `"storedServerUrls":["`+url+`"]`) {
		t.Error(o.out)
	}
	run(append(list, "--use-stored-auth", "--header", "authorization: Bearer bad")...).ok(t)
	if o := run("--server-url", url, "--print-handoff"); !strings.Contains(o.ok(t), `"loginCommand":"mcphud auth login `+url+`"`) {
		t.Error(o.out)
	}
	if o := run(append(list, "--relogin")...); o.code != inspector.ExitAuth || len(g.takes()) == 0 {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := run("--list-stored-auth"); !strings.Contains(o.ok(t), `"storedServerUrls":[]`) {
		t.Error(o.out)
	}
	keep(t, home, s.URL, url, auth.Token{Access: "good"})
	if o := run(append(list, "--relogin", "--no-revoke")...); o.code != inspector.ExitAuth || len(g.takes()) > 0 {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
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

// Everything of the file that is not changed stays as it is written, and values of -e are not in it.
func TestInspectorKeepsItsList(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file, seen := filepath.Join(home, "list.json"), filepath.Join(home, "seen")
	const before = "{\n  \"other\": [1,2],\n  \"mcpServers\": {\"a\": {\"command\": \"run\", \"env\": {\"K\": \"\"}, \"mine\": 1.50}}\n}\n"
	kept := filepath.Join(home, "dots.json") // the list is a link to it
	write(t, kept, before)
	if err := os.Symlink(kept, file); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) outcome {
		cmd := command(t, append([]string{verbinspect.Inspecting, "--catalog", file, "--method"}, args...)...)
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+home+"/.state")
		return finish(t, cmd)
	}
	if run("servers/edit", "--server", "a", "--cwd", "/tmp").ok(t); contents(file) != strings.Replace(before, "1.50}", `1.50, "cwd": "/tmp"}`, 1) {
		t.Error(contents(file))
	}
	o := run("servers/add", "--server", "b", "-e", "K=hunter2", "--", "sh", "-c", `printf %s "$K" >"$0"`, seen)
	if o.ok(t); !strings.Contains(o.stderr, "values of -e are kept in "+home) || strings.Contains(contents(file), "hunter2") {
		t.Error(o.stderr, contents(file))
	}
	if o := run("tools/list", "--server", "b"); o.code != cli.ExitFailure || contents(seen) != "hunter2" {
		t.Errorf("exit %d, %s; started with %q", o.code, o.stderr, contents(seen))
	}
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 || contents(kept) != contents(file) {
		t.Errorf("the list is a link no longer: %v %v", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	if o := run("servers/remove", "--server", "a"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "read-only") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

func TestInspectorListsItsOptions(t *testing.T) {
	t.Parallel()
	help := mcphud(t, verbinspect.Inspecting, "--help").ok(t)
	for _, option := range []string{"--tool-arg <pairs...>", "-q, --quiet", "--protocol-era <era>"} {
		if !strings.Contains(help, option) {
			t.Errorf("no %s in %s", option, help)
		}
	}
	if got, want := mcphud(t, verbinspect.Inspecting, "-V").ok(t), cli.Version()+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
