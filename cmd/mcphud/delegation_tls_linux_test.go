package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// through has agent a of a stack call echo of agent b.
func (u *upRun) through(t *testing.T, token, message string) outcome {
	t.Helper()
	cmd := command(t, "tools", "call", "call_agent", "agent=b", "tool=echo", `args:={"message":"`+message+`"}`, "--url", u.Servers[0].URL, "-H", "Authorization: Bearer "+token)
	return finish(t, cmd)
}

// The router of a stack serves HTTPS with a certificate that nobody vouches for and that is for other names. Agents call each
// other through it, commands name agents behind it, and it is the only one that is trusted.
func TestTLS_V4_AgentsOfAStackCallEachOther(t *testing.T) {
	long(t, "TestR15_X7_AgentsOfAStackCallEachOther")
	const token = "t0p-secret-value"
	own := nettest.MakeCert(t, &x509.Certificate{}, nil, "nobody.example")
	t.Setenv("STACK_TOKEN", token)
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	u := stackOf(t, "agents:\n  a: {ephemeral: true, env: {AGENT_TOKEN: \"${STACK_TOKEN}\"}}\n  b: {ephemeral: true}\n"+
		"router: {tlsCert: "+own.Cert+", tlsKey: "+own.Key+", tokens: "+tokenFile(t, map[string]string{token: `["b"]`})+", audit: "+audit+"}\n", "mcphud.stack.yaml")
	if !strings.HasPrefix(u.Aggregate, "https://") {
		t.Fatalf("%+v", u.upSummary)
	}
	assert.Contains(t, u.through(t, token, "over TLS").ok(t), "over TLS")
	require.Eventually(t, "the audit log", func() bool { return strings.Contains(contents(audit), `"tool":"echo"`) })

	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(u.Aggregate, "https://"), "/mcp"))
	require.NoError(t, err)
	named := func(ca, host string) outcome {
		t.Helper()
		cmd := command(t, "tools", "call", "echo", "message=by name", "--agent", "b", "--format", "json")
		cmd.Env = append(cmd.Env, "ROUTER_HOST="+host, "ROUTER_PORT="+port, "ROUTER_CA="+ca, "AGENT_TOKEN="+token)
		return finish(t, cmd)
	}
	for _, host := range []string{"https://localhost", "https://127.0.0.1"} {
		if out := named(own.Cert, host).ok(t); !strings.Contains(out, "by name") {
			t.Errorf("%s: %s", host, out)
		}
	}
	complete := command(t, "__complete", "tools", "list", "--agent", "")
	complete.Env = append(complete.Env, "ROUTER_HOST=https://localhost", "ROUTER_PORT="+port, "ROUTER_CA="+own.Cert, "AGENT_TOKEN="+token)
	if out := finish(t, complete).ok(t); !strings.HasPrefix(out, "b\n") {
		t.Errorf("%q", out)
	}
	other := nettest.SelfSigned(t)
	for _, c := range []struct {
		ca, host, says string
		code           int
	}{
		{other.Cert, "https://localhost", "the certificate of localhost is not signed by one in " + other.Cert, cli.ExitUnreachable},
		{"", "https://localhost", "nobody.example", cli.ExitUnreachable},
		{own.Cert, "localhost", "write https://", cli.ExitFailure},
		{own.Cert + ".none", "https://localhost", "no such file", cli.ExitFailure},
		{own.Key, "https://localhost", "no certificate in " + own.Key, cli.ExitFailure},
		{own.Cert, "https://user:" + token + "@localhost", "must be a name or an address", cli.ExitFailure},
	} {
		if o := named(c.ca, c.host); o.code != c.code || !strings.Contains(o.errorLine(t).Message, c.says) || strings.Contains(o.stderr+o.out, token) {
			t.Errorf("%+v: exit %d, %s", c, o.code, o.stderr)
		}
	}

	// The router comes back with another certificate, and the agents take it over with the file.
	next := nettest.SelfSigned(t, "nobody.example")
	for from, to := range map[string]string{next.Cert: own.Cert, next.Key: own.Key} {
		require.NoError(t, os.Rename(from, to))
	}
	require.NoError(t, syscall.Kill(u.Processes[2].PID, syscall.SIGKILL))
	require.Eventually(t, "the router to come back", func() bool { return strings.Count(u.log(), "router       ready      at https://") == 2 })
	assert.Contains(t, u.through(t, token, "renewed").ok(t), "renewed")
	assert.NotContains(t, u.log()+contents(audit), token)
}

