// Package doctor says why a server does not connect, or that it does: it connects the way everybody does, stage by stage, and
// keeps at each what it saw, how long it took, and what to do about it. It never calls a tool.
//
// There is one attempt to connect, that of the session itself, and the stages read off it how far it came: what the journal and
// the HTTP trace have. So a diagnosis cannot disagree with what users meet. A stage that waits for something goes on when that is
// there, or when connecting is over; what it saw is kept also where a later stage is the one that failed.
package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Status is how far a step is, and how it went.
type Status string

// The states of a step. Pending is one that did not begin yet.
const (
	Pending Status = "pending"
	Running Status = "running"
	OK      Status = "ok"
	Warning Status = "warning" // it works, and somebody should look at it
	Failed  Status = "failed"
	Skipped Status = "skipped" // there was nothing to look at, or an earlier step failed
)

// Step is one stage of a diagnosis. Its texts may hold what a server says; secrets are masked.
type Step struct {
	ID       string // of the stage, as in Plan; scripts may rely on it
	Title    string // of the stage, for people
	Status   Status
	Evidence []string       // what was seen: the first one sums it up; at most maxEvidence lines and one that says that there are more
	Took     time.Duration  // including what it waited for; 0 for a step that was left out
	Fix      string         // what to do; "" where there is nothing to do
	Remedy   failure.Remedy // what mcphud can do about it; "" for nothing
	Object   string         // what the remedy is about
	Kind     failure.Kind   // of a failed step
}

// Target is the server to diagnose, as it is configured.
type Target struct {
	// Server is the entry, with its problem if it has one: a diagnosis says that as well.
	Server config.Server
	// Warnings are those about the file of the entry; nil for none.
	Warnings []config.Warning
}

// Options bound a diagnosis, and say what it may use of its caller. The zero value is usable.
type Options struct {
	// Timeout is how long all of it may take; 0 is what connecting may take, and half a minute.
	Timeout time.Duration
	// Journal has all that is said and written, beside what else is in it; nil for one of our own that nobody sees.
	Journal *journal.Journal
	// Session is what the sessions of whoever asks are made with. Its journal, who answers questions and health checks are our own.
	Session session.Options
	// Home is the user's home folder, which is written as ~; "" for none.
	Home string
	// Version is that of mcphud, for the report.
	Version string
	// Watch is told of the manager whose sessions a diagnosis uses; nil for nobody.
	Watch func(*session.Manager)
}

// pings is how many round trips are measured.
const pings = 5

// Bounds of what is kept of a step, as reports are pasted into issues.
const (
	maxEvidence = 24  // lines
	maxLine     = 400 // bytes of a line once its secrets are masked
)

// Plan is the steps of a diagnosis, in order, none of which has begun. Run reports the same IDs, each at least once.
func Plan(s config.Server) (steps []Step) {
	for _, st := range stagesOf(s) {
		steps = append(steps, Step{ID: st.id, Title: st.title, Status: Pending})
	}
	return steps
}

