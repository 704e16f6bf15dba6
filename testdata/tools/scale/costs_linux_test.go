package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
)

var echo = map[string]any{"message": "x"}

// TestBudgetCosts measures what each thing costs, on this machine with all processes on it.
func TestBudgetCosts(t *testing.T) {
	budget.Skip(t)
	var c Costs
	plain(t, &c)
	stored(t, &c)
	shared(t, &c)
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	budget.Ceiling(t, "an idle agent on a queue, processor time a second", c.IdleQueueCPU, 10*time.Millisecond)
	budget.Ceiling(t, "a call through the queue, processor time of both replicas", c.QueueAgents, time.Millisecond)
	budget.Ceiling(t, "a call through the queue, processor time of its server", c.QueueServer, 500*time.Microsecond)
	budget.Size(t, "an idle agent's memory", c.IdleAgent, 32<<20, 1)
	budget.Size(t, "1,000 sessions at the router", 1000*c.SessionRoute, 16<<20, 1)
	budget.Size(t, "1,000 sessions at the agent", 1000*c.SessionAgent, 16<<20, 1)
	budget.Size(t, "1,000 tasks at the queue's server", 1000*c.TaskStored, 8<<20, 1)
	if *update {
		if err := os.WriteFile("costs.json", append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// per divides what n of something cost.
func per(d time.Duration, n int) time.Duration { return d / time.Duration(n) }

// own is the processor time that this process has had.
func own(t testing.TB) time.Duration {
	p := &proc{t: t, name: "the test"}
	return p.usedBy(os.Getpid())
}

// plain measures an agent without a queue, and a router in front of it.
func plain(t *testing.T, c *Costs) {
	w, home := newWorld(t)
	a := w.agent(home, "--ephemeral")
	if err := os.WriteFile(filepath.Join(home, "routing.json"), fmt.Appendf(nil, `{"routes":{"one":{"hostPort":%d,"stream":true}}}`, a.port), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.router(home)
	for _, p := range []*proc{a, r} {
		p.start()
		p.ready()
	}
	c.IdleAgent, c.IdleAgentCPU = a.memory(), idle(a)
	const calls = 6000
	direct, routed := []door{{"agent", a.url("/mcp")}}, []door{{"router", r.url("/mcps/one/mcp")}}
	load(t, w.c, direct, 8, 500, "echo", echo, false) // warm
	load(t, w.c, routed, 8, 500, "echo", echo, false)
	before, mine := a.used(), own(t)
	load(t, w.c, direct, 8, calls, "echo", echo, false)
	c.Agent, c.Caller = per(a.used()-before, calls), per(own(t)-mine, calls)
	before = r.used()
	load(t, w.c, routed, 8, calls, "echo", echo, false)
	c.Router = per(r.used()-before, calls)

	const sessions, streams = 7000, 500
	for range 2000 { // what the heaps have room for by now
		w.initialize(t, routed[0])
	}
	grown := func(n int64, f func()) (atRouter, atAgent int64) {
		before, beforeAgent := r.memory(), a.memory()
		f()
		return max(0, r.memory()-before) / n, max(0, a.memory()-beforeAgent) / n
	}
	var ids []string
	c.SessionRoute, c.SessionAgent = grown(sessions, func() {
		for range sessions {
			ids = append(ids, w.initialize(t, routed[0]))
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.StreamRoute, c.StreamAgent = grown(streams, func() {
		for _, id := range ids[:streams] {
			w.listen(ctx, t, routed[0], id)
		}
	})
}

// listen opens the event stream of a session, until ctx ends.
func (w *world) listen(ctx context.Context, t testing.TB, d door, session string) {
	t.Helper()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Accept", "text/event-stream")
	q.Header.Set("Mcp-Session-Id", session)
	q.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	client := http.Client{Transport: w.c.http.Transport} // without a time limit
	res, err := client.Do(q)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("no stream: %v, %v", res, err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
}

// idle is the processor time in a second in which nobody calls.
func idle(p *proc) time.Duration {
	const seconds = 4
	time.Sleep(500 * time.Millisecond) // after its start
	before := p.used()
	time.Sleep(seconds * time.Second)
	return per(p.used()-before, seconds)
}

// initialize opens a session, as clients of 2025-11-25 do.
func (w *world) initialize(t testing.TB, d door) (session string) {
	t.Helper()
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"scale","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			q.Header.Set("Mcp-Session-Id", session)
			q.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		res, err := w.c.http.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		var drop [4096]byte
		for err = nil; err == nil; _, err = res.Body.Read(drop[:]) {
		}
		_ = res.Body.Close()
		if session = res.Header.Get("Mcp-Session-Id") + session; res.StatusCode > 299 || session == "" {
			t.Fatalf("no session: HTTP %d", res.StatusCode)
		}
	}
	return session
}

// shared measures two replicas on a queue: each call is taken by one, and may be run by the other.
func shared(t *testing.T, c *Costs) {
	s := staged(t, 2)
	c.IdleQueueCPU = idle(s.agents[0])
	const calls = 2000
	load(t, s.c, s.doors(), 8, 300, "echo", echo, false) // warm
	all := func() time.Duration { return s.agents[0].used() + s.agents[1].used() }
	agents, server, traffic := all(), s.nats.used(), s.nats.traffic()
	load(t, s.c, s.doors(), 8, calls, "echo", echo, false)
	c.QueueAgents, c.QueueServer = per(all()-agents, calls), per(s.nats.used()-server, calls)
	c.CallMessages = float64(s.nats.traffic().Messages-traffic.Messages) / calls

	c.Hop = s.hop(t)
	c.Rates = map[int]float64{}
	for _, n := range []int{1, 2, 4} {
		s := staged(t, n)
		load(t, s.c, s.doors(), 16, 100, "sleep", waits, false) // warm
		took := budget.Best(func() time.Duration { return load(t, s.c, s.doors(), 16, 400*n, "sleep", waits, false) })
		c.Rates[n] = float64(400*n) / took.Seconds()
		for _, p := range s.agents {
			p.kill()
		}
		s.nats.kill()
	}
	c.Turn = max(0, time.Duration(float64(time.Second)/c.Rates[1])-5*time.Millisecond)

	const tasks = 200 // fewer than one tenant may have unfinished
	agents, server, traffic = all(), s.nats.used(), s.nats.traffic()
	stored := s.nats.stored()
	load(t, s.c, s.doors(), 8, tasks, "echo", echo, true)
	s.drained()
	c.TaskAgents, c.TaskServer = per(all()-agents, tasks)-c.QueueAgents, per(s.nats.used()-server, tasks)-c.QueueServer
	c.TaskMessages = float64(s.nats.traffic().Messages-traffic.Messages) / tasks
	c.TaskStored = (s.nats.stored() - stored) / tasks
}

// drained waits until no call waits or runs.
func (s *stage) drained() {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		busy := 0
		for _, p := range s.agents {
			res, err := s.c.http.Get(p.url("/queue"))
			if err != nil {
				s.t.Fatal(err)
			}
			var q struct{ Queued, Running int }
			err = json.NewDecoder(res.Body).Decode(&q)
			_ = res.Body.Close()
			if err != nil {
				s.t.Fatal(err)
			}
			busy += q.Queued + q.Running
		}
		if busy == 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("calls do not end")
		}
	}
}

// hop is how much longer the median call of one caller takes through the queue than without.
func (s *stage) hop(t testing.TB) time.Duration {
	t.Helper()
	w, home := newWorld(s.t)
	w.agent(home, "--ephemeral").start()
	w.agents[0].ready()
	median := func(w *world, d door) time.Duration {
		var times []time.Duration
		for range 400 {
			times = append(times, budget.Time(func() {
				if a, err := w.c.call(context.Background(), d, "echo", echo); err != nil || a.Error != nil {
					t.Fatalf("%v %s", err, a.failure())
				}
			}))
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	got, base := budget.Pair(func() time.Duration { return median(s.world, s.doors()[0]) }, func() time.Duration {
		return median(w, door{"agent", w.agents[0].url("/mcp")})
	})
	budget.Beyond(t, "a queue hop, p50 of one caller, beyond a call without a queue", got, base, 1500*time.Microsecond)
	return got - base
}
