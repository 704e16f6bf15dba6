package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/base/failure"
)

func (a *app) upCommand() *cobra.Command {
	var trust bool
	c := &cobra.Command{
		Use: "up [FILE]", Short: "Run agents and the router of a stack file, and restart what fails", Args: cobra.MaximumNArgs(1),
		Long: "up runs the stack in FILE, by default mcphud.stack.yaml in the working folder, or three agents and a router without one. It reports events of processes " +
			"on stderr, and the URLs on stdout when everything is ready, as a line of JSON if stdout is not a terminal. SIGINT and SIGTERM let all processes finish " +
			"what they are doing; a second one kills them. No process outlives up.\n\n" +
			"Before it starts a file that it found in the working folder, or one that can run foreign code, it shows what would be started and asks for trust.\n\n" +
			"Agents take calls of the router alone, by a token that up makes for each; auth: off in the file lets every program of this machine call them.\n\n" +
			"replicas: 3 runs an agent as three processes behind one route; cluster: nats://… has routers share limits. See mcphud help stack and mcphud help scale.\n\n" +
			"A stack file is YAML or JSON:\n\n" + StackExample,
		Example: "  mcphud up\n  mcphud up ./mcphud.stack.yaml --trust",
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if name := cli.HiddenFlag(cmd); name != "" {
				return failure.UsageError("--"+name+" does not apply to up, which only starts servers", "see mcphud up --help")
			}
			return a.up(ctx, strings.Join(args, ""), trust)
		}),
	}
	c.Flags().BoolVar(&trust, "trust", false, "trust the file until it changes, without asking")
	return c
}

// StackExample is in the help text.
const StackExample = `  version: 1
  agents:                   # mcphud agent, with the settings of agent.yaml
    docs: {port: 7000, kb: ./docs, rateLimit: 100}
    tests: {profile: fault} # default port: 7001, or a free one
  servers:
    files:                  # a stdio server, which the router starts
      command: npx
      args: [-y, "@modelcontextprotocol/server-filesystem", .]
      session: shared       # and other members of a route in routing.json
    web:                    # an HTTP server that the stack starts
      {command: ./web, url: "http://127.0.0.1:9000/mcp"}
    far:
      url: https://mcp.example/mcp
      headers: {Authorization: "Bearer ${TOKEN}"}
  router: {port: 8088}      # router: false for none`

// up runs a stack until it is interrupted.
func (a *app) up(ctx context.Context, name string, trust bool) error {
	f, found, err := StackFile(name)
	if err != nil {
		return err
	}
	for _, w := range f.Warnings {
		a.Note("warning: " + w.String())
	}
	if err := a.stackTrust(ctx, f, found, trust); err != nil {
		return err
	}
	if f.Path == "" {
		a.Note("no " + stack.FileName + " here: starting agents of three profiles, in memory, and a router")
	}
	r, err := RunStack(ctx, a.App, f, false, a.event, nil)
	if err != nil {
		return err
	}
	defer r.End(ctx)
	if err := r.Ready(ctx); ctx.Err() != nil {
		return nil // it was interrupted
	} else if err != nil {
		return &failure.Error{Kind: failure.SpawnFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "see its output above, and correct " + r.what()}
	}
	a.awaitStarts(ctx, r)
	if ctx.Err() != nil {
		return nil
	}
	if err := a.summary(r); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

const (
	slowStart = 2 * time.Second  // after which it is said what is waited for
	maxStart  = 30 * time.Second // of what the router starts; then it goes on in the background
)

// awaitStarts waits until what the router starts has started, for a while, so that the first list of everything has it.
func (a *app) awaitStarts(ctx context.Context, r *stackRun) {
	names := r.file.Started()
	if len(names) == 0 {
		return
	}
	slow := time.AfterFunc(slowStart, func() {
		a.Note("waiting for " + strings.Join(names, ", ") + " to start, which may have to be downloaded first")
	})
	defer slow.Stop()
	ctx, cancel := context.WithTimeout(ctx, maxStart)
	defer cancel()
	missing := r.Whole(ctx, names)
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		a.Note("warning: " + name + " is not in the list of everything yet: " + missing[name])
	}
}

