package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Agents register themselves, and a router serves them as one; who ends is gone at once.
func TestAgentRegistersWithRouters(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	dir := t.TempDir()
	for name, c := range map[string]struct{ target, routes string }{"folder": {dir, dir}, "bucket": {s.URL + "/mine", s.URL + "/mine"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			register := []string{"--ephemeral", "--name", "demo", "--token", "swordfish", "--register", c.target}
			one := serveAgent(t, register...)
			r := launch(t, routerCommand(t, "", nil, "--port", "0", "--routes", c.routes), routerReady)
			two := serveAgent(t, register...)
			require.Eventually(t, "both agents", func() bool { return strings.Contains(r.get("/status").body, `"upstreams":{`) })
			if got := r.via("demo", addCall); got.status != 200 {
				t.Errorf("%+v", got)
			}
			assert.NotContains(t, r.log()+one.log()+r.get("/status").body, "swordfish")
			for i, a := range []*served{one, two} {
				a.signal(syscall.SIGTERM)
				a.exit()
				require.Eventually(t, "an agent to be gone", func() bool { return !strings.Contains(r.get("/status").body, []string{`"upstreams":{`, `"demo"`}[i]) })
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); name == "folder" && len(left) != 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// A router that shares with others has the agents that register, so that it does not wait for its file alone.
func TestRouterOfAClusterWithoutAFile(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	r := launch(t, routerCommand(t, "", nil, "--port", "0", "--cluster", s.URL), routerReady)
	require.Eventually(t, "the router to say what it waits for", func() bool { return strings.Contains(r.log(), "waiting for agents that register, or for the file") })
	serveAgent(t, "--ephemeral", "--name", "demo", "--register", s.URL)
	require.Eventually(t, "the agent", func() bool { return strings.Contains(r.get("/status").body, `"demo"`) })
}

func TestRegisterThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct{ args, says string }{
		{"--register " + file, "is not a folder"},
		{"--register " + file + ".none", "no such file"},
		{"--register nats://user:swordfish@127.0.0.1:1", "nothing answers: nats://"},
		{"--register nats://127.0.0.1:1/a.b", "bucket's name is not valid"},
		{"--register-as http://h/mcp", "nothing registers it"},
		{"--register " + t.TempDir() + " --stdio", "does not apply with --stdio"},
		{"--register " + t.TempDir() + " --register-as h:1", "URL is not valid"},
		{"--register " + t.TempDir() + " --name a/b", "cannot be that of a route"},
	} {
		o := finish(t, agentCommand(t, t.TempDir(), nil, append([]string{"--port", "0", "--ephemeral"}, strings.Fields(c.args)...)...))
		if o.code == 0 || !strings.Contains(o.stderr, c.says) || strings.Contains(o.stderr, "swordfish") || strings.Contains(o.stderr, "listening on") {
			t.Errorf("%s: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"--cluster nats://user:swordfish@127.0.0.1:1", "nothing answers: nats://"},
		{"--routes nats://127.0.0.1:1/a.b", "bucket's name is not valid"},
		{"--cluster http://127.0.0.1:1", "does not begin with nats://"},
	} {
		o := finish(t, routerCommand(t, `{"routes":{}}`, nil, append([]string{"--port", "0"}, strings.Fields(c.args)...)...))
		if o.code == 0 || !strings.Contains(o.stderr, c.says) || strings.Contains(o.stderr, "swordfish") {
			t.Errorf("%s: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
}
