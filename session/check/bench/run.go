package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	tick       = 250 * time.Microsecond // at high rates the requests that are due within it are sent together
	minSlice   = 500 * time.Millisecond // of one target, where several take turns
	turnsEach  = 10                     // of each of them
	goneFor    = 3 * time.Second        // after which a server that is not reached at all is gone
	afterError = 10 * time.Millisecond  // that a client waits after a request that could not be sent
)

// Run is one measurement.
type Run struct {
	plan    Plan
	targets []*Target
	meters  []*meter
	slos    []Objective
	began   time.Time
	tool    string
	patient time.Duration // with a server that is not reached

	mu      sync.Mutex
	current int // the target whose turn it is
	over    bool
}

// New prepares a measurement of one target, or of several that take turns. Nothing is sent yet.
func New(ctx context.Context, p Plan, slos []Objective, tool string, targets ...*Target) (*Run, error) {
	if err := p.complete(); err != nil {
		return nil, err
	}
	r := &Run{plan: p, targets: targets, slos: slos, tool: tool, patient: goneFor}
	for _, t := range targets {
		if err := t.prepare(ctx, &r.plan); err != nil {
			return nil, err
		}
		r.meters = append(r.meters, newMeter(&r.plan))
	}
	return r, nil
}

func (p *Plan) tool() string {
	if p.Method != "tools/call" || len(p.Params) == 0 {
		return ""
	}
	return jsonrpc.GetString(p.Params[0], "name")
}

// slice is a part of a run in which one target has its turn.
type slice struct {
	r      *Run
	t      *Target
	m      *meter
	ctx    context.Context
	end    context.CancelCauseFunc
	clock  time.Time
	warm   int64 // until then nothing is measured
	until  int64 // no request is due later; 0 for no such end
	count  int64 // of measured requests; 0 for no such end
	offset int64 // of the series: what this target has measured before

	mu     sync.Mutex
	last   int64 // when the last measured request was sent, or over
	good   int64 // when a request was answered last
	reason error // why it ended early
}

// errGone is the cause of a slice that ended because its server is gone.
var errGone = errors.New("the server is gone")

// Do measures until the plan is fulfilled, ctx is done, or a server is gone, which is the error. It returns what was measured in any
// case; Report.Ended says why it was not all.
func (r *Run) Do(ctx context.Context) (*Report, error) {
	r.mu.Lock()
	r.began = time.Now()
	r.mu.Unlock()
	turns := 1
	if len(r.targets) > 1 {
		turns = turnsEach
		if r.plan.For > 0 {
			turns = int(min(max(r.plan.For/minSlice, 1), turnsEach))
		}
		if r.plan.Count > 0 {
			turns = min(turns, r.plan.Count)
		}
	}
	var ended error
turns:
	for turn := range turns {
		for i := range r.targets {
			if turn%2 == 1 { // ABBA: what drifts falls on all alike
				i = len(r.targets) - 1 - i
			}
			if ended = r.slice(ctx, i, turn, turns); ended != nil {
				break turns
			}
		}
	}
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	var gone *goneError
	if errors.As(ended, &gone) {
		return r.report(ended), gone
	}
	return r.report(ended), nil
}

// slice is one turn of one target.
func (r *Run) slice(ctx context.Context, i, turn, turns int) error {
	r.mu.Lock()
	r.current = i
	r.mu.Unlock()
	s := &slice{r: r, t: r.targets[i], m: r.meters[i], clock: time.Now()}
	s.ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	if turn == 0 {
		s.warm = int64(r.plan.Warmup)
	}
	if r.plan.For > 0 {
		s.until = s.warm + int64(r.plan.For)/int64(turns)
	}
	if r.plan.Count > 0 { // what does not divide falls on the first turns
		s.count = int64(r.plan.Count / turns)
		if turn < r.plan.Count%turns {
			s.count++
		}
	}
	s.m.mu.Lock()
	s.offset = s.m.took
	s.m.mu.Unlock()
	before := spent()
	var watch sync.WaitGroup
	stop := make(chan struct{})
	watch.Go(func() { s.watch(stop) })
	if r.plan.Rate > 0 {
		s.open()
	} else {
		s.runClosed()
	}
	close(stop)
	watch.Wait()
	s.m.mu.Lock()
	s.m.took += max(s.last-s.warm, 0)
	s.m.own += spent() - before
	s.m.lasted += time.Since(s.clock)
	s.m.mu.Unlock()
	switch cause := context.Cause(s.ctx); {
	case s.reason != nil:
		return s.reason
	case ctx.Err() != nil:
		return cause
	}
	return nil
}

