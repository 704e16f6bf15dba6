package pane

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
)

// ToForm gives a form what is meant for it; submit is what enter does where the form has no use for it.
func ToForm(c *tui.Ctx, f *form.Form, msg tea.Msg, submit func() (tea.Cmd, bool)) (tea.Cmd, bool) {
	ok := false
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		if c.Focus != "form" {
			return nil, false
		}
		if ok = f.Key(m); !ok && m.String() == "enter" {
			if cmd, done := submit(); done {
				return cmd, true
			}
		}
	case tea.PasteMsg:
		if c.Focus != "form" {
			return nil, false
		}
		ok = f.Paste(m.Content)
	case tui.PaneMouse:
		if m.Wheel != 0 {
			f.Wheel(3 * m.Wheel)
		}
		if m.Click == tea.MouseLeft {
			f.Click(m.X, m.Y)
		}
		ok = true
	default:
		ok = f.Handle(msg)
	}
	return f.Cmd(), ok
}

// EditedForm takes back what $EDITOR made of a text or of the value.
func EditedForm(c *tui.Ctx, f *form.Form, m tui.Edited) tea.Cmd {
	if m.Err != nil || !m.Changed {
		return nil
	}
	f.Edited(m.Tag, m.Text)
	cmd := f.Cmd()
	if err := f.Err(); err != nil {
		return tea.Batch(cmd, c.Toast(tui.Warning, "not valid JSON, kept in the raw editor: "+err.Error()))
	}
	return cmd
}

// maxFile bounds a file whose bytes go into a field.
const maxFile = 4 << 20

// FileRead is a file that goes into a field of a form, which D is the draft of.
type FileRead[D any] struct {
	Draft         D
	Pointer, Path string
	Bytes         []byte
}

// NoFileField is why no file can be put into the focused field.
func NoFileField(f *form.Form) string {
	if _, _, ok := f.FileField(); !ok {
		return "the focused field takes no file"
	}
	return ""
}

// PickFile puts the path of a file into the focused field, or its bytes where the field wants them: by put, or as the result of an
// operation of the view.
func PickFile[D any](c *tui.Ctx, view string, f *form.Form, d D, put func(*tui.Ctx, FileRead[D]) tea.Cmd) tea.Cmd {
	pointer, bytes, _ := f.FileField()
	choose := c.PickFile
	if f.WantsFolder() {
		choose = c.PickFolder
	}
	return choose(".", func(c *tui.Ctx, path string) tea.Cmd {
		if !bytes {
			return put(c, FileRead[D]{Draft: d, Pointer: pointer, Path: path})
		}
		cmd, _ := c.Go(view, "read "+path, func(context.Context) (any, error) {
			b, err := files.Read(path, maxFile)
			return FileRead[D]{d, pointer, path, b}, err
		})
		return cmd
	})
}
