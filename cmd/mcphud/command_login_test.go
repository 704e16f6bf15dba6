package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// commandHome are commands that share a home, with the published example in it.
type commandHome struct {
	*authtest.Command
	t   *testing.T
	run func(args ...string) *exec.Cmd
	dir string
}

func newCommandHome(t *testing.T) *commandHome {
	t.Helper()
	c := authtest.StartCommand(t, authtest.Knobs{})
	same := sameHome(t)
	h := &commandHome{Command: c, t: t, run: func(args ...string) *exec.Cmd {
		cmd := same(append(args, "--config", c.File)...)
		for k, v := range c.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		return cmd
	}}
	h.dir = h.run().Dir
	return h
}

// logIn logs in at slack as somebody without a terminal does.
func (h *commandHome) logIn(args ...string) outcome {
	h.t.Helper()
	x := startLogin(h.t, h.run(append([]string{"auth", "login", "--no-browser", "--server", "slack"}, args...)...))
	if x.page == "" {
		h.t.Fatalf("no URL was shown: %s", x.end().stderr)
	}
	if status, body := follow(h.t, x.page); status != http.StatusOK || !strings.Contains(body, "You can close this page") {
		h.t.Errorf("%d %s", status, body)
	}
	return x.end()
}

// keepsSecrets looks for secrets in texts, and in all files of the home but that of the logins, which nobody else reads.
func (h *commandHome) keepsSecrets(shown string) {
	h.t.Helper()
	kept := 0
	err := filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && strings.Contains(string(b), "zqaccesszq") && strings.Contains(path, "credentials") && info.Mode().Perm() == 0o600 {
			kept++
			return nil
		}
		shown += path + "\n" + string(b)
		return nil
	})
	if err != nil || kept == 0 {
		h.t.Errorf("the login is kept in %d files: %v", kept, err)
	}
	for _, secret := range append(h.Secrets(), "zqclientzq") {
		if i := strings.Index(shown, secret); i >= 0 {
			h.t.Errorf("%s is shown or kept: %.300s", secret, shown[max(0, i-200):])
		}
	}
}

// The example as it was published: without a login it says how to log in and neither starts nor contacts anything; the login starts it with
// the token, which is shown nowhere; after the logout it wants another one.
func TestC4b_TheExampleByTheCommandLine(t *testing.T) {
	t.Parallel()
	h := newCommandHome(t)
	list := func(args ...string) outcome {
		return finish(t, h.run(append([]string{"tools", "list", "--server", "slack"}, args...)...))
	}
	needs := func(o outcome) {
		t.Helper()
		e := o.errorLine(t)
		if o.code != cli.ExitAuth || e.Kind != "OAuth" || !strings.Contains(e.Message, "the server needs a login at "+h.URL) || !strings.Contains(e.Message, "mcphud auth login --config "+h.File+" --server slack") {
			t.Errorf("exit %d: %s", o.code, o.stderr)
		}
	}
	first := list()
	needs(first)
	status := finish(t, h.run("auth", "status", "--server", "slack"))
	explain := finish(t, h.run("auth", "explain", "--server", "slack"))
	if status.code != cli.ExitAuth || !strings.Contains(explain.ok(t), "the configuration names the endpoints") {
		t.Errorf("exit %d %s, %s", status.code, status.stderr, explain.out)
	}
	if tokens, _ := h.Started(); len(tokens) > 0 || len(h.Calls("")) > 0 {
		t.Errorf("before the login it was started %d times, and %d requests were sent", len(tokens), len(h.Calls("")))
	}
	in := h.logIn("--format", "json")
	var got struct {
		Server struct {
			Name      string
			Variables []string
		}
		Login struct {
			Servers, Scopes  []string
			Resource, Issuer string
			LoggedIn         bool
		}
	}
	if err := json.Unmarshal([]byte(in.ok(t)), &got); err != nil || got.Server.Name != "slack" || strings.Join(got.Server.Variables, "") != "SLACK_TOKEN" || !got.Login.LoggedIn || strings.Join(got.Login.Servers, "") != "slack" ||
		!strings.HasPrefix(got.Login.Resource, "command:slack#") || strings.Join(got.Login.Scopes, " ") != "channels:read chat:write" {
		t.Errorf("%v: %s", err, in.out)
	}
	second := list("--journal", "journal.jsonl")
	if !strings.Contains(second.ok(t), `"echo"`) {
		t.Error(second.out)
	}
	tokens, args := h.Started()
	if last := tokens[len(tokens)-1]; !strings.HasPrefix(last, "zqaccesszq") || strings.Contains(strings.Join(args, " "), "zqaccesszq") {
		t.Errorf("started with %q %q", last, args)
	}
	all := first.stderr + explain.out + in.out + in.stderr + second.out + second.stderr
	for _, args := range [][]string{
		{"auth", "status", "--server", "slack", "--format", "text"},
		{"auth", "status", "--format", "json"},
		{"servers", "list", "--format", "json"},
		{"tools", "call", "echo", "text=hello", "--server", "slack", "--format", "json"},
		{"doctor", "--server", "slack", "--format", "json"},
	} {
		o := finish(t, h.run(args...))
		all += o.ok(t) + o.stderr
	}
	h.Refuse("*")
	refused := list()
	if e := refused.errorLine(t); refused.code != cli.ExitAuth || !strings.Contains(e.Message, "the server says that its token is not good") || !strings.Contains(e.Message, "invalid_auth") || !strings.Contains(e.Message, "mcphud auth login ") {
		t.Errorf("exit %d: %s", refused.code, refused.stderr)
	}
	h.keepsSecrets(all + refused.out + refused.stderr)
	out := finish(t, h.run("auth", "logout", "--server", "slack", "--format", "text"))
	if !strings.Contains(out.ok(t), "logged out of command:slack") {
		t.Error(out.out)
	}
	needs(list())
}

