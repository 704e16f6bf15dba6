package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

func (a *app) toolsCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's tools, or with --all those of every configured server", Annotations: rule("none"),
		Example: "  mcphud tools list -- node server.js\n  mcphud tools list --all --config ci/mcp.json --format json\n  mcphud tools list --cost -- node server.js",
		Args:    cobra.ArbitraryArgs,
	}
	all, spelling := false, spellings[0]
	list.Flags().BoolVar(&all, "all", false, "list the tools of every configured server under their full names")
	list.Flags().Var(&choice{&spelling, spellings}, "names", "spell full names as mcp__SERVER__TOOL (underscore) or mcp:SERVER:TOOL (colon)")
	costs := false
	list.Flags().BoolVar(&costs, "cost", false, "say what each tool costs a model that is given it: bytes, and tokens as mcphud check cost estimates them")
	one := a.serverCommand(func(ctx context.Context, l *link, own []string) error {
		if costs {
			return toolsCost(ctx, l)
		}
		return toolsList(ctx, l, own)
	})
	everyone := a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if given := targetFlags(cmd); len(given) > 0 || len(args) > 0 {
			return usageError("--all lists every configured server, and "+cmp.Or(strings.Join(given, " and "), "a name, a URL or a command")+" names one", "leave one of them out")
		}
		return a.withFleet(ctx, cmd, func(ctx context.Context, f *fleet) error { return toolsOfAll(ctx, f, spelling) })
	})
	list.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case all && costs:
			return a.action(func(context.Context, *cobra.Command, []string) error {
				return usageError("--cost is of one server's tools", "name a server instead of --all")
			})(cmd, args)
		case all:
			return everyone(cmd, args)
		case cmd.Flags().Changed("names"):
			return a.action(func(context.Context, *cobra.Command, []string) error {
				return usageError("--names spells full names, which only --all prints", "add --all, or leave it out")
			})(cmd, args)
		}
		return one(cmd, args)
	}
	var example bool
	show := &cobra.Command{
		Use: "show NAME [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show one tool with its schemas", Annotations: rule("one"),
		Example: "  mcphud tools show add -- node server.js\n  mcphud tools show add --example -- node server.js",
		Long:    "Shows one tool with its schemas. " + fullNames,
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: a.completeNames(offer.Tools),
		RunE: a.serverCommand(func(ctx context.Context, l *link, args []string) error { return toolsShow(ctx, l, args, example) }),
	}
	show.Flags().BoolVar(&example, "example", false, "print arguments to start from, as the input schema's examples have them")
	var args string
	var task bool
	var second comparing
	var many batching
	call := &cobra.Command{
		Use: "call NAME [KEY=VALUE…] [KEY:=JSON…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Call a tool", Annotations: rule("some"),
		Long: "Calls a tool. KEY=VALUE is converted by the tool's input schema, KEY:=JSON is taken as JSON; keys nest as a.b[0]=x.\n" +
			"--args gives the whole object, on top of which single keys are set. --answer says what a tool that asks is answered.\n\n" + batchHelp + "\n\n" + comparingHelp + "\n\n" + fullNames,
		Example: "  mcphud tools call mcp__github__search_repos query=mcp\n  mcphud tools call add a=1 b=2 -- node server.js\n  mcphud tools call search --args @query.json limit=5 --url http://127.0.0.1:3000/mcp\n" +
			"  mcphud tools call add --batch numbers.jsonl --concurrency 4 -- node server.js\n" +
			"  mcphud tools call add a=1 b=2 --expect '.content[0].text|contains(\"3\")' --max-latency 2s -- node server.js",
		Args: cobra.ArbitraryArgs,
		RunE: a.serverCommand(func(ctx context.Context, l *link, own []string) error {
			switch batch, err := many.asked(args, task, second.target != ""); {
			case err != nil:
				return err
			case batch:
				return a.batch(ctx, l, own, &many)
			}
			return a.toolsCall(ctx, l, own, args, task, &second)
		}),
		ValidArgsFunction: a.completeNames(offer.Tools),
	}
	call.Flags().StringVar(&args, "args", "", "arguments as `JSON`, @FILE, or - for stdin")
	call.Flags().BoolVar(&task, "task", false, "run the call as a task, print its id, and wait for its result")
	many.register(call)
	second.register(call)
	registerName(show, call)
	return a.group("tools", "List, show and call tools", list, show, call)
}

