package call

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

// noFile is why no file can be put into the focused field.
func (v *formScreen) noFile(c *tui.Ctx) string {
	if why := v.nothing(c); why != "" {
		return why
	}
	return pane.NoFileField(v.cur.form)
}

func (v *formScreen) pickFile(c *tui.Ctx) tea.Cmd {
	return pane.PickFile(c, v.info.ID, v.cur.form, v.cur, v.putFile)
}

func (v *formScreen) putFile(c *tui.Ctx, r pane.FileRead[*draft]) tea.Cmd {
	if err := r.Draft.form.SetFile(r.Pointer, r.Path, r.Bytes); err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return v.changed(c, r.Draft)
}