// An entry of the working folder is neither started nor logged in for before it is trusted.
func TestC4b_AProjectsCommandIsTrustedFirst(t *testing.T) {
	t.Parallel()
	h := newCommandHome(t)
	text, err := os.ReadFile(h.File)
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "mcp.yaml"), text, 0o600))
	for _, args := range [][]string{{"auth", "login", "--no-browser", "--server", "slack"}, {"auth", "explain", "--server", "slack"}, {"tools", "list", "--server", "slack"}} {
		cmd := h.run(args...)
		cmd.Args = cmd.Args[:len(cmd.Args)-2] // without --config, which trusts it
		cmd.Dir = folder
		if o := finish(t, cmd); o.code == 0 || !strings.Contains(o.errorLine(t).Message, "not trusted yet") {
			t.Errorf("%q: exit %d %s", args, o.code, o.stderr)
		}
	}
	if tokens, _ := h.Started(); len(tokens) > 0 || len(h.Calls("")) > 0 {
		t.Errorf("started %d times, and %d requests were sent", len(tokens), len(h.Calls("")))
	}
}

// What cannot be given a token says so.
func TestC4b_TokensThatAreNotThere(t *testing.T) {
	t.Parallel()
	run := sameHome(t)
	dir := run().Dir
	for name, c := range map[string]struct{ entry, want string }{
		"no block":  {`{command: cat, env: {T: "${oauth.token}"}}`, "needs an oauth block"},
		"arguments": {`{command: cat, args: ["${oauth.token}"], oauth: {auth_url: "https://a.example/", token_url: "https://a.example/t"}}`, "is given in env only"},
	} {
		file := filepath.Join(dir, "s.yaml")
		require.NoError(t, os.WriteFile(file, []byte("servers: {s: "+c.entry+"}\n"), 0o600))
		o := finish(t, run("tools", "list", "--config", file, "--server", "s"))
		if e := o.errorLine(t); e.Kind != "Usage" || !strings.Contains(e.Message, "${oauth.token} "+c.want) {
			t.Errorf("%s: %s", name, o.stderr)
		}
	}
	o := finish(t, run("tools", "list", "-e", "T=${oauth.token}", "--", "cat"))
	if e := o.errorLine(t); e.Kind != "Usage" || !strings.Contains(e.Message, "needs an oauth block") {
		t.Errorf("%s", o.stderr)
	}
}
