package conform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/journal/expert"
	"github.com/mcphud/mcphud/session/text"
)

// run is one run of the section.
type run struct {
	*target
	rec      *check.Recorder
	only     []string
	command  func(revision, method, params string) string // nil for none
	revision string
	shared   *conn // nil where the next rule needs a new one
	done     int
}

// begin goes on with another revision.
func (r *run) begin(revision string) {
	r.revision = revision
	r.log.spoken[revision] = true
}

// end leaves the connection that rules share.
func (r *run) end() {
	if r.shared != nil {
		r.shared.close()
		r.shared = nil
	}
}

// place is where findings of a revision are.
func place(revision string) check.Place { return check.Place{Kind: check.OfServer, Name: revision} }

// skip is why a rule cannot be tried.
type skip string

func (s skip) Error() string { return string(s) }

// broken is a rule that does not hold.
type broken struct {
	severity check.Severity // where it is not the rule's
	own      bool
	message  string
}

func (b *broken) Error() string { return b.message }

// violated says how a rule does not hold.
func violated(format string, args ...any) error {
	return &broken{message: fmt.Sprintf(format, args...)}
}

// merely is violated with a severity of its own.
func merely(s check.Severity, format string, args ...any) error {
	return &broken{severity: s, own: true, message: fmt.Sprintf(format, args...)}
}

// try tries a rule and records how it went.
func (r *run) try(ctx context.Context, u *rule) {
	if !u.in(r.revision) || !matches(r.only, u.ID) {
		return
	}
	id, at := Name+"/"+u.ID, place(r.revision)
	if u.on == overHTTP && r.http == nil || u.on == overPipes && r.kind != config.Stdio || u.on == overSSE && r.kind != config.SSE {
		r.rec.Skipped(id, at, "about "+u.on.String()+" only, and the server is reached by "+r.kind)
		return
	}
	p := &probe{run: r, ctx: ctx, rule: u}
	began := time.Now()
	err := r.guarded(p)
	for _, c := range p.opened {
		c.close()
	}
	if p.spoilt && r.shared != nil {
		r.end()
	}
	if ctx.Err() != nil {
		return
	}
	var why skip
	if errors.As(err, &why) {
		r.rec.Skipped(id, at, string(why))
		return
	}
	if err == nil {
		r.rec.Passed(id, at, time.Since(began))
		return
	}
	f := check.Finding{Place: at, Message: text.Clip(text.FirstLine(err.Error()), 300), Evidence: p.evidence(u.section(r.revision)), Repro: p.again()}
	var b *broken
	switch {
	case errors.As(err, &b) && b.own:
		r.rec.At(b.severity, id, f)
	case errors.As(err, &b):
		r.rec.Add(id, f)
	default: // the server died or hung
		r.rec.At(check.Error, id, f)
	}
}

// guarded makes a connection for a rule that shares one, and tries it. Whatever happens to that connection is known afterwards.
func (r *run) guarded(p *probe) error {
	if !p.rule.alone {
		if r.shared != nil && r.shared.lost() != nil {
			r.end()
		}
		if r.shared == nil {
			c := r.connection(r.revision)
			if err := c.open(p.ctx); err != nil {
				c.close()
				return fmt.Errorf("the server cannot be connected to any more: %w", err)
			}
			r.shared = c
		}
		p.conn = r.shared
	} else {
		p.conn = p.another()
	}
	err := p.rule.try(p)
	var silent *silence
	if errors.As(err, &silent) || p.conn.lost() != nil {
		p.spoilt = true // a late answer would be taken for another's
	}
	return err
}

// observations reports what was found in all that the server sent: once for each rule, revision and method.
func (r *run) observations() {
	l := r.log
	found, times := map[string]bool{}, map[string]int{}
	key := func(f expert.Finding) string { return f.Rule.ID + " " + f.Revision + " " + f.Method }
	for _, f := range l.findings {
		found[f.Rule.ID+" "+f.Revision] = true
		times[key(f)]++
	}
	for _, f := range l.findings {
		n := times[key(f)]
		if n == 0 || !matches(r.only, f.Rule.ID) {
			continue
		}
		delete(times, key(f))
		what := text.Clip(text.FirstLine(f.Evidence), 240)
		if f.Method != "" {
			what = f.Method + ": " + what
		}
		if n > 1 {
			what += fmt.Sprintf(" (%d times)", n)
		}
		r.rec.Add(Name+"/"+f.Rule.ID, check.Finding{Place: place(f.Revision), Key: f.Method, Message: what, Evidence: f.Section() + "\n" + l.around(f.Seq)})
	}
	for _, u := range expert.Rules() {
		if !observed(u) || !matches(r.only, u.ID) {
			continue
		}
		for _, v := range u.Revisions() {
			if l.spoken[v] && !found[u.ID+" "+v] {
				r.rec.Passed(Name+"/"+u.ID, place(v), 0)
			}
		}
	}
}
