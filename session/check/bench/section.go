package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
)

const (
	clients  = 8
	alone    = 20        // requests of one client
	crowd    = 80        // of all clients together
	small    = 256 << 10 // bytes of a list of tools that is asked for; else it is a ping
	grown    = 4         // times as long as alone
	noticed  = 50        // and at least so many milliseconds longer
	shortRun = 5 * time.Second
	tries    = 2 // before a machine that is busy is taken for a server that is slow
)

// DefaultRate and DefaultFor are how many requests are due in a second, and for how long.
const (
	DefaultRate = 20
	DefaultFor  = 3 * time.Second
)

// Section is the section "load": a server is asked several things at once: shortly, gently, and nothing that changes anything.
type Section struct {
	Options session.Options // how to connect
	Rate    float64         // 0 for DefaultRate
	For     time.Duration   // 0 for DefaultFor
	SLOs    []Objective
	Tool    string // who measures
}

// Name is what the section is called.
func (*Section) Name() string { return "load" }

// Title says what is examined.
func (*Section) Title() string { return "several requests at once, and a constant rate of them" }

// Rules are those of the section.
func (*Section) Rules() []*check.Rule { return rules.Of("load") }

// Figures are what the section measures.
type Figures struct {
	Method  string  `json:"method"`
	Alone   *Report `json:"alone"`   // one client
	Clients *Report `json:"clients"` // several
	Rate    *Report `json:"rate"`    // a constant rate
}

// run is one examination.
type run struct {
	*Section
	ctx    context.Context
	target *Target
	rec    *check.Recorder
	server string
	method string
}

var place = check.Place{Kind: check.OfServer}

// Run measures the server over a connection of its own.
func (s *Section) Run(ctx context.Context, sub *check.Subject, rec *check.Recorder) error {
	target, err := Open(ctx, sub.Session.Config(), s.Options, 1)
	if err != nil {
		return err
	}
	defer target.Close()
	x := &run{s, ctx, target, rec, sub.Server, "ping"}
	// A list is some work for the server; one that is large would measure the network.
	if list := sub.Lists[offer.Tools]; list != nil && len(list) <= small {
		x.method = "tools/list"
	}
	if s.Rate == 0 {
		s.Rate = DefaultRate
	}
	if s.For == 0 {
		s.For = DefaultFor
	}
	f := &Figures{Method: x.method}
	err = x.measure(f)
	rows := [][]string{Head()}
	for _, part := range []struct {
		name string
		r    *Report
	}{{"1 client", f.Alone}, {fmt.Sprintf("%d clients", clients), f.Clients}, {fmt.Sprintf("%g/s", s.Rate), f.Rate}} {
		if part.r != nil {
			rows = append(rows, part.r.Targets[0].Latency.Row(part.name))
		}
	}
	rec.Figures(check.Figures{Value: f, Table: rows, Notes: []string{"requests: " + x.method}})
	var gone *diedError
	if errors.As(err, &gone) {
		rec.Add("load/died", check.Finding{Place: place, Message: x.method + ": " + gone.Error(), Evidence: fmt.Sprint(gone.Unwrap())})
		return nil
	}
	return err
}

// diedError ends the section: its server is gone.
type diedError struct{ error }

func (e *diedError) Unwrap() error { return e.error }