// event writes an event of a process to stderr.
func (a *app) event(e stack.Event) {
	line := fmt.Sprintf("%s %-12s %-10s %s", e.Time.Format("15:04:05"), e.Status.Name, e.Status.State, e.Note)
	a.Note(strings.TrimSpace(line))
}

// stackRun is a running stack.
type stackRun struct {
	*stack.Stack
	file   *stack.File
	token  func(name string) string // what a process requires of those who call it directly, "" for nothing
	remove func()
}

// what names the stack for messages.
func (r *stackRun) what() string {
	if r.file.Path == "" {
		return "what prevents it"
	}
	return r.file.Path
}

// RunStack starts a stack. free chooses free ports instead of the default ones; listening, if not nil, is called whenever a
// process starts to listen.
func RunStack(ctx context.Context, of *cli.App, f *stack.File, free bool, event func(stack.Event), listening func()) (*stackRun, error) {
	a := &app{of}
	at, remove, err := stackPlace(f)
	if err != nil {
		return nil, err
	}
	at.Free = free
	plan, err := f.Plan(ctx, at)
	if err != nil {
		remove()
		e := &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "check that this machine has a loopback interface"}
		var taken *stack.TakenError
		if errors.As(err, &taken) {
			e.Next = "stop that process, or choose another port in " + f.Path + "; without one, an agent or the router finds a free port"
		}
		return nil, e
	}
	for _, n := range plan.Notes {
		a.Note(n)
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
	a.Kill.Watch(func() []int {
		remove() // it holds secrets
		return s.PIDs()
	})
	s.Start()
	return &stackRun{s, f, plan.Token, remove}, nil
}

// End stops the stack, without a deadline: each process has its own.
func (r *stackRun) End(ctx context.Context) {
	r.Close(context.WithoutCancel(ctx))
	r.remove()
}

// reach has the URLs of a server of the stack: its own, and that through the router; "" if there is none.
type reach struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Routed string `json:"routed,omitempty"`
	Token  bool   `json:"needs_token,omitempty"` // at URL; the router sends it by itself
}

// reaches returns the URLs of all servers, and that of their aggregate, "" without a router.
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
		if p.URL == "" && p.Kind == stack.Agent && p.Port != 0 { // where it will listen
			at[p.Name] = fmt.Sprintf("http://127.0.0.1:%d/mcp", p.Port)
		}
	}
	add := func(name, route string) {
		e := reach{Name: name, URL: at[name], Token: r.token(name) != ""}
		if router != "" {
			e.Routed = router + "/mcps/" + route + "/mcp"
		}
		list = append(list, e)
	}
	for _, e := range r.file.Agents {
		add(e.Name, e.Of)
	}
	for _, e := range r.file.Servers {
		if e.Routed() {
			add(e.Name, e.Name)
		}
	}
	if router != "" {
		aggregate = router + "/mcp"
	}
	return list, aggregate
}

// summary writes the URLs to stdout.
func (a *app) summary(r *stackRun) error {
	list, aggregate := r.reaches()
	p := a.Printer()
	if p.Format != output.FormatText {
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
		return p.Line(line)
	}
	var b strings.Builder
	b.WriteString("Everything is ready:\n")
	for _, e := range list {
		name := e.Name
		direct := e.URL
		if e.Token && direct != "" {
			direct += " (needs its token)"
		}
		for _, at := range []string{direct, e.Routed} {
			if at != "" {
				fmt.Fprintf(&b, "  %-12s %s\n", name, at)
				name = ""
			}
		}
	}
	if aggregate != "" {
		fmt.Fprintf(&b, "  %-12s %s (open it with mcphud URL)\n", "aggregate", aggregate)
		fmt.Fprintf(&b, "  %-12s %s (open it in a browser)\n", "page", strings.TrimSuffix(aggregate, "mcp"))
	}
	b.WriteString("Press ctrl+c to stop.\n")
	_, err := p.Write([]byte(b.String()))
	return err
}
