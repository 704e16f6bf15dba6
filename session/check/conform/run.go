package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/config"
)

// run is one run of the section. One goroutine has it; trials that start others wait for them.
type run struct {
	*target
	rec            *check.Recorder
	selected       []string                                     // patterns of ids, as in Options.Rules
	command        func(revision, method, params string) string // Options.Repro, nil for none
	revision       string                                       // that is tried now
	shared         *conn                                        // nil where the next rule needs a new one
	done           int                                          // rules of all revisions that are over, for the progress
	unknown        []string                                     // names of rules that were tried, and nothing was learned; each once
	habits         []check.Finding                              // of the SDK, in this revision
	habitual       []string                                     // the rules that they are of
	stdoutReported bool                                         // standard output is not clean, which was reported
}

// beginRevision sets the revision of the trials that follow.
func (r *run) beginRevision(revision string) {
	r.revision = revision
	r.log.spoken[revision] = true
}

// closeShared closes the connection that rules share; the next rule opens another one.
func (r *run) closeShared() {
	if r.shared != nil {
		r.shared.close()
		r.shared = nil
	}
}

// place is where findings of a revision are: a server has the same fault in each that it speaks, and ignore lists name each.
func place(revision string) check.Place { return check.Place{Kind: check.OfServer, Name: revision} }

// transports are what texts call those of rules.
var transports = map[string]string{"http": "Streamable HTTP", "stdio": "stdio", "sse": "HTTP+SSE"}

// hasTransport reports whether the server is reached by a transport as rules name it, "" being any.
func (t *target) hasTransport(transport string) bool {
	switch transport {
	case "http":
		return t.http != nil
	case "stdio":
		return t.kind == config.Stdio
	case "sse":
		return t.kind == config.SSE
	}
	return true
}

// try tries a rule and records how it went: one outcome for each rule that the revision has and that is selected. Where ctx ends it records
// nothing: what was cut off has no verdict.
func (r *run) try(ctx context.Context, u *rule) {
	if !isSelected(r.selected, u.name) {
		return
	}
	id, at := u.ID, place(r.revision)
	if dated := u.Since != "" || u.Until != ""; dated && !slices.Contains(rules.Revisions(), r.revision) {
		r.rec.AddSkipped(id, at, unknownPrefix+"the server answers initialize with "+text.Clip(r.revision, 40)+", a revision that is not known")
		r.unknown = append(r.unknown, u.name)
		return
	}
	if !u.In(r.revision) {
		return
	}
	if !r.hasTransport(u.Transport) {
		r.rec.AddSkipped(id, at, "about "+transports[u.Transport]+" only, and the server is reached by "+r.kind)
		return
	}
	began := time.Now()
	p, err := r.tryOnce(ctx, u)
	if ctx.Err() != nil {
		return
	}
	severity := p.severity(err)
	if isViolation(err) && (u.alone || severity == check.Error) {
		p, severity, err = r.retry(ctx, u, p, err)
		if ctx.Err() != nil {
			return
		}
	}
	switch {
	case err == nil:
		r.rec.AddPassed(id, at, time.Since(began))
	case !isViolation(err):
		why := reasonOf(err)
		if strings.HasPrefix(why, unknownPrefix) {
			if !slices.Contains(r.unknown, u.name) { // by another revision
				r.unknown = append(r.unknown, u.name)
			}
		}
		r.rec.AddSkipped(id, at, mask.Text(why)) // with what the server said
	default:
		f := check.Finding{
			Place: at, Message: text.Clip(text.FirstLine(mask.Text(err.Error())), 300), Evidence: p.evidence(u.Link(r.revision)), Repro: p.reproCommand(), Sure: confidenceOf(err),
		}
		if isSDKHabit(u.name) && severity != check.Error && matches(r.selected, sdkHabits) {
			r.habits = append(r.habits, f)
			r.habitual = append(r.habitual, u.name)
			return
		}
		r.stdoutReported = r.stdoutReported || u.name == "stdout-clean"
		r.rec.AddSeverity(severity, id, f)
	}
}

