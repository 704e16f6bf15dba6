package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// loginGuard is a server that wants the token "good", beside the endpoints of the authorization server that gives it for a refresh token.
type loginGuard struct{ http.Handler }

func (g *loginGuard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/.well-known/oauth-authorization-server":
		w.Header().Set("Content-Type", "application/json")
		as := "http://" + r.Host
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"registration_endpoint":%q,"response_types_supported":["code"],"code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}`,
			as, as+"/authorize", as+"/token", as+"/register")
	case r.URL.Path == "/register":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"client_id":"me","redirect_uris":[%q],"token_endpoint_auth_method":"none"}`, "http://127.0.0.1:6276/oauth/callback")
	case r.URL.Path == "/token" && r.FormValue("refresh_token") == "again":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"good","token_type":"Bearer","refresh_token":"again","expires_in":3600}`)
	case r.URL.Path == "/token":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Bearer good":
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	default:
		g.Handler.ServeHTTP(w, r)
	}
}

// keep puts a login for a server into the stores of both programs below a home.
func keep(t *testing.T, home, as, url string, token auth.Token) {
	t.Helper()
	store := filepath.Join(home, ".mcp-inspector", "storage")
	require.NoError(t, os.MkdirAll(store, 0o700))
	type object = map[string]any
	grant := object{"tokens": object{"access_token": token.Access, "refresh_token": token.Refresh, "token_type": "Bearer"}, "clientInformation": object{"client_id": "me"}}
	theirs, err := json.Marshal(object{"version": 0, "state": object{"idpSessions": object{}, "servers": object{url: object{
		"activeIssuer": as, "byIssuer": object{as: grant},
		"serverMetadata": object{
			"issuer": as, "authorization_endpoint": as + "/authorize", "token_endpoint": as + "/token", "revocation_endpoint": as + "/revoke",
			"response_types_supported": []string{"code"}, "token_endpoint_auth_methods_supported": []string{"none"}, "revocation_endpoint_auth_methods_supported": []string{"none"},
		},
	}}}})
	require.NoError(t, err)
	write(t, filepath.Join(store, "oauth.json"), string(theirs))
	token.Type, token.Obtained = "Bearer", time.Now().Add(-time.Hour)
	ours := auth.Credentials{
		Key: auth.Key{Resource: url, Issuer: as}, Client: auth.Client{ID: "me", Method: "none", Origin: auth.Registered}, Token: token, TokenURL: as + "/token", RevokeURL: as + "/revoke",
	}
	require.NoError(t, credstore.Open(credstore.File, filepath.Join(home, ".state", "mcphud")).Put(context.Background(), ours))
}

// The options about stored logins do the same with mcphud's as they do with the Inspector's, and end with the same exit codes.
func TestPeerInspectorStoredLogins(t *testing.T) {
	t.Parallel()
	program := peertest.Inspector(t)
	call := []string{"--method", "tools/list"}
	use := append([]string{"--use-stored-auth"}, call...)
	for name, c := range map[string]struct {
		args  []string
		token auth.Token // none where it is zero
		code  int
	}{
		"use":              {args: use, token: auth.Token{Access: "good"}},
		"use over header":  {args: append(use, "--header", "Authorization: Bearer wrong", "X-Other: 1"), token: auth.Token{Access: "good"}},
		"use refreshed":    {args: use, token: auth.Token{Access: "old", Refresh: "again", Expires: time.Now().Add(-time.Minute)}},
		"use stale":        {args: append([]string{"--stored-auth-only"}, use...), token: auth.Token{Access: "old", Refresh: "spent", Expires: time.Now().Add(-time.Minute)}, code: cli.ExitAuth},
		"use nothing":      {args: use, code: cli.ExitAuth},
		"stored only":      {args: append([]string{"--stored-auth-only"}, call...), token: auth.Token{Access: "good"}},
		"stored only none": {args: append([]string{"--stored-auth-only"}, call...), code: cli.ExitAuth},
		"unasked":          {args: call, token: auth.Token{Access: "good"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(&loginGuard{Handler: library{}})
			t.Cleanup(s.Close)
			home := t.TempDir()
			run := func(cmd *exec.Cmd) outcome {
				if c.token.Access+c.token.Refresh != "" {
					keep(t, home, s.URL, s.URL+"/mcp", c.token)
				}
				cmd.Dir = home
				cmd.Env = append(os.Environ(), asMain+"=1", "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "MCPHUD_CONFIG=", "MCPHUD_CREDENTIALS=file", "NO_COLOR=1", "CI=1",
					"MCP_INSPECTOR_SECRET_STORE=file")
				return finish(t, cmd)
			}
			args := append([]string{"--server-url", s.URL + "/mcp"}, c.args...)
			theirs := run(exec.Command(program[0], append(program[1:len(program):len(program)], args...)...))
			ours := run(command(t, append([]string{verbinspect.Inspecting}, args...)...))
			if theirs.code != c.code || ours.code != c.code || codeOf(t, ours) != codeOf(t, theirs) {
				t.Errorf("%q: exit %d, %s\nthe Inspector: exit %d, %s\nwant %d", args, ours.code, ours.stderr, theirs.code, theirs.stderr, c.code)
			}
			if !reflect.DeepEqual(jsonValues(t, ours.out), jsonValues(t, theirs.out)) {
				t.Errorf("%q printed\n%s\nthe Inspector\n%s", args, ours.out, theirs.out)
			}
		})
	}
}

// codeOf is what the error line says of the error, without its message, which names where logins are kept.
func codeOf(t *testing.T, o outcome) string {
	t.Helper()
	if o.code == 0 {
		return ""
	}
	var line struct{ Error struct{ Code, URL string } }
	if err := json.Unmarshal([]byte(lastLine(o)), &line); err != nil {
		t.Fatalf("%v in %s", err, o.stderr)
	}
	return line.Error.Code + " " + line.Error.URL
}
