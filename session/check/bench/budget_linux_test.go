package bench

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// TestBudgetOverhead: 10,000 requests a second leave the machine to the server.
func TestBudgetOverhead(t *testing.T) {
	budget.Skip(t)
	const rate = 10_000
	// Over HTTP a bare loop of net/http's Transport takes 420 ms of it, and the trace that the phases come from 50 more.
	ceilings := map[string]time.Duration{config.HTTP: 700 * time.Millisecond, config.Stdio: 500 * time.Millisecond}
	for _, cfg := range []config.Server{apart(t), {Name: "known", Transport: config.Stdio, Command: os.Args[0], Env: map[string]string{knownEnv: "streams"}}} {
		target := opened(t, cfg, 1)
		cost := budget.Best(func() time.Duration {
			before := spent()
			r := measured(t, Plan{Method: "ping", Rate: rate, For: 2 * time.Second}, nil, target)
			took := spent() - before
			one := r.Targets[0]
			t.Logf("%v: %d answered, %d failed, %d unsent, %.0f/s, p50 %v ms, p99 %v ms, waiting p99 %v ms", took, one.Answered, one.Failed, one.Unsent, one.Rate, one.Latency.P50, one.Latency.P99, one.Phases[0].P99)
			if one.Answered+one.Failed+one.Unsent < 2*rate {
				t.Errorf("%d requests, want %d", one.Answered+one.Failed+one.Unsent, 2*rate)
			}
			// What was answered of 10,000 in a second, so that a machine that is too busy for the rate does not look cheap.
			return time.Duration(float64(took) / float64(one.Answered) * rate)
		})
		budget.Ceiling(t, "bench at 10,000 requests/s over "+cfg.Transport+", its own processor time for a second", cost, ceilings[cfg.Transport])
	}
}

// answered are the latencies that a server gave its requests: from when each was due to when it was answered, by the server's clock.
type answered struct {
	mu  sync.Mutex
	at  map[int64]time.Time
	all []time.Duration
}

func (a *answered) note(env jsonrpc.Envelope, _ int) string {
	n, err := strconv.ParseInt(string(jsonrpc.Get(env.Params, "n")), 10, 64)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.at[n] = time.Now()
	}
	return `"result":{}`
}

// since makes the latencies of a run that began then.
func (a *answered) since(began time.Time, rate float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, at := range a.at {
		a.all = append(a.all, at.Sub(began.Add(time.Duration(float64(n)/rate*float64(time.Second)))))
	}
	slices.Sort(a.all)
}

func (a *answered) percentile(p float64) time.Duration {
	return a.all[min(int(float64(len(a.all))*p/100+0.5), len(a.all)-1)]
}

// TestBudgetTruth: percentiles are those of the server, also where it stands still for half a second, which nobody sees who waits for an
// answer before he sends the next request.
func TestBudgetTruth(t *testing.T) {
	budget.Skip(t)
	const (
		rate            = 400
		run             = 3 * time.Second
		delay, from, to = 50 * time.Millisecond, time.Second, 1500 * time.Millisecond
	)
	percents := []float64{50, 75, 90, 99, 99.9}
	best := make([]float64, len(percents)) // how far it was off, as a share
	got, want := make([]time.Duration, len(percents)), make([]time.Duration, len(percents))
	for try := range 5 {
		truth := &answered{at: map[int64]time.Time{}}
		target := opened(t, here(t, &known{delay: delay, from: from, to: to, answer: truth.note}), 1)
		p := Plan{Method: "ping", Rate: rate, For: run}
		for n := range int(rate * run.Seconds()) {
			p.Params = append(p.Params, fmt.Appendf(nil, `{"n":%d}`, n))
		}
		r, err := New(t.Context(), p, nil, "test", target)
		require.NoError(t, err)
		rep, err := r.Do(t.Context())
		require.NoError(t, err)
		truth.since(r.began, rate)
		l := rep.Targets[0].Latency
		if int(l.Count) != len(p.Params) || len(truth.all) != len(p.Params) {
			t.Fatalf("%d measured, %d answered of %d", l.Count, len(truth.all), len(p.Params))
		}
		if truth.percentile(90) < delay+100*time.Millisecond {
			t.Errorf("the server did not stand still: p90 %v", truth.percentile(90))
		}
		for i, ms := range []float64{l.P50, l.P75, l.P90, l.P99, l.P999} {
			w := truth.percentile(percents[i])
			off := math.Abs(float64(duration(ms))/float64(w) - 1)
			t.Logf("p%g: %v ms, by the server %v, off by %.2f %%", percents[i], ms, w, 100*off)
			if try == 0 || off < best[i] {
				best[i], got[i], want[i] = off, duration(ms), w
			}
		}
	}
	for i, p := range percents {
		budget.Ratio(t, fmt.Sprintf("bench, p%g of a server of known delays that stands still for 500 ms", p), max(got[i], want[i]), min(got[i], want[i]), 1.02)
	}
}
