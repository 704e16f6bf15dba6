package servers

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
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

// listedServer is one entry of servers list as JSON: its configuration, and whether it can be started.
type listedServer struct {
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
	list := struct {
		Servers  []listedServer   `json:"servers"`
		Files    []config.File    `json:"files"`
		Warnings []config.Warning `json:"warnings"`
	}{[]listedServer{}, set.Files, set.Warnings}
	if list.Files == nil {
		list.Files = []config.File{}
	}
	if list.Warnings == nil {
		list.Warnings = []config.Warning{}
	}
	for _, s := range set.Servers {
		e := listedServer{Server: s.Masked(), Trusted: trust.Trusted(s)}
		if s.Problem != nil {
			e.Problem = mask.Text(s.Problem.Error())
		}
		for _, in := range s.Inputs {
			e.Asks = append(e.Asks, in.Name)
		}
		list.Servers = append(list.Servers, e)
	}
	p := a.Printer()
	return p.Show(list, func(t *output.Text) {
		rows := [][]string{}
		var whole []string // problems that are too long for their column
		for _, e := range list.Servers {
			why := startProblem(e)
			short := text.Clip(why, 40)
			if short != why {
				whole = append(whole, e.Name+": "+strings.TrimPrefix(why, "! "))
			}
			rows = append(rows, []string{e.Name, e.Transport, short, cli.Tilde(e.Source.String(), where.Home), cli.Destination(e.Server)})
		}
		if len(rows) == 0 {
			t.Block(cli.NoServers)
		}
		t.Table(p.Width, output.DropEmptyColumn(rows, 2))
		for _, w := range whole {
			t.Note(p.Width, "problem: "+w)
		}
		for _, e := range list.Servers {
			if note := a.shadowed(e.Name); note != "" {
				t.Note(p.Width, "note: "+note)
			}
		}
		for _, w := range list.Warnings {
			t.Block("warning: " + w.String())
		}
	})
}

// shadowed says that a server has the name of a command, so that mcphud NAME does not open it; "" if it has not.
func (a *app) shadowed(name string) string {
	if found, _, err := a.Root.Find([]string{name}); err != nil || found == a.Root {
		return ""
	}
	return name + " is also a command: mcphud --server " + safe.Quote(name) + " opens the server"
}

// startProblem is why an entry cannot be started, "" if it can.
func startProblem(e listedServer) string {
	switch {
	case e.Problem != "":
		return "! " + strings.TrimPrefix(e.Problem, fmt.Sprintf("server %q: ", e.Name)) // which its row says
	case e.Disabled:
		return "disabled"
	case !e.Trusted:
		return "not trusted"
	case len(e.Asks) > 0:
		return "asks for " + text.Clip(strings.Join(e.Asks, ", "), 30)
	}
	return ""
}
