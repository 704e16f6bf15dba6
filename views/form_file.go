package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
)

// noFile is why no file can be put into the focused field.
func (v *formScreen) noFile(c *tui.Ctx) string {
	if why := v.nothing(c); why != "" {
		return why
	}
	return noFileField(v.cur.form)
}

func (v *formScreen) pickFile(c *tui.Ctx) tea.Cmd {
	return pickFile(c, v.info.ID, v.cur.form, v.cur, v.putFile)
}

func (v *formScreen) putFile(c *tui.Ctx, r fileRead[*draft]) tea.Cmd {
	if err := r.draft.form.SetFile(r.pointer, r.path, r.bytes); err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return v.changed(c, r.draft)
}
