package check

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
)

// Checks is how servers are examined.
type Checks struct {
	// Sections makes all sections for a server, in the order in which they run; nil for none.
	Sections func(config.Server) []CheckSection
	// Tool is this program, for reports.
	Tool check.Tool
	// Open connects to a server once more, until end is called; nil where there is no way. Sections that call it get such a connection,
	// so that what they do leaves the one of the screens alone.
	Open func(ctx context.Context, srv config.Server) (s *session.Session, end func(), err error)
}

// CheckSection is a section as the screen runs it.
type CheckSection struct {
	check.Section
	// Calls is whether it asks the server for more than its lists. Such a section has a connection of its own, and is asked for first.
	Calls bool
	// Asks is what a person agrees to then; "" is that tools are called with arguments that nobody wrote.
	Asks string
	// Absent says why there is nothing to do for it, "" where there is; nil is never. It may read files, and is called when the section would run.
	Absent func() string
}

// States of a section.
const (
	awaited = iota
	underWay
	examined
	leftOut // cancelled, before it ended; or there was nothing to do
)

// checkPart is what is known of one section.
type checkPart struct {
	name, title string
	rules       int
	state       int
	absent      string // why there was nothing to do, "" where there was
	progress    check.Progress
	findings    []check.Finding // grows; what is in it does not change
	counts      check.Counts
	report      check.SectionReport
}

// examination is what is known of one server. A section that runs again replaces what it found before.
type examination struct {
	op     uint64 // 0 while none runs
	began  time.Time
	took   time.Duration
	report *check.Report // of the last run, nil before one ended
	err    error         // why the last run could not begin

	mu    sync.Mutex
	rev   int
	parts []*checkPart
}

// plan says that sections will run, out of all that there are.
func (x *examination) plan(all []check.Section, chosen []check.Section) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rev++
	var parts []*checkPart
	for _, s := range slices.Concat([]check.Section{check.Server()}, all) {
		runs := s.Name() == check.Server().Name() || slices.ContainsFunc(chosen, func(c check.Section) bool { return c.Name() == s.Name() })
		if old := x.part(s.Name()); !runs && old != nil {
			parts = append(parts, old)
		} else if runs {
			parts = append(parts, &checkPart{name: s.Name(), title: s.Title(), rules: len(s.Rules())})
		}
	}
	x.parts = parts
}

func (x *examination) part(name string) *checkPart {
	for _, p := range x.parts {
		if p.name == name {
			return p
		}
	}
	return nil
}

// watch takes what happens, and calls changed each time.
func (x *examination) watch(changed func()) check.Watch {
	with := func(name string, f func(*checkPart)) {
		x.mu.Lock()
		if p := x.part(name); p != nil {
			f(p)
			x.rev++
		}
		x.mu.Unlock()
		changed()
	}
	return check.Watch{
		Begin:    func(name string) { with(name, func(p *checkPart) { p.state = underWay }) },
		Progress: func(g check.Progress) { with(g.Section, func(p *checkPart) { p.progress = g }) },
		Found: func(f check.Finding) {
			with(f.Rule.Section(), func(p *checkPart) {
				p.findings = append(p.findings, f)
				p.counts.Count(f)
			})
		},
		End: func(r check.SectionReport) { with(r.Name, func(p *checkPart) { p.state, p.report = examined, r }) },
	}
}

// absent leaves a section out.
func (x *examination) absent(name, why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.part(name); p != nil {
		p.state, p.absent = leftOut, why
		x.rev++
	}
}

// end says that nothing of the run goes on any more.
func (x *examination) end() {
	x.op, x.took = 0, time.Since(x.began)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rev++
	for _, p := range x.parts {
		if p.state < examined {
			p.state = leftOut
		}
	}
}

// snapshot is what is known now, and how often it changed.
func (x *examination) snapshot() (parts []checkPart, rev int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.parts {
		now := *p
		now.findings = slices.Clip(now.findings)
		parts = append(parts, now)
	}
	return parts, x.rev
}

// merged is one report of all sections that ran.
func (x *examination) merged() *check.Report {
	parts, _ := x.snapshot()
	r := *x.report
	r.Sections, r.Findings = nil, nil
	for _, p := range parts {
		if p.state == examined {
			r.Sections = append(r.Sections, p.report)
			r.Findings = append(r.Findings, p.findings...)
		}
	}
	r.Recount()
	return &r
}

// examine runs sections on a server that is connected, or that it connects to once more where they call it. Its names are compared with
// those of beside as far as these are connected. Sections that have nothing to do are given to absent.
func (d Checks) examine(ctx context.Context, s *session.Session, beside []*session.Session, sections []CheckSection, w check.Watch, absent func(name, why string)) (*check.Report, error) {
	sections = slices.DeleteFunc(slices.Clone(sections), func(c CheckSection) bool {
		why := ""
		if c.Absent != nil {
			why = c.Absent()
		}
		if why != "" {
			absent(c.Name(), why)
		}
		return why != ""
	})
	if slices.ContainsFunc(sections, func(c CheckSection) bool { return c.Calls }) && d.Open != nil {
		own, end, err := d.Open(ctx, s.Config())
		if err != nil {
			return nil, err
		}
		defer end()
		s = own
	}
	o, err := check.Take(ctx, s)
	if err != nil {
		return nil, err
	}
	subject := &check.Subject{Offer: o, Session: s, Others: others(ctx, s.Name(), beside)}
	if d.Open != nil {
		subject.Again = func(ctx context.Context, change func(*config.Server)) (*session.Session, func(), error) {
			cfg := s.Config()
			if change != nil {
				change(&cfg)
			}
			return d.Open(ctx, cfg)
		}
	}
	run := make([]check.Section, 0, len(sections))
	for _, c := range sections {
		run = append(run, c.Section)
	}
	return check.Run(ctx, subject, run, d.Tool, w)
}

// othersWait is for the tools of all other servers together: none of them holds up the check of one that answers.
const othersWait = 3 * time.Second

// others are the tools of the connected servers but one, from memory where they were listed before.
func others(ctx context.Context, but string, all []*session.Session) (out []check.Offer) {
	ctx, cancel := context.WithTimeout(ctx, othersWait)
	defer cancel()
	for _, s := range all {
		if s.Name() == but || s.Status().State != session.Connected || !s.Supports(offer.Tools.Method()) {
			continue
		}
		l, err := s.List(ctx, offer.Tools)
		if err != nil {
			l = s.Listing(offer.Tools)
		}
		out = append(out, check.Offer{Server: s.Name(), Tools: l.Items})
	}
	return out
}
