package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
)

// FormActions name a form's own keys, for help, palette and hints. changed runs after one that may have changed it.
func FormActions(view string, nothing func(*tui.Ctx) string, of func() *form.Form, changed func(*tui.Ctx) tea.Cmd) (out []tui.Action) {
	for _, k := range []struct {
		id          string
		verb        tui.Verb
		title, help string
	}{
		{"raw", tui.VerbRaw, "raw JSON", "Switch between the form and its value as raw JSON; nothing is lost either way."},
		{"add", tui.VerbAddItem, "add item", "Add an item to the array, or a key to the map, that the focus is in."},
		{"unset", tui.VerbLeaveOut, "unset", "Leave the field out; removes an item of an array or map."},
		{"state", tui.VerbVariant, "unset, empty or null", "Choose between leaving the field out, empty and null, or another variant."},
		{"undo", tui.VerbUndo, "undo", "Undo the last change."},
		{"fill", tui.VerbFill, "fill from the schema", "Add what is required and missing; again adds the rest, as the schema's examples and defaults have it."},
		{"moveup", tui.VerbItemUp, "move item up", "Move the item of an array up."},
		{"movedown", tui.VerbItemDown, "move item down", "Move the item of an array down."},
		{"rename", tui.VerbRename, "rename key", "Rename a key of a map."},
	} {
		out = append(out, tui.Action{
			ID: view + "." + k.id, Verb: k.verb, Title: k.title, Help: k.help, Group: "Form", Pane: "form",
			Disabled: nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				of().Key(tui.PressOf(k.verb.Keys()[0]))
				return changed(c)
			},
		})
	}
	return append(out, tui.Action{
		ID: view + ".problem", Verb: tui.VerbProblem, Title: "next problem", Group: "Form", Pane: "form",
		Help: "Go to the next field whose value is not valid.", Disabled: nothing,
		Run: func(*tui.Ctx) tea.Cmd { of().NextProblem(); return of().Cmd() },
	})
}
