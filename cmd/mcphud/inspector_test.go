package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/inspector"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
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
		assert.Contains(t, help, option)
	}
	if got, want := mcphud(t, verbinspect.Inspecting, "-V").ok(t), cli.Version()+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The login at an identity provider is one of mcphud, and the Inspector's command line uses it by the client's file.
func TestInspectorUsesAnIdentityProvider(t *testing.T) {
	long(t, "TestInspectorUsesStoredLogins")
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{Other: func(r *http.Request) string {
		if r.PostForm.Get("assertion") == "" {
			return "invalid_grant"
		}
		return ""
	}})
	idp := authtest.NewIssuer(t, authtest.Knobs{Identity: func(map[string]any) {}})
	idp.Client("at-idp", "zqidpsecretzq", "client_secret_basic")
	run := sameHome(t)
	home := run().Dir
	for name, text := range map[string]string{
		"s.yaml":      "servers:\n  payroll:\n    url: " + srv.URL + "\n    oauth: {grant: enterprise_managed, client_id: mcphud, idp_issuer: " + idp.URL + ", idp_client_id: at-idp, idp_client_secret: zqidpsecretzq}\n",
		"mcp.json":    `{"mcpServers":{"payroll":{"type":"streamable-http","url":"` + srv.URL + `","oauth":{"clientId":"mcphud","enterpriseManaged":true}}}}`,
		"client.json": `{"enterpriseManagedAuth":{"idp":{"issuer":"` + idp.URL + `","clientId":"at-idp","clientSecret":"zqidpsecretzq"}}}`,
		"off.json":    `{"enterpriseManagedAuth":{"enabled":false,"idp":{"issuer":"` + idp.URL + `","clientId":"at-idp"}}}`,
		"bad.json":    `{"enterpriseManagedAuth":{"idp":{"issuer":"login","clientId":"at-idp"}}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	list := func(client string) outcome {
		return finish(t, run(verbinspect.Inspecting, "--config", "mcp.json", "--client-config", client, "--method", "tools/list"))
	}
	for client, says := range map[string]string{"off.json": "names no identity provider", "none.json": "names no identity provider", "bad.json": "idp.issuer"} {
		list(client).exits(t, inspector.ExitUsage, says)
	}
	if o := list("client.json"); o.code != inspector.ExitAuth || !strings.Contains(lastLine(o), "identity provider "+idp.URL) {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	x := startLogin(t, run("auth", "login", "--no-browser", "--server", "payroll", "--config", "s.yaml"))
	if x.page == "" || !strings.HasPrefix(x.page, idp.URL+"/authorize?") {
		t.Fatalf("shown %q: %s", x.page, x.end().stderr)
	}
	follow(t, x.page)
	assert.Contains(t, x.end().ok(t), idp.URL)
	assert.Contains(t, list("client.json").ok(t), `"tools"`)
	assert.Contains(t, finish(t, run("auth", "status", "--server", "payroll", "--config", "s.yaml")).ok(t), idp.URL, `"payroll"`)
	finish(t, run("auth", "logout", "--server", "payroll", "--config", "s.yaml")).ok(t)
	if o := list("client.json"); o.code != inspector.ExitAuth || len(idp.Calls("/revoke")) != 1 {
		t.Errorf("exit %d after %d revocations, %s", o.code, len(idp.Calls("/revoke")), o.stderr)
	}
	s := startUIWith(t, nobody, verbinspect.Inspecting, "--config", filepath.Join(home, "mcp.json"), "--client-config", filepath.Join(home, "client.json"), "--callback-url", "http://127.0.0.1:"+anyPort(t)+"/back", "--method", "tools/list")
	follow(t, pageOn(t, s, 1))
	if code := s.exit(); code != 0 || !strings.Contains(s.written(), `"tools"`) {
		t.Errorf("exit %d: %s", code, s.written())
	}
}

// The shell is offered the same words after each beginning of a command line, but for those that are not taken here.
func TestPeerInspectorCompletes(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script, err := exec.Command(program[0], append(program[1:len(program):len(program)], "--completion", "bash")...).Output()
	require.NoError(t, err)
	for _, line := range []string{
		"-", "--", "--l", "--tool-arg", "-q", "--nope", "word", "--method ", "--method s", "--method nope", "--transport ", "--transport s", "--log-level e", "--format ", "--output-format r",
		"--protocol-era ", "--completion ", "--config ", "--tool-name ", "node server.js --method tools/", "--format json --protocol-era m",
	} {
		words := strings.Split("mcp-inspector --cli "+line, " ")
		quoted := "'" + strings.Join(words, "' '") + "'"
		theirs, err := exec.Command(bash, "--norc", "-c", string(script)+"\nCOMP_WORDS=("+quoted+"); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _mcp_inspector; printf '%s\\n' \"${COMPREPLY[@]}\"").Output()
		require.NoError(t, err)
		ours := finish(t, command(t, append([]string{"__completeNoDesc", verbinspect.Inspecting}, words[2:]...)...)).ok(t)
		want, got := strings.Fields(string(theirs)), strings.Fields(ours)
		want = slices.DeleteFunc(want, func(word string) bool { return inspector.Elsewhere(word) != "" })
		got = got[:len(got)-1] // what else the shell may offer
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s\noffered       %q\nthe Inspector %q", line, got, want)
		}
	}
}

// library is a server over HTTP that has one skill, and a tool.
type library struct{}

func (library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	id, at := jsonrpc.Get(body, "id"), jsonrpc.GetString(body, "params", "uri")
	if id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	const skill = `{"uri":"skill://lib/good/SKILL.md","frontmatter":{"name":"good","description":"About it"},"resources":"dynamic"}`
	answer, known := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"tools":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}},` +
			`"serverInfo":{"name":"library","version":"1"}}`,
		"tools/list":               `{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}`,
		"tools/call":               `{"content":[]}`,
		"resources/directory/read": `{"resources":[]}`,
		"skills/list":              `{"skills":[` + skill + `]}`,
		"skills/get":               `{"skill":` + skill + `}`,
		"resources/read":           `{"contents":[{"uri":` + string(jsonrpc.Quote(at)) + `,"text":"a"}]}`,
	}[jsonrpc.GetString(body, "method")]
	w.Header().Set("Content-Type", "application/json")
	if !known {
		_, _ = w.Write(jsonrpc.NewError(id, jsonrpc.CodeMethodNotFound, "no such method", nil))
		return
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, answer)
}
