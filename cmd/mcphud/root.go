package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/views/servers"
)

// runRoot is mcphud without a subcommand: the UI on the server that the command line names, or on the servers of the
// configs.
func (a *app) runRoot(ctx context.Context, cmd *cobra.Command, args []string) error {
	own, command, dash := splitArgs(cmd, args)
	name := ""
	if len(own) > 0 && !strings.Contains(own[0], "://") {
		if err := a.bareName(cmd, own); err != nil {
			return err
		}
		name = own[0]
	}
	if err := a.o.check(cmd); err != nil {
		return err
	}
	if a.o.cache < 0 {
		return usageError(fmt.Sprintf("--cache is %v, and must not be negative", a.o.cache), "give it as 30s or 5m")
	}
	if len(own) > 0 {
		if len(own) > 1 || dash || a.o.url != "" || a.o.agent != "" || a.o.server != "" {
			return usageError("more than one server was named", "name exactly one")
		}
		if name != "" {
			return a.openConfigs(ctx, cmd, name)
		}
		a.o.url = own[0]
	}
	if a.o.url == "" && a.o.agent == "" && a.o.server == "" && !dash {
		return a.openConfigs(ctx, cmd, "")
	}
	if a.o.server != "" && a.o.url == "" && a.o.agent == "" && !dash {
		return a.openConfigs(ctx, cmd, a.o.server)
	}
	srv, err := a.o.target(cmd, command, dash)
	if err != nil {
		return err
	}
	where, err := config.System()
	if err != nil {
		return err
	}
	return a.ui(ctx, uiStart{servers: []config.Server{srv}, connect: srv.Name, settings: config.Settings{ResultCacheTTL: a.o.cache}, configs: &servers.Configs{Where: where}})
}

// bareName is the error of a first word that is neither a command nor the name of a configured server. A command comes first where a
// word is both: the server is named by --server then.
func (a *app) bareName(cmd *cobra.Command, own []string) error {
	set, _, err := a.o.load()
	if err != nil {
		return err
	}
	word := own[0]
	if _, ok := set.Server(word); ok {
		if len(own) == 1 {
			return nil
		}
		if slices.Contains(subcommands(cmd), own[1]) {
			return usageError(word+" is a server, and comes after the command", "did you mean mcphud "+strings.Join(append(own[1:], word), " ")+"?")
		}
		return usageError(fmt.Sprintf("%q follows the name of a server, and is not a command", own[1]), didYouMean(own[1], subcommands(cmd))+"see mcphud --help")
	}
	if u := bareURL(word); u != "" {
		return usageError(fmt.Sprintf("%q is neither a command nor a URL", word), "did you mean mcphud "+u+"?")
	}
	return usageError(fmt.Sprintf("there is no command %q, and no server of that name in the configs", word),
		didYouMean(word, union(subcommands(cmd), serverNames(set)))+"see mcphud --help, mcphud servers list; a server is also named with -- COMMAND ARGS…, a URL or --agent NAME")
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
	set, where, err := a.o.load()
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("cache") {
		set.Settings.ResultCacheTTL = a.o.cache
	}
	demo := false
	start := uiStart{
		servers: slices.Clone(set.Servers), settings: set.Settings, warnings: set.Warnings,
		configs: &servers.Configs{Where: where, Looked: set.Looked, Demo: func() { demo = true }},
		read:    &set,
	}
	if name == "" {
		start.auto = autoDiscover(set, a.o.trust())
		if err := a.ui(ctx, start); err != nil || !demo {
			return err
		}
		return a.demo(ctx, cmd)
	}
	s, ok := set.Server(name)
	if !ok {
		_, err := a.o.configured(name) // the error names the problem and similar names
		return err
	}
	trusted := a.o.trust().Trusted(s) // without the flags, as its file describes it
	if err := a.o.apply(cmd, &s); err != nil {
		return err
	}
	for i := range start.servers {
		if start.servers[i].Name == s.Name {
			start.servers[i] = s
		}
	}
	start.open = s.Name
	if trusted && s.Problem == nil && !s.Disabled && len(s.Inputs) == 0 {
		start.open, start.connect = "", s.Name
	}
	return a.ui(ctx, start)
}
