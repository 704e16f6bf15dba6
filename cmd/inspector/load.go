package inspector

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Loading is what --load and the options that go with it ask for; zero values are those that are not given.
type Loading struct {
	On          bool
	Concurrency int
	Duration    float64 // seconds
	Requests    int
	Rate        float64 // calls a second

	bounds []string // the options that were given beside --load
}

const (
	loadConcurrency = 10
	loadDuration    = 10 // seconds, where no number of calls is given
	maxLoadErrors   = 10 // kinds of errors that are told apart
	maxLoadTimes    = 1 << 20
)

func positive(at func(*Loading) *float64, flag string) func(*Request, string) error {
	return func(r *Request, v string) error {
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || !(n > 0) || n > 1e9 {
			return fail(flag + " must be a positive number.")
		}
		*at(&r.Load) = n
		r.Load.bounds = append(r.Load.bounds, flag)
		return nil
	}
}

func positiveInteger(at func(*Loading) *int, flag string) func(*Request, string) error {
	return func(r *Request, v string) error {
		n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 31)
		if err != nil || n == 0 {
			return fail(flag + " must be a positive integer.")
		}
		*at(&r.Load) = int(n)
		r.Load.bounds = append(r.Load.bounds, flag)
		return nil
	}
}

// check refuses what does not go with --load.
func (l Loading) check(r *Request) error {
	if !l.On {
		for _, flag := range []string{"--load-concurrency", "--load-duration", "--load-requests", "--load-rate"} {
			if slices.Contains(l.bounds, flag) {
				return fail(flag + " requires --load.")
			}
		}
		return nil
	}
	switch {
	case r.Method != "tools/call":
		return fail("--load requires --method tools/call.")
	case r.AppInfo:
		return fail("--load cannot be combined with --app-info.")
	case r.aboutLogins():
		return fail("--load cannot be combined with --list-stored-auth or --print-handoff.")
	case r.outputGiven || r.OutputFormat != "":
		return fail("--load cannot be combined with --output or --output-format; redirect stdout to keep the summary.")
	}
	return nil
}

// pace lets calls begin: in order, no more than --load-requests and --load-rate allow, until the time is over.
type pace struct {
	mu       sync.Mutex
	next     time.Time
	end      time.Time     // zero for none
	interval time.Duration // 0 for no limit
	left     int           // -1 for no limit
}

func (p *pace) claim(ctx context.Context) bool {
	p.mu.Lock() // whoever waits for its time has others wait behind it
	defer p.mu.Unlock()
	for {
		now := time.Now()
		if p.left == 0 || ctx.Err() != nil || !p.end.IsZero() && (!now.Before(p.end) || !p.next.Before(p.end)) {
			return false
		}
		wait := p.next.Sub(now)
		if wait <= 0 {
			if p.left > 0 {
				p.left--
			}
			if p.next = p.next.Add(p.interval); p.next.Before(now) {
				p.next = now.Add(p.interval)
			}
			return true
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return false
		}
	}
}

// Run makes calls, many at once, and is the summary of how they went.
func (l Loading) Run(ctx context.Context, tool string, call func(context.Context) (failed bool, err error)) (json.RawMessage, error) {
	at := cmp.Or(l.Concurrency, loadConcurrency)
	seconds := l.Duration
	if seconds == 0 && l.Requests == 0 {
		seconds = loadDuration
	}
	begin := time.Now()
	p := &pace{next: begin, left: cmp.Or(l.Requests, -1)}
	if seconds > 0 {
		p.end = begin.Add(time.Duration(seconds * float64(time.Second)))
	}
	if l.Rate > 0 {
		p.interval = time.Duration(float64(time.Second) / l.Rate)
	}
	var mu sync.Mutex
	var done loadTally
	var wg sync.WaitGroup
	for range at {
		wg.Go(func() {
			for p.claim(ctx) {
				from := time.Now()
				failed, err := call(ctx)
				took := time.Since(from)
				mu.Lock()
				done.add(failed, err, took)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	took := milliseconds64(time.Since(begin))
	out := Pairs{{"tool", quote(tool)}, {"concurrency", marshal(at)}}
	if seconds > 0 {
		out.Set("durationMs", marshal(seconds*1000))
	}
	if l.Requests > 0 {
		out.Set("requestLimit", marshal(l.Requests))
	}
	if l.Rate > 0 {
		out.Set("rate", marshal(l.Rate))
	}
	return append(out, done.summary(took)...).JSON(), nil
}

func milliseconds64(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// loadTally is how calls went.
type loadTally struct {
	ok, toolErrors, errors int
	total, most            time.Duration
	times                  []time.Duration // of the first million
	kinds                  []errorKind
	other                  int
}

type errorKind struct {
	Message string `json:"message"`
	Count   int    `json:"count"`
}

func (t *loadTally) add(failed bool, err error, took time.Duration) {
	switch {
	case err != nil:
		t.errors++
		t.kind(err.Error())
	case failed:
		t.toolErrors++
	default:
		t.ok++
	}
	t.total += took
	t.most = max(t.most, took)
	if len(t.times) < maxLoadTimes {
		t.times = append(t.times, took)
	}
}

func (t *loadTally) kind(message string) {
	i := slices.IndexFunc(t.kinds, func(k errorKind) bool { return k.Message == message })
	switch {
	case i >= 0:
		t.kinds[i].Count++
	case len(t.kinds) < maxLoadErrors:
		t.kinds = append(t.kinds, errorKind{message, 1})
	default:
		t.other++
	}
}

func round(f float64, places int) json.RawMessage {
	scale := math.Pow10(places)
	return marshal(math.Round(f*scale) / scale)
}

func (t *loadTally) summary(took float64) Pairs {
	n := t.ok + t.toolErrors + t.errors
	rate, throughput, latency := 0.0, 0.0, json.RawMessage("null")
	if n > 0 {
		rate = float64(t.toolErrors+t.errors) / float64(n)
		slices.Sort(t.times)
		at := func(share float64) json.RawMessage {
			rank := int(math.Ceil(share * float64(len(t.times))))
			return round(milliseconds64(t.times[min(max(rank, 1), len(t.times))-1]), 2)
		}
		latency = Pairs{
			{"min", at(0)},
			{"mean", round(milliseconds64(t.total)/float64(n), 2)},
			{"p50", at(0.5)},
			{"p90", at(0.9)},
			{"p99", at(0.99)},
			{"max", round(milliseconds64(t.most), 2)},
		}.JSON()
	}
	if took > 0 {
		throughput = float64(n) * 1000 / took
	}
	kinds := slices.Clone(t.kinds)
	slices.SortStableFunc(kinds, func(a, b errorKind) int { return b.Count - a.Count })
	if t.other > 0 {
		kinds = append(kinds, errorKind{"(other)", t.other})
	}
	if kinds == nil {
		kinds = []errorKind{}
	}
	return Pairs{
		{"requests", marshal(n)},
		{"ok", marshal(t.ok)},
		{"toolErrors", marshal(t.toolErrors)},
		{"errors", marshal(t.errors)},
		{"errorRate", round(rate, 4)},
		{"elapsedMs", round(took, 2)},
		{"throughput", round(throughput, 2)},
		{"latencyMs", latency},
		{"errorMessages", marshal(kinds)},
	}
}
