package main

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

// load is so many calls of a tool by callers that each call again as soon as they have their answer, each at its own door. It returns
// how long all of that took.
func load(t testing.TB, c *caller, doors []door, callers, calls int, tool string, args map[string]any, task bool) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var left atomic.Int64
	left.Store(int64(calls))
	var all sync.WaitGroup
	start := time.Now()
	for i := range callers {
		all.Go(func() {
			d := doors[i%len(doors)]
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				var a answer
				var err error
				if task {
					_, a, err = c.start(ctx, d, tool, args)
				} else {
					a, err = c.call(ctx, d, tool, args)
				}
				if err != nil || a.Error != nil || bytes.Contains(a.Result, []byte(`"isError":true`)) {
					if ctx.Err() == nil {
						t.Errorf("%s at %s: %v %s %.200s", tool, d.name, err, a.failure(), a.Result)
					}
					cancel()
				}
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		t.FailNow()
	}
	return time.Since(start)
}

// stage is the processes of a measurement.
type stage struct {
	*world
	home string
}

// staged starts a queue's server, and so many replicas that take one call each at a time.
func staged(t *testing.T, replicas int, more ...string) *stage {
	t.Helper()
	w, home := newWorld(t)
	w.nats = nats(t, home, debianHere())
	w.nats.start()
	w.nats.ready()
	for range replicas {
		w.agent(home, append([]string{"--concurrency", "1", "--queue-capacity", "1000", "--ephemeral", "--queue", w.nats.URL}, more...)...)
	}
	for _, p := range w.agents {
		p.start()
		p.ready()
	}
	return &stage{w, home}
}

// doors are the replicas' own addresses.
func (s *stage) doors() (list []door) {
	for _, p := range s.agents {
		list = append(list, door{p.name, p.url("/mcp")})
	}
	return list
}

// waits is a call of a tool that waits 5 ms.
var waits = map[string]any{"seconds": 0.005}

// Four replicas do nearly four times as much as one, of calls that wait.
func TestBudgetReplicas(t *testing.T) {
	budget.Skip(t)
	one, four := staged(t, 1), staged(t, 4)
	const calls = 800
	for _, s := range []*stage{one, four} {
		load(t, s.c, s.doors(), 16, 100, "sleep", waits, false) // warm
	}
	got, base := budget.Pair(func() time.Duration {
		return load(t, four.c, four.doors(), 16, calls, "sleep", waits, false)
	}, func() time.Duration {
		return load(t, one.c, one.doors(), 16, calls, "sleep", waits, false)
	})
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
