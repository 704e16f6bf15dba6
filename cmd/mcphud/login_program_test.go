package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth/authtest"
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
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
		if strings.Contains(got.out+got.stderr+bad.out+bad.stderr+string(recorded), secret) {
			t.Errorf("%s is printed or recorded", secret)
		}
	}
}
