package settings

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// text is what the editor opens: the file, or one with every setting in a comment where there is none.
func (v *settings) text() string {
	if v.raw == nil {
		return string(userconfig.Template())
	}
	return string(v.raw)
}

// edit opens the text of the file in the user's editor.
func (v *settings) edit(c *tui.Ctx, text string) tea.Cmd {
	return c.Edit(v.View, "file", text, ".yaml")
}

// replaced is the outcome of writing what the editor left.
type replaced struct{}

// edited writes what the editor left, and asks first where nothing of it could be read.
func (v *settings) edited(c *tui.Ctx, m tui.Edited) tea.Cmd {
	if m.Err != nil || !m.Changed && v.text() == m.Text {
		return nil
	}
	path, before := v.file.Path, v.raw
	if _, err := userconfig.Parse(path, []byte(m.Text)); err != nil {
		return c.Confirm(tui.Confirmation{
			Title: "Throw away what you wrote?", Body: "Nothing of it can be read:\n\n" + safe.Text(err.Error()) + "\n\nconfig.yaml stays as it was.",
			Yes: "throw it away", No: "edit it again", OnNo: func(c *tui.Ctx) tea.Cmd { return v.edit(c, m.Text) },
		})
	}
	cmd, _ := c.Replace(v.View, "write", "write config.yaml", func(ctx context.Context) (any, error) {
		_, err := userconfig.Replace(ctx, path, before, []byte(m.Text))
		return replaced{}, err
	})
	return cmd
}
