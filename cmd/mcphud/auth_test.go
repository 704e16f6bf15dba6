package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/cmd/cli"
	verblogin "github.com/mcphud/mcphud/cmd/verb/login"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// explanation is what auth explain prints as JSON.
type explanation struct {
	URL, Issuer string
	OK          bool
	Steps       []verblogin.StepRow
}

func explanationOf(t *testing.T, o outcome) (e explanation) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.out), &e); err != nil {
		t.Fatalf("%v: %s %s", err, o.out, o.stderr)
	}
	return e
}

func TestAuthExplain(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{})
	o := mcphud(t, "auth", "explain", srv.URL)
	o.ok(t)
	e := explanationOf(t, o)
	if !e.OK || e.Issuer != srv.Issuer.URL || len(e.Steps) < 3 || e.Steps[0].Step != auth.StepResource || e.Steps[1].Step != auth.StepServer || e.Steps[2].Step != auth.StepRegister {
		t.Errorf("%+v", e)
	}
	first := e.Steps[0]
	if first.State != auth.Done || first.Section == "" || first.Asks == "" || len(first.Sent) != 2 || first.Sent[0].Answer != "401 Unauthorized" || first.Sent[1].Answer != "200 OK" || !strings.HasPrefix(first.Sent[1].Request, "GET http://") {
		t.Errorf("%+v", first)
	}
	assert.Equalf(t, len(srv.Issuer.Calls("/register"))+len(srv.Issuer.Calls("/authorize"))+len(srv.Issuer.Calls("/token")), 0, "requests of a login")
	text := mcphud(t, "auth", "explain", "--format", "text", srv.URL).ok(t)
	for _, want := range []string{"✓ 1 discover resource: done", "asked: find the protected-resource metadata", "401 Unauthorized", srv.Issuer.URL} {
		assert.Contains(t, text, want)
	}
}

// What is broken is named with who broke it, and the exit code says whether a server did.
func TestAuthExplainNamesTheBrokenRule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		knobs authtest.Knobs
		code  int
		by    auth.Party
		text  string
	}{
		"another resource": {
			authtest.Knobs{Resource: func(doc map[string]any) { doc["resource"] = "https://other.example.com/mcp" }},
			cli.ExitStrict, auth.ByServer, "RFC 9728 section 3.3",
		},
		"another issuer": {
			authtest.Knobs{Metadata: func(doc map[string]any) { doc["issuer"] = "https://other.example.com" }},
			cli.ExitStrict, auth.ByIssuer, "RFC 8414 section 3.3",
		},
		"no PKCE": {
			authtest.Knobs{Metadata: func(doc map[string]any) { delete(doc, "code_challenge_methods_supported") }},
			cli.ExitStrict, auth.ByIssuer, "PKCE",
		},
		"a script": {
			authtest.Knobs{Metadata: func(doc map[string]any) { doc["authorization_endpoint"] = "javascript:alert(1)" }},
			cli.ExitStrict, auth.ByIssuer, "javascript:",
		},
		"down": {
			authtest.Knobs{Serve: map[string]http.HandlerFunc{"/.well-known/oauth-authorization-server": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }}},
			cli.ExitAuth, "", "503",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := authtest.Start(t, c.knobs)
			o := mcphud(t, "auth", "explain", srv.URL)
			e := explanationOf(t, o)
			if o.code != c.code || e.OK || len(e.Steps) == 0 {
				t.Fatalf("exit %d: %s %s", o.code, o.out, o.stderr)
			}
			last := e.Steps[len(e.Steps)-1]
			by := auth.Party("")
			if last.Broken != nil {
				by = last.Broken.By
			}
			if last.State != auth.Failed || by != c.by || !strings.Contains(last.Error, c.text) {
				t.Errorf("%+v", last)
			}
			if line := o.errorLine(t); line.Kind != "OAuth" || !strings.Contains(line.Message, c.text) {
				t.Errorf("%+v", line)
			}
			if text := mcphud(t, "auth", "explain", "--format", "text", srv.URL); text.code != c.code || !strings.Contains(text.out, "✗ ") || by != "" && !strings.Contains(text.out, "broken by "+string(by)) {
				t.Errorf("exit %d: %s", text.code, text.out)
			}
		})
	}
}

