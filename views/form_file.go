package views

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/atomicfile"
	"github.com/mcphud/mcphud/tui"
)

// maxFile bounds a file whose bytes go into a field.
const maxFile = 4 << 20

// fileRead is a file that goes into a field.
type fileRead struct {
	d             *draft
	pointer, path string
	bytes         []byte
}

// noFile is why no file can be put into the focused field.
func (v *formScreen) noFile(c *tui.Ctx) string {
	if why := v.nothing(c); why != "" {
		return why
	}
	if _, _, ok := v.cur.form.FileField(); !ok {
		return "the focused field takes no file"
	}
	return ""
}

// pickFile puts the path of a file into the focused field, or its bytes where the field wants them.
func (v *formScreen) pickFile(c *tui.Ctx) tea.Cmd {
	d := v.cur
	pointer, bytes, _ := d.form.FileField()
	return c.PickFile(".", func(c *tui.Ctx, path string) tea.Cmd {
		if !bytes {
			return v.putFile(c, fileRead{d: d, pointer: pointer, path: path})
		}
		cmd, _ := c.Go(v.info.ID, "read "+path, func(context.Context) (any, error) {
			b, err := atomicfile.Read(path, maxFile)
			return fileRead{d, pointer, path, b}, err
		})
		return cmd
	})
}

func (v *formScreen) putFile(c *tui.Ctx, r fileRead) tea.Cmd {
	if err := r.d.form.SetFile(r.pointer, r.path, r.bytes); err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return v.changed(c, r.d)
}
