package fuzz

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Call is a call that can be made again.
type Call struct {
	Kind      string // as in check.Place; that of the server for a tool that it does not have
	Name      string // of the tool or prompt; URI of a resource or a template
	Method    string
	Params    []byte
	Arguments []byte // nil for none
	File      string // where the arguments are kept, "" where they are short
}

// Options are how a server is fuzzed. Zero fields stand for the defaults.
type Options struct {
	Seed    uint64        // of the calls and their order
	Runs    int           // calls of each tool, prompt and template; 100
	For     time.Duration // for all of it; a minute
	Timeout time.Duration // of one call; 5 s
	Folder  string        // where failures are kept, "" for nowhere
	Only    []string      // names of tools, prompts, templates and resources that are called; all where there are none
	Replay  bool          // try what is kept again, and nothing else
	// Journal is that of the connections that check.Subject.Again makes; without one what is on the wire is not looked at.
	Journal *journal.Journal
	// Repro writes the command line that makes a call again.
	Repro func(Call) string
}

// Section returns the section.
func Section(o Options) check.Section {
	if o.Runs <= 0 {
		o.Runs = 100
	}
	if o.For <= 0 {
		o.For = time.Minute
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Repro == nil {
		o.Repro = func(Call) string { return "" }
	}
	return &section{o}
}

type section struct{ o Options }

func (*section) Name() string         { return "fuzz" }
func (*section) Title() string        { return "calls with generated arguments" }
func (*section) ReadsLists() bool     { return true }
func (*section) Rules() []*check.Rule { return rules.Of("fuzz") }

// Limits of what one target may cost.
const (
	maxCostly     = 3 // failures that cost a timeout or a start of the server, until no more calls of it are made
	maxPerTarget  = 25
	maxRestarts   = 200
	maxLinks      = 20
	mostLearnt    = 256 << 10             // bytes of a result that is looked into for arguments of others
	throttlePause = 50 * time.Millisecond // more of it each time that the server asks for it
	maxPause      = time.Minute           // however long it asks to wait
	pauses        = 4                     // what they may take of the time, as a divisor
	maxLimited    = 5                     // calls that come too fast, of a target of which all do
	leastShare    = 2 * time.Second       // of the time, for each target
)

// run is one run of the section.
type run struct {
	o       Options
	s       *check.Subject
	crew    crew
	rec     *check.Recorder
	pool    *Pool
	targets []*target
	done    int
	keep    *keeper
	general map[string]bool // failures that do not depend on the target
	open    []open          // failures that were not looked into yet
	slowed  time.Duration   // times that the server said that calls come too fast
	paused  time.Duration   // for that reason
	refuses time.Duration   // for how long it wants no more calls, where that is too long to wait for
	cut     bool            // there was no time for all
	fell    time.Time       // when the server ended last, of those that this check did not start
	gone    *failure.Error  // it did not come back
	ends    time.Time
}

// open is a failure to look into.
type open struct {
	t      *target
	in     input
	h      hit
	costly bool // the next call has to wait for it
	lone   bool // a call beside it may be to blame
	fatal  bool // there is no server any more to look into it with
}

func newRun(s *check.Subject, o Options, rec *check.Recorder) *run {
	r := &run{o: o, s: s, rec: rec, general: map[string]bool{}, pool: NewPool(), keep: newKeeper(o.Folder, s), ends: time.Now().Add(o.For)}
	r.crew.init(r.client)
	return r
}

func (r *run) client(w *crew) *client { return newClient(r.s, r.o, &w.used) }

// Run implements check.Section.
func (f *section) Run(ctx context.Context, s *check.Subject, rec *check.Recorder) error {
	if s.Again == nil || s.Session == nil {
		return &failure.Error{Kind: failure.ServerNotConnected, Server: s.Server, Stage: "fuzz", Message: "there is no server to call"}
	}
	r := newRun(s, f.o, rec)
	r.crew.turn.Lock()
	defer r.crew.turn.Unlock()
	defer func() {
		for _, c := range r.crew.all {
			c.close(sent{})
		}
	}()
	if r.o.Replay {
		return r.replay(ctx)
	}
	all, left := targets(s)
	if len(f.o.Only) > 0 {
		other := func(name string) bool { return !slices.Contains(f.o.Only, name) }
		all = slices.DeleteFunc(all, func(t *target) bool { return other(t.name) })
		left = slices.DeleteFunc(left, func(it offer.Item) bool { return other(it.Name) })
	}
	for _, it := range left {
		rec.Skipped("fuzz/died", check.Place{Kind: check.OfTool, Name: it.Name}, "it is not marked as read-only, and was not allowed by name")
	}
	r.targets = all
	err := r.all(ctx)
	if err == nil && r.gone != nil {
		err = r.gone
	}
	r.report(len(left), err)
	return err
}

// all makes the calls: an example of each target first, so that what it returns can be given to others, and then one input of each target
// after the other, so that a run that is short has something of all. What fails is looked into when each target had its example.
func (r *run) all(ctx context.Context) error {
	defer func() {
		for _, c := range r.crew.all {
			r.later(c.rest(ctx))
		}
		_ = r.each(ctx, r.look) // what is left is told without
		for _, o := range r.open {
			r.failed(ctx, r.crew.first(), o)
		}
		r.cut = r.cut || slices.ContainsFunc(r.targets, (*target).left)
	}()
	if err := r.examples(ctx); err != nil {
		return err
	}
	for _, t := range r.targets {
		r.pool.Learn(t.learnt)
		t.learnt = nil
	}
	for _, uri := range First(r.pool.Links, maxLinks) {
		r.link(uri)
	}
	total := 0
	for _, t := range r.targets {
		if t.inputs == nil {
			t.inputs = t.plan(r.o.Seed, r.pool, r.o.Runs)
		}
		total += len(t.inputs)
	}
	if _, err := r.unknown(ctx); err != nil {
		return err
	}
	at := 0
	err := r.each(ctx, func() *job {
		if j := r.look(); j != nil {
			return j
		}
		if slices.ContainsFunc(r.open, func(o open) bool { return o.lone }) { // these wait until nothing else is under way
			return nil
		}
		for range r.targets {
			t := r.targets[at%len(r.targets)]
			if at++; t.busy || !t.left() || r.late() {
				continue
			}
			in := t.inputs[t.next]
			t.next++
			r.rec.Step(r.done, total, t.name)
			r.done++
			return &job{of: t, do: func(ctx context.Context, c *client) error { return r.try(ctx, c, t, in) }}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.after(ctx)
}

// left reports whether there are more inputs to try.
func (t *target) left() bool { return t.over == "" && t.next < len(t.inputs) }

// examples makes the first call of each target.
func (r *run) examples(ctx context.Context) error {
	rest := r.targets
	return r.each(ctx, func() *job {
		for len(rest) > 0 {
			t := rest[0]
			if r.late() {
				r.cut = true
				return nil
			}
			if rest = rest[1:]; t.inputs != nil {
				continue
			}
			r.rec.Step(len(r.targets)-len(rest)-1, len(r.targets), "first call of "+t.name)
			base := t.judge(Value{Value: t.base(seeded(r.o.Seed, t.kind, t.name, "first"), nil), What: "an example"})
			return &job{of: t, do: func(ctx context.Context, c *client) error { return r.try(ctx, c, t, base) }}
		}
		return nil
	})
}

// look is to look into a failure.
func (r *run) look() *job {
	for i, o := range r.open {
		if o.t.busy || o.lone && r.crew.busy > 0 {
			continue
		}
		r.open = slices.Delete(r.open, i, i+1)
		return &job{of: o.t, lone: o.lone, do: func(ctx context.Context, c *client) error {
			r.failed(ctx, c, o)
			return ctx.Err()
		}}
	}
	return nil
}

// late reports whether the time is over, or the patience of either side.
func (r *run) late() bool {
	return time.Now().After(r.ends) || r.crew.used.Load() > maxRestarts || r.refuses > 0 || r.gone != nil
}

// try makes one call, and notes what is wrong with it.
func (r *run) try(ctx context.Context, c *client, t *target, in input) error {
	if t.over != "" {
		return nil
	}
	out, err := r.call(ctx, c, t, in, false)
	for err == nil && out.throttled() {
		t.count(in, &out)
		if t.limited++; t.limited >= maxLimited && t.limited == t.tally.Calls {
			t.over = "stopped: calls come too fast for the server"
		}
		if r.pause(ctx, &out); t.over != "" || r.late() {
			return ctx.Err()
		}
		out, err = r.call(ctx, c, t, in, false)
	}
	if err != nil {
		return err
	}
	if out.kind() == failure.OAuth {
		if err := r.connect(ctx, c); err != nil || c.refused(ctx) {
			return out.err
		}
	}
	t.count(in, &out)
	if t.spent += out.whole; t.spent > max(r.o.For/time.Duration(len(r.targets)+1), leastShare) {
		t.over = "stopped: its share of the time is over"
	}
	if !in.Extreme && in.verdict != forbidden {
		t.times = append(t.times, timed{in, out.took})
	}
	if t.inputs == nil && !errorOf(&out) && len(out.reply.Result) <= mostLearnt {
		t.learnt = out.reply.Result
	}
	r.later(c.takeLate())
	for _, h := range c.oracles(t, in, &out) {
		r.note(open{t, in, h, out.lost(), out.beside && h.lost(), out.fatal && h.lost()})
	}
	return ctx.Err()
}

// pause waits as long as a server asks for that says that calls come too fast, unless that would use up the time.
func (r *run) pause(ctx context.Context, out *outcome) {
	r.slowed++
	wait := cmp.Or(out.retryAfter(), min(r.slowed*throttlePause, time.Second))
	if r.paused += wait; r.paused > r.o.For/pauses {
		r.refuses = wait
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// later takes what came after the calls that it belongs to.
func (r *run) later(late []lateFinding) {
	for _, l := range late {
		if h, ok := onWire(l.Finding); ok {
			h.severity = rules.Find("fuzz", h.rule).Severity
			r.note(open{t: l.t, in: l.in, h: h})
		}
	}
}

// note takes a failure to be looked into, once for each cause.
func (r *run) note(o open) {
	key := o.h.key()
	if o.h.lost() {
		key = o.h.rule + "\x00" + o.in.cause // any crash is not the same crash
	}
	if !o.t.found[key] && len(o.t.found) <= maxPerTarget {
		o.t.found[key] = true
		r.open = append(r.open, o)
	}
}

// failed makes a failure small, reports it and keeps it.
func (r *run) failed(ctx context.Context, c *client, o open) {
	t, h := o.t, o.h
	if same, ok := strings.CutSuffix(h.key(), wrongToo); ok && t.found[same] {
		return
	}
	if r.everywhere(t, o.in, h) {
		return
	}
	if o.fatal {
		r.add(t, o.in, h, seen{gone: r.gone.Message})
		return
	}
	least, last, how := r.shrink(ctx, c, t, o.in, h)
	small := said(least)
	if o.costly {
		if t.costly++; t.costly >= maxCostly || small == "none" || small == "{}" {
			t.over = "stopped: it does not answer"
			if h.rule == "fuzz/died" {
				t.over = "stopped: it ends the server"
			}
		}
	}
	if h.lost() {
		if h.cause = small; len(small) > 200 {
			h.cause = least.cause
		}
		if t.found[h.key()] {
			return
		}
		t.found[h.key()] = true
	}
	last.cause = h.cause
	r.add(t, least, last, how)
}

// everywhere reports whether a failure is that of the server's whole reading of requests, and was found at another target.
func (r *run) everywhere(t *target, in input, h hit) bool {
	if h.rule != "fuzz/wrong-layer" || !strings.HasPrefix(in.cause, "type ") || t.kind == check.OfTool && in.cause != "type " {
		return false
	}
	key := t.kind + h.key()
	if r.general[key] {
		return true
	}
	r.general[key] = true
	return false
}

// add reports a failure.
func (r *run) add(t *target, in input, h hit, how seen) {
	c := r.crew.all[0]
	h.message, h.evidence = c.masked(h.message), c.masked(h.evidence)
	f := check.Finding{Place: t.place, Key: h.cause, Message: h.message, Evidence: h.evidence, Sure: h.sure}
	if h.rule != "fuzz/memory" && h.rule != "fuzz/slow" {
		f.Message += " · arguments: " + text.Clip(said(in), 120)
	}
	if why, sure := how.says(); why != "" {
		f.Message += " (" + why + ")"
		if f.Sure = sure; sure == check.Possible {
			h.severity = min(h.severity, check.Warning)
		}
	}
	call, err := r.keep.put(t, in, h, r.o.Seed, how)
	if err != nil {
		f.Evidence += "\n" + err.Error()
	}
	f.Repro = r.o.Repro(call)
	r.rec.At(h.severity, h.rule, f)
}

// said is how a message names arguments.
func said(in input) string {
	if !in.IsSet() {
		return "none"
	}
	return string(in.JSON())
}

// link adds a resource that a result linked to as a target.
func (r *run) link(uri string) {
	for _, t := range r.targets {
		if t.kind == check.OfResource && t.name == uri {
			return
		}
	}
	scheme, _, _ := strings.Cut(uri, ":")
	if slices.Contains([]string{"http", "https", "data", "mailto", "javascript"}, strings.ToLower(scheme)) {
		return // for the client to open, or not
	}
	if r.s.Session.Supports("resources/read") {
		r.targets = append(r.targets, resource(uri))
	}
}