// watch ends the slice once its server is gone.
func (s *slice) watch(stop <-chan struct{}) {
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-stop:
			return
		case <-every.C:
		}
		err := s.t.err()
		s.mu.Lock()
		if err == nil && s.reason != nil {
			err = s.reason
		}
		s.mu.Unlock()
		if err != nil {
			s.setGone(err)
			return
		}
	}
}

func (s *slice) setGone(err error) {
	s.mu.Lock()
	if s.reason == nil {
		s.reason = &goneError{s.t.Name, err}
	}
	s.mu.Unlock()
	s.end(errGone)
}

// goneError is the end of a server in the middle of a run.
type goneError struct {
	server string
	err    error
}

func (e *goneError) Error() string { return e.server + " is gone: " + e.err.Error() }
func (e *goneError) Unwrap() error { return e.err }

// one sends the n-th request, that is due at some time, and counts it.
func (s *slice) one(d *deadline, n, due int64) {
	x := &shot{clock: s.clock, due: due}
	x.sent = x.now()
	s.m.begin()
	kind, err := "", error(nil)
	if x.sent-due > int64(s.r.plan.Timeout) {
		kind, err = KindTimeout, errors.New("given up before it was sent: nobody was free")
		x.done = x.sent
	} else {
		kind, err = s.t.shoot(d, s.t.sent+n, x, s.r.plan.Timeout)
	}
	s.m.end()
	if kind == kindCancelled {
		return
	}
	s.noteReached(x, kind, err)
	if due < s.warm {
		return
	}
	// At a constant rate each request stands for its interval: with the time of the last answer a slow one would lower the rate that was held.
	over := x.done
	if s.r.plan.Rate > 0 {
		over = x.sent + int64(float64(time.Second)/s.r.plan.Rate)
	}
	s.mu.Lock()
	s.last = max(s.last, over)
	s.mu.Unlock()
	s.m.record(x, due-s.warm+s.offset, kind, err)
}

// noteReached notes whether the server is still there, and slows down where it is not.
func (s *slice) noteReached(x *shot, kind string, err error) {
	away := kind == KindRefused || kind == KindConnection
	s.mu.Lock()
	if !away {
		s.good = x.done
	}
	gone := away && x.done-s.good > int64(s.r.patient)
	s.mu.Unlock()
	if gone {
		s.setGone(err)
	}
	if away {
		select {
		case <-s.ctx.Done():
		case <-time.After(afterError):
		}
	}
}

// runClosed runs the closed workload: each client sends its next request once it has the answer to the last.
func (s *slice) runClosed() {
	var all sync.WaitGroup
	var mu sync.Mutex
	var n, measured int64
	take := func() (int64, int64, bool) {
		mu.Lock()
		defer mu.Unlock()
		now := int64(time.Since(s.clock))
		if s.ctx.Err() != nil || s.until > 0 && now >= s.until || s.count > 0 && measured >= s.count {
			return 0, 0, false
		}
		if now >= s.warm { // as one has it: what is due in the warm-up counts for nothing, whenever it is answered
			measured++
		}
		n++
		return n - 1, now, true
	}
	for range s.r.plan.Clients {
		all.Go(func() {
			d := &deadline{parent: s.ctx}
			defer d.close()
			for {
				n, now, ok := take()
				if !ok {
					return
				}
				s.one(d, n, now)
			}
		})
	}
	all.Wait()
	s.t.sent += n
}

// pace is the requests of a constant rate: how many are due, and how many somebody took.
type pace struct {
	mu         sync.Mutex
	due, taken int64
	coming     int64 // workers that will take one, and have not yet
	idle       int
	workers    int
	over       bool
	wake       chan struct{}
}

