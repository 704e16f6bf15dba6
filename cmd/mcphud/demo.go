package main

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Open the UI on the bundled agents and router; needs nothing else installed", Args: cobra.NoArgs,
		Long: "demo starts agents of three profiles and a router on free loopback ports, in memory, and opens the UI on each agent, on each through the router, " +
			"and on all of them in one. Its stack screen shows the processes and their logs, and stops and starts them. They end with the UI.",
		RunE: a.action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.demo(ctx, cmd) }),
	}
}

// demoLeave is how long the processes of the demo get to leave: nobody waits for an answer any more.
const demoLeave = 2 * time.Second

func (a *app) demo(ctx context.Context, cmd *cobra.Command) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if a.o.url != "" || a.o.agent != "" || a.o.server != "" {
		return usageError("the demo brings its own servers", "leave --url, --agent and --server out")
	}
	d := &demoStack{failed: make(chan stack.Event, 1)}
	run, err := a.runStack(ctx, stack.Builtin(), true, d.event)
	if err != nil {
		return err
	}
	defer func() {
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoLeave)
		defer cancel()
		run.Close(leave)
		run.remove()
	}()
	start := uiStart{stack: d}
	d.run, d.view = run, stackView{run.Stack, map[string][]string{}}
	list, aggregate := run.reaches()
	add := func(process, name, url string) error {
		srv := config.Server{Name: name, Transport: config.HTTP, URL: url}
		if err := a.o.apply(cmd, &srv); err != nil {
			return err
		}
		start.servers = append(start.servers, srv)
		d.view.servers[process] = append(d.view.servers[process], name)
		return nil
	}
	for _, e := range list {
		if err := add(e.Name, e.Name, e.URL); err != nil {
			return err
		}
	}
	for _, e := range list {
		if err := add(e.Name, e.Name+"@router", e.Routed); err != nil {
			return err
		}
	}
	if err := add("router", "all@router", aggregate); err != nil {
		return err
	}
	start.connect = list[0].Name
	return a.ui(ctx, start)
}

// demoStack is the stack below the UI.
type demoStack struct {
	run    *stackRun
	view   stackView
	failed chan stack.Event // the first failure
}

func (d *demoStack) event(e stack.Event) {
	if e.Status.State == stack.Failed || e.Status.State == stack.Crashing {
		select {
		case d.failed <- e:
		default:
		}
	}
}

// attach connects to everything once it is ready. What does not start is said on the screen; where there is none, everything
// is waited for, and what does not start is the error.
func (d *demoStack) attach(ctx context.Context, cfg *tui.Config, m *session.Manager, wg *sync.WaitGroup) error {
	if cfg.LinearMode() {
		if err := d.run.Ready(ctx); err != nil {
			return &session.Error{Kind: session.SpawnFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "see what is in its way"}
		}
		return nil
	}
	cfg.Changed = d.run.Changed()
	ready := make(chan struct{})
	cfg.Program = func(p *tea.Program) {
		wg.Go(func() {
			select {
			case e := <-d.failed:
				p.Send(tui.Toast{Level: tui.Failure, Text: e.Status.Name + " does not start: " + e.Status.Err})
				p.Send(tui.Navigate{View: "stack"})
			case <-ready:
			case <-ctx.Done():
			}
		})
	}
	wg.Go(func() {
		// Each as soon as it can be reached; all of them need the router or themselves only.
		if d.run.Ready(ctx, "demo") == nil {
			wg.Go(func() { _ = m.Connect(ctx, "demo") }) // the screen shows how it went
		}
		if d.run.Ready(ctx) != nil {
			return
		}
		close(ready)
		for _, s := range m.Servers() {
			if s.Name() != "demo" {
				wg.Go(func() { _ = m.Connect(ctx, s.Name()) })
			}
		}
	})
	return nil
}
