package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// verbGroup is what verbs are for: those that most people begin with, and those that --help-all shows besides.
type verbGroup struct {
	name        string
	usual, more []string
}

// verbGroups has each verb once. The usual ones are a dozen: what somebody needs who has never run mcphud before.
var verbGroups = []verbGroup{
	{"Use a server", []string{"demo", "tools", "resources", "prompts", "servers"}, []string{"open", "session", "answer", "info", "ping", "complete", "raw", "skills", "tasks", "status", "registry", "auth"}},
	{"Prove that it works", []string{"check", "doctor", "run"}, []string{"bench", "explain"}},
	{"Record what is said", []string{"tap", "history"}, []string{"journal", "trace", "ps"}},
	{"Run servers", []string{"agent", "up"}, []string{"router", "mock"}},
	{"This program", nil, []string{"config", "completion", "help", "version"}},
}

// verbRows writes the verbs by what they are for.
func (a *App) verbRows(h *helpText) {
	var left []string
	for _, g := range verbGroups {
		h.rows(g.name, commandRows(a.Root, func(name string) bool {
			return slices.Contains(g.usual, name) || a.helpAll && slices.Contains(g.more, name)
		}))
		left = append(left, g.more...)
	}
	if !a.helpAll {
		slices.Sort(left)
		h.b.WriteByte('\n')
		h.paragraph("More commands, with --help-all: "+strings.Join(left, ", "), 0)
	}
}

// commandRows are the commands below one, with what each does.
func commandRows(c *cobra.Command, wanted func(name string) bool) (rows [][2]string) {
	for _, sub := range c.Commands() {
		if listed(sub) && wanted(sub.Name()) {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	return rows
}

// listed reports whether help shows a command. cobra says of help itself that it is not available.
func listed(c *cobra.Command) bool {
	if c.Name() == "help" {
		return !c.Parent().HasParent()
	}
	return c.IsAvailableCommand()
}
