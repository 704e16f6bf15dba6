package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// benching is the command's flags.
type benching struct {
	plan        bench.Plan
	method      string
	params      string
	args, batch string
	connections int
	slos        []string
	files       []string
	second      runner.Comparing
}

func (a *app) benchCommand() *cobra.Command {
	b := &benching{}
	cmd := &cobra.Command{
		Use: "bench [TOOL [KEY=VALUE…]] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Measure a server under load", Annotations: cli.Rule("any"),
		Long: "Sends requests at a constant rate (--rate), or from clients that wait for their answers (--clients), and says how long they took: percentiles, each phase of a request, errors by kind. " +
			"At a constant rate a request's time counts from when it was due, so that a server that stands still is not measured less while it does.\n\n" +
			"Without a TOOL it pings. A tool has to be marked as read-only, or --yes says that it may be called that often. --slo sets a threshold: exit code 9 where one is missed. " +
			"--compare TARGET measures a second server in turn, such as agent:NAME for the way through the router. ctrl+c ends early, with what was measured. See mcphud help bench.",
		Example: "  mcphud bench --url http://127.0.0.1:3000/mcp --rate 200 --for 2s\n" +
			"  mcphud bench search query=mcp --yes --clients 4 --count 100 --slo 'p99<30s' --slo 'errors<1%' --url http://127.0.0.1:3000/mcp\n" +
			"  mcphud bench --method tools/list --count 50 -- node server.js",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: runner.CompleteNames(a.App, offer.Tools),
		RunE: a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error { return a.bench(ctx, l, b, own) }),
	}
	f := cmd.Flags()
	f.Float64Var(&b.plan.Rate, "rate", 0, "`N` requests are due in each second, whatever becomes of those before")
	f.IntVar(&b.plan.Clients, "clients", 0, "`N` clients, each of which waits for its answer (default 1 without --rate)")
	f.DurationVar(&b.plan.For, "for", 0, "measure for this `TIME` (default 10s without --count)")
	f.IntVar(&b.plan.Count, "count", 0, "measure `N` requests")
	f.DurationVar(&b.plan.Warmup, "warmup", 0, "send requests for this `TIME` before measuring")
	f.StringVar(&b.method, "method", "", "send requests of this `METHOD` (default ping, or tools/call with a TOOL)")
	f.StringVar(&b.params, "params", "", "their params as `JSON`, @FILE, or - for stdin")
	f.StringVar(&b.args, "args", "", "arguments of the tool as `JSON`, @FILE, or - for stdin")
	f.StringVar(&b.batch, "batch", "", "take the arguments in turn from `FILE`: JSON lines, or an array of objects; - for stdin")
	f.IntVar(&b.connections, "connections", 1, "`N` connections, each with a handshake of its own; over stdio each starts the server")
	f.IntVar(&b.plan.InFlight, "in-flight", 0, fmt.Sprintf("with --rate, at most `N` requests wait for their answers at once (default %d)", bench.DefaultInFlight))
	f.StringArrayVar(&b.slos, "slo", nil, "a `THRESHOLD` such as p99<200ms, errors<1% or rate>400/s: exit code 9 where it is missed (repeatable)")
	f.StringArrayVarP(&b.files, "output", "o", nil, "write the report to `FILE` as well: Markdown for .md, else JSON (repeatable)")
	f.StringVar(&b.second.Target, "compare", "", "measure `TARGET` in turn with the first: a URL, NAME, agent:NAME, protocol:VERSION or a command line")
	b.second.Cmd = cmd
	cli.RegisterName(cmd)
	return cmd
}

