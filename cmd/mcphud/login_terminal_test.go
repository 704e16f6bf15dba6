package main

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// nobody is the environment of a terminal at which no browser can be opened, and where logins are kept in the home folder.
var nobody = []string{"CI=", "SSH_CONNECTION=1 2 3 4", "MCPHUD_CREDENTIALS=file"}

// pageOn waits for the n-th URL on a terminal, and gives it.
func pageOn(t *testing.T, s *ptyRun, n int) string {
	t.Helper()
	var pages []string
	require.Eventually(t, "a URL to open", func() bool {
		pages = nil
		for _, m := range shownURL.FindAllStringSubmatch(s.written(), -1) {
			if strings.Contains(m[1], "response_type=") { // what was pasted is on the screen, too
				pages = append(pages, m[1])
			}
		}
		return len(pages) >= n
	})
	return pages[n-1]
}

// ended opens a page and finds out where a browser would end, without going there.
func ended(t *testing.T, page string) string {
	t.Helper()
	u, err := url.Parse(page)
	require.NoError(t, err)
	back, err := authtest.Visit(t.Context(), nil, u)
	require.NoError(t, err)
	return back.String()
}

func typed(t *testing.T, s *ptyRun, line string) {
	t.Helper()
	if _, err := io.WriteString(s.f, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// A command logs in when the server asks for it, takes what is pasted, and goes on; a call that needs more logs in again.
func TestCommandsLogInOnATerminal(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{Scopes: map[string]string{"echo": "notes:write"}})
	s := startUIWith(t, nobody, "tools", "call", "echo", "text=hello there", "--format", "json", "--url", srv.URL)
	page := pageOn(t, s, 1)
	s.shows("SSH")
	if copied := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(page)) + "\a"; !strings.Contains(s.written(), copied) {
		t.Errorf("the URL is not copied: %q", s.written())
	}
	typed(t, s, "hello")
	s.shows("this has no state")
	back := ended(t, page)
	typed(t, s, strings.Replace(back, "state=", "state=x", 1))
	s.shows("this belongs to another login")
	typed(t, s, back)
	again := pageOn(t, s, 2)
	if u, err := url.Parse(again); err != nil || !slices.Contains(strings.Fields(u.Query().Get("scope")), "notes:write") {
		t.Errorf("the second login asks for %s", again)
	}
	if status, body := follow(t, again); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if code := s.exit(); code != 0 || !strings.Contains(s.written(), "hello there") {
		t.Errorf("exit %d: %s", code, s.written())
	}
	assert.Equalf(t, len(srv.Issuer.Calls("/token")), 2, "token requests")
}

// What no login helps against ends: a token that was just given and is refused, and a scope that is never enough.
func TestCommandsDoNotLogInForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		knobs  authtest.Knobs
		logins int
	}{
		"unauthorized": {authtest.Knobs{Unauthorized: true}, 1},
		"insatiable":   {authtest.Knobs{Insatiable: true, Scopes: map[string]string{"echo": "more"}}, cli.MaxLogins},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := authtest.Start(t, c.knobs)
			s := startUIWith(t, nobody, "tools", "call", "echo", "text=hello", "--url", srv.URL)
			for n := range c.logins {
				follow(t, pageOn(t, s, n+1))
			}
			if code := s.exit(); code != cli.ExitAuth || len(shownURL.FindAllString(s.written(), -1)) != c.logins {
				t.Errorf("exit %d: %s", code, s.written())
			}
		})
	}
}

// A browser that never comes back is waited for until the user has enough. The process finds out that nothing is left then.
func TestALoginIsInterrupted(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{})
	for _, args := range [][]string{{"auth", "login", srv.URL}, {"info", "--url", srv.URL}} {
		s := startUIWith(t, nobody, args...)
		pageOn(t, s, 1)
		s.shows("waiting for the browser")
		if _, err := io.WriteString(s.f, "\x03"); err != nil {
			t.Fatal(err)
		}
		if code := s.exit(); code != cli.ExitInterrupted || !strings.Contains(s.written(), "interrupted; not logged in") {
			t.Errorf("exit %d: %s", code, s.written())
		}
	}
}