// A server that wants another kind of credentials is not taken for one with logins.
func TestAServerWithoutLogins(t *testing.T) {
	t.Parallel()
	s := faketest.HTTP(t, behave.Good, behave.Fault{Status: 401})
	o := mcphud(t, "auth", "login", s.URL)
	if e := o.errorLine(t); o.code != cli.ExitAuth || !strings.Contains(e.Message, "-H") || strings.Contains(o.stderr, "open this URL") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// Of a server that is open nobody wants a login.
func TestLoginAtAServerThatAsksForNone(t *testing.T) {
	t.Parallel()
	s := faketest.HTTP(t, behave.Good, behave.Fault{})
	o := mcphud(t, "auth", "login", s.URL)
	if e := o.errorLine(t); o.code != cli.ExitAuth || !strings.Contains(e.Message, "does not ask for a login") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

func TestAuthTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"auth", "login"}, "no server was named"},
		{[]string{"auth", "login", "--", "cat"}, "only servers over HTTP have logins"},
		{[]string{"auth", "explain", "--", "cat"}, "only servers over HTTP have logins"},
		{[]string{"auth", "login", "https://a.example/mcp", "https://b.example/mcp"}, "takes no arguments"},
		{[]string{"auth", "logout"}, "--all"},
		{[]string{"auth", "logout", "--all", "https://a.example/mcp"}, "--all and a server"},
		{[]string{"auth", "sign-in"}, "has no subcommand"},
	} {
		if o := mcphud(t, c.args...); o.code != cli.ExitFailure || !strings.Contains(o.errorLine(t).Message, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.stderr)
		}
	}
}

// Logins at two servers are listed, newest first, and forgotten one by one or together; the authorization server hears of it.
// A file of logins that is damaged is said before anybody goes to a browser, and stays as it is.
func TestLoginWithADamagedFile(t *testing.T) {
	t.Parallel()
	run := sameHome(t)
	cmd := run("auth", "login", "--no-browser", "--format", "json", authtest.Start(t, authtest.Knobs{}).URL)
	file := filepath.Join(cmd.Dir, ".state", "mcphud", "credentials.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("{bad"), 0o600))
	got := finish(t, cmd)
	if got.code != cli.ExitAuth || !strings.Contains(got.stderr, "cannot read the logins") || strings.Contains(got.stderr, "open this URL") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "{bad" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestAuthStatusAndLogout(t *testing.T) {
	t.Parallel()
	run := sameHome(t)
	var all []*authtest.Server
	for range 2 {
		srv := authtest.Start(t, authtest.Knobs{})
		x := startLogin(t, run("auth", "login", "--no-browser", srv.URL))
		follow(t, x.page)
		x.end().ok(t)
		all = append(all, srv)
	}
	logins := func(args ...string) (rows []verblogin.LoginRow) {
		t.Helper()
		var got struct{ Logins []verblogin.LoginRow }
		require.NoError(t, json.Unmarshal([]byte(finish(t, run(append([]string{"auth", "status"}, args...)...)).ok(t)), &got))
		return got.Logins
	}
	rows := logins()
	if len(rows) != 2 || rows[0].Resource != all[1].URL || rows[0].Issuer != all[1].Issuer.URL || !rows[0].LoggedIn || !rows[0].Refresh || rows[0].Client != auth.Registered || rows[0].Expires == nil {
		t.Errorf("%+v", rows)
	}
	if one := logins(all[0].URL); len(one) != 1 || one[0].Resource != all[0].URL {
		t.Errorf("%+v", one)
	}
	out := finish(t, run("auth", "logout", "--format", "text", all[0].URL)).ok(t)
	if !strings.Contains(out, "logged out of "+all[0].URL) || len(all[0].Issuer.Calls("/revoke")) == 0 {
		t.Errorf("%s, %d revocations", out, len(all[0].Issuer.Calls("/revoke")))
	}
	if left := logins(); len(left) != 1 || left[0].Resource != all[1].URL {
		t.Errorf("%+v", left)
	}
	if words := finish(t, run("__complete", "auth", "logout", "")).ok(t); !strings.Contains(words, all[1].URL) || strings.Contains(words, all[0].URL) {
		t.Errorf("completed by %s", words)
	}
	finish(t, run("auth", "logout", "--all")).ok(t)
	if len(all[1].Issuer.Calls("/revoke")) == 0 || len(logins()) != 0 {
		t.Error("the other login is still there")
	}
	assert.Contains(t, finish(t, run("auth", "status", "--format", "text")).ok(t), "no logins are kept")
}

// A server without logins answers a GET with a stream, which stays open: that is its answer, and nothing to wait for.
func TestExplainServerThatStreams(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(examples()))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	if e := explanationOf(t, mcphud(t, "auth", "explain", srv.URL+"/mcp")); !e.OK {
		t.Errorf("%+v", e)
	}
}