const fullNames = "A full name, mcp__SERVER__TOOL or mcp:SERVER:TOOL, names the server of the configs as well, so that no target is needed."

// spellings are what --names takes, the default first.
var spellings = []string{"underscore", "colon"}

func toolsList(ctx context.Context, l *link, _ []string) error {
	return l.printList(ctx, offer.Tools, func(t *textOutput, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			rows = append(rows, []string{it.Name, hints(it), markMalformed(it, text.FirstLine(describe(it)))})
		}
		t.table(l.out.width, dropEmptyColumn(rows, 1))
	})
}

// findTool lists the tools and picks one by its exact name, by its full name, or by the other spelling of a merged tool,
// mcp:AGENT:TOOL. Nothing else is sent.
func findTool(ctx context.Context, l *link, name string) (offer.Item, error) {
	list, err := l.List(ctx, offer.Tools)
	if err != nil {
		return offer.Item{}, err
	}
	spelt, called := "", func(tool string) string { return tool }
	if refs := toolset.Candidates(name, []string{l.Name()}); len(refs) > 0 {
		spelt = refs[0].Tool
		called = func(tool string) string { return toolset.FullName(l.Name(), tool) }
	} else if agent, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp:"), ":"); ok && strings.HasPrefix(name, "mcp:") {
		spelt = toolset.FullName(agent, tool)
	}
	for end := time.Now().Add(maxLate); ; {
		for _, want := range []string{name, spelt} {
			for _, it := range list.Items {
				if it.Name == want && want != "" {
					return it, nil
				}
			}
		}
		late := lateFor(name, list.JSON())
		if late == nil {
			break
		}
		if time.Now().After(end) {
			return offer.Item{}, &failure.Error{
				Kind: failure.Timeout, Server: l.Name(), Message: fmt.Sprintf("%s: %s, so nobody knows whether there is a tool %q", late.Agent, late.Error, name),
				Next: "try again later, or see mcphud doctor for that server",
			}
		}
		if list, err = l.Refresh(ctx, offer.Tools); err != nil {
			return offer.Item{}, err
		}
	}
	var names []string
	for _, it := range list.Items {
		names = append(names, called(it.Name))
	}
	return offer.Item{}, &failure.Error{
		Kind: failure.InvalidToolName, Server: l.Name(), Message: fmt.Sprintf("there is no tool %q", name),
		Next: didYouMean(name, names) + "mcphud tools list shows the names",
	}
}

// maxLate is how long a merged list is asked for again where it lacks the part that a tool would be in.
const maxLate = 30 * time.Second

// lateFor is the part of a merged list that the name of a tool belongs to, if that did not come in time; nil otherwise.
func lateFor(name string, list []byte) *missingPart {
	for _, m := range missingOf(list).Missing {
		if len(toolset.Candidates(name, []string{m.Agent})) > 0 && strings.Contains(m.Error, stack.NotInTime) {
			return &m
		}
	}
	return nil
}

func toolsShow(ctx context.Context, l *link, args []string, example bool) error {
	it, err := findTool(ctx, l, args[0])
	if err != nil {
		return err
	}
	if example {
		v := schema.ParseArguments(it.InputSchema).Root().Example().JSON()
		return l.print(answer{result: v, text: func(t *textOutput) { t.json(v) }})
	}
	return l.print(answer{result: it.Raw, frames: l.responses("tools/list"), text: func(t *textOutput) {
		t.fields([2]string{"name", it.Name}, [2]string{"title", it.Title}, [2]string{"hints", hints(it)}, [2]string{"", ""})
		if it.Description != "" {
			t.block("")
			t.prose(l.out.width, it.Description)
		}
		t.arguments(l.out.width, it.InputSchema)
		if len(it.OutputSchema) > 0 {
			t.block("\noutput schema:")
			t.json(it.OutputSchema)
		}
		if len(it.InputSchema) > 0 {
			t.block("\ninput schema:")
			t.json(it.InputSchema)
		}
	}})
}