func (a *app) bench(ctx context.Context, l *cli.Link, b *benching, own []string) error {
	slos, err := objectives(b.slos)
	if err := cmp.Or(err, report.NoFolders(b.files)); err != nil {
		return err
	}
	both, err := b.second.Asked()
	if err != nil {
		return err
	}
	plan := b.plan
	plan.Timeout = l.Config().Timeout
	for _, flag := range []struct {
		name string
		zero bool
	}{{"rate", plan.Rate == 0}, {"clients", plan.Clients == 0}, {"for", plan.For == 0}, {"count", plan.Count == 0}, {"in-flight", plan.InFlight == 0}} {
		if flag.zero && b.second.Cmd.Flags().Changed(flag.name) { // not what is left out, which has a default
			return failure.UsageError("--"+flag.name+" 0 would send nothing", "give more than 0, or leave --"+flag.name+" out")
		}
	}
	if err := plan.Check(); err != nil {
		return err
	}
	if err := a.benchRequests(ctx, l, b, &plan, own); err != nil {
		return err
	}
	configs := []config.Server{l.Config()}
	if both {
		cfg, err := runner.Second(a.App, l.Config(), &b.second)
		if err != nil {
			return err
		}
		if cfg, err = a.Filled(ctx, cfg); err != nil {
			return err
		}
		configs = append(configs, cfg)
	}
	_ = l.Disconnect() // what is measured is alone with the server; an error would be that it is gone
	var targets []*bench.Target
	defer func() {
		for _, t := range targets {
			_ = t.Close() // what was measured is known by then
		}
	}()
	for _, cfg := range configs {
		t, err := bench.Open(ctx, cfg, l.How, b.connections)
		if err != nil {
			return err
		}
		targets = append(targets, t)
		a.Kill.Watch(t.PIDs)
	}
	if both && targets[0].Name == targets[1].Name { // as an agent's are, directly and through the router
		for i, t := range targets {
			t.Name += " (" + configs[i].Name + ")"
		}
		if targets[0].Name == targets[1].Name {
			targets[1].Name += " (2)"
		}
	}
	run, err := bench.New(ctx, plan, slos, "mcphud "+cli.Version(), targets...)
	if err != nil {
		return err
	}
	rep, lost := a.watched(ctx, l, run)
	return cmp.Or(a.printBench(l, rep, b.files), benchError(ctx, l.Name(), rep, lost))
}

// benchError is the error that a measurement ends with, nil for none.
func benchError(ctx context.Context, server string, rep *bench.Report, lost error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if lost != nil {
		return failure.Wrap(lost, server, "bench")
	}
	var missed []string
	for _, v := range rep.Failed() {
		text := v.String()
		if len(rep.Targets) > 1 {
			text += " (" + v.Target + ")"
		}
		missed = append(missed, text)
	}
	if len(missed) > 0 {
		return &failure.Error{Kind: failure.Assertion, Server: server, Stage: "bench", Message: text.Count(len(missed), "threshold", "thresholds") + " missed: " + strings.Join(missed, ", ")}
	}
	for _, t := range rep.Targets {
		if t.Answered == 0 && len(t.Errors) > 0 {
			return &failure.Error{Kind: failure.Assertion, Server: t.Name, Stage: "bench", Message: fmt.Sprintf("no request succeeded: %s: %s", t.Errors[0].Kind, t.Errors[0].First)}
		}
	}
	return nil
}

// harmless are methods that change nothing at a server.
var harmless = []string{
	"ping", "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get", "completion/complete", "tasks/list", "tasks/get", "skills/list",
}

// benchRequests says what is sent.
func (a *app) benchRequests(ctx context.Context, l *cli.Link, b *benching, plan *bench.Plan, own []string) error {
	plan.Method = b.method
	if len(own) > 0 {
		if b.method != "" && b.method != "tools/call" || b.params != "" {
			return failure.UsageError("a tool is called by tools/call, with arguments for its params", "leave out --method and --params, or the tool")
		}
		plan.Method = "tools/call"
		return a.benchTool(ctx, l, b, plan, own)
	}
	if b.args != "" || b.batch != "" {
		return failure.UsageError("arguments are of a tool, and none was named", "name one, or give --params")
	}
	if plan.Method == "" {
		plan.Method = "ping"
	}
	if b.params != "" {
		raw, err := a.ReadArg(b.params)
		if err == nil {
			err = jsonrpc.Members(raw, func(string, []byte) bool { return true })
		}
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "--params is not a JSON object: " + err.Error(), Err: err, Next: "give a JSON object"}
		}
		plan.Params = []json.RawMessage{raw}
	}
	if plan.Method == "tools/call" {
		return failure.UsageError("tools/call needs a tool", "name it: mcphud bench TOOL")
	}
	if !slices.Contains(harmless, plan.Method) && !l.Opts.Yes {
		return failure.UsageError(plan.Method+" may change something at the server; nothing was sent", "give --yes if it may be sent that often")
	}
	return nil
}

