package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/mask"
)

func (a *app) serversCommand() *cobra.Command {
	return a.group("servers", "Servers in the configuration files",
		&cobra.Command{
			Use: "list", Short: "List the servers of all configs with their sources; secrets are masked", Args: cobra.NoArgs,
			RunE: a.action(func(context.Context, *cobra.Command, []string) error { return a.serversList() }),
		})
}

// listedServer is one entry of servers list as JSON: what the config says, what it would take to start it.
type listedServer struct {
	config.Server
	Trusted bool   `json:"trusted"`           // false: an entry of this folder that nobody has allowed to start yet
	Problem string `json:"problem,omitempty"` // why it cannot be started
}

func (a *app) serversList() error {
	set, where, err := a.o.load()
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
		list.Servers = append(list.Servers, e)
	}
	raw, err := marshal(list)
	if err != nil {
		return err
	}
	p := a.printer()
	return p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		rows := [][]string{}
		for _, e := range list.Servers {
			rows = append(rows, []string{e.Name, e.Transport, standing(e), e.Source.String(), goal(e.Server)})
		}
		if len(rows) == 0 {
			t.block("no servers found; mcphud reads mcphud.yaml, .mcp.json and the configs of other MCP clients, or --config FILE")
		}
		t.table(p.width, dropEmptyColumn(rows, 2))
		for _, w := range list.Warnings {
			t.block("warning: " + w.String())
		}
	}})
}

// standing says why an entry cannot just be started, "" if it can.
func standing(e listedServer) string {
	switch {
	case e.Problem != "":
		return "! " + e.Problem
	case e.Disabled:
		return "disabled"
	case !e.Trusted:
		return "not trusted"
	}
	return ""
}

// goal is what an entry would start or contact.
func goal(s config.Server) string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}