// An agent whose router is somebody else says so and tells that one nothing.
func TestTLS_R15_AStrangerInPlaceOfTheRouter(t *testing.T) {
	t.Parallel()
	const token = "t0p-secret-value"
	own, strange := nettest.SelfSigned(t), nettest.SelfSigned(t)
	var asked atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{strange.TLS}}
	s.StartTLS()
	defer s.Close()
	port := fmt.Sprint(s.Listener.Addr().(*net.TCPAddr).Port)
	for ca, says := range map[string]string{own.Cert: "the certificate of 127.0.0.1 is not signed by one in " + own.Cert, "": "signed by unknown authority"} {
		a := serveIn(t, t.TempDir(), []string{"ROUTER_HOST=https://127.0.0.1", "ROUTER_PORT=" + port, "ROUTER_CA=" + ca, "AGENT_TOKEN=" + token}, "--ephemeral", "--token", "")
		text := a.call("call_agent", delegated("b", "echo", `{"message":"x"}`)).failure(t)
		for _, want := range []string{says, "the router at 127.0.0.1:" + port + " is not trusted; nothing was sent", "in ROUTER_CA"} {
			assert.Contains(t, text, want)
		}
		assert.NotContains(t, text+a.log(), token)
	}
	assert.Equalf(t, asked.Load(), 0, "requests reached the stranger")
}

// What cannot be is said before anything is served, and as config explain says it.
func TestTLS_C1_SettingsOfTheRouterThatCannotBe(t *testing.T) {
	long(t, "TestRouterUsage")
	t.Parallel()
	own := nettest.SelfSigned(t)
	for i, c := range []struct{ env, yaml, says string }{
		{"ROUTER_CA=/nowhere/ca.pem", "routerHost: https://x", "no such file"},
		{"ROUTER_CA=" + own.Key, "routerHost: https://x", "no certificate in " + own.Key},
		{"ROUTER_CA=" + own.Cert, "", "write https:// before the host"},
		{"ROUTER_HOST=ftp://x", "", "must be a name or an address"},
		{"ROUTER_HOST=https://me:hunter2@x", "", `"***@x"`},
		{"", "routerHost: https://x/path", "must be a name or an address"},
	} {
		profiles := []string{"demo", "fault"}
		if !budget.All() { // each is two processes
			profiles = profiles[i%2 : i%2+1]
		}
		for _, profile := range profiles {
			explain := explainer(t, c.yaml, "", []string{c.env}, "agent", "--profile", profile)
			_, failure := explainedBy(t, explain)
			start := command(t, "agent", "--profile", profile, "--port", "0", "--ephemeral")
			start.Env, start.Dir = explain.Env, explain.Dir
			o := finish(t, start)
			if e := o.errorLine(t); o.code != cli.ExitFailure || e.Message != failure || !strings.Contains(failure, c.says) || strings.Contains(o.stderr, "hunter2") || strings.Contains(o.stderr, "listening on") {
				t.Errorf("%+v %s: exit %d, %s, explained with %s", c, profile, o.code, o.stderr, failure)
			}
		}
	}
	e, failure := explainedBy(t, explainer(t, "routerHost: https://router.example\n", "", []string{"ROUTER_CA=" + own.Cert}, "agent"))
	wantSettings(t, e.Agent, map[string]string{"router-host": "https://router.example agent.yaml:1", "router-ca": own.Cert + " ROUTER_CA"})
	assert.Equal(t, failure, "")
}

// ROUTER_HOST tells the router itself where to listen: what agents make of its scheme has to be so.
func TestTLS_C1_TheRouterAndTheSchemeOfItsHost(t *testing.T) {
	long(t, "TestRouterUsage")
	t.Parallel()
	own := nettest.SelfSigned(t)
	secure := []string{"--tls-cert", own.Cert, "--tls-key", own.Key}
	for env, args := range map[string][]string{"ROUTER_HOST=https://localhost": secure, "ROUTER_HOST=http://localhost": nil, "ROUTER_HOST=https://[::1]": secure} {
		r := launch(t, routerCommand(t, `{"routes":{}}`, []string{env}, append(args, "--port", "0")...), routerReady)
		if want := map[bool]string{true: "https://127.0.0.1:", false: "http://127.0.0.1:"}[args != nil]; !strings.HasPrefix(r.url, want) {
			t.Errorf("%s: %s", env, r.url)
		}
	}
	for _, c := range []struct {
		env  string
		args []string
		says string
	}{
		{"ROUTER_HOST=https://localhost", nil, "ROUTER_HOST says https, and the router serves http"},
		{"ROUTER_HOST=http://localhost", secure, "ROUTER_HOST says http, and the router serves https"},
		{"", append([]string{"--host", "https://localhost"}, "--port", "0"), "--host says https"},
		{"ROUTER_HOST=https://localhost/x", secure, "must be a name or an address"},
		{"ROUTER_HOST=https://me:hunter2@localhost", secure, `"***@localhost"`},
	} {
		o := finish(t, routerCommand(t, `{"routes":{}}`, []string{c.env}, append(c.args, "--port", "0")...))
		if e := o.errorLine(t); o.code != cli.ExitFailure || !strings.Contains(e.Message, c.says) || strings.Contains(o.stderr, "hunter2") {
			t.Errorf("%+v: exit %d, %s", c, o.code, o.stderr)
		}
		_, failure := explainedBy(t, explainer(t, "", `{"routes":{}}`, []string{c.env}, append([]string{"router"}, c.args...)...))
		if !strings.Contains(failure, c.says) {
			t.Errorf("%+v is explained with %q", c, failure)
		}
	}
}
