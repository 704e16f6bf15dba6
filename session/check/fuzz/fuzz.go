package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/fuzz/values"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/text"
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
func (*section) Rules() []*check.Rule { return rules() }

// Limits of what one target may cost.
const (
	maxCostly     = 3 // failures that cost a timeout or a start of the server, until no more calls of it are made
	maxPerTarget  = 25
	maxRestarts   = 200
	maxLinks      = 20
	throttlePause = 50 * time.Millisecond // more of it each time that the server asks for it
	maxPause      = 5 * time.Second       // however long it asks to wait
	maxSlowed     = 20                    // times that the server says that calls come too fast
	leastShare    = 2 * time.Second       // of the time, for each target
)

// run is one run of the section.
type run struct {
	o       Options
	s       *check.Subject
	c       *client
	rec     *check.Recorder
	pool    *values.Pool
	targets []*target
	done    int
	keep    *keeper
	general map[string]bool // failures that do not depend on the target
	slowed  time.Duration   // times that the server said that calls come too fast
	cut     bool            // there was no time for all
	ends    time.Time
}

// Run implements check.Section.
func (f *section) Run(ctx context.Context, s *check.Subject, rec *check.Recorder) error {
	if s.Again == nil || s.Session == nil {
		return &failure.Error{Kind: failure.ServerNotConnected, Server: s.Server, Stage: "fuzz", Message: "there is no server to call"}
	}
	r := &run{o: f.o, s: s, c: newClient(s, f.o), rec: rec, general: map[string]bool{}, pool: values.NewPool(), keep: newKeeper(f.o.Folder, s)}
	defer r.c.close()
	r.ends = time.Now().Add(r.o.For)
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
	r.report(len(left), err)
	return err
}

