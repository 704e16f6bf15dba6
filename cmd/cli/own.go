package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
)

// OwnArgs are a command's own arguments, and the server's command after the double dash, if there is one. A server among the former is
// taken as the target, unless means reports that the word means something else to the command; nil for words that never do.
func (a *App) OwnArgs(cmd *cobra.Command, args []string, means func(word string) bool) (own, command []string, dash bool, err error) {
	own, command, dash = SplitArgs(cmd, args)
	if f := cmd.Flags().Lookup(nameFlag); f != nil && f.Changed {
		own = append([]string{f.Value.String()}, own...)
	}
	if own, err = a.Options.takeServer(cmd, own, dash, means); err != nil {
		return nil, nil, false, err
	}
	err = CheckArgs(cmd, own)
	var e *failure.Error
	if errors.As(err, &e) && a.Options.near != "" {
		e.Next = a.Options.near + e.Next
	}
	return own, command, dash, err
}

// takeServer takes the server from a command's own arguments, where nothing else names one and the command can do without that argument: a
// plain http(s) or ws(s) URL, or the name of a configured server, by the same rules of trust as --server. It stands last, or first, or
// among the others. What is left is returned. Where there is none, near gets the names that one of the words is similar to.
func (o *Options) takeServer(cmd *cobra.Command, own []string, dash bool, means func(word string) bool) ([]string, error) {
	if dash || o.Named() {
		return own, nil
	}
	rule, ok := argRules[cmd.Annotations[RuleKey]]
	if !ok || len(own) <= rule.min {
		return own, nil
	}
	without := func(i int) []string { return slices.Delete(slices.Clone(own), i, i+1) }
	for _, i := range places(len(own), true) {
		if config.IsURL(own[i]) {
			o.URL = own[i]
			return without(i), nil
		}
	}
	var set config.Set
	for _, i := range places(len(own), false) {
		word := own[i]
		if strings.Contains(word, "=") || slices.Contains(cmd.ValidArgs, word) || means != nil && means(word) {
			continue
		}
		if set.Servers == nil {
			var err error
			if set, _, err = o.Load(); err != nil {
				if rule.max >= 0 && len(own) > rule.max { // it can only be a name of that file
					return own, err
				}
				return own, nil
			}
		}
		if _, ok := set.Server(word); ok {
			o.Server, o.near = word, ""
			return without(i), nil
		}
		if o.near == "" {
			o.near = output.DidYouMean(word, ServerNames(set))
		}
		if len(set.Servers) == 0 {
			break
		}
	}
	return own, nil
}

// places are the indices of n arguments in the order in which a server is looked for: a URL can be nothing else and is searched from the
// front, a name where the usage has it.
func places(n int, front bool) []int {
	order := []int{n - 1, 0}
	if front {
		order = []int{0, n - 1}
	}
	for i := range n - 2 {
		order = append(order, i+1)
	}
	return order[:min(len(order), max(n, 1))]
}

// serverOfTool takes the server from a tool's full name, where no flag names one. Where the name can mean tools of several servers of
// the configs, these are asked which of them has it.
func (a *App) serverOfTool(ctx context.Context, cmd *cobra.Command, own []string, dash bool) error {
	o := &a.Options
	if dash || len(own) == 0 || cmd.Parent() == nil || cmd.Parent().Name() != "tools" || o.Named() {
		return nil
	}
	if !toolset.IsFullName(own[0]) {
		return nil
	}
	set, _, err := o.Load()
	if err != nil {
		return err
	}
	names := ServerNames(set)
	var ref toolset.ToolRef
	if refs := toolset.Candidates(own[0], names); len(refs) > 1 {
		err = a.WithFleet(ctx, cmd, func(ctx context.Context, f *Fleet) (err error) {
			ref, err = toolset.ResolveName(own[0], names, f.ask(ctx, refs))
			return err
		})
	} else {
		ref, err = toolset.ResolveName(own[0], names, nil)
	}
	if err != nil {
		if len(toolset.Candidates(own[0], names)) == 0 {
			return &failure.Error{
				Kind: failure.InvalidToolName, Message: fmt.Sprintf("%q names no server of the configs", own[0]),
				Next: output.DidYouMean(strings.Split(strings.ReplaceAll(own[0], ":", "__"), "__")[1], names) + "mcphud servers list shows what was found where",
			}
		}
		return err
	}
	o.Server = ref.Server
	return nil
}

// ask connects the servers that a name can mean, as far as they may start, and tells which of them has the tool.
func (f *Fleet) ask(ctx context.Context, refs []toolset.ToolRef) func(toolset.ToolRef) (yes, known bool) {
	var names []string
	for _, r := range refs {
		if slices.Contains(f.Startable(), r.Server) {
			names = append(names, r.Server)
		}
	}
	var mu sync.Mutex
	asked, have := map[string]bool{}, map[toolset.ToolRef]bool{}
	_ = f.ConnectAll(ctx, names, func(name string, err error) { // one that cannot be asked may have the tool
		mu.Lock()
		defer mu.Unlock()
		asked[name] = err == nil
		for _, t := range f.Registry().ListByServer(name) {
			have[toolset.ToolRef{Server: name, Tool: t.Tool}] = true
		}
	})
	return func(r toolset.ToolRef) (yes, known bool) { return have[r], asked[r.Server] }
}
