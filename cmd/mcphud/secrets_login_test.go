package main

import (
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What a configuration has for a login is shown without its secrets, wherever it stands: masked in lists and explanations.
func TestC4_SecretsOfLoginsStayHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"mcp.yaml": `servers:
  one:
    url: https://h/mcp
    oauth: {client_id: me, client_secret: ` + secret + `, private_key: ` + secret + `, assertion: ` + secret + `, id_token: ` + secret + `,
      idp_client_secret: ` + secret + `, auth_url: "https://a/?access_token=` + secret + `", scopes: [read], authorization_params: {login_token: ` + secret + `}}
  broken:
    url: https://h/2
    headersHelper: ["./get", "--token", "` + secret + `"]
    oauth: {grant: none, client_secret: ` + secret + `}
`,
		"claude.json": `{"mcpServers":{"two":{"url":"https://h/3","headersHelper":"get --api-key ` + secret + `","oauth":{"clientSecret":"` + secret + `"}},
  "three":{"url":"https://h/4","auth":{"CLIENT_SECRET":"` + secret + `"}}}}`,
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		for _, args := range [][]string{{"servers", "list"}, {"config", "explain"}} {
			for _, format := range []string{"text", "json"} {
				o := mcphud(t, append(args, "--config", path, "--format", format)...)
				if strings.Contains(o.out+o.stderr, secret) {
					t.Errorf("%v as %s shows a secret: %s%s", args, format, o.out, o.stderr)
				}
				if args[0] == "servers" && !strings.Contains(o.out, "https://h/") {
					t.Errorf("%v as %s: %s%s", args, format, o.out, o.stderr)
				}
			}
		}
	}
	list := mcphud(t, "servers", "list", "--config", filepath.Join(dir, "mcp.yaml"), "--format", "json")
	for _, want := range []string{`"client_secret":"***"`, `"client_id":"me"`, "is not a grant"} {
		if !strings.Contains(strings.ReplaceAll(list.out, `": "`, `":"`), want) {
			t.Errorf("%s is missing in %s", want, list.out)
		}
	}
}

// A login leaves its tokens, codes, verifiers and secrets in the store and nowhere else: not in what commands print in any format, not in
// the journal, also of a refresh and of a refusal, not in the arguments of processes, on a screen, or in what is copied from one.
func TestC7_SecretsOfALoginStayHidden(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{DPoP: true, JWT: true})
	file := filepath.Join(t.TempDir(), "journal")
	run := sameHome(t)
	hidden := func(where, text string) {
		t.Helper()
		for _, s := range srv.Issuer.Secrets() {
			if i := strings.Index(text, s); i >= 0 {
				t.Errorf("%s shows %s: …%q…", where, s, text[max(0, i-200):min(len(text), i+40)])
			}
		}
	}
	x := startLogin(t, run("auth", "login", "--no-browser", "--journal", file, "--url", srv.URL))
	if x.page == "" {
		t.Fatal(x.end().stderr)
	}
	follow(t, x.page)
	if o := x.end(); o.code != cli.ExitOK {
		t.Fatalf("exit %d, %s", o.code, o.stderr)
	} else {
		hidden("the login", o.out+o.stderr)
	}
	if len(srv.Issuer.Secrets()) < 4 {
		t.Fatalf("there are no secrets: %q", srv.Issuer.Secrets())
	}
	ask := func(code int, args ...string) {
		t.Helper()
		o := finish(t, run(append(args, "--journal", file, "--url", srv.URL)...))
		o.exits(t, code)
		hidden(strings.Join(args, " "), o.out+o.stderr)
	}
	for _, format := range cli.Formats {
		ask(cli.ExitOK, "tools", "call", "echo", "text=hi", "--format", format)
		ask(cli.ExitOK, "auth", "status", "--format", format)
	}
	srv.Issuer.Expire()
	ask(cli.ExitOK, "tools", "list") // with a refresh
	ask(cli.ExitOK, "auth", "explain", "--format", "json")

	cmd := run("--journal", file, srv.URL)
	s := startUIWith(t, cmd.Env, cmd.Args[1:]...)
	s.shows("echo")
	for _, args := range processArguments(t) {
		hidden("the arguments of a process", args)
	}
	clips := func() (all string) {
		for _, m := range copied.FindAllStringSubmatch(s.written(), -1) {
			b, _ := base64.StdEncoding.DecodeString(m[1])
			all += string(b) + "\n"
		}
		return all
	}
	press := func(all ...string) {
		for _, keys := range all {
			_, _ = io.WriteString(s.f, keys)
			s.settle(25 * time.Millisecond) // whatever is drawn by then
		}
	}
	press("yc", "ym", "yj", "1", "yc")
	up := 0
	require.Eventually(t, "a curl command to be copied", func() bool {
		up = (up + 1) % 20 // not each entry was sent over HTTP
		press("6", "G", strings.Repeat("\x1b[A", up), "yu")
		return strings.Contains(clips(), `'Authorization: DPoP '"$TOKEN"`)
	})
	s.signal(os.Interrupt)
	s.exit()
	hidden("the screen", s.written())
	hidden("the clipboard", clips())
	srv.Issuer.Expire()
	srv.Issuer.ExpireRefresh()
	ask(cli.ExitAuth, "tools", "list")
	journal := contents(file)
	hidden("the journal", journal)
	for _, want := range []string{"code_verifier=***", "refresh_token=***", "Authorization: DPoP ***", "Dpop: ***"} {
		assert.Contains(t, journal, want)
	}
}

// processArguments are those of all processes of this machine, where the system shows them.
func processArguments(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil { // else it is gone
			all = append(all, string(b))
		}
	}
	return all
}
