package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
)

// serverSection is what the run itself finds: it is in each report, first.
type serverSection struct{}

func (serverSection) Name() string   { return "server" }
func (serverSection) Title() string  { return "the server answers, to the end" }
func (serverSection) Rules() []*Rule { return rules.Of("server") }

func (serverSection) Run(_ context.Context, s *Subject, r *Recorder) error {
	for _, k := range kinds {
		err := s.Failed[k]
		if err == nil {
			continue
		}
		f := Finding{Place: Place{Kind: OfServer}, Key: k.Method(), Message: k.Method() + ": the list could not be read: " + reason(err)}
		severity := Error
		if unknownMethod(err) {
			f.Message = k.Method() + " is declared, and not implemented"
			if k != offer.Tools { // the other lists work
				severity = rules.Find("live", "capability-empty").Severity
			}
		}
		r.AddSeverity(severity, "server/list-failed", f)
	}
	return nil
}

// reason is why a list could not be read.
func reason(err error) string {
	var e *failure.Error
	if errors.As(err, &e) && e.Kind == failure.RpcError && e.Code != nil {
		return fmt.Sprintf("error %d: %s", *e.Code, text.FirstLine(e.Message))
	}
	return err.Error()
}

// Server is the section that says what Run itself finds, for lists of rules. Run has it by itself.
func Server() Section { return serverSection{} }

