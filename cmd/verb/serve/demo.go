package serve

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/ui"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
)

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "demo", Short: "Open the UI on bundled agents and a router; needs nothing else installed", Args: cli.NoArgs,
		Long: "demo starts agents of three profiles and a router on free loopback ports, in memory, and opens the UI on each agent, on each through the router, " +
			"and on the aggregate of all. The Stack screen shows the processes with their logs, and stops and starts them. They end with the UI.",
		Example: "  mcphud demo",
		RunE:    a.Action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return Demo(ctx, a.App, cmd) }),
	}
	a.Options.RegisterMetrics(c, "every 15 s and at the end")
	return c
}

// demoGrace is the time until the demo's processes are killed. It is short, since nobody waits for a response any more.
const demoGrace = 2 * time.Second

// Demo is mcphud demo, which the UI without servers offers too.
func Demo(ctx context.Context, of *cli.App, cmd *cobra.Command) error {
	a := &app{of}
	if err := a.Options.Check(cmd); err != nil {
		return err
	}
	if name := cli.HiddenFlag(cmd); name != "" {
		return failure.UsageError("--"+name+" does not apply to the demo, which brings its own servers", "see mcphud demo --help")
	}
	d := NewDemoStack()
	run, err := RunStack(ctx, a.App, stack.Builtin(), true, d.Event, d.Listening)
	if err != nil {
		return err
	}
	defer func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoGrace)
		defer cancel()
		run.Close(grace)
		run.remove()
	}()
	var start ui.Start
	d.Run, d.view = run, stackView{run.Stack, map[string][]string{}}
	for _, e := range run.Entries() {
		srv := e.Server()
		if err := a.Options.Apply(cmd, &srv); err != nil {
			return err
		}
		start.Servers = append(start.Servers, srv)
		d.view.servers[e.Process] = append(d.view.servers[e.Process], e.Name)
	}
	start.Stack = &ui.Stack{View: d.view, Attach: d.Attach}
	start.Connect = start.Servers[0].Name
	return ui.Open(ctx, a.App, start)
}

// demoEntry is an entry of the list of servers, with its process and what that requires; routed says that it is reached through
// the router, which sends the token by itself.
type demoEntry struct {
	Process, Name, URL, token string
	Routed                    bool
}

// Server is the entry as the UI connects to it.
func (e demoEntry) Server() config.Server {
	s := config.Server{Name: e.Name, Transport: config.HTTP, URL: e.URL}
	if e.token != "" {
		s.Headers = map[string]string{"Authorization": "Bearer " + e.token}
	}
	return s
}

// Entries returns each agent, each through the router, and the aggregate, with their present URLs.
func (r *stackRun) Entries() (out []demoEntry) {
	list, aggregate := r.reaches()
	for _, e := range list {
		out = append(out, demoEntry{e.Name, e.Name, e.URL, r.token(e.Name), false})
	}
	for _, e := range list {
		out = append(out, demoEntry{e.Name, e.Name + "@router", e.Routed, "", true})
	}
	return append(out, demoEntry{"router", "all@router", aggregate, "", true})
}

// demoStack is the stack below the UI.
type demoStack struct {
	Run    *stackRun
	view   stackView
	failed chan stack.Event // the first process that failed again
	moved  chan struct{}    // capacity 1: a URL or state changed
}

// NewDemoStack makes a stack for the UI; its processes are not started.
func NewDemoStack() *demoStack {
	return &demoStack{failed: make(chan stack.Event, 1), moved: make(chan struct{}, 1)}
}

func (d *demoStack) Listening() {
	select {
	case d.moved <- struct{}{}:
	default:
	}
}

// follow keeps the URLs of the list of servers up to date, since a restarted process may have another port. It disconnects from
// processes that are stopped, since a stateless connection would still look connected, and reconnects when they are back.
func (d *demoStack) follow(ctx context.Context, m *session.Manager) {
	var again sync.WaitGroup
	defer again.Wait()
	cut := map[string]bool{} // names of servers that were disconnected here
	for {
		var cuts sync.WaitGroup
		state := map[string]stack.State{}
		for _, p := range d.Run.Processes() {
			state[p.Name] = p.State
		}
		for _, e := range d.Run.Entries() {
			s, ok := m.Server(e.Name)
			if !ok {
				continue
			}
			moved := s.SetURL(e.URL)
			stopped := state[e.Process] == stack.Stopped || e.Routed && state["router"] == stack.Stopped
			ready := state[e.Process] == stack.Ready && (!e.Routed || state["router"] == stack.Ready)
			switch {
			case stopped && !cut[e.Name] && s.Status().State != session.Disconnected:
				cut[e.Name] = true
				cuts.Go(func() { _ = s.Disconnect() }) // the server is gone
			case ready && cut[e.Name] || moved && !cut[e.Name]:
				delete(cut, e.Name)
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

// reconnect connects to a server whose process came back. It retries, since the router learns its new port a moment later. The
// screen shows the outcome.
func reconnect(ctx context.Context, s *session.Session) {
	_ = s.Reconnect(ctx)
	for pause := 200 * time.Millisecond; pause < 5*time.Second && s.Status().State == session.Failed; pause *= 2 {
		select {
		case <-time.After(pause):
			_ = s.Connect(ctx) // does nothing if it is connected
		case <-ctx.Done():
			return
		}
	}
}

// Event takes nobody to the list of processes because one ended once, as one does whose port was taken between the plan and its start: the
// next start finds another.
func (d *demoStack) Event(e stack.Event) {
	d.Listening()
	if e.Status.State == stack.Failed && e.Status.Restarts > 0 || e.Status.State == stack.Crashing {
		select {
		case d.failed <- e:
		default:
		}
	}
}

// Attach connects to servers as they become ready. A process that cannot start is reported on the screen; in linear mode,
// attach waits until everything is ready and returns the error.
func (d *demoStack) Attach(ctx context.Context, cfg *tui.Config, m *session.Manager, wg *sync.WaitGroup) error {
	wg.Go(func() { d.follow(ctx, m) })
	if cfg.LinearMode() {
		if err := d.Run.Ready(ctx); err != nil {
			return &failure.Error{Kind: failure.SpawnFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "see its output for the reason"}
		}
		for _, s := range m.Servers() {
			wg.Go(func() { _ = m.Connect(ctx, s.Name()) })
		}
		return nil
	}
	cfg.Changed = d.Run.Changed()
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
		// The first agent does not have to wait for the others.
		if d.Run.Ready(ctx, "demo") == nil {
			wg.Go(func() { _ = m.Connect(ctx, "demo") }) // the screen shows the outcome
		}
		if d.Run.Ready(ctx) != nil {
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
