package call

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// refill fills in the arguments of an earlier call.
func (v *formScreen) refill(c *tui.Ctx, r pane.Refill) tea.Cmd {
	cmd := v.open(c, r.Name)
	d := v.cur
	if d == nil || v.name(d.item) != r.Name {
		return cmd // open said why
	}
	value := r.Value
	if len(value) == 0 {
		value = []byte("{}")
	}
	d.loaded, d.given, d.kept = true, true, inputs.Kept{}
	if err := d.form.SetJSON(value); err != nil {
		return tea.Batch(cmd, c.Toast(tui.Warning, "the arguments are not JSON: "+err.Error()))
	}
	if r.Missing > 0 {
		what := text.Count(r.Missing, "value")
		return tea.Batch(cmd, c.Toast(tui.Note, text.Clip(safe.Line(r.Name, 80)+": "+what+" was secret and is not kept: type it again", 200)))
	}
	if !r.Run || v.cannot(c) != "" {
		return cmd
	}
	return tea.Batch(cmd, v.submit(c, false))
}
