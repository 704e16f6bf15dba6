package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// listSplit is the share of a list beside what is said of its items, in percent: names of 36 cells are whole at 80 columns.
const listSplit = 48

// newTools lists the current server's tools.
func newTools(calls *pane.Calls) *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "tools", Title: "Tools", Aliases: []string{"tool", "t"}, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Tools"}, {ID: "detail", Title: "Tool"},
		}},
		kind: offer.Tools, plural: "tools", verb: "call", screen: "call",
		help:    "Open the tool's form, to fill in and call.",
		name:    itemName,
		command: func(it offer.Item) shell.Invocation { return invoke("tools show", it.Name) },
		extra: []tui.Action{{
			ID: "tools.all", Keys: []string{"a"}, Title: "all servers", Group: "Tools", Hint: 2,
			Help: "Go to the tools of all servers in one list.",
			Disabled: func(c *tui.Ctx) string {
				if len(c.Sessions.Servers()) < 2 {
					return "there is one server only"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("toolset", nil) },
		}},
	}, calls)
}

// newPrompts lists the current server's prompts.
func newPrompts(calls *pane.Calls) *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "prompts", Title: "Prompts", Aliases: []string{"prompt-list", "p"}, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Prompts"}, {ID: "detail", Title: "Prompt"},
		}},
		kind: offer.Prompts, plural: "prompts", verb: "get", screen: "prompt",
		help:    "Open the prompt's arguments, to fill in and get its messages.",
		name:    itemName,
		command: func(it offer.Item) shell.Invocation { return invoke("prompts get", it.Name) },
	}, calls)
}

// newTemplates lists the current server's resource templates.
func newTemplates(calls *pane.Calls) *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "templates", Title: "Templates", Aliases: []string{"template-list"}, Hidden: true, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Resource templates"}, {ID: "detail", Title: "Template"},
		}},
		kind: offer.Templates, plural: "resource templates", verb: "fill in", screen: "template",
		help:    "Open the template's variables, to fill in and read the resource.",
		name:    func(it offer.Item) string { return it.URI },
		command: func(offer.Item) shell.Invocation { return invoke("resources templates") },
	}, calls)
}

func itemName(it offer.Item) string { return it.Name }
