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
	"github.com/mcphud/mcphud/session/failure"
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
	if name := hiddenFlag(cmd); name != "" {
		return usageError("--"+name+" does not apply to the demo, which brings its own servers", "see mcphud demo --help")
	}
	d := newDemoStack()
	run, err := a.runStack(ctx, stack.Builtin(), true, d.event, d.listening)
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
	for _, e := range run.entries() {
		srv := config.Server{Name: e.name, Transport: config.HTTP, URL: e.url}
		if err := a.o.apply(cmd, &srv); err != nil {
			return err
		}
		start.servers = append(start.servers, srv)
		d.view.servers[e.process] = append(d.view.servers[e.process], e.name)
	}
	start.connect = start.servers[0].Name
	return a.ui(ctx, start)
}

// demoEntry is an entry of the list of servers, and the process that it is about; routed is whether the router is on the way.
type demoEntry struct {
	process, name, url string
	routed             bool
}

// entries are each agent, each through the router, and all in one, where they are now.
func (r *stackRun) entries() (out []demoEntry) {
	list, aggregate := r.reaches()
	for _, e := range list {
		out = append(out, demoEntry{e.Name, e.Name, e.URL, false})
	}
	for _, e := range list {
		out = append(out, demoEntry{e.Name, e.Name + "@router", e.Routed, true})
	}
	return append(out, demoEntry{"router", "all@router", aggregate, true})
}

// demoStack is the stack below the UI.
type demoStack struct {
	run    *stackRun
	view   stackView
	failed chan stack.Event // the first failure
	moved  chan struct{}    // capacity 1: a process said where it listens, or is in another state
}

func newDemoStack() *demoStack {
	return &demoStack{failed: make(chan stack.Event, 1), moved: make(chan struct{}, 1)}
}

func (d *demoStack) listening() {
	select {
	case d.moved <- struct{}{}:
	default:
	}
}

// follow keeps the list of servers at where the processes listen: one whose port was taken while it was away is elsewhere. Who
// stops a process ends the connections to it, which come back when it does; a stateless one would go on to look connected.
func (d *demoStack) follow(ctx context.Context, m *session.Manager) {
	var again sync.WaitGroup
	defer again.Wait()
	cut := map[string]bool{} // names of servers that were disconnected here
	for {
		var cuts sync.WaitGroup
		state := map[string]stack.State{}
		for _, p := range d.run.Processes() {
			state[p.Name] = p.State
		}
		for _, e := range d.run.entries() {
			s, ok := m.Server(e.name)
			if !ok {
				continue
			}
			moved := s.Move(e.url)
			stopped := state[e.process] == stack.Stopped || e.routed && state["router"] == stack.Stopped
			ready := state[e.process] == stack.Ready && (!e.routed || state["router"] == stack.Ready)
			switch {
			case stopped && !cut[e.name] && s.Status().State != session.Disconnected:
				cut[e.name] = true
				cuts.Go(func() { _ = s.Disconnect() }) // there is nobody to take leave of
			case ready && cut[e.name] || moved && !cut[e.name]:
				delete(cut, e.name)
				again.Go(func() { reconnect(ctx, s) })
			}
		}
		cuts.Wait()
		select {
		case <-d.moved:
		case <-ctx.Done():
			return
		}
	}
}

// reconnect connects to a server whose process came back. The router hears a moment later where that listens; until then
// it asks at the old place. The screen shows how it went.
func reconnect(ctx context.Context, s *session.Session) {
	_ = s.Reconnect(ctx)
	for pause := 200 * time.Millisecond; pause < 5*time.Second && s.Status().State == session.Failed; pause *= 2 {
		select {
		case <-time.After(pause):
			_ = s.Connect(ctx) // does nothing if somebody else did
		case <-ctx.Done():
			return
		}
	}
}

func (d *demoStack) event(e stack.Event) {
	d.listening()
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
	wg.Go(func() { d.follow(ctx, m) })
	if cfg.LinearMode() {
		if err := d.run.Ready(ctx); err != nil {
			return &failure.Error{Kind: failure.SpawnFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "see what is in its way"}
		}
		return nil
	}
	cfg.Changed = d.run.Changed()
	ready := make(chan struct{})
	cfg.Program = func(p *tea.Program) {
		wg.Go(func() {
			select {
			case e := <-d.failed:
				p.Send(tui.Toast{Level: tui.Failure, Text: e.Status.Name + " cannot start: " + e.Status.Err})
				p.Send(tui.Navigate{View: "stack"})
			case <-ready:
			case <-ctx.Done():
			}
		})
	}
	wg.Go(func() {
		// Each as soon as it can be reached; all of them need the router or themselves only.
		if d.run.Ready(ctx, "demo") == nil {
			wg.Go(func() { _ = m.Connect(ctx, "demo") }) // the screen shows the outcome
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
