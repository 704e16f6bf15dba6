// Package runner makes calls for verbs: one, a batch, at two servers, those that files have, and recorded ones. It asks the person at the terminal, and
// prints; [calls.Runner] does the rest.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// CompleteNames offers the names that the named server lists, for the first argument. A server is only asked when the
// flags before name it.
func CompleteNames(a *cli.App, kind offer.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		// cobra puts a double dash of its own behind what was typed.
		own, command, _ := cli.SplitArgs(cmd, args)
		if len(own) == 1 && config.IsURL(own[0]) {
			a.Options.URL, own = own[0], nil
		}
		if len(own)+len(command) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		cfg, err := a.Options.Target(cmd, nil, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), cli.ShellTimeout)
		defer cancel()
		so, err := a.SessionOptions(a.Options.Settings)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		so.Transport.GracePeriod = cli.OneShot
		m := session.NewManager(so)
		defer m.Close()
		cfg.NoReconnect = true
		s, err := m.Register(cfg)
		if err != nil || s.Connect(ctx) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, err := s.List(ctx, kind)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, it := range list.Items {
			name := it.Name
			if kind == offer.Resources {
				name = it.URI
			}
			if completable(name) {
				out = append(out, name+"\t"+output.OneCell(Describe(it)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completable reports whether a server's name may be completed: control characters would be read by the shell, and a leading
// dash by this program.
func completable(name string) bool {
	return !strings.HasPrefix(name, "-") && strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// printMessages writes a prompts/get result, each message under its role.
func printMessages(t *output.Text, result []byte) {
	cs, err := offer.Contents(result)
	if err != nil {
		t.JSON(result)
		return
	}
	for i, c := range cs {
		if i > 0 {
			t.Block("")
		}
		t.Block("[" + c.Role + "]")
		t.Content(c)
	}
}

// printResource writes the contents of a resources/read result.
func printResource(t *output.Text, result []byte) {
	cs, err := offer.Contents(result)
	if err != nil {
		t.JSON(result)
		return
	}
	for i, c := range cs {
		if len(cs) > 1 {
			if i > 0 {
				t.Block("")
			}
			t.Block(strings.TrimSpace(c.URI+" "+output.Bracketed(c.MIME)) + ":")
		}
		if c.Data != nil {
			t.Block(output.Blob(c))
		} else {
			t.Block(c.Text)
		}
	}
}

// FindTool lists the tools and picks one by its exact name, by its full name, or by the other spelling of a merged tool,
// mcp:AGENT:TOOL. Nothing else is sent.
func FindTool(ctx context.Context, l *cli.Link, name string) (offer.Item, error) {
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
		Next: output.DidYouMean(name, names) + "mcphud tools list shows the names",
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

// ToolCall is the call of a tool that a command line makes: whole is --args, "" for none, and own the tool's name with what is set on top of that.
func ToolCall(a *cli.App, own []string, whole string) (c calls.Call, err error) {
	c = calls.Call{Method: calls.ToolsCall, Target: own[0], Given: own[1:]}
	if whole == "" {
		return c, nil
	}
	raw, err := a.ReadArg(whole)
	if err != nil {
		return c, err
	}
	base, err := schema.ParseValue(raw)
	if err != nil {
		return c, failure.UsageError("--args: "+err.Error(), "give a JSON object")
	}
	if base.IsSet() && base.Kind() != schema.Object && len(own) > 1 {
		return c, failure.UsageError("--args is not a JSON object: single arguments cannot be set on it", "give one or the other")
	}
	c.Arguments = raw
	return c, nil
}

// CallOptions is the options of a request that reports progress.
func CallOptions(l *cli.Link) session.CallOptions {
	if l.Asking != nil { // one of several connections
		return session.CallOptions{}
	}
	return session.CallOptions{OnProgress: l.Side.Report}
}

// Hints are what a tool says of itself, in a line.
func Hints(it offer.Item) string {
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

// PrintArguments writes what an object schema asks for, one argument a row.
func PrintArguments(t *output.Text, width int, raw json.RawMessage) {
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
		t.Block("\narguments:")
		t.Table(width, rows)
	}
}

// PrintList prints a whole list, all pages in one: as text f, and in the format brief a line for each item.
func PrintList(ctx context.Context, l *cli.Link, kind offer.Kind, brief func(offer.Item) string, f func(*output.Text, []offer.Item)) error {
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
	if kind == offer.Tools && l.Opts.ReadOnly {
		list.Items, raw = l.ReadOnly(list.Items, raw)
	}
	return l.Print(output.Answer{Result: raw, Frames: l.Responses(kind.Method()), Text: func(t *output.Text) {
		switch {
		case len(list.Items) == 0:
			t.Block("none")
		case l.Out.Format == output.FormatBrief:
			for _, it := range list.Items {
				t.Block(brief(it))
			}
		default:
			f(t, list.Items)
		}
		printMissing(t, raw)
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

// printMissing says what a merged list lacks: the parts of agents, and why, and what was left out.
func printMissing(t *output.Text, list []byte) {
	meta := missingOf(list)
	for _, m := range meta.Missing {
		t.Block("missing: " + m.Agent + ": " + m.Error)
	}
	for _, o := range meta.LeftOut {
		t.Block(o.Message)
	}
}

// Describe is what an item says of itself: its description, else its title.
func Describe(it offer.Item) string {
	if it.Description != "" {
		return it.Description
	}
	return it.Title
}
