package main

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

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// traceFlags is what the flags of trace say.
type traceFlags struct {
	only *filterFlag
	id   string
	args string
}

func (a *app) traceCommand() *cobra.Command {
	var x traceFlags
	c := &cobra.Command{
		Use:   "trace FILE | trace TOOL [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]",
		Short: "Show what a call did at each hop: client, router, agents", Annotations: rule("some"),
		Long: "trace FILE shows the traces in a file of recorded traffic, each as a tree of what client, router and agents did for a call: when, for how long, and which part nobody " +
			"accounts for. With a server it calls TOOL there, as mcphud tools call does, and shows the tree of the call in the place of its result. Routers and agents of yours " +
			"on this machine tell their part. Of other servers it shows what the client saw.",
		Example: "  mcphud trace session.jsonl\n  mcphud trace session.jsonl --filter 'tool:search >100ms' --format json\n  mcphud trace session.jsonl --trace 4bf92f35\n" +
			"  mcphud trace echo message=hi --agent everything",
		Args: cobra.ArbitraryArgs,
	}
	x.only = addFilter(c.Flags())
	c.Flags().StringVar(&x.id, "trace", "", "of a file, only the trace whose `ID` begins or ends like this")
	c.Flags().StringVar(&x.args, "args", "", "arguments of the tool as `JSON`, @FILE, or - for stdin")
	call := a.serverCommand(func(ctx context.Context, l *link, own []string) error { return a.traceCall(ctx, l, own, x) })
	file := a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.traceFile(ctx, cmd, args, x)
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !a.namesServer(cmd, args) {
			return file(cmd, args)
		}
		a.tracing = true
		return call(cmd, args)
	}
	return c
}

// namesServer reports whether a command line names a server: by a flag, a command, a URL, a name of the configs, or the full name of a tool.
func (a *app) namesServer(cmd *cobra.Command, args []string) bool {
	if len(targetFlags(cmd)) > 0 || cmd.ArgsLenAtDash() >= 0 {
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
	set, _, err := a.o.load()
	return err == nil && len(args) > 1 && slices.ContainsFunc(args, func(s string) bool { _, ok := set.Server(s); return ok })
}

// traceFile prints the traces of a file.
func (a *app) traceFile(ctx context.Context, cmd *cobra.Command, args []string, x traceFlags) error {
	if len(args) != 1 {
		return usageError(fmt.Sprintf("trace takes one file, or a tool and a server, and got %d arguments and no server", len(args)), "write mcphud trace FILE, or "+nameTarget)
	}
	if x.args != "" {
		return usageError("--args is for a call, and no server was named", nameTarget)
	}
	if e := &a.o.expected; len(e.queries) > 0 || e.schema != "" || e.latency != 0 {
		return usageError("--expect, --expect-schema and --max-latency are for a call, and no server was named", nameTarget)
	}
	if err := x.only.parse(); err != nil {
		return err
	}
	f, err := a.whole(ctx, args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	match := func(e *journal.Entry) bool {
		return span.Named(e.Trace, x.id) && (x.only.filter.Empty() || x.only.filter.Match(f.Journal, e))
	}
	groups := trace.Groups(f.Journal, match)
	switch {
	case len(groups) > 0:
	case x.id != "":
		return usageError("there is no trace "+x.id+" in "+args[0], "leave --trace out to see all")
	case !x.only.filter.Empty() && len(trace.Groups(f.Journal, nil)) > 0:
		a.note("mcphud: " + args[0] + ": no trace matches the filter; leave --filter out to see all")
	default:
		a.note("mcphud: " + args[0] + ": no request carries a trace context; see mcphud help trace")
	}
	p := a.printer()
	if p.format == formatJSON || p.format == formatRaw {
		return p.treeList(f.Journal, groups)
	}
	for i, g := range groups {
		if i > 0 && p.format == formatText {
			if _, err := p.w.Write([]byte("\n")); err != nil {
				return err
			}
		}
		if err := p.tree(trace.Of(f.Journal, g)); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// treeList writes an array of trees, one at a time.
func (p *printer) treeList(j *journal.Journal, groups []*trace.Group) error {
	sep := "["
	for _, g := range groups {
		raw, err := json.Marshal(trace.Of(j, g))
		if err != nil {
			return err
		}
		if p.tty {
			raw = escaped(raw)
		}
		if _, err := p.w.Write(append([]byte(sep), raw...)); err != nil {
			return err
		}
		sep = ",\n"
	}
	if len(groups) == 0 {
		return p.line([]byte("[]"))
	}
	return p.line([]byte("]"))
}

// tree writes one tree.
func (p *printer) tree(t *trace.Tree) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return p.print(answer{result: raw, frames: [][]byte{raw}, took: t.Took(), text: func(out *textOutput) {
		width := 100
		if p.tty {
			width = p.width
		}
		var b bytes.Buffer
		_ = t.Write(&b, width, nil) // a Buffer takes everything
		out.block(strings.TrimSuffix(b.String(), "\n"))
	}})
}

// traceCall calls a tool and prints what became of the call.
func (a *app) traceCall(ctx context.Context, l *link, own []string, x traceFlags) error {
	if x.only.text != "" || x.id != "" {
		return usageError("--filter and --trace are for a file, and a server was named", "leave them out")
	}
	if a.o.traceparent == "none" {
		return usageError("--traceparent none sends no trace context, which hops are found by", "leave it out")
	}
	it, args, err := a.arguments(ctx, l, own, x.args)
	if err != nil {
		return err
	}
	l.hops.ready(ctx)
	r, failed := l.CallTool(ctx, it.Name, args, l.call())
	e, ok := l.journal.Get(r.Request)
	switch {
	case failed != nil && (!ok || e.Trace == ""):
		return failed
	case !ok:
		return &failure.Error{
			Kind: failure.Usage, Server: l.Name(), Stage: "tools/call " + it.Name, Message: "the call has no trace: its request is not recorded any more", Next: "write it to a file with --journal, and read that with mcphud trace FILE",
		}
	case e.Trace == "":
		return &failure.Error{
			Kind: failure.Usage, Server: l.Name(), Stage: "tools/call " + it.Name, Message: "the call has no trace: its request carried no valid trace context", Next: "leave out --traceparent none, and traceparent in --meta",
		}
	}
	l.hops.settle(ctx, e.Trace)
	l.side.finish()
	if err := l.out.tree(trace.Of(l.journal, trace.Find(l.journal, e.Trace))); err != nil {
		return err
	}
	if failed == nil && offer.IsError(r.Result) {
		return &failure.Error{Kind: failure.ToolError, Server: l.Name(), Stage: "tools/call " + it.Name, Message: "the tool reported an error", Next: "mcphud tools call shows it"}
	}
	return failed
}

// How long settle waits for what other processes record of a call that is over: they are quick, or not there.
const (
	hopsQuiet = 200 * time.Millisecond
	hopsMost  = 3 * time.Second
)

// settle waits until nothing more comes of a trace.
func (h *hops) settle(ctx context.Context, id string) {
	end := time.Now().Add(hopsMost)
	g := trace.Find(h.j, id)
	quiet := time.Now().Add(hopsQuiet)
	for now := time.Now(); now.Before(end) && now.Before(quiet) && ctx.Err() == nil; now = time.Now() {
		time.Sleep(10 * time.Millisecond)
		if g.Update(h.j) {
			quiet = time.Now().Add(hopsQuiet)
		}
	}
}
