package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/conform"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/check/fuzz"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/views"
)

// lockedSection compares with a lock that it reads when it runs.
type lockedSection struct {
	*contract.Section
	read func() (*contract.Lock, error)
}

// Run reads the lock, and compares.
func (s lockedSection) Run(ctx context.Context, subject *check.Subject, r *check.Recorder) error {
	lock, err := s.read()
	if err != nil {
		return err
	}
	return (&contract.Section{File: s.File, Lock: lock}).Run(ctx, subject, r)
}

// uiChecks is how the UI examines servers: as the flags of the sections have it by default. lock reads the lock of the project,
// nil for none. Connections are recorded in own, which is not the journal of the screens: nobody made those calls.
func uiChecks(o session.Options, own *journal.Journal, lock func() (*contract.Lock, error)) views.Checks {
	o.Journal = own
	file := findLock(".")
	return views.Checks{
		Tool: check.Tool{Name: "mcphud", Version: version()},
		Sections: func(srv config.Server) []views.CheckSection {
			portable, _ := lint.New(lint.Options{})    // what is wrong with options is wrong with the names of clients
			rules, _ := conform.New(conform.Options{}) // the same with the ids of rules
			out := []views.CheckSection{{Section: portable}, {Section: &cost.Section{}}}
			if lock != nil {
				out = append(out, views.CheckSection{Section: lockedSection{&contract.Section{File: file}, lock}})
			}
			return append(out, views.CheckSection{Section: &safety.Section{}}, views.CheckSection{Section: rules, Calls: true},
				views.CheckSection{Section: fuzz.Section(fuzz.Options{
					Seed: 1 + rand.Uint64N(1_000_000), Runs: 100, For: time.Minute, Timeout: 5 * time.Second, Journal: own,
					Repro: func(c fuzz.Call) string {
						line, _ := callAgain(c).On(srv) // "" where there is none
						return line
					},
				}), Calls: true})
		},
		Open: func(ctx context.Context, srv config.Server) (*session.Session, func(), error) {
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
