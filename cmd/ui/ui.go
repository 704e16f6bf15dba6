// Package ui opens the terminal UI, for the verbs that end in it.
package ui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/report"
	verbcheck "github.com/mcphud/mcphud/cmd/verb/check"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
	stackview "github.com/mcphud/mcphud/views/stack"
)

// Stack is a stack below the UI.
type Stack struct {
	View   stackview.Stack
	Attach func(context.Context, *tui.Config, *session.Manager, *sync.WaitGroup) error // connects to servers as they become ready
}

// Start is what the UI is opened on.
type Start struct {
	Servers  []config.Server
	Settings config.Settings
	Warnings []config.Warning
	Auto     []string // servers to connect to at once, beside the screen
	Connect  string   // server to connect to at once, so that it starts while the screen does
	Open     string   // server to open from the list, which asks for trust first
	Stack    *Stack
	Configs  *servers.Configs
	Read     *config.Set // what the files of configs said, which are followed then
}

// Open runs the terminal UI. Everything that it started is gone when it returns.
func Open(ctx context.Context, a *cli.App, start Start) (err error) {
	j, done, err := a.Journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	var late *time.Timer // says what leaving waits for
	defer func() {
		if late != nil {
			late.Stop()
		}
	}()
	trust := a.Options.Trust()
	o, err := a.SessionOptions(start.Settings)
	if err != nil {
		return err
	}
	o.Journal, o.Patient, o.ResultTTL = j, true, start.Settings.ResultCacheTTL
	o.Pending = a.Questions(true)
	o.Tracing = a.TracingOf(start.Stack != nil)
	defer a.ExportCalls(j, io.Discard)()
	hops := cli.NewHops(ctx, j, &o)
	defer hops.Close()
	if a.Options.Session != "" {
		if st, err := kept.StatusOf(ctx, a.Options.Session); err == nil && st.Tap != "" { // connecting says what is wrong
			defer tap.JoinOne(ctx, j, st.Tap).Close()
		}
	}
	calls := a.KeptCalls()
	o.Record = calls.Record
	known := calls
	if known == nil {
		known = a.KnownCalls()
	}
	defer func() { _ = known.Close() }() // of one that is only read
	defer func() {
		if err := calls.Close(); err != nil {
			a.Note(err.Error())
		}
	}()
	m := session.NewManager(o)
	defer m.Close()
	hops.Of(m)
	bridge := toolset.NewBridge(m, start.Settings)
	defer bridge.Close()
	for _, srv := range start.Servers {
		if _, err := m.Register(srv); err != nil {
			return err
		}
	}
	measured, err := a.UIMetrics(ctx, j, m, bridge)
	if err != nil {
		return err
	}
	defer measured()
	a.Kill.Watch(cli.ProcessesOf(m))
	a.Kill.Patient.Store(true) // the UI restores the terminal first, and bounds that itself
	defer a.Kill.Patient.Store(false)
	deps := views.Deps{Trust: trust, History: known, Inputs: inputs.New(cli.StateFile("values")), Registry: bridge.Registry(), Pool: bridge.Pool(), Consent: a.Consent(), Configs: start.Configs, Browse: browser.Open, Release: views.Release{Version: cli.Version(), Changelog: Changelog}, AutoBrowse: browser.Unavailable() == "" && !a.Options.NoBrowser}
	if kept, err := cli.KeptInputs(); err == nil {
		deps.Secrets = kept
	}
	examined := journal.New(journal.Options{})
	defer examined.Close()
	deps.Doctor = doctor.Options{Session: o, Version: cli.Version()}
	deps.Doctor.Session.Journal = nil
	deps.Doctor.Home, _ = os.UserHomeDir() // without one nothing is shortened
	if deps.Model, err = a.Model(); err != nil {
		return err
	}
	if deps.Model != nil {
		defer deps.Model.Close()
	}
	deps.Published, deps.Lock = Published(a), contract.NewProject(func() string { return report.FindLock(".") })
	deps.Settings = a.SettingsFile()
	deps.TokenBudget = a.Preferences().TokenBudget
	deps.Checks = verbcheck.UIChecks(a, o, examined, deps.Lock)
	if start.Stack != nil {
		deps.Stack = start.Stack.View
	}
	deps.Shared = a.Options.Session != ""
	cfg := tui.Config{
		Views: views.All(deps), Sessions: m, Server: start.Connect,
		ReadOnly: a.Options.ReadOnly, Report: cli.Issues, Version: cli.Version(),
	}
	defer a.Personal(&cfg)()
	if start.Connect != "" && cfg.LinearMode() {
		start.Open, start.Connect = start.Connect, "" // piped lines wait for what the list started
	}
	switch {
	case start.Stack != nil:
		cfg.Start = "demo"
	case start.Connect != "":
		cfg.Start = "tools"
	}
	if start.Open != "" {
		cfg.Server, cfg.StartArg = start.Open, start.Open
	}
	work, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	switch {
	case start.Stack != nil:
		if err := start.Stack.Attach(work, &cfg, m, &wg); err != nil {
			return err
		}
	case len(start.Auto) > 0:
		wg.Go(func() { _ = bridge.ConnectAll(work, start.Auto, nil) }) // the list shows the outcomes
	case start.Connect != "":
		wg.Go(func() { _ = m.Connect(work, start.Connect) }) // the screen shows the outcome
	}
	for _, w := range start.Warnings {
		j.Append(journal.Entry{Kind: journal.State, Server: "config", Note: w.String()}, nil)
	}
	wg.Go(func() { deps.Lock.Follow(work, m.NotifyChange) })
	if start.Read != nil {
		wg.Go(func() { followConfigs(work, start.Configs, *start.Read, m, j) })
	}
	err = tui.Run(ctx, cfg)
	a.Kill.Patient.Store(false)
	late = time.AfterFunc(time.Second, func() {
		fmt.Fprintln(a.Err, "mcphud: waiting for an installation to finish; ctrl+c twice ends it at once")
	})
	return err
}

// followConfigs keeps the servers of m as the files have them.
func followConfigs(ctx context.Context, files *servers.Configs, read config.Set, m *session.Manager, j *journal.Journal) {
	config.Follow(ctx, files.Where, read, func(before, now config.Set) {
		problems := now.News(before)
		done, err := m.Update(before.Servers, now.Servers)
		for _, w := range problems {
			j.Append(journal.Entry{Kind: journal.State, Server: "config", Note: w.String()}, nil)
		}
		files.Changed(done, problems, err)
		m.NotifyChange()
	})
}
