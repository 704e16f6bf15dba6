package doctor

import (
	"cmp"
	"encoding/json"
	"runtime"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
)

// Report is the outcome of a diagnosis, secrets masked.
type Report struct {
	Server    string // its name
	Target    string // command line or URL
	Source    string // file and line of the entry
	Steps     []Step // all of the plan, in order, none of them pending or running
	Started   time.Time
	Took      time.Duration
	Cancelled bool   // by the caller's context; a time limit of the diagnosis is not that
	Version   string // of mcphud
}

// report is made once all is closed.
func (r *run) report(cancelled bool, began time.Time) Report {
	rep := Report{
		Server: r.hide(r.server.Name), Source: r.hide(r.server.Source.String()), Started: began, Took: time.Since(began), Cancelled: cancelled,
		Version: cmp.Or(r.opts.Version, "devel"),
	}
	// A URL may have a secret in its query or before its host.
	if rep.Target = r.hide(r.commandLine()); remote(r.server) {
		rep.Target = r.hide(mask.URL(r.server.URL))
	}
	for _, s := range r.steps {
		rep.Steps = append(rep.Steps, r.clean(*s))
	}
	return rep
}

// First is the first step with a status, a part of Steps; nil if there is none.
func (r Report) First(of Status) *Step {
	for i := range r.Steps {
		if r.Steps[i].Status == of {
			return &r.Steps[i]
		}
	}
	return nil
}

// Status is the worst of its steps: failed, warning or ok.
func (r Report) Status() Status {
	for _, s := range []Status{Failed, Warning} { // skipped ones count as ok: most are for other kinds of servers
		if r.First(s) != nil {
			return s
		}
	}
	return OK
}

// Connected reports whether the handshake was answered, even where a later step failed.
func (r Report) Connected() bool {
	for _, s := range r.Steps {
		if s.ID == "era" {
			return s.Status == OK || s.Status == Warning
		}
	}
	return false
}

// Err is the first failure, nil where nothing failed: later ones most often follow from it. Its Stage is the ID of the step.
func (r Report) Err() *failure.Error {
	s := r.First(Failed)
	if s == nil {
		return nil
	}
	e := &failure.Error{Kind: s.Kind, Server: r.Server, Stage: s.ID, Next: s.Fix, Remedy: s.Remedy, Object: s.Object}
	if len(s.Evidence) > 0 {
		e.Message = s.Evidence[0]
	}
	return e
}

// stepJSON is a Step for scripts: durations in milliseconds, evidence never null.
type stepJSON struct {
	ID       string       `json:"id"`
	Title    string       `json:"title"`
	Status   Status       `json:"status"`
	Ms       float64      `json:"ms"`
	Evidence []string     `json:"evidence"`
	Fix      string       `json:"fix,omitempty"`
	Remedy   string       `json:"remedy,omitempty"`
	Kind     failure.Kind `json:"kind,omitempty"`
}

// MarshalJSON is the report for scripts and bug reports. Names stay; durations are in milliseconds, started is in UTC, steps and evidence
// are never null. go and system are what mcphud was built with and runs on.
func (r Report) MarshalJSON() ([]byte, error) {
	out := struct {
		Server    string       `json:"server"`
		Target    string       `json:"target"`
		Source    string       `json:"source"`
		Status    Status       `json:"status"`
		Connected bool         `json:"connected"`
		Kind      failure.Kind `json:"kind,omitempty"` // of the first failure
		Cancelled bool         `json:"cancelled,omitempty"`
		Started   time.Time    `json:"started"`
		Ms        float64      `json:"ms"`
		Mcphud    string       `json:"mcphud"`
		Go        string       `json:"go"`
		System    string       `json:"system"`
		Steps     []stepJSON   `json:"steps"`
	}{
		r.Server, r.Target, r.Source, r.Status(), r.Connected(), "", r.Cancelled, r.Started.UTC().Truncate(time.Millisecond), ms(r.Took),
		r.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
		[]stepJSON{},
	}
	if e := r.Err(); e != nil {
		out.Kind = e.Kind
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, stepJSON{s.ID, s.Title, s.Status, ms(s.Took), append([]string{}, s.Evidence...), s.Fix, string(s.Remedy), s.Kind})
	}
	return json.Marshal(out)
}

// ms is a duration in milliseconds, with three decimals.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