// reportHabits reports the habits of the SDK that were seen in a revision as one finding.
func (r *run) reportHabits() {
	if len(r.habits) > 0 {
		f := check.Finding{Place: place(r.revision), Message: strings.Join(r.habitual, ", ")}
		var all []string
		for _, h := range r.habits {
			all = append(all, h.Message)
		}
		for _, h := range r.habits {
			all = append(all, "", h.Evidence)
		}
		f.Evidence = strings.Join(all, "\n")
		r.rec.Add(Name+"/"+sdkHabits, f)
	}
	r.habits, r.habitual = nil, nil
}

// tryOnce makes the trial of a rule, and closes the connections that it opened. The shared one goes too where nothing more can be tried on it.
func (r *run) tryOnce(ctx context.Context, u *rule) (*probe, error) {
	p := &probe{run: r, ctx: ctx, rule: u}
	err := r.tryConnected(p)
	for _, c := range p.opened {
		c.close()
	}
	if p.unusable && r.shared != nil {
		r.closeShared()
	}
	return p, err
}

// retry repeats the trial of a rule that did not hold, on a new connection: a verdict must not depend on what was tried
// before, nor on the moment. One of a connection of its own has had no good request before it, so that one is made now.
// Violations that are less than an error are not repeated: they cost an author a look. It returns the probe whose evidence counts.
func (r *run) retry(ctx context.Context, u *rule, p *probe, err error) (*probe, check.Severity, error) {
	severity := p.severity(err)
	r.closeShared()
	if u.alone {
		c := r.connection(r.revision)
		refused := c.open(ctx)
		c.close()
		if refused != nil {
			return p, severity, inconclusiveSkip("a good handshake after it failed as well: %v", refused)
		}
	}
	if severity != check.Error {
		return p, severity, err
	}
	again, second := r.tryOnce(ctx, u)
	var c *controlFailed
	switch {
	case isViolation(second):
		return again, again.severity(second), second
	case errors.As(second, &c): // it does not even answer what it answered before
		return p, severity, err
	}
	return p, check.Info, &violation{message: err.Error() + " (once: on a new connection it was not so)", onceOnly: true}
}

// tryConnected makes the trial of a rule on its connection, and notes whether that can be used again.
func (r *run) tryConnected(p *probe) error {
	if !p.rule.alone {
		if r.shared != nil && r.shared.lostErr() != nil {
			r.closeShared()
		}
		if r.shared == nil {
			c := r.connection(r.revision)
			if err := c.open(p.ctx); err != nil {
				c.close()
				return fmt.Errorf("the server cannot be connected to any more: %w", err)
			}
			r.shared = c
			p.lines = append(p.lines, c.begun...)
		}
		p.conn = r.shared
		if err := p.controlRequest(); err != nil {
			return err
		}
	} else {
		p.conn = p.newConn()
	}
	err := p.rule.try(p)
	var silent *silence
	if errors.As(err, &silent) || p.conn.lostErr() != nil {
		p.unusable = true // a late answer would be taken for another's
	}
	return err
}

// reportObserved reports the violations in all that the server sent: once for each rule, revision and method. Rules that nothing broke passed in
// each revision that was tried. It is for after the log's finish.
func (r *run) reportObserved() {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	found, reported := map[string]bool{}, map[string]bool{}
	for _, f := range l.findings {
		found[f.Rule.ID+" "+f.Revision] = true
	}
	for _, f := range l.findings {
		n := l.times[faultOf(f)]
		if r.stdoutReported && (f.Rule.ID == "stdout-noise" || f.Rule.ID == "message-shape" && l.noise[f.Seq]) {
			continue // it is the same fault
		}
		if reported[faultOf(f)] || !matches(r.selected, f.Rule.ID) {
			continue
		}
		reported[faultOf(f)] = true
		what := text.Clip(text.FirstLine(mask.Text(f.Evidence)), 240)
		if f.Method != "" {
			what = f.Method + ": " + what
		}
		if n > 1 {
			what += fmt.Sprintf(" (%d times)", n)
		}
		r.rec.Add(Name+"/"+f.Rule.ID, check.Finding{Place: place(f.Revision), Key: f.Method, Message: what, Evidence: f.Section() + "\n" + l.around(f.Seq)})
	}
	for _, u := range rules.Of("live") {
		if !isObserved(u) || !matches(r.selected, u.ID) {
			continue
		}
		for _, v := range u.Revisions() {
			if l.spoken[v] && !found[u.ID+" "+v] {
				r.rec.AddPassed(Name+"/"+u.ID, place(v), 0)
			}
		}
	}
}
