package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// shownURL is the URL that a login shows, alone in its line, which has to be there as a whole.
var shownURL = regexp.MustCompile(`(?m)^(http://\S+[?&]code_challenge=\S+)\r?\n`)

// follow is the browser: it opens a URL and goes where it is sent.
func follow(t *testing.T, page string) (status int, body string) {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(page)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b)
}

// loginRun is a command that logs in without a terminal.
type loginRun struct {
	*exec.Cmd
	page   string // that is to be opened
	stderr *strings.Builder
	rest   chan struct{}
	out    *strings.Builder
}

// startLogin runs a command until it shows the URL, or ends.
func startLogin(t *testing.T, cmd *exec.Cmd) *loginRun {
	t.Helper()
	x := &loginRun{Cmd: cmd, stderr: &strings.Builder{}, rest: make(chan struct{}), out: &strings.Builder{}}
	cmd.Stdout = x.out
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(pipe)
	for x.page == "" && lines.Scan() {
		x.stderr.WriteString(lines.Text() + "\n")
		if m := shownURL.FindStringSubmatch(lines.Text() + "\n"); m != nil {
			x.page = m[1]
		}
	}
	go func() {
		defer close(x.rest)
		for lines.Scan() {
			x.stderr.WriteString(lines.Text() + "\n")
		}
	}()
	return x
}

// end waits for the end.
func (x *loginRun) end() outcome {
	<-x.rest
	_ = x.Wait() // the code says it
	return outcome{code: x.ProcessState.ExitCode(), out: x.out.String(), stderr: x.stderr.String()}
}

// sameHome makes commands share what they keep.
func sameHome(t *testing.T) func(args ...string) *exec.Cmd {
	home := t.TempDir()
	return func(args ...string) *exec.Cmd {
		cmd := command(t, args...)
		cmd.Dir = home
		cmd.Env = append(cmd.Env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.state", "MCPHUD_CREDENTIALS=file", "CI=",
			"SSH_CONNECTION=", "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=")
		return cmd
	}
}

// The oauth block of a server is all that a login needs, and the whole flow runs without a terminal.
func TestC7_LoginHeadless(t *testing.T) {
	t.Parallel()
	for name, static := range map[string]bool{"discovered": false, "configured": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := authtest.Start(t, authtest.Knobs{})
			run := sameHome(t)
			var x *loginRun
			var redirect string
			for try := 0; x == nil || x.page == ""; try++ { // the port may be somebody else's by then
				if x != nil {
					if o := x.end(); !strings.Contains(o.stderr, "the port is taken") || try > 20 {
						t.Fatalf("no URL was shown: %s", o.stderr)
					}
				}
				oauth := ""
				if static {
					redirect = "http://localhost:" + anyPort(t) + "/oauth/callback"
					srv.Issuer.Client("mine", "s3cret", "client_secret_basic", redirect)
					oauth = "\n    oauth: {auth_url: " + srv.Issuer.URL + "/authorize, token_url: " + srv.Issuer.URL + "/token, client_id: mine, client_secret: s3cret, scopes: [read, write], redirect_uri: " + redirect + "}"
				}
				cmd := run("auth", "login", "--no-browser", "--server", "notes", "--config", "s.yaml", "--format", "json")
				require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "s.yaml"), []byte("servers:\n  notes:\n    transport: {type: http, url: "+srv.URL+"}"+oauth+"\n"), 0o600))
				x = startLogin(t, cmd)
			}
			page, err := url.Parse(x.page)
			require.NoError(t, err)
			back := page.Query().Get("redirect_uri")
			if static && back != redirect || !static && !strings.HasPrefix(back, "http://127.0.0.1:") || page.Query().Get("code_challenge_method") != "S256" {
				t.Errorf("%s", x.page)
			}
			if status, body := follow(t, back+"?code=stolen&state=guessed"); status != http.StatusBadRequest || strings.Contains(body, "stolen") {
				t.Errorf("a foreign state: %d %s", status, body)
			}
			if status, body := follow(t, x.page); status != http.StatusOK || !strings.Contains(body, "You can close this page") {
				t.Errorf("%d %s", status, body)
			}
			o := x.end()
			var got struct {
				Server struct{ Name string }
				Login  struct {
					Issuer, Where string
					Scopes        []string
					ExpiresIn     int
					LoggedIn      bool
				}
			}
			if err := json.Unmarshal([]byte(o.ok(t)), &got); err != nil || got.Server.Name != "notes" || !got.Login.LoggedIn || got.Login.ExpiresIn < 1000 || got.Login.Where == "" {
				t.Errorf("%v: %s", err, o.out)
			}
			if static && strings.Join(got.Login.Scopes, " ") != "read write" {
				t.Errorf("scopes %v", got.Login.Scopes)
			}
			list := finish(t, run("tools", "list", "--server", "notes", "--config", "s.yaml"))
			if !strings.Contains(list.ok(t), `"echo"`) {
				t.Error(list.out)
			}
			status := finish(t, run("auth", "status", "--server", "notes", "--config", "s.yaml", "--format", "text"))
			if !strings.Contains(status.ok(t), "expires in ") || !strings.Contains(status.out, "notes") {
				t.Error(status.out)
			}
			all := o.out + o.stderr + list.stderr + status.out
			for _, secret := range srv.Issuer.Secrets() {
				assert.NotContains(t, all, secret)
			}
			out := finish(t, run("auth", "logout", "--server", "notes", "--config", "s.yaml"))
			out.ok(t)
			if o := finish(t, run("auth", "status", "--server", "notes", "--config", "s.yaml")); o.code != cli.ExitAuth || !strings.Contains(o.errorLine(t).Message, "mcphud auth login --config s.yaml --server notes") {
				t.Errorf("exit %d %s", o.code, o.stderr)
			}
		})
	}
}

// anyPort is a port that nothing listened on a moment ago.
func anyPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}