// open has requests that are due at a constant rate, whether the server has answered others or not.
func (s *slice) open() {
	interval := float64(time.Second) / s.r.plan.Rate
	p := &pace{wake: make(chan struct{}, s.r.plan.InFlight)}
	var all sync.WaitGroup
	work := func() {
		d := &deadline{parent: s.ctx}
		defer d.close()
		p.mu.Lock()
		p.coming--
		p.mu.Unlock()
		for {
			p.mu.Lock()
			for p.taken >= p.due {
				if p.over {
					p.mu.Unlock()
					return
				}
				p.idle++
				p.mu.Unlock()
				<-p.wake
				p.mu.Lock()
				p.coming--
			}
			n := p.taken
			p.taken++
			p.mu.Unlock()
			s.one(d, n, int64(float64(n)*interval))
		}
	}
	wait := newAlarm()
	defer wait.close()
	total, behind := s.total(interval), false
	for n := int64(0); n < total; {
		if !s.sleep(wait, int64(float64(n)*interval)) {
			break
		}
		due := min(int64(float64(time.Since(s.clock))/interval)+1, total)
		n = max(due, n)
		p.mu.Lock()
		more := n - p.due
		p.due = n
		waits := max(p.due-p.taken-p.coming, 0)
		wake := min(waits, int64(p.idle))
		spawn := min(waits-wake, int64(s.r.plan.InFlight-p.workers))
		p.idle -= int(wake)
		p.workers += int(spawn)
		p.coming += wake + spawn
		p.mu.Unlock()
		left := waits - wake - spawn
		if left > 0 || behind {
			s.m.waits(left, min(left, more))
		}
		behind = left > 0
		for range wake {
			p.wake <- struct{}{}
		}
		for range spawn {
			all.Go(work)
		}
	}
	p.mu.Lock()
	p.over = true
	// Where a number of requests is the only end each of them is sent, however late.
	if s.until > 0 || s.ctx.Err() != nil { // what is due and not sent stays so
		if left := p.due - p.taken - p.coming; left > 0 {
			s.m.mu.Lock()
			s.m.unsent += left
			s.m.mu.Unlock()
			p.due -= left
		}
	}
	wake := p.idle
	p.coming += int64(wake)
	p.idle = 0
	p.mu.Unlock()
	for range wake {
		p.wake <- struct{}{}
	}
	all.Wait()
	s.t.sent += p.taken
}

// total is how many requests are due in all.
func (s *slice) total(interval float64) int64 {
	total := int64(1) << 62 // without an end: at MaxRate that takes 700,000 years
	if s.until > 0 {
		total = int64(float64(s.until)/interval + 0.5)
	}
	if s.count > 0 {
		total = min(total, int64(float64(s.warm)/interval+0.5)+s.count)
	}
	return total
}

// sleep waits for a time on the clock; false if the slice ended before.
func (s *slice) sleep(wait *alarm, until int64) bool {
	const exact = 2 * time.Millisecond
	least := time.Duration(0)
	if s.r.plan.Rate > float64(time.Second/tick) {
		least = tick
	}
	for {
		left := time.Duration(until) - time.Since(s.clock)
		switch {
		case s.ctx.Err() != nil:
			return false
		case left <= 0:
			return true
		case left > exact+time.Millisecond:
			t := time.NewTimer(min(left-exact, 50*time.Millisecond))
			select {
			case <-t.C:
			case <-s.ctx.Done():
				t.Stop()
			}
		default:
			wait.sleep(max(left, least))
		}
	}
}

// report is what was measured, with the verdicts.
func (r *Run) report(ended error) *Report {
	rep := &Report{Version: Version, Tool: r.tool, Began: r.began.UTC().Truncate(time.Millisecond), Plan: r.plan.report(), Objectives: []Verdict{}}
	for i, t := range r.targets {
		one := r.meters[i].report()
		one.Name, one.Protocol, one.Transport, one.Connections = t.Name, t.Status.Version, t.Status.Transport, len(t.conns)
		var gone *goneError
		if errors.As(ended, &gone) && gone.server == t.Name {
			one.Lost = example(gone.err)
		}
		if r.plan.Rate > 0 {
			held := one.Unsent == 0
			one.RateHeld = &held
			if !held {
				one.Notes = append(one.Notes, fmt.Sprintf("the rate was not held: %d requests were due and not sent, and the latencies are too good", one.Unsent))
			}
			if w := one.Phases; len(w) > 0 && w[0].Name == Waiting.String() && one.Queued == 0 && w[0].P99 > 5 && w[0].P99 > one.Latency.P50/5 {
				one.Notes = append(one.Notes, "this machine sent requests late, "+text.Duration(duration(w[0].P99))+" at p99: it is too busy to measure this rate")
			}
		}
		rep.Targets = append(rep.Targets, one)
		for _, o := range r.slos {
			rep.Objectives = append(rep.Objectives, o.judge(&one, r.meters[i]))
		}
	}
	if ended != nil {
		rep.Ended = example(ended)
	}
	return rep
}

// Failed are the objectives that were not met.
func (r *Report) Failed() (failed []Verdict) {
	for _, v := range r.Objectives {
		if !v.Met {
			failed = append(failed, v)
		}
	}
	return failed
}
