package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// budgetToken is sent with each request, as everything that a router can ask for is asked for: token, target, route, lists of
// methods and tools, rate limit, session; and everything is written to the audit log.
const budgetToken = "a-token-of-some-length-0123456789"

// stack is an agent and a router in front of it, each a process.
func stack(t testing.TB) (agent, router *child) {
	t.Helper()
	return stackOf(t, "agent")
}

// stackOf is a stack with one of the other agents that childMain knows.
func stackOf(t testing.TB, what string) (agent, router *child) {
	t.Helper()
	agent = spawn(t, what)
	file := filepath.Join(t.TempDir(), "routing.json")
	sum := sha256.Sum256([]byte(budgetToken))
	tokens := fmt.Sprintf(`{"tokens":[{"name":"load","sha256":"%x","allowedTargets":["*"]}]}`, sum)
	routes := `{"tokens":"tokens.json","routes":{` + route("a", agent.url, `"methods":["tools/call","ping"],"tools":["echo"],"rateLimit":1000000000`) + `}}`
	for name, text := range map[string]string{file: routes, filepath.Join(filepath.Dir(file), "tokens.json"): tokens} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	router = spawn(t, "router:"+file)
	router.dir = filepath.Dir(file)
	return agent, router
}

func (c *child) endpoint() string { return c.url + "/mcps/a/mcp" }

// openAt opens a session at an endpoint.
func openAt(t testing.TB, url string) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(initialize)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	req.Header.Set("Authorization", "Bearer "+budgetToken)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("%s opened no session: %d", url, res.StatusCode)
	}
	return http.Header{"Mcp-Session-Id": {id}, "Authorization": {"Bearer " + budgetToken}}
}

// calls makes a load of tools/call in sessions of their own.
func calls(t testing.TB, url string, clients, requests int) *budget.Result {
	t.Helper()
	return callsOf(t, url, "echo", clients, requests)
}

// callsOf is calls of another tool.
func callsOf(t testing.TB, url, tool string, clients, requests int) *budget.Result {
	t.Helper()
	sessions := make([]http.Header, clients)
	for i := range sessions {
		sessions[i] = openAt(t, url)
	}
	res, err := budget.RunLoad(t.Context(), budget.Load{
		URL: url, Clients: clients, Requests: requests,
		Body: func(n int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"text":"hello"}}}`, n, tool)
		},
		Header: func(n int) http.Header { return sessions[n%clients] },
	})
	require.NoError(t, err)
	require.NoError(t, res.Err())
	return res
}

// watch joins what the router carries, as mcphud tap does, and says how much came.
func (c *child) watch(t testing.TB) (came *atomic.Int64) {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(c.dir, fmt.Sprintf("tap-%d-*.sock", c.pid)))
	if err != nil || len(sockets) != 1 {
		t.Fatal(sockets, err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", sockets[0])
	require.NoError(t, err)
	came = new(atomic.Int64)
	var all sync.WaitGroup
	all.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := conn.Read(buf)
			if came.Add(int64(n)); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		all.Wait()
	})
	return came
}

func TestBudgetRouterThroughput(t *testing.T) {
	budget.Skip(t)
	compareThroughput(t, 64, 0.42)
}

func TestBudgetPushRouterThroughput(t *testing.T) {
	budget.Push(t)
	compareThroughput(t, 16, 0.48)
}

// compareThroughput compares so many clients with what they get done without the router, of which they must get a share.
func compareThroughput(t *testing.T, clients int, share float64) {
	t.Helper()
	agent, router := stack(t)
	const requests = 6000
	calls(t, agent.url, 16, 1000)
	calls(t, router.endpoint(), 16, 1000)
	var cpu time.Duration
	through, direct := budget.Pair(
		func() time.Duration {
			before := budget.Running(t, router.pid)
			took := calls(t, router.endpoint(), clients, requests).Took
			if used := budget.Running(t, router.pid) - before; cpu == 0 || used < cpu {
				cpu = used
			}
			return took
		},
		func() time.Duration { return calls(t, agent.url, clients, requests).Took },
	)
	budget.Ratio(t, fmt.Sprintf("router: %d clients, time for %d calls against direct", clients, requests), through, direct, 1/share)
	budget.Ceiling(t, fmt.Sprintf("router: processor time a call, %d clients", clients), cpu/requests, 130*time.Microsecond)
}

// TestBudgetRouterWatched is what a call costs while somebody looks at what the router carries.
func TestBudgetRouterWatched(t *testing.T) {
	budget.Skip(t)
	_, router := stack(t)
	came := router.watch(t)
	const requests = 6000
	calls(t, router.endpoint(), 16, 1000)
	seen := came.Load()
	cpu := budget.Best(func() time.Duration {
		before := budget.Running(t, router.pid)
		calls(t, router.endpoint(), 16, requests)
		return (budget.Running(t, router.pid) - before) / requests
	})
	if came.Load()-seen < requests {
		t.Errorf("%d bytes came of %d requests", came.Load()-seen, requests)
	}
	budget.Ceiling(t, "router: processor time a call, 16 clients, while somebody watches", cpu, 130*time.Microsecond)
}

// TestBudgetRouterTraced is what it costs to record what the router did for each call of a trace, against calls without one. The two
// take turns in short runs, since what else the machine does changes both by more than what is measured.
func TestBudgetRouterTraced(t *testing.T) {
	budget.Skip(t)
	_, router := stack(t)
	const rounds, requests = 60, 500
	session := openAt(t, router.endpoint())
	traced := session.Clone()
	traced.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	var sums [2]time.Duration
	for round := range rounds + 2 {
		for i := range 2 {
			which := (i + round) % 2
			before := budget.Running(t, router.pid)
			res, err := budget.RunLoad(t.Context(), budget.EqualLoad(router.endpoint(), [2]http.Header{session, traced}[which], callEcho, `"result"`, 16, requests))
			if err == nil {
				err = res.Err()
			}
			require.NoError(t, err)
			if round >= 2 { // the first ones set up what stays
				sums[which] += budget.Running(t, router.pid) - before
			}
		}
	}
	budget.Ratio(t, "router: processor time of a call that is traced against one that is not", sums[1]/(rounds*requests), sums[0]/(rounds*requests), 1.03)
}

func TestBudgetRouterLatency(t *testing.T) {
	budget.Push(t)
	agent, router := stack(t)
	const requests = 1500
	through, direct := budget.Pair(
		func() time.Duration { return calls(t, router.endpoint(), 1, requests).Percentile(50) },
		func() time.Duration { return calls(t, agent.url, 1, requests).Percentile(50) },
	)
	budget.Beyond(t, "router: p50 of a call by one client, beyond direct", through, direct, 350*time.Microsecond)
	budget.Ratio(t, "router: p50 of a call by one client, against direct", through, direct, 3)
}

func TestBudgetRouterMemory(t *testing.T) {
	budget.Skip(t)
	_, router := stack(t)
	// A request first: what net/http sets up once is not of sessions.
	openAt(t, router.endpoint())
	http.DefaultClient.CloseIdleConnections()
	before := budget.Status(t, router.pid, "VmRSS")
	calls(t, router.endpoint(), 64, 6400)
	budget.Size(t, "router: memory with 64 sessions after 6,400 calls, beyond that after its start", budget.Status(t, router.pid, "VmRSS")-before, 12_000_000, 1)
}

func TestBudgetRouterLargeBody(t *testing.T) {
	budget.Skip(t)
	text := bytes.Repeat([]byte("x"), 1<<20)
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}`, text)
	budget.Ceiling(t, "router: processor time of a call with a body of 1 MiB", largeCall(t, "sink", body), 2*time.Millisecond)
}

