package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
)

// report is where crashes are reported.
const report = "https://github.com/mcphud/mcphud/issues"

// uiStart is what the UI is opened on.
type uiStart struct {
	servers  []config.Server
	settings config.Settings
	warnings []config.Warning
	auto     []string // servers to connect to at once, beside the screen
	connect  string   // server to connect to at once, so that it starts while the screen does
	open     string   // server to open from the list, which asks for trust first
	stack    *demoStack
	configs  *servers.Configs
	read     *config.Set // what the files of configs said, which are followed then
}

// ui runs the terminal UI. Everything that it started is gone when it returns.
func (a *app) ui(ctx context.Context, start uiStart) (err error) {
	j, done, err := a.journal()
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
	trust := a.o.trust()
	o, err := a.sessionOptions(start.settings)
	if err != nil {
		return err
	}
	o.Journal, o.Patient, o.ResultTTL = j, true, start.settings.ResultCacheTTL
	o.Pending = a.questions(true)
	o.Tracing = a.tracingOf(start.stack != nil)
	defer a.exportCalls(j, io.Discard)()
	hops := newHops(ctx, j, &o)
	defer hops.close()
	calls := a.keptCalls()
	o.Record = calls.Record
	known := calls
	if known == nil {
		known = a.knownCalls()
	}
	defer func() { _ = known.Close() }() // of one that is only read
	defer func() {
		if err := calls.Close(); err != nil {
			a.note(err.Error())
		}
	}()
	m := session.NewManager(o)
	defer m.Close()
	hops.of(m)
	bridge := toolset.NewBridge(m, start.settings)
	defer bridge.Close()
	for _, srv := range start.servers {
		if _, err := m.Register(srv); err != nil {
			return err
		}
	}
	measured, err := a.uiMetrics(ctx, j, m, bridge)
	if err != nil {
		return err
	}
	defer measured()
	a.kill.watch(processesOf(m))
	a.kill.patient.Store(true) // the UI restores the terminal first, and bounds that itself
	defer a.kill.patient.Store(false)
	deps := views.Deps{Trust: trust, History: known, Inputs: inputs.New(stateFile("values")), Registry: bridge.Registry(), Pool: bridge.Pool(), Consent: a.consent(), Configs: start.configs, Browse: browser.Open, Release: views.Release{Version: version(), Changelog: changelog}, AutoBrowse: browser.Unavailable() == "" && !a.o.noBrowser}
	if kept, err := keptInputs(); err == nil {
		deps.Secrets = kept
	}
	examined := journal.New(journal.Options{})
	defer examined.Close()
	deps.Doctor = doctor.Options{Session: o, Version: version()}
	deps.Doctor.Session.Journal = nil
	deps.Doctor.Home, _ = os.UserHomeDir() // without one nothing is shortened
	if deps.Model, err = a.model(); err != nil {
		return err
	}
	if deps.Model != nil {
		defer deps.Model.Close()
	}
	deps.Published, deps.Lock = a.publishedServers(), contract.NewProject(func() string { return findLock(".") })
	deps.TokenBudget = a.preferences().TokenBudget
	deps.Checks = a.uiChecks(o, examined, deps.Lock)
	if start.stack != nil {
		deps.Stack = start.stack.view
	}
	cfg := tui.Config{
		Views: views.All(deps), Sessions: m, Server: start.connect,
		ReadOnly: a.o.readOnly, Report: report, Version: version(),
	}
	defer a.personal(&cfg)()
	if start.connect != "" && cfg.LinearMode() {
		start.open, start.connect = start.connect, "" // piped lines wait for what the list started
	}
	if start.connect != "" {
		cfg.Start = "tools"
	}
	if start.open != "" {
		cfg.Server, cfg.StartArg = start.open, start.open
	}
	work, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	switch {
	case start.stack != nil:
		if err := start.stack.attach(work, &cfg, m, &wg); err != nil {
			return err
		}
	case len(start.auto) > 0:
		wg.Go(func() { _ = bridge.ConnectAll(work, start.auto, nil) }) // the list shows the outcomes
	case start.connect != "":
		wg.Go(func() { _ = m.Connect(work, start.connect) }) // the screen shows the outcome
	}
	for _, w := range start.warnings {
		j.Append(journal.Entry{Kind: journal.State, Server: "config", Note: w.String()}, nil)
	}
	wg.Go(func() { deps.Lock.Follow(work, m.NotifyChange) })
	if start.read != nil {
		wg.Go(func() { followConfigs(work, start.configs, *start.read, m, j) })
	}
	err = tui.Run(ctx, cfg)
	a.kill.patient.Store(false)
	late = time.AfterFunc(time.Second, func() {
		fmt.Fprintln(a.err, "mcphud: waiting for an installation to finish; ctrl+c twice ends it at once")
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

// stateFile is a file in mcphud's state folder, "" where there is none.
func stateFile(name string) string {
	where, err := config.System()
	if err != nil || where.StateDir() == "" {
		return ""
	}
	return filepath.Join(where.StateDir(), name)
}
