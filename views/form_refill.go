package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// refill, as the Arg of a Navigate to a screen with a form, opens an item with the arguments of an earlier call. What was typed for it
// before is one undo away.
type refill struct {
	name  string
	value []byte // JSON, nil for none
	// missing is how many values were secret and have to be typed again.
	missing int
	// run sends it at once, if nothing is missing.
	run bool
}

// refill fills in the arguments of an earlier call.
func (v *formScreen) refill(c *tui.Ctx, r refill) tea.Cmd {
	cmd := v.open(c, r.name)
	d := v.cur
	if d == nil || v.name(d.item) != r.name {
		return cmd // open said why
	}
	value := r.value
	if len(value) == 0 {
		value = []byte("{}")
	}
	d.loaded, d.given, d.kept = true, true, inputs.Kept{}
	if err := d.form.SetJSON(value); err != nil {
		return tea.Batch(cmd, c.Toast(tui.Warning, "the arguments are not JSON: "+err.Error()))
	}
	if r.missing > 0 {
		what := pane.Count(r.missing, "value")
		return tea.Batch(cmd, c.Toast(tui.Note, text.Clip(safe.Line(r.name, 80)+": "+what+" was secret and is not kept: type it again", 200)))
	}
	if !r.run || v.cannot(c) != "" {
		return cmd
	}
	return tea.Batch(cmd, v.submit(c, false))
}
