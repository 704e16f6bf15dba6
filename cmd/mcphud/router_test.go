package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

var routerReady = regexp.MustCompile(`(?m)^listening on (https?://\S+)$`)

// routerCommand prepares `mcphud router` in a folder that holds this routing.json, unless it is "".
func routerCommand(t *testing.T, file string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, append([]string{"router"}, args...)...)
	cmd.Dir = t.TempDir()
	if file != "" {
		routesFile(t, cmd.Dir, file)
	}
	cmd.Env = append(append(cmd.Env, "ROUTER_HOST=", "ROUTER_PORT="), env...)
	return cmd
}

func routesFile(t *testing.T, dir, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "routing.json"), []byte(text), 0o600))
}

const addCall = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`

func (s *served) via(agent, frame string, headers ...string) httpReply {
	s.t.Helper()
	r, err := s.send(http.MethodPost, s.url+"/mcps/"+agent+"/mcp", frame, headers...)
	require.NoError(s.t, err)
	return r
}

func portOf(s *served) int {
	n, _ := strconv.Atoi(s.url[strings.LastIndexByte(s.url, ':')+1:]) // 0 is no port
	return n
}

func TestR3_RoutesAreFollowed(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0")
	_, port, _ := strings.Cut(a.addr(), ":")
	good := `{"routes":{"one":{"hostPort":` + port + `},"two":{"url":"` + a.url + `"},"off":{"hostPort":` + port + `,"disabled":true}}}`
	r := launch(t, routerCommand(t, good, nil, "--port", "0"), routerReady)
	for _, name := range []string{"one", "two"} {
		if got := r.via(name, addCall); got.status != 200 || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":"x","result":`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := r.via("off", addCall); got.status != 404 {
		t.Errorf("%+v", got)
	}
	routesFile(t, r.home, `{"routes":{"one":{"hostPo`)
	require.Eventually(t, "the broken file to be noticed", func() bool { return strings.Contains(r.log(), "the last valid ones stay in force") })
	if got := r.via("one", addCall); got.status != 200 {
		t.Errorf("the last good routes are not in force: %+v", got)
	}
	routesFile(t, r.home, strings.Replace(good, `"one"`, `"three"`, 1))
	require.Eventually(t, "the new routes", func() bool { return r.via("three", addCall).status == 200 })
	if got := r.via("one", addCall); got.status != 404 {
		t.Errorf("%+v", got)
	}
}

func TestC11_SIGHUPReadsTheRoutesAgain(t *testing.T) {
	t.Parallel()
	r := launch(t, routerCommand(t, `{"routes":{}}`, nil, "--port", "0"), routerReady)
	r.signal(syscall.SIGHUP)
	require.Eventually(t, "the routes to be read again", func() bool { return strings.Contains(r.log(), `"routes loaded"`) })
	if !r.running() {
		t.Error("SIGHUP ended the router")
	}
	r.signal(syscall.SIGTERM)
	if code := r.exit(); code != cli.ExitInterrupted && code != 0 {
		t.Errorf("SIGTERM: exit code %d: %s", code, r.log())
	}
}

func TestC1_RouterPortComesFromFlagEnvironmentFileDefault(t *testing.T) {
	t.Parallel()
	flag, env, file := nettest.FreePort(t), nettest.FreePort(t), nettest.FreePort(t)
	text := fmt.Sprintf(`{"port":%d,"routes":{}}`, file)
	vars := []string{fmt.Sprintf("ROUTER_PORT=%d", env), "ROUTER_HOST=localhost"}
	for _, c := range []struct {
		want int
		env  []string
		args []string
	}{
		{flag, vars, []string{"--port", strconv.Itoa(flag)}},
		{env, vars, nil},
		{file, nil, nil},
	} {
		if r := launch(t, routerCommand(t, text, c.env, c.args...), routerReady); portOf(r) != c.want {
			t.Errorf("%v %v: port %d, want %d", c.env, c.args, portOf(r), c.want)
		}
	}
	assert.Contains(t, mcphud(t, "router", "--help").ok(t), "8088")
}