func (a *app) toolsCall(ctx context.Context, l *link, own []string, whole string, task bool, second *comparing) error {
	both, err := second.asked()
	if err != nil {
		return err
	}
	it, args, err := a.arguments(ctx, l, own, whole)
	if err != nil {
		return err
	}
	if both {
		if task {
			return usageError("--task and --compare do not go together", "leave one of them out")
		}
		return a.compared(ctx, l, "tools/call", fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, jsonrpc.Quote(it.Name), cmp.Or(string(args), "{}")), second)
	}
	o := l.call()
	if task {
		o.Task, o.OnTask = true, l.side.task(l.out.format)
	}
	r, err := l.CallTool(ctx, it.Name, args, o)
	if err != nil {
		return err
	}
	if task && r.Task == "" {
		l.side.warn("the server answered at once: it made no task of the call")
	}
	return l.printCall("tools/call "+it.Name, r)
}

// arguments finds a tool and makes its arguments of the command's, once the call is agreed to.
func (a *app) arguments(ctx context.Context, l *link, own []string, whole string) (it offer.Item, args json.RawMessage, err error) {
	var base *schema.Value
	if whole != "" {
		raw, err := a.readArg(whole)
		if err != nil {
			return it, nil, err
		}
		if base, err = schema.ParseValue(raw); err != nil {
			return it, nil, usageError("--args: "+err.Error(), "give a JSON object")
		}
		if base.IsSet() && base.Kind() != schema.Object && len(own) > 1 {
			return it, nil, usageError("--args is not a JSON object: single arguments cannot be set on it", "give one or the other")
		}
	}
	if it, err = findTool(ctx, l, own[0]); err != nil {
		return it, nil, err
	}
	if args, err = l.coerced(it, base, own[1:]); err != nil {
		return it, nil, err
	}
	l.doubt(it, args)
	return it, args, l.allow(ctx, it, args)
}

// coerced are the arguments of a tool: base, nil for none, with what is given as KEY=VALUE on top of it.
func (l *link) coerced(it offer.Item, base *schema.Value, given []string) (json.RawMessage, error) {
	if len(given) == 0 && base.IsSet() {
		return base.JSON(), nil
	}
	v, err := schema.Parse(it.InputSchema).CoerceArgs(base, given)
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Server: l.Name(), Stage: "arguments of " + it.Name, Message: err.Error(), Err: err, Next: "KEY:=JSON sends any JSON as it is; nothing was sent"}
	}
	return v.JSON(), nil
}

// printCall prints the result of a tool, and is the error of one that failed. stage names the call in it.
func (l *link) printCall(stage string, r rpc.Reply) error {
	failed := offer.IsError(r.Result)
	if err := l.print(reply(r, func(t *textOutput) { t.toolResult(r.Result) })); err != nil {
		return err
	}
	if failed && !l.out.judgesToolError() {
		return toolError(l.Name(), stage, r.Result)
	}
	return nil
}

// What a tool says of its error: so many bytes are kept, of which stderr has the first ones, once what was sent as a secret is hidden in them. To cut
// first would leave the beginning of a secret that lies across the cut.
const (
	maxToolSaid   = 4000
	toolSaidShown = 230
)

// toolError is the error of a tool that reported one, with the first line that says something.
func toolError(server, stage string, result []byte) error {
	e := &failure.Error{Kind: failure.ToolError, Server: server, Stage: stage, Message: "the tool reported an error"}
	if cs, err := offer.Contents(result); err == nil {
		for _, c := range cs {
			if said := text.Headline(c.Text); c.Type == "text" && said != "" {
				e.Message += ": " + text.Clip(said, maxToolSaid)
				break
			}
		}
	}
	return e
}

// doubt warns of arguments that the tool's schema does not allow, lacks or does not know. They are sent: that is how a server is tried.
func (l *link) doubt(it offer.Item, args []byte) {
	const most = 5
	s := schema.Parse(it.InputSchema)
	value, err := schema.ParseValue(args)
	if err != nil {
		return // it is refused where it is sent
	}
	warned := map[string]bool{}
	warn := func(p schema.Problem) {
		if warned[p.Pointer] = true; len(warned) <= most {
			l.side.warn("warning: argument " + p.Sentence())
		}
	}
	problems, _ := s.ValidateJSON(args)
	for _, p := range problems {
		warn(p)
	}
	f := s.Root().Active(value)
	if _, open, _ := f.Extra(); open || len(f.Variants()) > 0 {
		return
	}
	for _, m := range value.Members() {
		if p := "/" + m.Name; !f.Declares(m.Name) && !warned[p] {
			warn(schema.Problem{Pointer: p, Message: "is not in the tool's schema"})
		}
	}
}

