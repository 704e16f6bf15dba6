package views

import (
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/shell"
)

// newTools lists the current server's tools.
func newTools() *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "tools", Title: "Tools", Aliases: []string{"tool", "t"}, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Tools"}, {ID: "detail", Title: "Tool"},
		}},
		kind: offer.Tools, plural: "tools", verb: "call", screen: "call",
		help:    "Open the tool's form, to fill in and call.",
		name:    itemName,
		command: func(it offer.Item) shell.Invocation { return invoke("tools show", it.Name) },
	})
}

// newPrompts lists the current server's prompts.
func newPrompts() *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "prompts", Title: "Prompts", Aliases: []string{"prompt-list", "p"}, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Prompts"}, {ID: "detail", Title: "Prompt"},
		}},
		kind: offer.Prompts, plural: "prompts", verb: "get", screen: "prompt",
		help:    "Open the prompt's arguments, to fill in and get its messages.",
		name:    itemName,
		command: func(it offer.Item) shell.Invocation { return invoke("prompts get", it.Name) },
	})
}

// newTemplates lists the current server's resource templates.
func newTemplates() *itemScreen {
	return newItemScreen(itemKind{
		info: tui.Info{ID: "templates", Title: "Templates", Aliases: []string{"template-list"}, Hidden: true, Panes: []tui.PaneSpec{
			{ID: "list", Title: "Resource templates"}, {ID: "detail", Title: "Template"},
		}},
		kind: offer.Templates, plural: "resource templates", verb: "fill in", screen: "template",
		help:    "Open the template's variables, to fill in and read the resource.",
		name:    func(it offer.Item) string { return it.URI },
		command: func(offer.Item) shell.Invocation { return invoke("resources templates") },
	})
}

func itemName(it offer.Item) string { return it.Name }
