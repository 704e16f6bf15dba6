package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/ui"
	verbserve "github.com/mcphud/mcphud/cmd/verb/serve"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/views/servers"
)

// runRoot is mcphud without a subcommand: the UI on the server that the command line names, or on the servers of the
// configs.
func (a *app) runRoot(ctx context.Context, cmd *cobra.Command, args []string) error {
	own, command, dash := cli.SplitArgs(cmd, args)
	name := ""
	if len(own) > 0 && !strings.Contains(own[0], "://") {
		if err := a.bareName(cmd, own); err != nil {
			return err
		}
		name = own[0]
	}
	for _, name := range []string{"select", "max-bytes"} {
		if cmd.Flags().Changed(name) {
			return failure.UsageError("--"+name+" is for what a command prints, and mcphud without one opens the UI", "name a command, such as mcphud tools list; see mcphud --help")
		}
	}
	if err := a.Options.Check(cmd); err != nil {
		return err
	}
	if a.Options.Cache < 0 {
		return failure.UsageError(fmt.Sprintf("--cache is %v, and must not be negative", a.Options.Cache), "give it as 30s or 5m")
	}
	if len(own) > 0 {
		if len(own) > 1 || dash || a.Options.Named() {
			return failure.UsageError("more than one server was named", "name exactly one")
		}
		if name != "" {
			return a.openConfigs(ctx, cmd, name)
		}
		a.Options.URL = own[0]
	}
	if !a.Options.Named() && !dash {
		return a.openConfigs(ctx, cmd, "")
	}
	if a.Options.Server != "" && a.Options.URL+a.Options.Agent+a.Options.Session == "" && !dash {
		return a.openConfigs(ctx, cmd, a.Options.Server)
	}
	srv, err := a.Options.Target(cmd, command, dash)
	if err != nil {
		return err
	}
	where, err := config.System()
	if err != nil {
		return err
	}
	return ui.Open(ctx, a.App, ui.Start{Servers: []config.Server{srv}, Connect: srv.Name, Settings: config.Settings{ResultCacheTTL: a.Options.Cache}, Configs: &servers.Configs{Where: where}})
}

// bareName is the error of a first word that is neither a command nor the name of a configured server. A command comes first where a
// word is both: the server is named by --server then.
func (a *app) bareName(cmd *cobra.Command, own []string) error {
	set, _, err := a.Options.Load()
	if err != nil {
		return err
	}
	word := own[0]
	if _, ok := set.Server(word); ok {
		if len(own) == 1 {
			return nil
		}
		if slices.Contains(cli.Subcommands(cmd), own[1]) {
			return failure.UsageError(word+" is a server, and comes after the command", "did you mean mcphud "+strings.Join(append(own[1:], word), " ")+"?")
		}
		return failure.UsageError(fmt.Sprintf("%q follows the name of a server, and is not a command", own[1]), output.DidYouMean(own[1], cli.Subcommands(cmd))+"see mcphud --help")
	}
	if u := flags.BareURL(word); u != "" {
		return failure.UsageError(fmt.Sprintf("%q is neither a command nor a URL", word), "did you mean mcphud "+u+"?")
	}
	return failure.UsageError(fmt.Sprintf("there is no command %q, and no server of that name in the configs", word),
		output.DidYouMean(word, output.Union(cli.Subcommands(cmd), cli.ServerNames(set)))+"see mcphud --help, mcphud servers list; a server is also named with -- COMMAND ARGS…, a URL or --agent NAME")
}

// autoDiscover names the servers that the list connects to by itself: those of the file that says auto_discover: true, where they are
// enabled and trusted. Which servers other files have is none of that file's business. More than the pool takes would only close
// each other.
func autoDiscover(set config.Set, trust *config.Trust) (names []string) {
	file := set.Settings.File("auto_discover")
	if on := set.Settings.AutoDiscover; on == nil || !*on {
		return nil
	}
	for _, s := range set.Servers {
		from := s.Source.File == file || slices.ContainsFunc(s.Also, func(also config.Source) bool { return also.File == file })
		if from && !s.Disabled && s.Problem == nil && len(s.Inputs) == 0 && trust.Trusted(s) {
			names = append(names, s.Name)
		}
	}
	if most := set.Settings.Pool.MaxConnections; most > 0 {
		names = names[:min(most, len(names))]
	}
	return names
}

// openConfigs opens the UI on what the configs name; name, if given, is connected at once, after asking for trust where
// that is needed.
func (a *app) openConfigs(ctx context.Context, cmd *cobra.Command, name string) error {
	set, where, err := a.Options.Load()
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("cache") {
		set.Settings.ResultCacheTTL = a.Options.Cache
	}
	demo := false
	start := ui.Start{
		Servers: slices.Clone(set.Servers), Settings: set.Settings, Warnings: set.Warnings,
		Configs: &servers.Configs{Where: where, Looked: set.Looked, Demo: func() { demo = true }},
		Read:    &set,
	}
	if name == "" {
		start.Auto = autoDiscover(set, a.Options.Trust())
		if err := ui.Open(ctx, a.App, start); err != nil || !demo {
			return err
		}
		return verbserve.Demo(ctx, a.App, cmd)
	}
	s, ok := set.Server(name)
	if !ok {
		_, err := a.Options.Configured(name) // the error names the problem and similar names
		return err
	}
	trusted := a.Options.Trust().Trusted(s) // without the flags, as its file describes it
	if err := a.Options.Apply(cmd, &s); err != nil {
		return err
	}
	for i := range start.Servers {
		if start.Servers[i].Name == s.Name {
			start.Servers[i] = s
		}
	}
	start.Open = s.Name
	if trusted && s.Problem == nil && !s.Disabled && len(s.Inputs) == 0 {
		start.Open, start.Connect = "", s.Name
	}
	return ui.Open(ctx, a.App, start)
}