func TestRouterUsage(t *testing.T) {
	t.Parallel()
	r := launch(t, routerCommand(t, "", nil, "--port", "0"), routerReady) // the default file need not be there
	require.Eventually(t, "the router to say what it waits for", func() bool {
		return strings.Contains(r.log(), "no routes yet: waiting for the file") && strings.Contains(r.log(), "/routing.json")
	})
	by := ""
	if runtime.GOOS == "linux" {
		name := filepath.Base(r.cmd.Path) // of which the system keeps 15 letters
		by = fmt.Sprintf(" by %q (pid %d)", name[:min(len(name), 15)], r.cmd.Process.Pid)
	}
	for _, c := range []struct{ args, file, env, says string }{
		{"--routes nowhere.json", "", "", "nowhere.json: no such file or directory; name a file that exists, or leave --routes out"},
		{"--port 0 --tokens nowhere.json", "", "", "nowhere.json: no such file or directory; name a file that exists"},
		{"--port 0 --audit nowhere/audit.jsonl", "", "", "there is no folder nowhere; create it, or name another"},
		{"--url http://127.0.0.1:1/mcp", "", "", "--url does not apply to the router"},
		{"--port many", "", "", "from 0 to 65535"},
		{"", "", "ROUTER_PORT=abc", `ROUTER_PORT is "abc"`},
		{"--port 0", `{"routes":{"a":{}}}`, "", "give hostPort, url, urls, command or registered"},
		{"--port 0", `{"routes":{"a":{"hostPort":1,"url":"http://x/"}}}`, "", "exactly one"},
		{"--port 0", `{"routes":`, "", "line 1"},
		{"--port 0 --tls-cert x.pem", "", "", "a TLS certificate and its key must be given together"},
		{"--port 0 --host 0.0.0.0", `{"routes":{}}`, "", "name a token file"},
		{"--port " + strconv.Itoa(portOf(r)), "", "", "the port is taken" + by},
		{"--port " + strconv.Itoa(portOf(r)), "", "", "give another with --port or ROUTER_PORT, or let --port 0 pick one"},
		{"more", "", "", "takes no arguments"},
	} {
		cmd := routerCommand(t, c.file, []string{c.env}, strings.Fields(c.args)...)
		o := finish(t, cmd)
		if e := o.errorLine(t); o.code != cli.ExitFailure || o.out != "" || !strings.Contains(e.Message, c.says) || strings.Contains(e.Message, "choose another") || strings.Contains(c.args, "--tokens") && strings.Contains(e.Message, "--routes") {
			t.Errorf("%s %s: exit %d, stdout %q, stderr %s", c.args, c.file, o.code, o.out, o.stderr)
		}
	}
}

// Every way to name this machine is served on both of its addresses, which is where clients look that say localhost.
func TestA1_TheRouterIsAtEveryNameOfThisMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, env string }{{"--host ::1", ""}, {"--host [::1]", ""}, {"", "ROUTER_HOST=LOCALHOST"}, {"", ""}} {
		r := launch(t, routerCommand(t, `{"routes":{}}`, []string{c.env}, strings.Fields("--port 0 "+c.args)...), routerReady)
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
			if host == "[::1]" && !hasIPv6() {
				continue
			}
			at := fmt.Sprintf("http://%s:%d", host, portOf(r))
			for path, want := range map[string]string{"/health": `"ok"`, "/": "<title>", "/nothing": "not_found"} {
				got, err := r.send(http.MethodGet, at+path, "")
				if err != nil || !strings.Contains(got.body, want) || (got.status == 200) != (path != "/nothing") {
					t.Errorf("%s %s%s: %+v %v", c, at, path, got, err)
				}
			}
		}
	}
}

func hasIPv6() bool {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	return ln.Close() == nil
}

