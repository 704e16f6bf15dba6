// Package conform is a section of a check that asks whether a server keeps to the protocol: the rules of each revision that it speaks are
// tried on it, over connections of their own below the session layer, and every frame that it sends is held to the published schema.
package conform

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Name is the section's.
const Name = "conform"

// Options choose what is tried. The zero value is usable: it tries every rule, without the official suite.
type Options struct {
	// Rules are patterns of path.Match for ids, with or without "conform/"; none means all. A slash in a pattern matches that of an id only.
	Rules []string
	// Wait is the time for an answer; 0 is 10 s. One that takes longer says nothing about a rule: the machine may be slow.
	Wait  time.Duration
	leave time.Duration // for a process to exit once its input has ended; 0 is transport.Leave
	// Repro writes the command line that makes a request in a revision again; params is JSON, or "" for none. nil leaves findings without one.
	Repro func(revision, method, params string) string
	Suite *Suite // the official suite, which runs as well where the server is reached over HTTP; nil for not
}

// defaultWait is Options.Wait where nobody says: longer than a tool that is not slow, shorter than a person's patience with each of some rules.
const defaultWait = 10 * time.Second

// Section tries the rules. The zero value tries all of them. It keeps nothing from one run to the next.
type Section struct{ o Options }

// New makes the section. The error is about a pattern that cannot be read, or that is of no rule: one that selects nothing would pass.
func New(o Options) (*Section, error) {
	for _, g := range o.Rules {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern of ids: %w", g, err)
		}
		any := false
		for _, r := range known() {
			any = any || matches([]string{g}, r.ID[len(Name)+1:])
		}
		if !any {
			return nil, fmt.Errorf("no rule of %s is named like %q", Name, g)
		}
	}
	return &Section{o}, nil
}

// Name is "conform".
func (*Section) Name() string { return Name }

// Title says in a few words what is examined.
func (*Section) Title() string { return "the server keeps to the protocol" }

// Rules are those that are tried, then those about all that the server sends.
func (*Section) Rules() []*check.Rule { return known() }

// Run tries each rule in each era that the server speaks, on connections of its own beside the subject's session, whose configuration and login
// they have. One on which the server dies fails, one on which it hangs has no verdict, and the next gets a new connection either way.
// The error is of kind Usage without a session, that of ctx, or says why no revision could be spoken; a rule that fails is a finding.
//
// The trials change nothing at the server but what its tools do that the subject lets be called, and the level of its log.
func (s *Section) Run(ctx context.Context, sub *check.Subject, rec *check.Recorder) error {
	if sub.Session == nil {
		return &failure.Error{Kind: failure.Usage, Stage: Name, Message: "there is no server to try, only what it listed"}
	}
	t, err := newTarget(sub, cmp.Or(s.o.Wait, defaultWait), cmp.Or(s.o.leave, transport.Leave))
	if err != nil {
		return err
	}
	defer t.close()
	r := &run{target: t, rec: rec, selected: s.o.Rules, command: s.o.Repro}
	eras, err := t.eras(ctx)
	if err != nil {
		return err
	}
	table := tables()
	total := len(table) * len(eras)
	for _, revision := range eras {
		r.beginRevision(revision)
		for i := range table {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			rec.Step(r.done, total, table[i].name)
			r.try(ctx, &table[i])
			r.done++
		}
		r.reportHabits()
		r.closeShared()
	}
	t.log.finish()
	r.reportObserved()
	if len(r.unknown) > 0 {
		rec.Figures(check.Figures{Value: map[string][]string{"unknown": r.unknown}, Notes: []string{
			"tried without learning anything, for good requests failed, or the answer was late or an internal error: " + strings.Join(r.unknown, ", "),
		}})
	}
	if matches(s.o.Rules, suiteFailed) && s.o.Suite != nil {
		return s.o.Suite.run(ctx, t, r, eras)
	}
	return nil
}

// eras are the revisions to try, the modern one first: what the server answers to the newest of each era. They are asked for over connections
// whose answers are not checked. A configuration that names a revision has that one tried alone. There is at least one, or an error.
func (t *target) eras(ctx context.Context) ([]string, error) {
	var out []string
	if t.pinned == "" || t.pinned >= modern {
		c := t.connection(modern)
		c.unchecked.Store(true) // a server of the other era answers as it likes
		ok, err := c.discoverOrInitialize(ctx)
		c.close()
		if err != nil && t.sub.Era == session.Modern {
			return nil, err
		}
		if ok {
			out = append(out, modern)
		}
	}
	if t.pinned != "" && t.pinned >= modern {
		return out, nil
	}
	c := t.connection(rev2511)
	c.unchecked.Store(true)
	defer c.close()
	if t.pinned != "" {
		c.revision = t.pinned
	}
	a, err := c.initialize(ctx, c.revision)
	switch {
	case err != nil && len(out) == 0:
		return nil, err
	case err == nil && a.result() != nil:
		out = append(out, c.revision)
	}
	if len(out) == 0 {
		return nil, &failure.Error{Kind: failure.Protocol, Stage: Name, Message: "the server answers neither initialize nor server/discover"}
	}
	return out, nil
}

// protocol is the revision that a configuration names, "" for none.
func protocol(cfg config.Server) string {
	if cfg.Protocol == config.Auto {
		return ""
	}
	return cfg.Protocol
}
