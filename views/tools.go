package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// listSplit is the share of a list beside what is said of its items, in percent: names of 36 cells are whole at 80 columns.
const listSplit = 48

// newTools lists the current server's tools, which may take budget tokens together; 0 is any number.
func newTools(calls *pane.Calls, budget int) *itemScreen {
	v := newItemScreen(itemKind{
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
		}, checkAction("tools", currentServer), treemapAction("tools", "$")},
		app: true,
	}, calls)
	v.Budget = budget
	return v
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

// newSkills lists the current server's skills. Nothing of them is read here.
func newSkills(calls *pane.Calls) *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "skills", Title: "Skills", Aliases: []string{"skill-list"}, Hidden: true, Split: listSplit, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Skills"}, {ID: "detail", Title: "Skill"},
		}},
		kind: offer.Skills, plural: "skills", verb: "open", screen: "skill",
		help:    "Read the skill's SKILL.md, verify it, and show it with the skill's files.",
		name:    func(it offer.Item) string { return it.URI },
		command: func(it offer.Item) shell.Invocation { return invoke("skills show", it.URI) },
		extra: []tui.Action{{
			ID: "skills.uri", Keys: []string{"u"}, Title: "open a URI", Group: "Skills", Hint: 2,
			Help: "Open a skill by the URI of its SKILL.md, also one that the server does not list.", Disabled: offline,
			Run: func(c *tui.Ctx) tea.Cmd {
				return c.Ask(tui.Question{Label: "URI of a SKILL.md", OnDone: func(c *tui.Ctx, uri string) tea.Cmd { return c.Navigate("skill", uri) }})
			},
		}},
	}, calls)
}

// checkAction examines a server, from the screens where one wonders whether it is good.
func checkAction(view string, of func(*tui.Ctx) *session.Session) tui.Action {
	return tui.Action{
		ID: view + ".check", Keys: []string{"Q"}, Title: "check", Group: "Server", Hint: 5,
		Help:   "Find out whether the server is good: what its lists cost, and what clients, models and people stumble over.",
		Hinted: func(c *tui.Ctx) bool { s := of(c); return s != nil && s.Status().State == session.Connected },
		Disabled: func(c *tui.Ctx) string {
			if of(c) == nil {
				return "no server is open"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(of(c).Name(), "check", of(c).Name()) },
	}
}

// skillsAction goes to the skills of a server, for the screens where one looks for them.
func skillsAction(view string, of func(*tui.Ctx) *session.Session) tui.Action {
	return tui.Action{
		ID: view + ".skills", Keys: []string{"K"}, Title: "skills", Group: "Server", Hint: 6,
		Help: "Go to the server's skills.",
		Disabled: func(c *tui.Ctx) string {
			if s := of(c); s == nil || !s.Supports(offer.Skills.Method()) {
				return "the server has no skills, or is not connected"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(of(c).Name(), "skills", nil) },
	}
}

func itemName(it offer.Item) string { return it.Name }
