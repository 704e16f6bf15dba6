package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
)

// FormActions name a form's own keys, for help, palette and hints. changed runs after one that may have changed it.
func FormActions(view string, nothing func(*tui.Ctx) string, of func() *form.Form, changed func(*tui.Ctx) tea.Cmd) (out []tui.Action) {
	for _, k := range []struct{ id, key, title, help string }{
		{"raw", "ctrl+r", "raw JSON", "Switch between the form and its value as raw JSON; nothing is lost either way."},
		{"add", "ctrl+n", "add item", "Add an item to the array, or a key to the map, that the focus is in."},
		{"unset", "ctrl+x", "unset", "Leave the field out; removes an item of an array or map."},
		{"state", "ctrl+o", "unset, empty or null", "Choose between leaving the field out, empty and null, or another variant."},
		{"undo", "ctrl+z", "undo", "Undo the last change."},
		{"fill", "ctrl+l", "fill from the schema", "Add what is required and missing; again adds the rest, as the schema's examples and defaults have it."},
		{"moveup", "alt+up", "move item up", "Move the item of an array up."},
		{"movedown", "alt+down", "move item down", "Move the item of an array down."},
		{"rename", "f2", "rename key", "Rename a key of a map."},
	} {
		out = append(out, tui.Action{
			ID: view + "." + k.id, Keys: []string{k.key}, Title: k.title, Help: k.help, Group: "Form", Pane: "form",
			Disabled: nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				of().Key(tui.PressOf(k.key))
				return changed(c)
			},
		})
	}
	return append(out, tui.Action{
		ID: view + ".problem", Keys: []string{"f8"}, Title: "next problem", Group: "Form", Pane: "form",
		Help: "Go to the next field whose value is not valid.", Disabled: nothing,
		Run: func(*tui.Ctx) tea.Cmd { of().NextProblem(); return of().Cmd() },
	})
}
