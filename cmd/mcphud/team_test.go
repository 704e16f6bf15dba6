package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/test/require"
)

// team is a router and agents behind it, each in a process of its own, which know where the router is.
type team struct {
	t      *testing.T
	router *served
	agents map[string]*served
	routes map[string]any
}

// teamOf starts a router, with more arguments if there are some, and agents of these names.
func teamOf(t *testing.T, router []string, names ...string) *team {
	t.Helper()
	tm := &team{t: t, agents: map[string]*served{}, routes: map[string]any{}}
	tm.router = launch(t, routerCommand(t, `{"routes":{}}`, nil, append([]string{"--port", "0"}, router...)...), routerReady)
	for _, name := range names {
		tm.start(name, nil)
	}
	return tm
}

// start starts an agent, in place of one of that name at its port, and waits until the router leads to it.
func (tm *team) start(name string, env []string, args ...string) *served {
	tm.t.Helper()
	port := "0"
	if old := tm.agents[name]; old != nil {
		port = strconv.Itoa(portOf(&served{url: strings.TrimSuffix(old.url, "/mcp")}))
	}
	env = append([]string{"ROUTER_HOST=localhost", "ROUTER_PORT=" + strconv.Itoa(portOf(tm.router))}, env...)
	a := serveIn(tm.t, tm.t.TempDir(), env, append([]string{"--ephemeral", "--name", name, "--port", port, "--rate-limit", "0"}, args...)...)
	tm.agents[name] = a
	tm.route(name, a)
	return a
}

// route writes the routes with this one, which leads to an agent, or to none.
func (tm *team) route(name string, a *served) {
	tm.t.Helper()
	delete(tm.routes, name)
	if a != nil {
		tm.routes[name] = map[string]any{"url": a.url}
	}
	text, err := json.Marshal(map[string]any{"routes": tm.routes})
	require.NoError(tm.t, err)
	loaded := func() int { return strings.Count(tm.router.log(), "routes loaded") } // a router with tokens tells strangers nothing
	before, next := loaded(), filepath.Join(tm.router.home, "next.json")
	require.NoError(tm.t, os.WriteFile(next, text, 0o600))
	require.NoError(tm.t, os.Rename(next, filepath.Join(tm.router.home, "routing.json")))
	require.Eventually(tm.t, "the routes to be followed", func() bool { return loaded() > before })
}

// ask has an agent call a tool of another one. It is asked through the router itself.
func (tm *team) ask(agent, other, tool, args string) rpcAnswer {
	tm.t.Helper()
	return tm.router.via(agent, callOfAgent(other, tool, args)).rpc(tm.t)
}

// callOfAgent is the request of one agent that calls another.
func callOfAgent(agent, tool, args string) string {
	return `{"jsonrpc":"2.0","id":"outer","method":"tools/call","params":` + delegation(agent, tool, args) + `}`
}

// delegation is the params of a call of a call, which can be the arguments of another one.
func delegation(agent, tool, args string) string {
	return fmt.Sprintf(`{"name":"call_agent","arguments":%s}`, delegated(agent, tool, args))
}

func delegated(agent, tool, args string) string {
	return fmt.Sprintf(`{"agent":%q,"tool":%q,"args":%s}`, agent, tool, args)
}

// queue is what an agent has to do.
func (s *served) queue() (q struct{ Queued, Running, Concurrency int }) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal([]byte(s.get("/queue").body), &q))
	return q
}

// idle waits until no agent has anything to do.
func (tm *team) idle() {
	tm.t.Helper()
	for name, a := range tm.agents {
		if !a.running() {
			continue
		}
		require.Eventually(tm.t, name+" to be idle", func() bool { q := a.queue(); return q.Queued+q.Running == 0 })
	}
}

// client is what other programs call agents with.
func (tm *team) client(token string) *agentclient.Client {
	tm.t.Helper()
	c, err := agentclient.New(agentclient.Options{RouterPort: portOf(tm.router), AuthToken: token})
	require.NoError(tm.t, err)
	tm.t.Cleanup(c.Close)
	return c
}

// failure is the text of a result that says what went wrong.
func (a rpcAnswer) failure(t *testing.T) string {
	t.Helper()
	if a.Error != nil || !a.Result.IsError || len(a.Result.Content) == 0 {
		t.Fatalf("no failure of the tool: %+v %s", a, a.Result.StructuredContent)
	}
	return a.Result.Content[0].Text
}
