package proxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
)

// TestBudgetRouterOfAllAgents is what a call at the endpoint of all agents costs: against the agent itself, and against the
// router's own address for it, which passes the same checks.
func TestBudgetRouterOfAllAgents(t *testing.T) {
	budget.Skip(t)
	agent, router := stack(t)
	const requests, all, tool = 6000, "/mcp", "mcp__a__echo"
	var used [2]time.Duration
	load := func(i int, url, tool string) time.Duration {
		before := budget.Running(t, router.pid)
		took := callsOf(t, url, tool, 16, requests).Took
		if cpu := budget.Running(t, router.pid) - before; used[i] == 0 || cpu < used[i] {
			used[i] = cpu
		}
		return took
	}
	callsOf(t, agent.url, "echo", 16, 1000)
	callsOf(t, router.url+all, tool, 16, 1000)
	through, direct := budget.Pair(
		func() time.Duration { return load(0, router.url+all, tool) },
		func() time.Duration { return callsOf(t, agent.url, "echo", 16, requests).Took },
	)
	budget.Ratio(t, fmt.Sprintf("router: /mcp of all agents, 16 clients, time for %d calls against direct", requests), through, direct, 1/0.45)
	through, one := budget.Pair(
		func() time.Duration { return load(0, router.url+all, tool) },
		func() time.Duration { return load(1, router.endpoint(), "echo") },
	)
	budget.Ratio(t, fmt.Sprintf("router: /mcp of all agents, 16 clients, time for %d calls against the agent's own address", requests), through, one, 1.25)
	budget.Ratio(t, "router: /mcp of all agents, processor time against the agent's own address", used[0], used[1], 1.4)
}