// benchTool is benchRequests for a tool.
func (a *app) benchTool(ctx context.Context, l *cli.Link, b *benching, plan *bench.Plan, own []string) error {
	it, err := runner.FindTool(ctx, l, own[0])
	if err != nil {
		return err
	}
	add := func(base *schema.Value) error {
		args, err := calls.Arguments(l.Name(), it, base, own[1:])
		if err != nil {
			return err
		}
		if len(plan.Params) == 0 {
			for _, d := range calls.Doubts(it, args) {
				l.Side.Warn("warning: argument " + d)
			}
		}
		plan.Params = append(plan.Params, fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, jsonrpc.Quote(it.Name), args))
		return nil
	}
	switch {
	case b.args != "" && b.batch != "":
		return failure.UsageError("--args and --batch both give arguments", "leave one of them out")
	case b.batch != "":
		err = runner.EachObject(ctx, a.App, b.batch, func(_ int, raw json.RawMessage) error {
			if len(plan.Params) == bench.MaxArguments {
				return failure.UsageError(fmt.Sprintf("%s has more than %d objects", b.batch, bench.MaxArguments), "give a part of them")
			}
			v, err := schema.ParseValue(raw)
			if err != nil {
				return err
			}
			return add(v)
		})
	case b.args != "":
		var raw []byte
		var base *schema.Value
		if raw, err = a.ReadArg(b.args); err == nil {
			if base, err = schema.ParseValue(raw); err != nil || base.Kind() != schema.Object {
				return failure.UsageError("--args is not a JSON object", "give a JSON object")
			}
			err = add(base)
		}
	default:
		err = add(nil)
	}
	if err != nil {
		return err
	}
	return allowMany(ctx, l, it, "as often as asked for")
}

// allowMany is allow for calls that are made many times: what is not read-only needs a yes beforehand, also where nobody can be asked.
func allowMany(ctx context.Context, l *cli.Link, it offer.Item, times string) error {
	if it.ReadOnly() || l.Opts.Yes && !l.Opts.ReadOnly {
		return nil
	}
	what := "is not marked as read-only"
	if it.Destructive() {
		what = "is marked as destructive"
	}
	switch {
	case l.Opts.ReadOnly:
		return l.NotCalled(it, "the tool is not marked as read-only, and --read-only refuses it", "leave --read-only out")
	case !l.CanAsk():
		return l.NotCalled(it, "the tool "+what, "give --yes if it may be called "+times)
	}
	return l.Confirm(ctx, it, fmt.Sprintf("%s of %s %s. Call it %s?", it.Name, l.Title(), what, times))
}

// watched makes a measurement, and shows how far it is.
func (a *app) watched(ctx context.Context, l *cli.Link, run *bench.Run) (*bench.Report, error) {
	every := 5 * time.Second
	if l.Side.Tty {
		every = 200 * time.Millisecond
	}
	if l.Out.Format == output.FormatJSONL {
		every = time.Second
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				a.showNow(l, run.Now())
			case <-done:
				return
			}
		}
	}()
	rep, err := run.Do(ctx)
	close(done)
	<-stopped
	return rep, err
}

// printBench prints a report, and writes it to files.
func (a *app) printBench(l *cli.Link, rep *bench.Report, paths []string) error {
	raw, err := output.Marshal(rep)
	if err != nil {
		return err
	}
	var unwritten error
	for _, file := range paths {
		text := append(slices.Clip(raw), '\n')
		if strings.EqualFold(filepath.Ext(file), ".md") {
			text = []byte(rep.Markdown())
		}
		if err := files.WriteMode(file, text, 0o644); err != nil {
			unwritten = cmp.Or(unwritten, error(&failure.Error{Kind: failure.Usage, Message: "--output: " + err.Error(), Err: err, Next: "name a file that can be written"}))
		}
	}
	return cmp.Or(l.Print(output.Answer{Result: raw, Frames: [][]byte{raw}, Text: func(t *output.Text) { printBench(t, l.Out.Width, rep) }}), unwritten)
}