// Without a file of routes the router waits for one.
func TestR3_TheDefaultFileMayComeLater(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0")
	r := launch(t, routerCommand(t, "", nil, "--port", "0"), routerReady)
	if got := r.via("one", addCall); got.status != 404 {
		t.Errorf("%+v", got)
	}
	routesFile(t, r.home, `{"routes":{"one":{"url":"`+a.url+`"}}}`)
	require.Eventually(t, "the routes to be served", func() bool { return r.via("one", addCall).status == 200 })
	var all struct {
		Agents []struct{ Name, State string }
	}
	got, err := r.send(http.MethodGet, r.url+"/agents.json", "")
	if err != nil || json.Unmarshal([]byte(got.body), &all) != nil || len(all.Agents) != 1 || all.Agents[0].Name != "one" || all.Agents[0].State != "ok" {
		t.Errorf("%+v %v", got, err)
	}
	a.signal(syscall.SIGTERM)
	a.exit()
	if got := r.via("one", addCall); got.status != 502 {
		t.Errorf("%+v", got)
	}
	if got, err = r.send(http.MethodGet, r.url+"/agents.json", ""); err != nil || !strings.Contains(got.body, `"failing"`) {
		t.Errorf("%+v %v", got, err)
	}
	require.NoError(t, os.Remove(filepath.Join(r.home, "routing.json")))
	require.Eventually(t, "the missing file to be noticed", func() bool { return strings.Contains(r.log(), "the last valid ones stay in force") })
	if got := r.via("one", addCall); got.status != 502 {
		t.Errorf("the last good routes are not in force: %+v", got)
	}
}

// Tokens that are added or taken away count from then on; a file that breaks leaves the others in force.
func TestC11_R8_TokensAreFollowed(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0")
	cmd := routerCommand(t, `{"tokens":"tokens.json","routes":{"one":{"url":"`+a.url+`"}}}`, nil, "--port", "0")
	tokens := func(text string) {
		t.Helper()
		next := filepath.Join(cmd.Dir, "next.json")
		require.NoError(t, errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Rename(next, filepath.Join(cmd.Dir, "tokens.json"))))
	}
	entry := func(token string) string {
		sum := sha256.Sum256([]byte(token))
		return `{"tokens":[{"sha256":"` + hex.EncodeToString(sum[:]) + `","name":"alpha","allowedTargets":["*"]}]}`
	}
	tokens(entry("first"))
	r := launch(t, cmd, routerReady)
	status := func(token string) int { return r.via("one", addCall, "Authorization", "Bearer "+token).status }
	if status("first") != 200 || status("second") != 401 {
		t.Error("the first tokens are not in force")
	}
	tokens(entry("second"))
	require.Eventually(t, "the second token", func() bool { return status("second") == 200 })
	assert.Equalf(t, status("first"), 401, "a token that was taken away is still good")
	tokens(`{"tokens":[`)
	r.signal(syscall.SIGHUP)
	require.Eventually(t, "the broken file to be noticed", func() bool { return strings.Contains(r.log(), "cannot load tokens") })
	if status("second") != 200 || status("first") != 401 {
		t.Error("the last good tokens are not in force")
	}
	if !r.running() {
		t.Error("SIGHUP ended the router")
	}
}

// What the router writes down and remembers, and for whom, is set by the command.
func TestR8_R18_TheCommandAsksForTokensAndWritesRequestsDown(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0")
	text := `{"tokens":"tokens.json","routes":{"one":{"url":"` + a.url + `"},"two":{"url":"` + a.url + `"}}}`
	cmd := routerCommand(t, text, nil, "--port", "0", "--audit", "audit.jsonl", "--pins", "pins.json")
	sum := sha256.Sum256([]byte("swordfish"))
	entry := `{"tokens":[{"sha256":"` + hex.EncodeToString(sum[:]) + `","name":"alpha","allowedTargets":["one"]}]}`
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "tokens.json"), []byte(entry), 0o644))
	r := launch(t, cmd, routerReady)
	if got := r.via("one", addCall); got.status != 401 {
		t.Errorf("without a token: %+v", got)
	}
	auth := []string{"Authorization", "Bearer swordfish"}
	if got := r.via("one", addCall, auth...); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if got := r.via("two", addCall, auth...); got.status != 403 {
		t.Errorf("%+v", got)
	}
	if got := r.via("one", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, auth...); got.status != 200 {
		t.Errorf("%+v", got)
	}
	assert.Contains(t, r.log(), "chmod 600")
	r.signal(syscall.SIGTERM)
	r.exit()
	for file, want := range map[string][]string{
		"audit.jsonl": {`"why":"unauthorized"`, `"principal":"alpha"`, `"tool":"add","decision":"allowed"`, `"agent":"two"`, `"why":"forbidden"`},
		"pins.json":   {`"execute_code"`},
	} {
		raw, err := os.ReadFile(filepath.Join(cmd.Dir, file))
		require.NoError(t, err)
		for _, w := range want {
			if !strings.Contains(string(raw), w) {
				t.Errorf("no %s in %s: %.2000s", w, file, raw)
			}
		}
		if info, err := os.Stat(filepath.Join(cmd.Dir, file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", file, info.Mode())
		}
		if strings.Contains(string(raw)+r.log(), "swordfish") {
			t.Errorf("the token is in %s or the log", file)
		}
	}
}