// measure makes the three runs.
func (x *run) measure(f *Figures) (err error) {
	if f.Alone, err = x.do(0, "one client", Plan{Method: x.method, Clients: 1, Count: alone, For: shortRun}, nil); err != nil {
		return err
	}
	one := f.Alone.Targets[0]
	if one.Answered == 0 {
		why := "no request succeeds, even alone"
		for _, e := range one.Errors {
			why += ": " + e.Kind + ": " + e.First
			break
		}
		for _, r := range x.Rules() {
			x.rec.AddSkipped(r.ID, place, why)
		}
		return nil
	}
	for try := range tries {
		if f.Clients, err = x.do(1, fmt.Sprintf("%d clients", clients), Plan{Method: x.method, Clients: clients, Count: crowd, For: shortRun}, nil); err != nil {
			return err
		}
		if !grows(one, f.Clients.Targets[0]) {
			break
		}
		if try == tries-1 {
			a, b := one.Latency.P50, f.Clients.Targets[0].Latency.P50
			x.rec.Add("load/latency-grows", check.Finding{
				Place: place, Sure: check.Likely, Message: fmt.Sprintf("%s: %s alone, %s where %d clients ask at once (p50)", x.method, Time(a), Time(b), clients),
			})
		}
	}
	x.failures(one, f.Clients.Targets[0], fmt.Sprintf("%d clients", clients))
	if f.Rate, err = x.do(2, fmt.Sprintf("%g requests a second", x.Rate), Plan{Method: x.method, Rate: x.Rate, For: x.For, InFlight: clients}, x.SLOs); err != nil {
		return err
	}
	rate := f.Rate.Targets[0]
	x.failures(one, rate, fmt.Sprintf("%g requests a second", x.Rate))
	if !*rate.RateHeld {
		x.rec.Add("load/rate-not-held", check.Finding{
			Place: place, Message: fmt.Sprintf("%s: %s of %g requests a second, with at most %d at once; %d were due and never sent", x.method, strings.TrimSuffix(PerSecond(rate.Rate), "/s"), x.Rate, clients, rate.Unsent),
		})
	}
	for _, v := range f.Rate.Failed() {
		x.rec.Add("load/slo", check.Finding{Place: place, Key: v.Objective, Message: x.method + ": " + v.String()})
	}
	return nil
}

// watched is how often it is said what was measured so far.
const watched = 250 * time.Millisecond

// do makes one run of three.
func (x *run) do(step int, what string, p Plan, slos []Objective) (*Report, error) {
	m, err := New(x.ctx, p, slos, x.Tool, x.target)
	if err != nil {
		return nil, err
	}
	say := func() {
		x.rec.Progress(check.Progress{Done: step, Total: 3, What: what, Plots: plots(m.Now())})
	}
	say()
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		every := time.NewTicker(watched)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				say()
			case <-done:
				return
			}
		}
	})
	r, lost := m.Do(x.ctx)
	close(done)
	watch.Wait()
	say()
	if x.ctx.Err() != nil {
		return r, context.Cause(x.ctx)
	}
	if lost != nil {
		return r, &diedError{lost}
	}
	return r, nil
}

// plots are the times and the rate of a run so far.
func plots(n Now) []check.Plot {
	d := n.Report.Latency
	if d.Count == 0 {
		return nil
	}
	p50, p99, rate := check.Plot{Name: "p50", Last: Time(d.P50)}, check.Plot{Name: "p99", Last: Time(d.P99)}, check.Plot{Name: "rate"}
	for _, p := range n.Report.Series {
		p50.Values, p99.Values, rate.Values = append(p50.Values, p.P50), append(p99.Values, p.P99), append(rate.Values, float64(p.Count)/p.Millis)
	}
	rate.Last = fmt.Sprintf("%d answered, %d failed, %d in flight", n.Report.Answered, n.Report.Failed, n.InFlight)
	return []check.Plot{p50, p99, rate}
}

// grows reports whether requests wait for each other.
func grows(one, many TargetReport) bool {
	a, b := one.Latency.P50, many.Latency.P50
	return many.Latency.Count > 0 && b > grown*a && b-a > noticed
}

// failures reports requests that failed, where they did not fail alone.
func (x *run) failures(one, many TargetReport, when string) {
	for _, e := range many.Errors {
		known := false // what fails alone as well does not come from the load
		for _, before := range one.Errors {
			known = known || before.Kind == e.Kind
		}
		if !known {
			x.rec.Add("load/errors", check.Finding{
				Place: place, Key: when + " " + e.Kind, Message: fmt.Sprintf("%s: %d of %d requests failed with %s: %s", x.method, e.Count, many.Answered+many.Failed, when, e.Kind), Evidence: e.First,
			})
		}
	}
}