// A server that never answers is waited for until then as well, and nothing is said of it that is not so.
func TestAnInterruptBeforeTheLogin(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"login", "explain"} {
		asked, end := make(chan struct{}, 100), make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked <- struct{}{}
			<-end
		}))
		t.Cleanup(srv.Close)
		t.Cleanup(func() { close(end) })
		s := startUIWith(t, nobody, "auth", verb, srv.URL)
		<-asked
		if _, err := io.WriteString(s.f, "\x03"); err != nil {
			t.Fatal(err)
		}
		if code := s.exit(); code != cli.ExitInterrupted || !strings.Contains(s.written(), "interrupted; not logged in") {
			t.Errorf("exit %d: %s", code, s.written())
		}
	}
}

// The browser is opened after the URL was shown, by a program that no shell starts.
func TestALoginOpensTheBrowser(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{})
	dir := t.TempDir()
	program, opened := filepath.Join(dir, "browser"), filepath.Join(dir, "opened")
	script := "#!/bin/sh\nprintf '%s' \"$*\" > '" + opened + ".part'\nmv '" + opened + ".part' '" + opened + "'\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	env := []string{"CI=", "SSH_CONNECTION=", "SSH_CLIENT=", "SSH_TTY=", "BROWSER=" + program, "MCPHUD_CREDENTIALS=file"}
	for _, flag := range []string{"--no-browser=false", "--no-browser"} {
		_ = os.Remove(opened)
		s := startUIWith(t, env, "auth", "login", "--qr", flag, srv.URL)
		page := pageOn(t, s, 1)
		s.shows("waiting for the browser")
		if flag == "--no-browser" {
			s.shows("no browser is opened here")
		} else {
			require.Eventually(t, "the browser to be opened", func() bool { return contents(opened) != "" })
			if got := contents(opened); got != page {
				t.Errorf("opened %s, want %s", got, page)
			}
		}
		assert.Contains(t, s.written(), "█▀▀▀▀▀█")
		follow(t, page)
		if code := s.exit(); code != 0 || !strings.Contains(s.written(), "expires in") || !strings.Contains(s.written(), "credentials.json") {
			t.Errorf("exit %d: %s", code, s.written())
		}
		if flag == "--no-browser" && contents(opened) != "" {
			t.Error("a browser was opened")
		}
	}
}

// Without a terminal, and in CI, a command that needs a login fails at once, and says where it is and what to run.
func TestE12_NobodyToLogIn(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{})
	run := sameHome(t)
	check := func(o outcome) {
		t.Helper()
		o.exits(t, cli.ExitAuth, srv.Issuer.URL, "mcphud auth login "+srv.URL, "mcphud help login")
	}
	o := finish(t, run("tools", "list", "--url", srv.URL))
	check(o)
	if e := o.errorLine(t); e.Kind != "OAuth" || e.URL == nil || *e.URL != srv.Issuer.URL || e.Status == nil || *e.Status != 401 {
		t.Errorf("%+v", e)
	}
	check(finish(t, run("tools", "list", "--format", "text", "--url", srv.URL)))
	s := startUIWith(t, []string{"CI=true"}, "tools", "list", "--format", "json", "--url", srv.URL)
	code := s.exit()
	check(outcome{code: code, stderr: s.written()})
	assert.Equalf(t, len(srv.Issuer.Calls("/register"))+len(srv.Issuer.Calls("/authorize")), 0, "requests of a login")

	// A step-up names the scopes, those that there are included.
	login := startLogin(t, run("auth", "login", "--scope", "notes:read", srv.URL))
	follow(t, login.page)
	login.end().ok(t)
	srv.Set(func(k *authtest.Knobs) { k.Scopes = map[string]string{"echo": "notes:write"} })
	o = finish(t, run("tools", "call", "echo", "text=x", "--url", srv.URL))
	if e := o.errorLine(t); o.code != cli.ExitAuth || !strings.Contains(e.Message, "--scope notes:read") || !strings.Contains(e.Message, "--scope notes:write") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// The port of the configured redirect is taken: the error names it, and nothing is waited for.
func TestALoginWhosePortIsTaken(t *testing.T) {
	t.Parallel()
	srv := authtest.Start(t, authtest.Knobs{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	cmd := sameHome(t)("auth", "login", "--server", "notes", "--config", "s.json")
	redirect := "http://" + l.Addr().String() + "/callback"
	config := `{"mcpServers": {"notes": {"url": "` + srv.URL + `", "oauth": {"redirect_uri": "` + redirect + `"}}}}`
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "s.json"), []byte(config), 0o600))
	if o := finish(t, cmd); o.code != cli.ExitAuth || !strings.Contains(o.errorLine(t).Message, redirect+": listen on "+l.Addr().String()+": the port is taken") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