// A login that somebody makes while a router runs serves the callers of that router.
func TestRouterUsesTheLoginOfItsUser(t *testing.T) {
	srv := authtest.Start(t, authtest.Knobs{})
	run := sameHome(t)
	runtimeDir(t)
	router := run("router", "--port", "0", "--routes", "routing.json")
	require.NoError(t, os.WriteFile(filepath.Join(router.Dir, "routing.json"), fmt.Appendf(nil, `{"routes":{"docs":{"url":%q,"oauth":{}}}}`, srv.URL), 0o600))
	var log faketest.Buffer
	router.Stderr = &log
	require.NoError(t, router.Start())
	t.Cleanup(func() {
		_ = router.Process.Signal(os.Interrupt)
		_ = router.Wait() // the code says it
		if code := router.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the router ended with %d: %s", code, log.String())
		}
	})
	require.Eventually(t, "the router", func() bool { return strings.Contains(log.String(), "listening on ") })
	_, rest, _ := strings.Cut(log.String(), "listening on ")
	docs := strings.Fields(rest)[0] + "/mcps/docs/mcp"
	call := []string{"tools", "call", "echo", "text=hi", "--url", docs}

	before := mcphud(t, call...)
	before.exits(t, 10, "Agent 'docs' needs a login", "whoever runs the router has to log in there")
	assert.Contains(t, log.String(), "agent needs a login")
	x := startLogin(t, run("auth", "login", "--no-browser", "--url", srv.URL))
	if x.page == "" {
		t.Fatalf("no URL: %+v", x.end())
	}
	if status, body := follow(t, x.page); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if o := x.end(); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	assert.Contains(t, mcphud(t, call...).ok(t), "hi")
	for _, secret := range srv.Issuer.Secrets() {
		assert.NotContains(t, log.String(), secret)
	}
}

// Other machines manage the router with a certificate, at the address that the log names.
func TestG1_RouterManagedWithACertificate(t *testing.T) {
	t.Parallel()
	ca := nettest.SelfSigned(t)
	own, me := ca.Sign(t), ca.Sign(t, "me")
	files := []string{"--manage-cert", own.Cert, "--manage-key", own.Key, "--manage-ca", ca.Cert}
	r := launch(t, routerCommand(t, `{"routes":{"a":{"hostPort":1}}}`, nil, append([]string{"--port", "0", "--manage-addr", "127.0.0.1:0"}, files...)...), routerReady)
	at := regexp.MustCompile(`from other machines","address":"([^"]+)"`)
	require.Eventually(t, "the address", func() bool { return at.MatchString(r.log()) })
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{me.TLS}}}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get("https://" + at.FindStringSubmatch(r.log())[1] + "/ListMcpServers")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), `"name":"a"`) {
		t.Errorf("%d %s %v", res.StatusCode, body, err)
	}
	for args, want := range map[string]string{
		"--port 0 --manage-addr 127.0.0.1:0": "must be given together",
		"--port 0 --manage-ca x.pem":         "must be given together",
		"--stdio --manage-addr 127.0.0.1:0":  "--manage-addr does not apply with --stdio",
	} {
		o := finish(t, routerCommand(t, "", nil, strings.Fields(args)...))
		if e := o.errorLine(t); o.code != cli.ExitFailure || !strings.Contains(e.Message, want) {
			t.Errorf("%s: exit %d, %s", args, o.code, o.stderr)
		}
	}
}