// Run examines s by the sections, one after the other. A server that dies is a finding, and is connected to again for the next section.
// The error is that of ctx; the report has what was found until then.
func Run(ctx context.Context, s *Subject, sections []Section, tool Tool, w Watch) (*Report, error) {
	began := time.Now()
	rep := &Report{Version: Version, Tool: tool, Began: began.UTC(), Findings: []Finding{}, Sections: []SectionReport{}, Server: ServerReport{
		Name: s.Server, Title: s.Name, Version: s.Version, Protocol: s.Protocol, Transport: s.Transport,
		Tools: len(s.Tools), Prompts: len(s.Prompts), Resources: len(s.Resources), Templates: len(s.Templates),
	}}
	own := NewRecorder(serverSection{}, w)
	var ran []*Recorder
	s.Sections = nil
	for _, section := range sections {
		s.Sections = append(s.Sections, section.Name())
	}
	for _, section := range slices.Concat([]Section{serverSection{}}, sections) {
		if ctx.Err() != nil {
			if lists := s.unread(); len(rep.Sections) == 0 && len(lists) > 0 {
				rep.Sections = append(rep.Sections, SectionReport{Name: own.section, Title: section.Title(), Error: "interrupted while " + strings.Join(lists, ", ") + " was not answered"})
			}
			break
		}
		rec := own
		if section.Name() != own.section {
			rec = NewRecorder(section, w)
		}
		rep.Sections = append(rep.Sections, runSection(ctx, section, s, rec, own, w))
		ran = append(ran, rec)
	}
	for i, section := range sections {
		last, ok := section.(Afterwards)
		if !ok || len(ran) <= i+1 || ctx.Err() != nil {
			continue
		}
		rec, out := ran[i+1], &rep.Sections[i+1] // the first is own
		if err := recoverSection(ctx, last.Name(), s, rec, last.After); err != nil && ctx.Err() == nil {
			out.Error, out.failed = cmp.Or(out.Error, err.Error()), cmp.Or(out.failed, err)
			own.setFailed(last.Name(), err)
		}
		rec.fill(out)
		if w.End != nil {
			w.End(*out)
		}
	}
	if len(ran) > 0 && ctx.Err() == nil && !slices.ContainsFunc(ran, (*Recorder).hasStdoutFinding) && stdout(s, own) {
		if own.fill(&rep.Sections[0]); w.End != nil {
			w.End(rep.Sections[0])
		}
	}
	rep.Findings = append(rep.Findings, own.findings...)
	for _, rec := range ran {
		if rec != own {
			rep.Findings = append(rep.Findings, rec.findings...)
		}
	}
	rep.Millis = millis(time.Since(began))
	rep.Interrupted = ctx.Err() != nil
	rep.Recount()
	return rep, ctx.Err()
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func runSection(ctx context.Context, section Section, s *Subject, rec, own *Recorder, w Watch) SectionReport {
	if w.Begin != nil {
		w.Begin(section.Name())
	}
	began := time.Now()
	out := SectionReport{Name: section.Name(), Title: section.Title()}
	err := alive(ctx, s)
	var rev uint64
	if s.Session != nil {
		rev = s.Session.Rev()
	}
	if err == nil {
		err = recoverSection(ctx, section.Name(), s, rec, section.Run)
	}
	if ctx.Err() == nil {
		why := closedReason(ctx, s, rev)
		switch {
		case why != "":
			own.Add("server/died", Finding{Place: Place{Kind: OfServer}, Key: section.Name(), Message: "in section " + section.Name() + ": " + text.Clip(text.FirstLine(why), 300), Evidence: why})
		case err != nil:
			own.setFailed(section.Name(), err)
		}
	}
	if err != nil && ctx.Err() != nil {
		out.Error = Interrupted
	} else if err != nil {
		out.Error, out.failed = err.Error(), err
	} else if reader, is := section.(ListReader); is && reader.ReadsLists() {
		if lists := s.unread(); len(lists) > 0 { // a finding says why
			out.Error = "nothing is known of " + strings.Join(lists, ", ") + ", which could not be read"
			if len(s.Lists) > 0 {
				out.Error += "; the other lists were examined"
			}
		}
	}
	out.Millis = millis(time.Since(began))
	rec.fill(&out)
	if w.End != nil {
		w.End(out)
	}
	return out
}

// fill takes over what a recorder has.
func (r *Recorder) fill(out *SectionReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.figures; f != nil {
		out.Figures, _ = json.Marshal(f.Value) // sections keep what can be written
		out.Table, out.Notes = f.Table, f.Notes
	}
	out.Outcomes, out.Counts = r.outcomes, Counts{}
	for _, f := range r.findings {
		out.Counts.Count(f)
	}
}

// setFailed says that a section could not be finished. What is wrong on this machine says nothing about the server: [Report.Own] has it.
func (r *Recorder) setFailed(section string, err error) {
	if failure.KindOf(err) == failure.Usage {
		return
	}
	r.Add("server/section-failed", Finding{Place: Place{Kind: OfServer}, Key: section, Message: section + ": " + err.Error()})
}

// pingLimit is how long a server may take to say that it is still there. One that only hangs has not died.
const pingLimit = 2 * time.Second

// closedReason is why the connection of the subject is closed, "" where it is not. A call fails before its session says so: where something went
// over the connection since rev, the server is asked.
func closedReason(ctx context.Context, s *Subject, rev uint64) string {
	if s.Session == nil {
		return ""
	}
	why := "the connection is closed"
	if st := s.Session.Status(); st.State == session.Connected {
		if st.Rev == rev {
			return ""
		}
		ctx, cancel := context.WithTimeout(ctx, pingLimit)
		_, err := s.Session.Ping(ctx)
		cancel()
		if isUnreachable(err) {
			why = err.Error()
			_ = s.Session.Disconnect() // the next section begins with a new connection
		} else if s.Session.Status().State == session.Connected {
			return ""
		}
	}
	if st := s.Session.Status(); st.Err != nil {
		why = st.Err.Error()
	}
	return why
}

// isUnreachable reports whether an error says that nobody is there any more. A server that answers, with whatever status, is.
func isUnreachable(err error) bool {
	var e *failure.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Kind == failure.ChannelClosed || e.Kind == failure.ServerNotConnected || e.Kind == failure.Transport && e.Status == 0
}

// alive connects again to a server that is gone.
func alive(ctx context.Context, s *Subject) error {
	if s.Session == nil || s.Session.Status().State == session.Connected {
		return nil
	}
	return s.Session.Connect(ctx)
}

// unread are the methods of lists that there may be and that could not be read.
func (s *Subject) unread() (out []string) {
	for _, k := range kinds {
		if err := s.Failed[k]; err != nil && !unknownMethod(err) {
			out = append(out, k.Method())
		}
	}
	return out
}

// recoverSection makes a panic of a section an error: the others go on.
func recoverSection(ctx context.Context, name string, s *Subject, rec *Recorder, run func(context.Context, *Subject, *Recorder) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &failure.Error{Stage: name, Message: "a fault of the check itself: " + mask.Log(fmt.Sprint(p)), Detail: string(debug.Stack())}
		}
	}()
	return run(ctx, s, rec)
}
