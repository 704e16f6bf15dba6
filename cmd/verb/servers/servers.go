package servers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
)

func (a *app) serversCommand() *cobra.Command {
	return a.Group("servers", "Servers in the configuration files",
		&cobra.Command{
			Use: "list", Short: "List the servers of all configs with their sources; secrets are masked", Args: cli.NoArgs,
			Example: "  mcphud servers list\n  mcphud servers list --config .mcp.json --format json",
			RunE:    a.Action(func(context.Context, *cobra.Command, []string) error { return a.serversList() }),
		},
		a.serversAddCommand(), a.serversEditCommand(), a.serversDuplicateCommand(), a.serversRemoveCommand(), a.serversEnableCommand(true), a.serversEnableCommand(false), a.serversTemplatesCommand())
}

// entry is an entry of servers list as JSON: its configuration, and whether it can be started.
type entry struct {
	config.Server
	Trusted bool     `json:"trusted"`           // false: an entry of a file of the working folder that is not trusted yet
	Problem string   `json:"problem,omitempty"` // why it cannot be started
	Asks    []string `json:"inputs,omitempty"`  // what it has to be told before it starts
}

func (a *app) serversList() error {
	set, where, err := a.Options.Load()
	if err != nil {
		return err
	}
	trust := config.OpenTrust(where.StateDir())
	p := pages.Entries(set.Servers, trust.Trusted, func(s config.Source) string { return cli.Tilde(s.String(), where.Home) })
	p.None[0] = cli.NoServers
	list := struct {
		Servers  []entry          `json:"servers"`
		Files    []config.File    `json:"files"`
		Warnings []config.Warning `json:"warnings"`
	}{make([]entry, len(set.Servers)), append([]config.File{}, set.Files...), append([]config.Warning{}, set.Warnings...)}
	for i, s := range set.Servers {
		e := entry{Server: s.Masked(), Trusted: trust.Trusted(s)}
		if s.Problem != nil {
			e.Problem = mask.Text(s.Problem.Error())
		}
		for _, in := range s.Inputs {
			e.Asks = append(e.Asks, in.Name)
		}
		list.Servers[i] = e
		if note := a.shadowed(s.Name); note != "" {
			p.After = append(p.After, note)
		}
	}
	for _, w := range set.Warnings {
		p.After = append(p.After, "warning: "+w.String())
	}
	p.Value = list
	return a.Printer().Page(p)
}

// shadowed says that a server has the name of a command, so that mcphud NAME does not open it; "" if it has not.
func (a *app) shadowed(name string) string {
	if found, _, err := a.Root.Find([]string{name}); err != nil || found == a.Root {
		return ""
	}
	return name + " is also a command: mcphud --server " + safe.Quote(name) + " opens the server"
}