func TestBudgetRouterMiBAnswer(t *testing.T) {
	budget.Skip(t)
	budget.Ceiling(t, "router: processor time of a call with an answer of 1 MiB", largeCall(t, "bulk", []byte(callEcho)), 2*time.Millisecond)
}

// largeCall is the processor time that the router needs to pass on one call to an agent of that kind.
func largeCall(t *testing.T, agent string, body []byte) time.Duration {
	t.Helper()
	_, router := stackOf(t, agent)
	const requests = 200
	header := http.Header{"Authorization": {"Bearer " + budgetToken}}
	return budget.Best(func() time.Duration {
		before := budget.Running(t, router.pid)
		res, err := budget.RunLoad(t.Context(), budget.EqualLoad(router.endpoint(), header, string(body), `"result"`, 2, requests))
		if err == nil {
			err = res.Err()
		}
		require.NoError(t, err)
		return (budget.Running(t, router.pid) - before) / requests
	})
}

// TestBudgetRouterStreams measures how much later an event is there through the router than direct, with 200 streams at the
// same time. Each event carries when it was written.
func TestBudgetRouterStreams(t *testing.T) {
	budget.Skip(t)
	agent, router := stackOf(t, "events")
	late := func(url string) time.Duration {
		var mu sync.Mutex
		var took []time.Duration
		var all sync.WaitGroup
		for range streams {
			all.Go(func() {
				mine, err := readEvents(t.Context(), url)
				if err != nil || len(mine) != events {
					t.Errorf("%d of %d events, %v", len(mine), events, err)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, mine...)
			})
		}
		all.Wait()
		if len(took) == 0 {
			t.FailNow()
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	// Few runs, since one takes ten seconds.
	through := late(router.endpoint())
	direct := late(agent.url)
	through = min(through, late(router.endpoint()))
	budget.Beyond(t, fmt.Sprintf("router: p99 of how late an event is, %d streams of %d events", streams, events), through, direct, 5*time.Millisecond)
}

const (
	streams = 200
	events  = 500
)

// readEvents calls for a stream of the child "events" and tells how late each event was.
func readEvents(ctx context.Context, url string) (late []time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(callEcho)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	req.Header.Set("Authorization", "Bearer "+budgetToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			ns, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				return late, err
			}
			late = append(late, time.Since(time.Unix(0, ns)))
		}
	}
	return late, lines.Err()
}
