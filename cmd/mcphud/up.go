package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/tui/safe"
)

func (a *app) upCommand() *cobra.Command {
	var trust bool
	c := &cobra.Command{
		Use: "up [FILE]", Short: "Run agents and the router of a stack file, and restart what fails", Args: cobra.MaximumNArgs(1),
		Long: "up starts what FILE names, else mcphud.stack.yaml of this folder, else three agents and a router. It says on stderr what happens to each process, " +
			"and on stdout where everything is once all is ready: a line of JSON where that is no terminal. SIGINT and SIGTERM let all processes finish what they are " +
			"doing; a second one ends them at once. None of them outlives it.\n\n" +
			"What a file of this folder, or one with commands that are not mcphud's own, would start is shown first, and has to be trusted.\n\n" +
			"A stack file is YAML or JSON:\n\n" + stackExample,
		Example: "  mcphud up\n  mcphud up ./mcphud.stack.yaml --trust",
		RunE: a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if name := hiddenFlag(cmd); name != "" {
				return usageError("--"+name+" does not apply to up, which only starts servers", "see mcphud up --help")
			}
			return a.up(ctx, strings.Join(args, ""), trust)
		}),
	}
	c.Flags().BoolVar(&trust, "trust", false, "start what the file says without asking, now and until it changes")
	return c
}

// stackExample is in the help text.
const stackExample = `  version: 1
  agents:                   # mcphud agent, each with the settings of agent.yaml
    docs: {port: 7000, kb: ./docs, rateLimit: 100}
    tests: {profile: fault} # without a port: 7001, or a free one
  servers:
    files:                  # a stdio server, which the router starts
      command: npx
      args: [-y, "@modelcontextprotocol/server-filesystem", .]
      session: shared       # and more that a route of routing.json has
    web: {command: ./web, url: "http://127.0.0.1:9000/mcp"} # an HTTP server, started here
    far: {url: "https://mcp.example/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
  router: {port: 8088}      # router: false for none`

// up runs a stack until it is interrupted.
func (a *app) up(ctx context.Context, name string, trust bool) error {
	f, found, err := a.stackFile(name)
	if err != nil {
		return err
	}
	for _, w := range f.Warnings {
		a.note("warning: " + w.String())
	}
	if err := a.stackTrust(ctx, f, found, trust); err != nil {
		return err
	}
	if f.Path == "" {
		a.note("there is no " + stack.FileName + " here: these are agents of three profiles, in memory, and a router")
	}
	r, err := a.runStack(ctx, f, false, a.event, nil)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	if err := r.Ready(ctx); ctx.Err() != nil {
		return nil // it was ended before
	} else if err != nil {
		return &failure.Error{Kind: failure.SpawnFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "what it wrote is above; correct " + r.what()}
	}
	if err := a.summary(r); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// note says something on stderr.
func (a *app) note(text string) {
	if terminal(a.err) {
		text = safe.Line(text, 0)
	}
	_, _ = fmt.Fprintln(a.err, strings.ReplaceAll(text, "\n", " "))
}

// event says on stderr what happened to a process.
func (a *app) event(e stack.Event) {
	line := fmt.Sprintf("%s %-12s %-10s %s", e.Time.Format("15:04:05"), e.Status.Name, e.Status.State, e.Note)
	a.note(strings.TrimSpace(line))
}

// stackRun is a stack that runs.
type stackRun struct {
	*stack.Stack
	file   *stack.File
	remove func()
}

// what names the stack for messages.
func (r *stackRun) what() string {
	if r.file.Path == "" {
		return "what is in its way"
	}
	return r.file.Path
}

// runStack starts a stack. free leaves default ports to others; listening, if there is one, is called whenever a process says
// where it listens.
func (a *app) runStack(ctx context.Context, f *stack.File, free bool, event func(stack.Event), listening func()) (*stackRun, error) {
	at, remove, err := stackPlace(f)
	if err != nil {
		return nil, err
	}
	at.Free = free
	plan, err := f.Plan(ctx, at)
	if err != nil {
		remove()
		e := &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "see whether this machine has a loopback interface"}
		var taken *stack.TakenError
		if errors.As(err, &taken) {
			e.Next = "end what has it, or give another port in " + f.Path + "; an agent or the router that is given none finds a free one"
		}
		return nil, e
	}
	for _, n := range plan.Notes {
		a.note(n)
	}
	s, err := stack.New(plan.Specs, stack.Options{Event: event, Env: plan.Env, Drain: plan.Drain, Listening: func(name, url string) error {
		if listening != nil {
			listening()
		}
		return plan.Listening(name, url)
	}})
	if err != nil {
		remove()
		return nil, err
	}
	a.kill.watch(func() []int {
		remove() // it has secrets in it, and nobody else will
		return s.PIDs()
	})
	s.Start()
	return &stackRun{s, f, remove}, nil
}

// close ends the stack. Its processes get the time that they ask for, and know a bound of their own.
func (r *stackRun) close(ctx context.Context) {
	r.Close(context.WithoutCancel(ctx))
	r.remove()
}

// reach is where a server of the stack is: by itself, and through the router, "" for where it is not.
type reach struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Routed string `json:"routed,omitempty"`
}

// reaches are all that there is to connect to, and all of it in one, "" without a router.
func (r *stackRun) reaches() (list []reach, aggregate string) {
	router := ""
	at := map[string]string{}
	for _, p := range r.Processes() {
		if at[p.Name] = p.URL; p.Kind != stack.Router {
			continue
		}
		at[p.Name] = ""
		if u, err := url.Parse(p.URL); err == nil && u.Host != "" {
			router = u.Scheme + "://" + u.Host
		} else {
			router = fmt.Sprintf("%s://127.0.0.1:%d", r.file.Router.Scheme(), p.Port)
		}
	}
	for _, p := range r.Processes() {
		if p.URL == "" && p.Kind == stack.Agent && p.Port != 0 { // where it is going to be
			at[p.Name] = fmt.Sprintf("http://127.0.0.1:%d/mcp", p.Port)
		}
	}
	add := func(name string) {
		e := reach{Name: name, URL: at[name]}
		if router != "" {
			e.Routed = router + "/mcps/" + name + "/mcp"
		}
		list = append(list, e)
	}
	for _, e := range r.file.Agents {
		add(e.Name)
	}
	for _, e := range r.file.Servers {
		add(e.Name)
	}
	if router != "" {
		aggregate = router + "/mcp"
	}
	return list, aggregate
}

// summary says on stdout where everything is.
func (a *app) summary(r *stackRun) error {
	list, aggregate := r.reaches()
	if a.o.formatFor(a.out) != formatText {
		line, err := json.Marshal(struct {
			Ready     bool           `json:"ready"`
			File      string         `json:"file,omitempty"`
			Servers   []reach        `json:"servers"`
			Aggregate string         `json:"aggregate,omitempty"`
			Processes []stack.Status `json:"processes"`
		}{true, r.file.Path, list, aggregate, r.Processes()})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout{a.out}, "%s\n", line)
		return err
	}
	var b strings.Builder
	b.WriteString("Everything is ready:\n")
	for _, e := range list {
		name := e.Name
		for _, at := range []string{e.URL, e.Routed} {
			if at != "" {
				fmt.Fprintf(&b, "  %-12s %s\n", name, at)
				name = ""
			}
		}
	}
	if aggregate != "" {
		fmt.Fprintf(&b, "  %-12s %s\n", "all in one", aggregate)
	}
	b.WriteString("Press ctrl+c to stop.\n")
	_, err := fmt.Fprint(stdout{a.out}, b.String())
	return err
}