// Run looks at a server and returns when nothing of that is left: no process, no connection. report, which may be nil, hears of
// each step when it begins, when more is known, and when it is over; one that is over can turn out to have failed. It is called
// by one goroutine, that of Run, which waits for it. A context that ends leaves the rest out.
func Run(ctx context.Context, t Target, o Options, report func(Step)) Report {
	if o.Timeout <= 0 { // connecting, and what comes after it
		o.Timeout = t.Server.ConnectLimit() + 30*time.Second
	}
	if report == nil {
		report = func(Step) {}
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r := newRun(limited, t, o, report)
	for _, st := range stagesOf(t.Server) {
		r.stage(st)
	}
	r.close()
	return r.report(ctx.Err() != nil, began)
}

// needs is what a stage cannot do without.
type needs int

const (
	nothing    needs = iota // it looks at the entry alone, also where that cannot be started
	anEntry                 // that can be started
	connection              // a server that answered the handshake
	trouble                 // a connection that could not be made
)

// stage is one row of the plan. look sets the status of a step that is not simply ok, and may call run.notify on the way.
type stage struct {
	id, title string // as Step has them
	needs     needs  // without which it is skipped, with the reason
	look      func(*run, *Step)
}

// stagesOf is the plan for a kind of server. Later stages revise what earlier ones saw only by run.revise.
func stagesOf(s config.Server) []stage {
	first := []stage{
		{"config", "Configuration", nothing, (*run).config},
		{"variables", "Variables", nothing, (*run).variables},
	}
	last := []stage{
		{"era", "Protocol version", connection, (*run).era},
		{"capabilities", "Capabilities", connection, (*run).capabilities},
		{"schemas", "Schemas of tools", connection, (*run).schemas},
		{"rules", "Protocol rules", connection, (*run).rules},
		{"latency", "Latency", connection, (*run).latency},
		{"shutdown", "Shutdown", connection, (*run).shutdown},
	}
	middle := []stage{
		{"program", "Program", nothing, (*run).program},
		{"runtime", "Runtime", nothing, (*run).runtime},
		{"spawn", "Start", anEntry, (*run).spawn},
		{"handshake", "Handshake", anEntry, (*run).handshake},
		{"stderr", "Standard error", anEntry, (*run).stderr},
		{"stdout", "Standard output", anEntry, (*run).stdout},
	}
	if s.NeedsToken() {
		// After the handshake, which says that a login is needed.
		middle = slices.Insert(middle, 4, stage{"oauth", "Login (OAuth)", anEntry, (*run).oauth})
	}
	if remote(s) {
		middle = []stage{
			{"proxy", "Proxy", anEntry, (*run).proxy},
			{"dns", "Name (DNS)", anEntry, (*run).dns},
			{"tcp", "Connection (TCP)", anEntry, (*run).tcp},
			{"tls", "Encryption (TLS)", anEntry, (*run).tls},
			{"http", "HTTP", anEntry, (*run).http},
			{"handshake", "Handshake", anEntry, (*run).handshake},
			{"path", "Path of the URL", trouble, (*run).path},
			{"oauth", "Login (OAuth)", anEntry, (*run).oauth},
		}
		last = slices.Insert(last, len(last)-1, stage{"card", "Server card", connection, (*run).card})
	}
	return append(append(first, middle...), last...)
}

// stage goes through one, or says why not.
func (r *run) stage(st stage) {
	s := &Step{ID: st.id, Title: st.title, Status: Running}
	r.steps = append(r.steps, s)
	why := ""
	switch {
	case errors.Is(r.ctx.Err(), context.DeadlineExceeded):
		why = "the diagnosis took longer than " + text.Duration(r.opts.Timeout)
	case r.ctx.Err() != nil:
		why = "cancelled"
	case st.needs != nothing && r.blocked != "":
		why = r.blocked
	case st.needs == connection && !r.isConnected():
		why = "the server is not connected"
	case st.needs == trouble && (r.isConnected() || r.wantsLogin()):
		why = "the server answered at this URL"
	}
	if why != "" {
		s.Status, s.Evidence = Skipped, []string{why}
		r.notify(s)
		return
	}
	r.notify(s)
	start := time.Now()
	st.look(r, s)
	s.Took = time.Since(start)
	if s.Status == Running {
		s.Status = OK
	}
	// What fails because somebody ended the diagnosis says nothing about the server.
	if r.ctx.Err() != nil && s.Status == Failed && s.Kind == failure.Interrupted {
		s.Status, s.Evidence, s.Fix = Skipped, []string{"cancelled"}, ""
	}
	r.notify(s)
}

// fail makes a step the one that says why. what goes before all that was seen so far, as the first line sums up.
func (s *Step) fail(kind failure.Kind, what, fix string) {
	s.Status, s.Kind, s.Fix = Failed, kind, fix
	s.Evidence = append([]string{what}, s.Evidence...)
}

// warn makes a step one that somebody should look at. One that failed stays so, and the first fix stays: it is the one most people need.
func (s *Step) warn(what, fix string) {
	if s.Status == Failed {
		s.add(what)
		return
	}
	s.Status = Warning
	if s.Fix == "" {
		s.Fix = fix
	}
	s.Evidence = append([]string{what}, s.Evidence...)
}

// skip leaves a step out.
func (s *Step) skip(why string) {
	s.Status = Skipped
	s.Evidence = append([]string{why}, s.Evidence...)
}

// add adds what was seen, without blank lines. The lines may be the server's: clean masks and bounds them before anybody has them.
func (s *Step) add(lines ...string) {
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			s.Evidence = append(s.Evidence, l)
		}
	}
}

// setError makes an error of the session the outcome: what it says, what it advises, and what mcphud can do about it.
func (s *Step) setError(err error) {
	var e *failure.Error
	if !errors.As(err, &e) {
		kind := failure.KindOf(err)
		if kind == "" {
			kind = failure.Transport
		}
		s.fail(kind, err.Error(), "")
		return
	}
	s.fail(e.Kind, e.What(), e.Next)
	s.Remedy, s.Object = e.Remedy, e.Object
}

// remote is whether a server is reached by a URL.
func remote(s config.Server) bool { return s.Command == "" && s.URL != "" }
