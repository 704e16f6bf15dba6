package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/budget"
	"github.com/mcphud/mcphud/session/budget/load"
)

// stack is an agent and a router in front of it, each a process.
func stack(t testing.TB) (agent, router *child) {
	t.Helper()
	agent = spawn(t, "agent")
	file := filepath.Join(t.TempDir(), "routing.json")
	if err := os.WriteFile(file, []byte(table(route("a", agent.url, ""))), 0o600); err != nil {
		t.Fatal(err)
	}
	return agent, spawn(t, "router:"+file)
}

func (c *child) endpoint() string { return c.url + "/mcps/a/mcp" }

// openAt opens a session at an endpoint.
func openAt(t testing.TB, url string) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(initialize)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("%s opened no session: %d", url, res.StatusCode)
	}
	return http.Header{"Mcp-Session-Id": {id}}
}

// calls makes a load of tools/call in sessions of their own.
func calls(t testing.TB, url string, clients, requests int) *load.Result {
	t.Helper()
	sessions := make([]http.Header, clients)
	for i := range sessions {
		sessions[i] = openAt(t, url)
	}
	res, err := load.Run(t.Context(), load.Plan{
		URL: url, Clients: clients, Requests: requests,
		Body: func(n int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`, n)
		},
		Header: func(n int) http.Header { return sessions[n%clients] },
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Failed > 0 {
		t.Fatalf("%d of %d requests failed: %v", res.Failed, res.Requests, res.First)
	}
	return res
}

func TestBudgetRouterThroughput(t *testing.T) {
	budget.Skip(t)
	agent, router := stack(t)
	const requests = 6000
	calls(t, agent.url, 16, 1000)
	calls(t, router.endpoint(), 16, 1000)
	for clients, share := range map[int]float64{16: 0.48, 64: 0.42} {
		var cpu time.Duration
		through, direct := budget.Pair(
			func() time.Duration {
				before := router.cpu(t)
				took := calls(t, router.endpoint(), clients, requests).Took
				if used := router.cpu(t) - before; cpu == 0 || used < cpu {
					cpu = used
				}
				return took
			},
			func() time.Duration { return calls(t, agent.url, clients, requests).Took },
		)
		budget.Ratio(t, fmt.Sprintf("router: %d clients, time for %d calls against direct", clients, requests), through, direct, 1/share)
		budget.Ceiling(t, fmt.Sprintf("router: processor time a call, %d clients", clients), cpu/requests, 130*time.Microsecond)
	}
}

func TestBudgetRouterLatency(t *testing.T) {
	budget.Skip(t)
	agent, router := stack(t)
	const requests = 1500
	through, direct := budget.Pair(
		func() time.Duration { return calls(t, router.endpoint(), 1, requests).Percentile(50) },
		func() time.Duration { return calls(t, agent.url, 1, requests).Percentile(50) },
	)
	budget.Beyond(t, "router: p50 of a call by one client, beyond direct", through, direct, 350*time.Microsecond)
}
