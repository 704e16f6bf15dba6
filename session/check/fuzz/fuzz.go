package fuzz

import (
	"cmp"
	"context"
	"errors"
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

// Call is a call of a failure, for the command line that makes it again (Options.Repro).
type Call struct {
	Kind      string // as in check.Place; that of the server for a tool that it does not have
	Name      string // of the tool or prompt; URI of a resource or a template
	Method    string
	Params    []byte
	Arguments []byte // nil for none
	File      string // where the arguments are kept, "" where they are short
}

// Options are how a server is fuzzed. Zero fields stand for the defaults, see Section.
type Options struct {
	Seed    uint64        // of the calls and their order
	Runs    int           // calls of each tool, prompt and template; 100
	For     time.Duration // for all of it; a minute
	Timeout time.Duration // of one call, four times as long while it tells of progress; 5 s
	Folder  string        // where failures are kept, in a folder of the server's name; "" for nowhere
	Only    []string      // names of tools, prompts, templates and resources that are called; all where there are none
	Replay  bool          // try what is kept again, and nothing else
	// Journal is that of the connections that check.Subject.Again makes; without one what is on the wire is not looked at.
	Journal *journal.Journal
	// Repro writes the command line that makes a call again, "" for none.
	Repro func(Call) string
}

// Section returns the section "fuzz", with defaults for the zero fields of o.
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

// section has nothing of a run: each has its own.
type section struct{ o Options }

func (*section) Name() string         { return "fuzz" }
func (*section) Title() string        { return "calls with generated arguments" }
func (*section) ReadsLists() bool     { return true }
func (*section) Rules() []*check.Rule { return rules.Of("fuzz") }

// Limits of what one target may cost.
const (
	maxCostly       = 3                     // failures that cost a timeout or a start of the server, until no more calls of it are made
	maxPerTarget    = 25                    // causes of failures; what else is found is dropped
	maxRestarts     = 200                   // connections of the whole run, however they ended
	maxLinks        = 20                    // in results, that are looked at
	maxExampleBytes = 256 << 10             // bytes of a result that is looked into for arguments of others
	throttlePause   = 50 * time.Millisecond // more of it each time that the server asks for it
	maxPause        = time.Minute           // however long it asks to wait
	pauses          = 4                     // what they may take of the time, as a divisor
	maxLimited      = 5                     // calls that come too fast, of a target of which all do
	leastShare      = 2 * time.Second       // of the time, for each target
)

// run is one run of the section. Whoever has the turn of conns owns it, and nobody else reads or writes it.
type run struct {
	o           Options
	s           *check.Subject
	conns       connPool
	rec         *check.Recorder
	pool        *Pool            // of what the first calls returned
	targets     []*target        // in the order of the lists, those that were linked at the end
	done        int              // planned calls that were begun
	keep        *keeper          // of failures
	general     map[string]bool  // failures that do not depend on the target, by kind, rule and cause
	pending     []pendingFailure // failures that are not shrunk and reported yet
	throttles   time.Duration    // answers that say that calls come too fast
	paused      time.Duration    // how long the run waited for these
	refusedFor  time.Duration    // how long the server wants no more calls, if that is too long to wait for; 0 while it is not
	cut         bool             // there was no time for all
	crashedAt   time.Time        // when a server that this check did not start crashed last
	unreachable *failure.Error   // set when it was not restarted; nil while it can be called
	ends        time.Time        // when Options.For is over
}

// pendingFailure is a failure that is to be shrunk and reported.
type pendingFailure struct {
	t         *target
	in        input
	h         hit
	costly    bool // each try costs a timeout or a restart
	exclusive bool // a concurrent call may be to blame: try it while no other is under way
	fatal     bool // the server is gone: it cannot be tried again
}

func newRun(s *check.Subject, o Options, rec *check.Recorder) *run {
	r := &run{o: o, s: s, rec: rec, general: map[string]bool{}, pool: NewPool(), keep: newKeeper(o.Folder, s), ends: time.Now().Add(o.For)}
	r.conns.init(r.client)
	return r
}

// client is a connection that is not open yet.
func (r *run) client(w *connPool) *client { return newClient(r.s, r.o, &w.used) }

// Run implements check.Section. It calls on connections of its own, never on the session of s.
func (f *section) Run(ctx context.Context, s *check.Subject, rec *check.Recorder) error {
	if s.Again == nil || s.Session == nil {
		return &failure.Error{Kind: failure.ServerNotConnected, Server: s.Server, Stage: "fuzz", Message: "there is no server to call"}
	}
	r := newRun(s, f.o, rec)
	r.conns.turn.Lock() // this goroutine has the turn wherever it does not wait in runJobs
	defer r.conns.turn.Unlock()
	defer func() {
		for _, c := range r.conns.all {
			c.close(sentCall{})
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
		rec.AddSkipped("fuzz/died", check.Place{Kind: check.OfTool, Name: it.Name}, "it is not marked as read-only, and was not allowed by name")
	}
	r.targets = all
	err := r.callAll(ctx)
	if err == nil && r.unreachable != nil {
		err = r.unreachable
	}
	r.report(len(left), err)
	return err
}

// callAll makes the calls: an example of each target first, so that what it returns can be given to others, and then one input of each target
// after the other, so that a run that is short has something of all. What fails is looked into when each target had its example.
func (r *run) callAll(ctx context.Context) error {
	defer func() {
		for _, c := range r.conns.all {
			r.noteLate(c.lateFindings(ctx))
		}
		_ = r.runJobs(ctx, r.failureJob) // what is left is told without
		for _, o := range r.pending {
			r.reportFailure(ctx, r.conns.current(), o)
		}
		r.cut = r.cut || slices.ContainsFunc(r.targets, (*target).hasMore)
	}()
	if err := r.callExamples(ctx); err != nil {
		return err
	}
	for _, t := range r.targets {
		r.pool.Learn(t.example)
		t.example = nil
	}
	for _, uri := range First(r.pool.Links, maxLinks) {
		r.addLinked(uri)
	}
	total := 0
	for _, t := range r.targets {
		if t.inputs == nil {
			t.inputs = t.plan(r.o.Seed, r.pool, r.o.Runs)
		}
		total += len(t.inputs)
	}
	if _, err := r.checkUnknownTool(ctx); err != nil {
		return err
	}
	at := 0
	err := r.runJobs(ctx, func() *job {
		if j := r.failureJob(); j != nil {
			return j
		}
		if slices.ContainsFunc(r.pending, func(o pendingFailure) bool { return o.exclusive }) { // these wait until nothing else is under way
			return nil
		}
		for range r.targets {
			t := r.targets[at%len(r.targets)]
			if at++; t.busy || !t.hasMore() || r.outOfTime() {
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
	return r.afterCalls(ctx)
}

// hasMore reports whether there are inputs left to try.
func (t *target) hasMore() bool { return t.stopped == "" && t.next < len(t.inputs) }

// callExamples makes the first call of each target, but for resources: they have one call, which is planned. The input follows from the seed and
// the target alone, for there is nothing in the pool yet.
func (r *run) callExamples(ctx context.Context) error {
	rest := r.targets
	return r.runJobs(ctx, func() *job {
		for len(rest) > 0 {
			t := rest[0]
			if r.outOfTime() {
				r.cut = true
				return nil
			}
			if rest = rest[1:]; t.inputs != nil {
				continue
			}
			r.rec.Step(len(r.targets)-len(rest)-1, len(r.targets), "first call of "+t.name)
			base := t.classify(Value{Value: t.base(newRand(r.o.Seed, t.kind, t.name, "first"), nil), What: "an example"})
			return &job{of: t, do: func(ctx context.Context, c *client) error { return r.try(ctx, c, t, base) }}
		}
		return nil
	})
}

// failureJob returns the job of shrinking and reporting the next pending failure, nil for none that can begin now.
func (r *run) failureJob() *job {
	for i, o := range r.pending {
		if o.t.busy || o.exclusive && r.conns.busy > 0 {
			continue
		}
		r.pending = slices.Delete(r.pending, i, i+1)
		return &job{of: o.t, exclusive: o.exclusive, do: func(ctx context.Context, c *client) error {
			r.reportFailure(ctx, c, o)
			return ctx.Err()
		}}
	}
	return nil
}

// outOfTime reports whether no more calls may be made: the time or the restarts are used up, or the server is gone or refuses calls.
func (r *run) outOfTime() bool {
	return time.Now().After(r.ends) || r.conns.used.Load() > maxRestarts || r.refusedFor > 0 || r.unreachable != nil
}

// try makes one call, and notes what is wrong with it. While calls come too fast it waits and makes the same one again: such an answer says
// nothing about the arguments. An error ends the run.
func (r *run) try(ctx context.Context, c *client, t *target, in input) error {
	if t.stopped != "" {
		return nil
	}
	out, err := r.call(ctx, c, t, in, false)
	if errors.Is(err, errNotSent) {
		return ctx.Err()
	}
	for err == nil && out.isRateLimited() {
		t.count(in, &out)
		if t.limited++; t.limited >= maxLimited && t.limited == t.tally.Calls {
			t.stopped = "stopped: calls come too fast for the server"
		}
		if r.pause(ctx, &out); t.stopped != "" || r.outOfTime() {
			return ctx.Err()
		}
		out, err = r.call(ctx, c, t, in, false)
	}
	if err != nil {
		return err
	}
	if out.kind() == failure.OAuth { // where a ping needs a login too there is no point in other calls; else it is this tool's answer
		if err := r.connect(ctx, c); err != nil || c.loginRequired(ctx) {
			return out.err
		}
	}
	t.count(in, &out)
	if t.spent += out.total; t.spent > max(r.o.For/time.Duration(len(r.targets)+1), leastShare) {
		t.stopped = "stopped: its share of the time is over"
	}
	if !in.Extreme && in.verdict != forbidden {
		t.times = append(t.times, timing{in, out.took})
	}
	if t.inputs == nil && !isError(&out) && len(out.reply.Result) <= maxExampleBytes {
		t.example = out.reply.Result
	}
	r.noteLate(c.takeLate())
	for _, h := range c.oracles(t, in, &out) {
		r.note(pendingFailure{t, in, h, out.hasNoAnswer(), out.concurrent && h.hasNoAnswer(), out.fatal && h.hasNoAnswer()})
	}
	return ctx.Err()
}

// pause waits as long as a server that throttles asks for, unless that would use up the time.
func (r *run) pause(ctx context.Context, out *outcome) {
	r.throttles++
	wait := cmp.Or(out.retryAfter(), min(r.throttles*throttlePause, time.Second))
	if r.paused += wait; r.paused > r.o.For/pauses {
		r.refusedFor = wait
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// noteLate notes violations that came after their call was over.
func (r *run) noteLate(late []lateFinding) {
	for _, l := range late {
		if h, ok := wireHit(l.Finding); ok {
			h.severity = rules.Find("fuzz", h.rule).Severity
			r.note(pendingFailure{t: l.t, in: l.in, h: h})
		}
	}
}

// note makes a failure pending, once for each cause. For a call without an answer that is what is wrong with its arguments, since there is nothing
// else to tell two of them apart; reportFailure looks again when it knows the smallest arguments.
func (r *run) note(o pendingFailure) {
	key := o.h.key()
	if o.h.hasNoAnswer() {
		key = o.h.rule + "\x00" + o.in.cause // any crash is not the same crash
	}
	switch {
	case o.t.found[key]:
	case len(o.t.found) < maxPerTarget:
		o.t.found[key] = true
		r.pending = append(r.pending, o)
	default:
		o.t.found[o.h.rule+"\x00"] = true // the rule did not pass
	}
}

// reportFailure shrinks a failure, reports it and keeps it in a file. After maxCostly failures that cost a timeout or a restart, or one of
// those that needs no arguments, the target is not called any more. What turns out to be the same as another one is dropped.
func (r *run) reportFailure(ctx context.Context, c *client, o pendingFailure) {
	t, h := o.t, o.h
	if same, ok := strings.CutSuffix(h.key(), wrongToo); ok && t.found[same] {
		return
	}
	if r.knownElsewhere(t, o.in, h) {
		return
	}
	if o.fatal {
		r.addFinding(t, o.in, h, recurrence{gone: r.unreachable.Message})
		return
	}
	least, last, how := r.shrink(ctx, c, t, o.in, h)
	small := argumentsText(least)
	if o.costly {
		if t.costly++; t.costly >= maxCostly || small == "none" || small == "{}" {
			t.stopped = "stopped: it does not answer"
			if h.rule == "fuzz/died" {
				t.stopped = "stopped: it ends the server"
			}
		}
	}
	if h.hasNoAnswer() {
		if h.cause = small; len(small) > 200 {
			h.cause = least.cause
		}
		if t.found[h.key()] {
			return
		}
		t.found[h.key()] = true
	}
	last.cause = h.cause
	r.addFinding(t, least, last, how)
}

// knownElsewhere reports whether a failure is of how the server reads all requests, and was found at another target already: an internal error for
// arguments of a wrong type; of tools only where the arguments as a whole have it, for each tool reads its own. It remembers what it is asked.
func (r *run) knownElsewhere(t *target, in input, h hit) bool {
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

// addFinding adds a failure to the report, and keeps it. One that did not come again is a warning at most.
func (r *run) addFinding(t *target, in input, h hit, how recurrence) {
	c := r.conns.all[0]
	h.message, h.evidence = c.mask(h.message), c.mask(h.evidence)
	f := check.Finding{Place: t.place, Key: h.cause, Message: h.message, Evidence: h.evidence, Sure: h.sure}
	if h.rule != "fuzz/memory" && h.rule != "fuzz/slow" {
		f.Message += " · arguments: " + text.Clip(argumentsText(in), 120)
	}
	if why, sure := how.describe(); why != "" {
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
	r.rec.AddSeverity(h.severity, h.rule, f)
}

// argumentsText is the arguments as messages name them: JSON, or "none".
func argumentsText(in input) string {
	if !in.IsSet() {
		return "none"
	}
	return string(in.JSON())
}

// addLinked adds a resource that a result links to as a target.
func (r *run) addLinked(uri string) {
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
