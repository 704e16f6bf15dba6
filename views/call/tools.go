package call

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// listSplit is the share of a list beside what is said of its items, in percent: names of 36 cells are whole at 80 columns.
const listSplit = 48

// NewTools lists the current server's tools, which may take budget tokens together; 0 is any number.
func NewTools(calls *pane.Calls, budget int) *tui.Screen {
	v := newItemScreen(itemKind{
		info: tui.Screen{ID: "tools", Title: "Tools", Aliases: []string{"tool", "t"}, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Tools"}, {ID: "detail", Title: "Tool"}, {ID: pane.LastPane, Title: "Last result"},
		}},
		kind: offer.Tools, plural: "tools", verb: "call", opens: "call",
		help:    "Open the tool's form, to fill in and call.",
		name:    itemName,
		command: func(it offer.Item) shell.Invocation { return pane.Invoke("tools show", it.Name) },
		extra: []tui.Action{{
			ID: "tools.all", Word: "all", Title: "all servers", Group: "Tools", Hint: 2,
			Help: "Go to the tools of all servers in one list.",
			Disabled: func(c *tui.Ctx) string {
				if len(c.Sessions.Servers()) < 2 {
					return "there is one server only"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("toolset", nil) },
		}, pane.CheckAction("tools", pane.CurrentServer)},
		app: true,
	}, calls)
	v.Budget = budget
	return v.screen()
}

// NewPrompts lists the current server's prompts.
func NewPrompts(calls *pane.Calls) *tui.Screen {
	return newItemScreen(itemKind{
		info: tui.Screen{ID: "prompts", Title: "Prompts", Aliases: []string{"prompt-list", "p"}, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Prompts"}, {ID: "detail", Title: "Prompt"}, {ID: pane.LastPane, Title: "Last result"},
		}},
		kind: offer.Prompts, plural: "prompts", verb: "get", opens: "prompt",
		help:    "Open the prompt's arguments, to fill in and get its messages.",
		name:    itemName,
		command: func(it offer.Item) shell.Invocation { return pane.Invoke("prompts get", it.Name) },
	}, calls).screen()
}

// NewTemplates lists the current server's resource templates.
func NewTemplates(calls *pane.Calls) *tui.Screen {
	return newItemScreen(itemKind{
		info: tui.Screen{ID: "templates", Title: "Templates", Aliases: []string{"template-list"}, Tab: "resources", Peer: true, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Templates"}, {ID: "detail", Title: "Template"},
		}},
		kind: offer.Templates, plural: "resource templates", verb: "fill", opens: "template",
		help:    "Open the template's variables, to fill in and read the resource.",
		name:    func(it offer.Item) string { return it.URI },
		command: func(offer.Item) shell.Invocation { return pane.Invoke("resources templates") },
	}, calls).screen()
}

// NewSkills lists the current server's skills. Nothing of them is read here.
func NewSkills(calls *pane.Calls) *tui.Screen {
	return newItemScreen(itemKind{
		info: tui.Screen{ID: "skills", Title: "Skills", Aliases: []string{"skill-list"}, Tab: "servers", Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Skills"}, {ID: "detail", Title: "Skill"},
		}},
		kind: offer.Skills, plural: "skills", verb: "open", opens: "skill",
		help:    "Read the skill's SKILL.md, verify it, and show it with the skill's files.",
		name:    func(it offer.Item) string { return it.URI },
		command: func(it offer.Item) shell.Invocation { return pane.Invoke("skills show", it.URI) },
		extra: []tui.Action{{
			ID: "skills.uri", Verb: tui.VerbElsewhere, Title: "open a URI", Group: "Skills", Hint: 2,
			Help: "Open a skill by the URI of its SKILL.md, also one that the server does not list.", Disabled: pane.Offline,
			Run: func(c *tui.Ctx) tea.Cmd {
				return c.Ask(tui.Question{Label: "URI of a SKILL.md", OnDone: func(c *tui.Ctx, uri string) tea.Cmd { return c.Navigate("skill", uri) }})
			},
		}},
	}, calls).screen()
}

func itemName(it offer.Item) string { return it.Name }
