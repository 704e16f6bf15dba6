package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// traceFlags is what the flags of trace say.
type traceFlags struct {
	only *cli.FilterFlag
	id   string
	args string
}

func (a *app) traceCommand() *cobra.Command {
	var x traceFlags
	c := &cobra.Command{
		Use:   "trace FILE | TOOL [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]",
		Short: "Show what a call did at each hop: client, router, agents", Annotations: cli.Rule("some"),
		Long: "trace FILE shows the traces in a file of recorded traffic, each as a tree of what client, router and agents did for a call: when, for how long, and which part nobody " +
			"accounts for. With a server it calls TOOL there, as mcphud tools call does, and shows the tree of the call in the place of its result. Routers and agents of yours " +
			"on this machine tell their part. Of other servers it shows what the client saw.",
		Example: "  mcphud trace session.jsonl\n  mcphud trace session.jsonl --filter 'tool:search >100ms' --format json\n  mcphud trace session.jsonl --trace 4bf92f35\n" +
			"  mcphud trace echo message=hi --agent everything",
		Args: cobra.ArbitraryArgs,
	}
	x.only = cli.AddFilter(c.Flags())
	c.Flags().StringVar(&x.id, "trace", "", "of a file, only the trace whose `ID` begins or ends like this")
	c.Flags().StringVar(&x.args, "args", "", "arguments of the tool as `JSON`, @FILE, or - for stdin")
	call := a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error { return a.traceCall(ctx, l, own, x) })
	file := a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.traceFile(ctx, cmd, args, x)
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !a.namesServer(cmd, args) {
			return file(cmd, args)
		}
		a.Tracing = true
		return call(cmd, args)
	}
	return c
}

// namesServer reports whether a command line names a server: by a flag, a command, a URL, a name of the configs, or the full name of a tool.
func (a *app) namesServer(cmd *cobra.Command, args []string) bool {
	if len(cli.TargetFlags(cmd)) > 0 || cmd.ArgsLenAtDash() >= 0 {
		return true
	}
	if len(args) == 0 {
		return false
	}
	if _, err := os.Stat(args[0]); err == nil {
		return false
	}
	if strings.HasPrefix(args[0], "mcp__") || strings.HasPrefix(args[0], "mcp:") || slices.ContainsFunc(args, func(s string) bool { return strings.Contains(s, "://") && !strings.Contains(s, "=") }) {
		return true
	}
	set, _, err := a.Options.Load()
	return err == nil && len(args) > 1 && slices.ContainsFunc(args, func(s string) bool { _, ok := set.Server(s); return ok })
}

