package check

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	checkload "github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/session/check/cases"
	"github.com/mcphud/mcphud/session/check/conform"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/check/fuzz"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	checkview "github.com/mcphud/mcphud/views/check"
)

// lockedSection compares with a lock that it reads when it runs.
type lockedSection struct {
	*contract.Section
	of *contract.Project
}

// Run reads the lock, and compares.
func (s lockedSection) Run(ctx context.Context, subject *check.Subject, r *check.Recorder) error {
	lock, err := s.of.Read()
	if err != nil {
		return err
	}
	file, _, _ := s.of.State()
	return (&contract.Section{File: file, Lock: lock}).Run(ctx, subject, r)
}

// absent is why there is nothing to compare with. A lock that cannot be read is for Run to report.
func (s lockedSection) absent() string {
	if lock, err := s.of.Read(); lock == nil && err == nil {
		return "there is no " + contract.FileName + " yet"
	}
	return ""
}

// uiCases is the section of the project's named calls that are about one server. Its files are read when it runs.
type uiCases struct {
	*cases.Section
	a   *app
	srv config.Server
}

// files are those about the server. Nothing is asked, and nothing written, on the terminal that the screens have.
func (s uiCases) files() (*casesFlags, error) {
	quiet := s.a.copied()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	quiet.Standard, quiet.Options.Journal, quiet.Options.LogLevel = cli.Standard{In: null, Out: null, Err: null}, "", ""
	f := &casesFlags{a: quiet}
	f.run.Concurrency = runner.UsualFiles
	return f, nil
}

// absent is why no call would be made.
func (s uiCases) absent() string {
	f, err := s.files()
	if err != nil {
		return ""
	}
	defer f.a.In.Close()
	if _, err := f.about(s.srv.Name); errors.Is(err, errNotHere) {
		return "no named call is about this server"
	}
	return "" // what is wrong with the files is for Run to report
}

// Run makes the calls, each file over a connection of its own.
func (s uiCases) Run(ctx context.Context, subject *check.Subject, r *check.Recorder) error {
	f, err := s.files()
	if err != nil {
		return err
	}
	defer f.a.In.Close()
	files, err := f.about(s.srv.Name)
	if err != nil {
		return err
	}
	run, err := runner.PrepareRun(ctx, f.a.App, files, func(func() (config.Server, error)) (config.Server, error) { return s.srv, nil }, nil, f.run)
	if err != nil {
		return err
	}
	return run.Section(run.All).Run(ctx, subject, r)
}

// safetyHere is the section safety with the lock and the pins as they are when it runs. A run of the section contract says what changed
// since the lock by itself.
type safetyHere struct {
	*safety.Section
	server config.Server
	of     *contract.Project
}

// Run reads what the tools are compared with, and looks.
func (s safetyHere) Run(ctx context.Context, subject *check.Subject, r *check.Recorder) (err error) {
	if s.Lock, err = s.of.Read(); err != nil {
		return err
	}
	if s.Pins, s.Notes, err = pinsOf(s.server, ""); err != nil {
		return err
	}
	return s.Section.Run(ctx, subject, r)
}

// UIChecks is how the UI examines servers: as the flags of the sections have it by default. Connections are recorded in own, which is not
// the journal of the screens: nobody made those calls.
func UIChecks(of *cli.App, o session.Options, own *journal.Journal, lock *contract.Project) checkview.Checks {
	a := &app{of}
	how := o
	how.Journal, how.Record = nil, nil // of thousands of requests
	seen := o.Journal                  // what the calls of the screens brought
	o.Journal = own
	return checkview.Checks{
		Tool: report.CheckTool(),
		Sections: func(srv config.Server) []checkview.CheckSection {
			portable, _ := lint.New(lint.Options{})    // what is wrong with options is wrong with the names of clients
			rules, _ := conform.New(conform.Options{}) // the same with the ids of rules
			locked, named := lockedSection{&contract.Section{}, lock}, uiCases{&cases.Section{}, a, srv}
			return []checkview.CheckSection{
				{Section: portable},
				{Section: &cost.Section{Budget: a.Preferences().TokenBudget}},
				{Section: locked, Absent: locked.absent},
				{Section: safetyHere{&safety.Section{Journal: seen}, srv, lock}},
				{Section: rules, Calls: true},
				{Section: fuzz.Section(fuzz.Options{
					Seed: 1 + rand.Uint64N(1_000_000), Runs: 100, For: time.Minute, Timeout: 5 * time.Second, Journal: own,
					Repro: func(c fuzz.Call) string {
						line, _ := callAgain(c).On(srv) // "" where there is none
						return line
					},
				}), Calls: true},
				{
					Section: &checkload.Section{Options: how, Tool: "mcphud " + cli.Version()}, Calls: true,
					Asks: "It sends some hundreds of requests within a few seconds, up to 8 at once, over connections of its own. They only read: tools/list or ping.",
				},
				{
					Section: named, Calls: true, Absent: named.absent,
					Asks: "It makes the calls that the files in .mcphud/calls name, with their arguments, over connections of its own. Tools that are marked as destructive are not called.",
				},
			}
		},
		Open: func(ctx context.Context, srv config.Server) (*session.Session, func(), error) {
			srv.NoReconnect = true // whether it died is for the check to see
			m := session.NewManager(o)
			end := func() { _ = m.Close() } // nobody asked it for anything else
			s, err := m.Register(srv)
			if err == nil {
				err = s.Connect(ctx)
			}
			if err != nil {
				end()
				return nil, nil, err
			}
			return s, end, nil
		},
	}
}

// copied is a run of its own with the same settings.
func (a *app) copied() *app {
	b := *a.App
	return &app{&b}
}
