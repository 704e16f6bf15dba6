package chaos

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
)

// staged starts a queue's server, and so many replicas that take one call each at a time.
func staged(t *testing.T, replicas int) *world {
	t.Helper()
	w, home := newWorld(t)
	w.nats = nats(t, home, debianHere())
	w.nats.start()
	w.nats.ready()
	for range replicas {
		w.agent(home, "--concurrency", "1", "--queue-capacity", "1000", "--ephemeral", "--queue", w.nats.URL)
	}
	for _, p := range w.agents {
		p.start()
		p.ready()
	}
	return w
}

// load is so many calls of 5 ms by 16 callers that each call again as soon as they have their answer, each at its own replica. It returns how
// long all of that took.
func (w *world) load(calls int) time.Duration {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	var left atomic.Int64
	left.Store(int64(calls))
	var all sync.WaitGroup
	start := time.Now()
	for i := range 16 {
		all.Go(func() {
			p := w.agents[i%len(w.agents)]
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				a, err := w.c.call(ctx, door{p.name, p.url("/mcp")}, "sleep", map[string]any{"seconds": 0.005})
				if err != nil || a.Error != nil || bytes.Contains(a.Result, []byte(`"isError":true`)) {
					if ctx.Err() == nil {
						w.t.Errorf("at %s: %v %s %.200s", p.name, err, a.failure(), a.Result)
					}
					cancel()
				}
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		w.t.FailNow()
	}
	return time.Since(start)
}

// Four replicas do nearly four times as much as one, of calls that wait.
func TestBudgetReplicas(t *testing.T) {
	budget.Skip(t)
	one, four := staged(t, 1), staged(t, 4)
	const calls = 800
	for _, w := range []*world{one, four} {
		w.load(100) // warm
	}
	got, base := budget.Pair(func() time.Duration { return four.load(calls) }, func() time.Duration { return one.load(calls) })
	budget.Ratio(t, "800 calls of 5 ms through the queue, 4 replicas of one call at a time, time against 1 replica", got, base, 1/3.4)
	t.Logf("%.2f times as fast", float64(base)/float64(got))
}

// debianHere is whether Debian's nats-server is installed; the library's server is measured where it is not.
func debianHere() bool {
	for _, dir := range filepath.SplitList(os.Getenv("PATH") + ":/usr/sbin") {
		if _, err := os.Stat(filepath.Join(dir, "nats-server")); err == nil {
			return true
		}
	}
	return false
}