// traceFile prints the traces of a file.
func (a *app) traceFile(ctx context.Context, cmd *cobra.Command, args []string, x traceFlags) error {
	if len(args) != 1 {
		return failure.UsageError(fmt.Sprintf("trace takes one file, or a tool and a server, and got %d arguments and no server", len(args)), "write mcphud trace FILE, or "+cli.NameTarget)
	}
	if x.args != "" {
		return failure.UsageError("--args is for a call, and no server was named", cli.NameTarget)
	}
	if e := &a.Options.Expected; len(e.Queries) > 0 || e.Schema != "" || e.Latency != 0 {
		return failure.UsageError("--expect, --expect-schema and --max-latency are for a call, and no server was named", cli.NameTarget)
	}
	if err := x.only.Parse(); err != nil {
		return err
	}
	f, err := a.Whole(ctx, args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	match := func(e *journal.Entry) bool {
		return span.Named(e.Trace, x.id) && (x.only.Filter.Empty() || x.only.Filter.Match(f.Journal, e))
	}
	groups := trace.Groups(f.Journal, match)
	switch {
	case len(groups) > 0:
	case x.id != "":
		return failure.UsageError("there is no trace "+x.id+" in "+args[0], "leave --trace out to see all")
	case !x.only.Filter.Empty() && len(trace.Groups(f.Journal, nil)) > 0:
		a.Note("mcphud: " + args[0] + ": no trace matches the filter; leave --filter out to see all")
	default:
		a.Note("mcphud: " + args[0] + ": no request carries a trace context; see mcphud help trace")
	}
	p := a.Printer()
	if p.Format == output.FormatJSON || p.Format == output.FormatRaw {
		return printTrees(p, f.Journal, groups)
	}
	for i, g := range groups {
		if i > 0 && p.Format == output.FormatText {
			if _, err := p.Write([]byte("\n")); err != nil {
				return err
			}
		}
		if err := printTree(p, trace.Of(f.Journal, g)); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// printTrees writes an array of trees, one at a time if all are printed.
func printTrees(p *output.Printer, j *journal.Journal, groups []*trace.Group) error {
	if p.Filters() {
		all := []*trace.Tree{}
		for _, g := range groups {
			all = append(all, trace.Of(j, g))
		}
		raw, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return p.Line(raw)
	}
	sep := "["
	for _, g := range groups {
		raw, err := json.Marshal(trace.Of(j, g))
		if err != nil {
			return err
		}
		if p.Tty {
			raw = output.Escaped(raw)
		}
		if _, err := p.W.Write(append([]byte(sep), raw...)); err != nil {
			return err
		}
		sep = ",\n"
	}
	if len(groups) == 0 {
		return p.Line([]byte("[]"))
	}
	return p.Line([]byte("]"))
}

// printTree writes one tree.
func printTree(p *output.Printer, t *trace.Tree) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return p.Print(output.Answer{Result: raw, Frames: [][]byte{raw}, Took: t.Took(), Text: func(out *output.Text) {
		width := 100
		if p.Tty {
			width = p.Width
		}
		var b bytes.Buffer
		_ = t.Write(&b, width, nil) // a Buffer takes everything
		out.Block(strings.TrimSuffix(b.String(), "\n"))
	}})
}

// traceCall calls a tool and prints what became of the call.
func (a *app) traceCall(ctx context.Context, l *cli.Link, own []string, x traceFlags) error {
	if x.only.Text != "" || x.id != "" {
		return failure.UsageError("--filter and --trace are for a file, and a server was named", "leave them out")
	}
	if a.Options.Traceparent == "none" {
		return failure.UsageError("--traceparent none sends no trace context, which hops are found by", "leave it out")
	}
	c, err := runner.ToolCall(a.App, own, x.args)
	if err != nil {
		return err
	}
	maker := runner.Of(l)
	if c, err = maker.Prepare(ctx, c); err != nil {
		return err
	}
	l.Hops.Ready(ctx)
	r, failed := maker.Send(ctx, c)
	e, ok := l.Journal.Get(r.Request)
	switch {
	case failed != nil && (!ok || e.Trace == ""):
		return failed
	case !ok:
		return &failure.Error{
			Kind: failure.Usage, Server: l.Name(), Stage: c.Method + " " + c.Target, Message: "the call has no trace: its request is not recorded any more", Next: "write it to a file with --journal, and read that with mcphud trace FILE",
		}
	case e.Trace == "":
		return &failure.Error{
			Kind: failure.Usage, Server: l.Name(), Stage: c.Method + " " + c.Target, Message: "the call has no trace: its request carried no valid trace context", Next: "leave out --traceparent none, and traceparent in --meta",
		}
	}
	settle(ctx, l.Hops, e.Trace)
	l.Side.Finish()
	if err := printTree(l.Out, trace.Of(l.Journal, trace.Find(l.Journal, e.Trace))); err != nil {
		return err
	}
	if failed == nil && offer.IsError(r.Result) {
		return &failure.Error{Kind: failure.ToolError, Server: l.Name(), Stage: c.Method + " " + c.Target, Message: "the tool reported an error", Next: "mcphud tools call shows it"}
	}
	return failed
}

// How long settle waits for what other processes record of a call that is over: they are quick, or not there.
const (
	hopsQuiet = 200 * time.Millisecond
	hopsMost  = 3 * time.Second
)

// settle waits until nothing more comes of a trace.
func settle(ctx context.Context, h *cli.Hops, id string) {
	end := time.Now().Add(hopsMost)
	g := trace.Find(h.J, id)
	quiet := time.Now().Add(hopsQuiet)
	for now := time.Now(); now.Before(end) && now.Before(quiet) && ctx.Err() == nil; now = time.Now() {
		time.Sleep(10 * time.Millisecond)
		if g.Update(h.J) {
			quiet = time.Now().Add(hopsQuiet)
		}
	}
}