// call is the options of a request that reports progress.
func (l *link) call() session.CallOptions {
	if l.asking != nil { // one of several connections
		return session.CallOptions{}
	}
	return session.CallOptions{OnProgress: l.side.report}
}

func hints(it offer.Item) string {
	var out []string
	if it.ReadOnly() {
		out = append(out, "read-only")
	}
	if it.Destructive() {
		out = append(out, "destructive")
	}
	if it.App != "" {
		out = append(out, "app")
	}
	return strings.Join(out, " ")
}

func describe(it offer.Item) string {
	if it.Description != "" {
		return it.Description
	}
	return it.Title
}

// markMalformed marks an item that violates the specification.
func markMalformed(it offer.Item, s string) string {
	if it.Barred != nil {
		return "! " + it.Barred.Error() + "  " + s
	}
	if it.Flaw != nil {
		return "! malformed: " + it.Flaw.Error() + "  " + s
	}
	return s
}

// arguments writes what an object schema asks for, one argument a row.
func (t *textOutput) arguments(width int, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	root := schema.Parse(raw).Root()
	rows := [][]string{}
	for _, c := range root.Children(nil) {
		f := c.Field()
		must := ""
		if c.Required {
			must = "required"
		}
		note := []string{}
		if d := text.FirstLine(f.Description); d != "" {
			note = append(note, d)
		}
		for _, k := range f.Constraints {
			note = append(note, k.Text)
		}
		if f.Default.IsSet() {
			note = append(note, "default "+f.Default.String())
		}
		rows = append(rows, []string{c.Name, f.Types.String(), must, strings.Join(note, "; ")})
	}
	if len(rows) > 0 {
		t.block("\narguments:")
		t.table(width, rows)
	}
}

// printList prints a whole list, all pages in one.
func (l *link) printList(ctx context.Context, kind offer.Kind, f func(*textOutput, []offer.Item)) error {
	list, err := l.List(ctx, kind)
	if err != nil {
		var e *failure.Error
		if errors.As(err, &e) && e.Code != nil && *e.Code == jsonrpc.CodeMethodNotFound {
			c := *e
			c.Next = fmt.Sprintf("the server has no %s; mcphud info shows what it has", kind)
			return &c
		}
		return err
	}
	raw := list.JSON()
	if kind == offer.Tools && l.opts.readOnly {
		list.Items, raw = l.readOnly(list.Items, raw)
	}
	return l.print(answer{result: raw, frames: l.responses(kind.Method()), text: func(t *textOutput) {
		if len(list.Items) == 0 {
			t.block("none")
		} else {
			f(t, list.Items)
		}
		t.missing(raw)
	}})
}

// missingPart is an agent whose part a merged list does not have.
type missingPart struct{ Agent, Error string }

// lacking is what a merged list says that it does not have.
type lacking struct {
	Missing []missingPart              `json:"mcphud/missing"`
	LeftOut []struct{ Message string } `json:"mcphud/leftOut"`
}

func missingOf(list []byte) (meta lacking) {
	_ = jsonrpc.Members(list, func(key string, value []byte) bool { // a list that is not an object was refused before
		return key != "_meta" || json.Unmarshal(value, &meta) != nil
	})
	return meta
}

// missing says what a merged list lacks: the parts of agents, and why, and what was left out.
func (t *textOutput) missing(list []byte) {
	meta := missingOf(list)
	for _, m := range meta.Missing {
		t.block("missing: " + m.Agent + ": " + m.Error)
	}
	for _, o := range meta.LeftOut {
		t.block(o.Message)
	}
}

// dropEmptyColumn removes column i if no row has anything in it.
func dropEmptyColumn(rows [][]string, i int) [][]string {
	for _, r := range rows {
		if r[i] != "" {
			return rows
		}
	}
	for j, r := range rows {
		rows[j] = slices.Delete(r, i, i+1)
	}
	return rows
}
