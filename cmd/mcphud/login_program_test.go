package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A program logs in by the grant of its configuration: nobody is asked, and no secret is printed, also where it is refused.
func TestProgramsLogInWithoutAPerson(t *testing.T) {
	refuse := ""
	s := authtest.Start(t, authtest.Knobs{Other: func(r *http.Request) string {
		if u, p, _ := r.BasicAuth(); r.PostForm.Get("grant_type") != "client_credentials" || u != "nightly" || p != "zqsecretzq" {
			return "invalid_client"
		}
		return refuse
	}})
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	text := "servers:\n  reports:\n    url: " + s.URL + "\n    oauth: {grant: client_credentials, client_id: nightly, client_secret: '${REPORTS_SECRET}'}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	t.Setenv("REPORTS_SECRET", "zqsecretzq")
	journal := filepath.Join(t.TempDir(), "journal.jsonl")
	args := []string{"tools", "call", "echo", "text=hello", "--config", file, "--server", "reports", "--journal", journal}
	got := mcphud(t, args...)
	if got.code != 0 || !strings.Contains(got.out, "hello") || len(s.Issuer.Calls("/authorize")) != 0 {
		t.Errorf("got %+v", got)
	}
	refuse = "unauthorized_client"
	bad := mcphud(t, args...)
	if bad.code != 3 || !strings.Contains(bad.stderr, "unauthorized_client") || strings.Contains(bad.stderr, "auth login") || len(s.Issuer.Calls("/token")) != 2 {
		t.Errorf("refused: %+v after %d token requests", bad, len(s.Issuer.Calls("/token")))
	}
	recorded, err := os.ReadFile(journal)
	if err != nil || !strings.Contains(string(recorded), "grant_type=client_credentials") {
		t.Errorf("the journal has %d bytes, without the token request: %v", len(recorded), err)
	}
	for _, secret := range append(s.Issuer.Secrets(), "zqsecretzq") {
		assert.NotContains(t, got.out+got.stderr+bad.out+bad.stderr+string(recorded), secret)
	}
}

// Logging out revokes both tokens, and says where that did not work.
func TestLogoutRevokes(t *testing.T) {
	for name, refuse := range map[string]string{"revoked": "", "refused": "invalid_client"} {
		t.Run(name, func(t *testing.T) {
			s := authtest.Start(t, authtest.Knobs{Refuse: map[string]string{"/revoke": refuse}})
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			store, err := cli.Credentials()
			require.NoError(t, err)
			require.NoError(t, auth.New(s.Config(), auth.Options{Store: store}).Login(t.Context(), &authtest.Person{}, auth.LoginOptions{}))
			o := mcphud(t, "auth", "logout", s.URL, "--format", "text")
			if o.code != 0 || !strings.Contains(o.out, "logged out of "+s.URL) || strings.Contains(o.out, "not revoked at "+s.URL+": ") != (refuse != "") || !strings.Contains(o.out, refuse) {
				t.Errorf("got %+v", o)
			}
			if found, err := store.Find(t.Context(), ""); err != nil || len(found) != 0 {
				t.Errorf("kept %d logins: %v", len(found), err)
			}
			assert.Equalf(t, len(s.Issuer.Calls("/revoke")), map[string]int{"": 2, "invalid_client": 1}[refuse], "revocations")
		})
	}
}

// The document is for the URL that it is served at.
func TestClientMetadataDocument(t *testing.T) {
	const at = "https://example.com/mcphud.json"
	of := func(o outcome) (id string) {
		t.Helper()
		var doc map[string]any
		if err := json.Unmarshal([]byte(o.out), &doc); err != nil || o.code != 0 || doc["redirect_uris"] == nil {
			t.Fatalf("%v: %+v", err, o)
		}
		id, _ = doc["client_id"].(string)
		return id
	}
	if got := of(mcphud(t, "auth", "client", at)); got != at {
		t.Errorf("for %q", got)
	}
	for _, args := range [][]string{{"auth", "client"}, {"auth", "client", "http://example.com/x"}, {"auth", "client", "https://example.com"}} {
		if o := mcphud(t, args...); o.code != 1 || o.out != "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
	t.Setenv(cli.DocumentSetting.Env, at)
	if got := of(mcphud(t, "auth", "client", "--format", "text")); got != at {
		t.Errorf("for %q", got)
	}
}