// all makes the calls: an example of each target first, so that what it returns can be given to others, and then one input of each target
// after the other, so that a run that is short has something of all.
func (r *run) all(ctx context.Context) error {
	for _, t := range r.targets {
		if t.inputs == nil {
			base := t.judge(values.Value{Value: t.base(seeded(r.o.Seed, t.kind, t.name, "first"), nil), What: "an example"})
			if err := r.try(ctx, t, base); err != nil {
				return err
			}
		}
	}
	for _, uri := range values.First(r.pool.Links, maxLinks) {
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
	defer func() { r.later(ctx, r.c.rest(ctx)) }()
	for more := true; more; {
		more = false
		for _, t := range r.targets {
			if t.over != "" || t.next >= len(t.inputs) {
				continue
			}
			if r.late() {
				r.cut = true
				return nil
			}
			in := t.inputs[t.next]
			t.next++
			r.rec.Step(r.done, total, t.name)
			r.done++
			more = true
			if err := r.try(ctx, t, in); err != nil {
				return err
			}
		}
	}
	return r.after(ctx)
}

// late reports whether the time is over, or the patience of either side.
func (r *run) late() bool {
	return time.Now().After(r.ends) || r.c.used > maxRestarts || r.slowed > maxSlowed
}

// try makes one call, and looks into what is wrong with it.
func (r *run) try(ctx context.Context, t *target, in input) error {
	if t.over != "" {
		return nil
	}
	out, err := r.c.call(ctx, t, in, false)
	if err != nil {
		return err
	}
	if out.kind() == failure.OAuth {
		return out.err
	}
	t.count(in, &out)
	if out.throttled() {
		t.limited++
		r.pause(ctx, &out)
		return ctx.Err()
	}
	if t.spent += out.took; t.spent > max(r.o.For/time.Duration(len(r.targets)+1), leastShare) {
		t.over = "stopped: its share of the time is over"
	}
	if !in.Extreme && in.verdict != forbidden {
		t.times = append(t.times, timed{in, out.took})
	}
	if !errorOf(&out) {
		r.pool.Learn(out.reply.Result)
	}
	r.later(ctx, r.c.takeLate())
	for _, h := range r.c.oracles(t, in, &out) {
		r.failed(ctx, t, in, h, out.lost())
	}
	return ctx.Err()
}

// pause waits as long as a server asks for that says that calls come too fast.
func (r *run) pause(ctx context.Context, out *outcome) {
	r.slowed++
	select {
	case <-ctx.Done():
	case <-time.After(cmp.Or(out.retryAfter(), min(r.slowed*throttlePause, time.Second))):
	}
}

// later takes what came after the calls that it belongs to.
func (r *run) later(ctx context.Context, late []lateFinding) {
	for _, l := range late {
		if h, ok := onWire(l.Finding); ok {
			h.severity = severityOf(h.rule)
			r.failed(ctx, l.t, l.in, h, false)
		}
	}
}

// failed makes a failure small, reports it and keeps it, once for each cause. costly is one that the next call has to wait for.
func (r *run) failed(ctx context.Context, t *target, in input, h hit, costly bool) {
	key, lost := h.key(), h.rule == "fuzz/died" || h.rule == "fuzz/no-answer"
	if lost {
		key = h.rule + "\x00" + in.cause // any crash is not the same crash
	}
	if t.found[key] || len(t.found) > maxPerTarget {
		return
	}
	t.found[key] = true
	if same, ok := strings.CutSuffix(key, wrongToo); ok && t.found[same] {
		return
	}
	if r.everywhere(t, in, h) {
		return
	}
	least, last, sure := r.shrink(ctx, t, in, h)
	small := said(least)
	if costly {
		if t.costly++; t.costly >= maxCostly || small == "none" || small == "{}" {
			t.over = "stopped: it does not answer"
			if h.rule == "fuzz/died" {
				t.over = "stopped: it ends the server"
			}
		}
	}
	if lost {
		if h.cause = small; len(small) > 200 {
			h.cause = least.cause
		}
		if t.found[h.key()] {
			return
		}
		t.found[h.key()] = true
	}
	last.cause = h.cause
	r.add(t, least, last, sure)
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
func (r *run) add(t *target, in input, h hit, sure bool) {
	h.message, h.evidence = r.c.masked(h.message), r.c.masked(h.evidence)
	f := check.Finding{Place: t.place, Key: h.cause, Message: h.message, Evidence: h.evidence, Sure: h.sure}
	if h.rule != "fuzz/memory" && h.rule != "fuzz/slow" {
		f.Message += " · arguments: " + text.Clip(said(in), 120)
	}
	if !sure {
		f.Sure, f.Message = check.Possible, f.Message+" (seen once, and not again)"
		h.severity = min(h.severity, check.Warning)
	}
	call, err := r.keep.put(t, in, h, r.o.Seed)
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

func (t *target) count(in input, out *outcome) {
	t.tally.Calls++
	switch in.verdict {
	case allowed:
		t.tally.Valid++
	case forbidden:
		t.tally.Wrong++
	}
	switch {
	case out.lost():
		t.tally.Lost++
	case out.err != nil:
		t.tally.Refused++
	case out.result.IsError:
		t.tally.Failed++
	default:
		t.tally.Answered++
	}
}

func errorOf(out *outcome) bool { return out.err != nil || out.result.IsError }

// report is what the section counted.
func (r *run) report(left int, err error) {
	type row struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		tally
		Median float64 `json:"median_ms"` // of calls with valid arguments
		Took   float64 `json:"took_ms"`   // of all calls together
		Over   string  `json:"stopped,omitempty"`
	}
	value := struct {
		Seed    uint64 `json:"seed"`
		Calls   int    `json:"calls"`
		Starts  int    `json:"connections"`
		Skipped int    `json:"not_allowed"`
		Cut     bool   `json:"out_of_time"`
		Targets []row  `json:"targets"`
	}{Seed: r.o.Seed, Starts: r.c.used, Skipped: left, Cut: r.cut, Targets: []row{}}
	table := [][]string{{"what", "calls", "answered", "failed", "refused", "lost", "median", ""}}
	var read tally
	for _, t := range r.targets {
		m := median(t.times)
		value.Calls += t.tally.Calls
		value.Targets = append(value.Targets, row{t.kind, t.name, t.tally, float64(m.Microseconds()) / 1000, float64(t.spent.Microseconds()) / 1000, t.over})
		for _, id := range []string{"fuzz/died", "fuzz/no-answer", "fuzz/accepted", "fuzz/refused"} {
			switch {
			case t.tally.Calls == 0 || err != nil || t.reported(id):
			case t.limited >= t.tally.Calls:
				r.rec.Skipped(id, t.place, "the server said of each call that calls come too fast")
			default:
				r.rec.Passed(id, t.place, 0)
			}
		}
		if t.kind == check.OfResource {
			read.add(t.tally)
			continue
		}
		table = append(table, []string{
			t.kind + " " + text.Clip(t.name, 60), fmt.Sprint(t.tally.Calls), fmt.Sprint(t.tally.Answered), fmt.Sprint(t.tally.Failed), fmt.Sprint(t.tally.Refused), fmt.Sprint(t.tally.Lost),
			text.Duration(m), t.over,
		})
	}
	if read.Calls > 0 {
		table = append(table, []string{"resources", fmt.Sprint(read.Calls), fmt.Sprint(read.Answered), "0", fmt.Sprint(read.Refused), fmt.Sprint(read.Lost), "", ""})
	}
	notes := []string{fmt.Sprintf("seed %d: the same calls come again with it", r.o.Seed)}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d tools were not called: they are not marked as read-only, and were not allowed by name", left))
	}
	if r.slowed > 0 {
		notes = append(notes, fmt.Sprintf("%d calls came too fast for the server, and were not looked at", r.slowed))
	}
	if r.cut {
		notes = append(notes, "not all calls that were planned were made")
	}
	if n := r.keep.kept; n > 0 {
		notes = append(notes, fmt.Sprintf("%d failures are kept in %s", n, r.keep.dir))
	}
	r.rec.Figures(check.Figures{Value: value, Table: table, Notes: notes})
}

func (n *tally) add(o tally) {
	n.Calls, n.Answered, n.Refused, n.Lost = n.Calls+o.Calls, n.Answered+o.Answered, n.Refused+o.Refused, n.Lost+o.Lost
}

// reported reports whether a rule found something at the target.
func (t *target) reported(id string) bool {
	for key := range t.found {
		if len(key) > len(id) && key[:len(id)] == id {
			return true
		}
	}
	return false
}
