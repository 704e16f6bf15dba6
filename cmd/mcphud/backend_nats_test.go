package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// installedNATS starts the nats-server of this machine, with more configuration, and returns where it is.
func installedNATS(t *testing.T, more string) string {
	t.Helper()
	if os.Getenv("MCPHUD_BACKENDS") == "" {
		t.Skip("MCPHUD_BACKENDS is not set")
	}
	program, err := exec.LookPath("nats-server")
	if err != nil {
		if os.Getenv("MCPHUD_BACKENDS") == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	at := "127.0.0.1:" + strconv.Itoa(nettest.FreePort(t))
	file := filepath.Join(t.TempDir(), "nats.conf")
	text := fmt.Sprintf("listen: %q\njetstream { store_dir: %q }\n%s", at, t.TempDir(), more)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	cmd := exec.Command(program, "-c", file)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	require.Eventually(t, "nats-server", func() bool {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	return "nats://" + at
}

// rights are a router's user, and an agent's that may register demo and nothing else.
const rights = `authorization { users: [
  {user: router, password: swordfish},
  {user: demo, password: sesame, permissions: {publish: ["$JS.API.INFO", "$JS.API.STREAM.INFO.KV_mcphud-routes", "$KV.mcphud-routes.agent.demo.*"], subscribe: ["_INBOX.>"]}}
]}`

// Agents with no more rights than the manual says register at the server that Debian has, under their own name only; routers share what
// a caller may do; and an agent that is killed is gone after its lease.
func TestBackendCluster_RegisteredAgents(t *testing.T) {
	url := installedNATS(t, rights)
	as := func(user string) string { return strings.Replace(url, "//", "//"+user+"@", 1) }
	dir := t.TempDir()
	routesFile(t, dir, `{"routes":{"demo":{"registered":true,"rateLimit":40}}}`)
	var up [2]*served
	for i := range up {
		up[i] = launch(t, routerCommand(t, "", []string{"ROUTER_CLUSTER=" + as("router:swordfish")}, "--port", "0", "--routes", filepath.Join(dir, "routing.json")), routerReady)
	}
	register := []string{"--ephemeral", "--register", as("demo:sesame"), "--name"}
	one, two := serveAgent(t, append(register, "demo")...), serveAgent(t, append(register, "demo")...)
	for _, r := range up {
		require.Eventually(t, "both agents", func() bool { return strings.Contains(r.get("/status").body, `"upstreams":{`) })
		require.Eventually(t, "both routers", func() bool { return strings.Contains(r.get("/status").body, `"routers":2`) })
	}
	if o := finish(t, agentCommand(t, t.TempDir(), nil, append(append([]string{"--port", "0"}, register...), "other")...)); o.code == 0 ||
		!strings.Contains(o.stderr, "the user may not put the key agent.other.") || strings.Contains(o.stderr, "sesame") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	admitted := 0
	for i := range 80 {
		if i%8 == 7 { // on a busy machine they hear of each other late
			time.Sleep(100 * time.Millisecond)
		}
		switch got := up[i%2].via("demo", addCall); {
		case got.status == 200 && strings.Contains(got.body, `"result"`):
			admitted++
		case !strings.Contains(got.body, "Rate limit exceeded"):
			t.Fatalf("%+v", got)
		}
	}
	if admitted < 40 || admitted > 60 {
		t.Errorf("%d calls of 80 were admitted where 40 are allowed", admitted)
	}
	killed := time.Now()
	two.signal(syscall.SIGKILL)
	for _, r := range up {
		require.Eventually(t, "the dead agent to be gone", func() bool { return !strings.Contains(r.get("/status").body, `"upstreams":{`) })
	}
	if took := time.Since(killed); took < 5*time.Second {
		t.Errorf("gone after %v, before its lease was over", took)
	}
	one.signal(syscall.SIGTERM)
	one.exit()
	for _, r := range up {
		require.Eventually(t, "nobody to be registered", func() bool {
			return strings.Contains(r.via("demo", addCall).body, "no process of 'demo' is registered") || strings.Contains(r.via("demo", addCall).body, "Rate limit")
		})
		assert.NotContains(t, r.log(), "swordfish")
	}
}

// The official suite passes against an agent whose calls go through NATS and whose data is in PostgreSQL, through two routers behind a
// balancer, as it does against an agent by itself.
func TestBackendConformance_ThroughReplicas(t *testing.T) {
	for _, revision := range peertest.Revisions() {
		if revision.Name < "2026-07-28" && !budget.Nightly() { // two agents pass all checks of it below
			continue
		}
		t.Run(revision.Name, func(t *testing.T) {
			conformsTo(t, revision, nil, serveAgent(t, "--profile", "everything", "--store", pgtest.Run(t), "--queue", installedNATS(t, ""), "--name", "suite"))
		})
	}
}

// It passes against two agents as well, which share a database or also a queue. The tools by which it changes a list do so in one process,
// so the checks of what others then say are left out.
func TestBackendConformance_OfTwoAgents(t *testing.T) {
	ofOneProcess := []string{
		"sep-2575-server-sends-tools-list-changed-on-subscription", "sep-2575-server-sends-prompts-list-changed-on-subscription",
		"tools-list-deterministic-order",
	}
	for _, revision := range peertest.Revisions() {
		t.Run(revision.Name, func(t *testing.T) {
			args := []string{"--profile", "everything", "--name", "suite", "--store", pgtest.Run(t)}
			if budget.Nightly() { // with a queue as well the store is the same
				t.Run("store", func(t *testing.T) {
					conformsTo(t, revision, ofOneProcess, serveAgent(t, args...), serveAgent(t, args...))
				})
			}
			args = append(args, "--queue", installedNATS(t, ""))
			t.Run("queue", func(t *testing.T) {
				conformsTo(t, revision, ofOneProcess, serveAgent(t, args...), serveAgent(t, args...))
			})
		})
	}
}

// conformsTo runs the suite through two routers and a balancer, but for the checks named.
func conformsTo(t *testing.T, revision peertest.Revision, not []string, agents ...*served) {
	t.Helper()
	var urls []string
	for _, a := range agents {
		urls = append(urls, fmt.Sprintf("%q", a.url))
	}
	r := routers(t, `{"a":{"urls":[`+strings.Join(urls, ",")+`],"stream":true}}`)
	revision.Run(t, r.balancer()+"/mcps/a/mcp", not...)
}
