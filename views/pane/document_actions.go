package pane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// actions are what a document offers, for the screen and pane that hold it.
func (d *Document) actions(view, pane string) []tui.Action {
	nothing := func(*tui.Ctx) string {
		if p := d.front().current(); p == nil || len(p.data) == 0 {
			return "there is nothing here"
		}
		return ""
	}
	return []tui.Action{
		{
			ID: view + ".shape", Verb: tui.VerbShow, Word: "shape", Title: "view", Group: "Detail", Hint: 9, Pane: pane,
			Help: "Switch between rendered, JSON tree, table (of an array of objects) and raw bytes.",
			Disabled: func(c *tui.Ctx) string {
				if len(d.front().shapes()) < 2 {
					return "this can be shown in one way only"
				}
				return nothing(c)
			},
			Run: func(c *tui.Ctx) tea.Cmd { return d.front().reshape(c) },
		},
		{
			ID: view + ".wrap", Verb: tui.VerbWrap, Title: "wrap", Group: "Detail", Pane: pane,
			Help: "Wrap long lines, or scroll sideways instead; in a tree enter opens a long text.",
			Disabled: func(c *tui.Ctx) string {
				switch f := d.front(); f.as {
				case asTable:
					return "a table scrolls sideways: right shows more columns, enter opens the row"
				case asTree:
					if !f.tree.Leaf() {
						return "the tree keeps one value a row: enter on a text opens all of it"
					}
				}
				return nothing(c)
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				f := d.front()
				if f.as == asTree {
					cmd, _ := f.open(c)
					return cmd
				}
				f.wrap = !f.wrap
				f.pager.SetWrap(!f.wrap)
				f.rev++
				return c.Prefer(wrapPreference, wrapWord(f.wrap))
			},
		},
		{
			ID: view + ".save", Verb: tui.VerbSave, Title: "save", Group: "Detail", Pane: pane,
			Help: "Save the bytes as they were sent to a file.", Disabled: nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				p := d.front().current()
				return SaveAs(c, d.view, saveName(p.src.Name, p.ext()), p.data)
			},
		},
	}
}

// ext is the file name extension for the data.
func (p *docPart) ext() string {
	if p.src.ext != "" {
		return p.src.ext
	}
	if p.ix != nil || p.pretty != nil {
		return ".json"
	}
	return ".txt"
}

// CopyText is what the y chord copies of a document.
func (d *Document) CopyText(k tui.CopyKind) tui.CopyFunc {
	d = d.front()
	p := d.current()
	if p == nil || len(p.data) == 0 {
		return nil
	}
	value, path := d.tree.Value(), d.tree.Path()
	if d.as == asTable && d.grid.Row() >= 0 {
		ix := d.tree.Index()
		value, path = ix.Value(d.grid.Row()), ix.Path(d.grid.Row())
	}
	tree := d.as == asTree || d.as == asTable
	switch {
	case k == tui.CopyPath && (tree || d.src.path != ""):
		if !tree {
			path = ""
		}
		return tui.CopyString(innerPath(d.src.path, path), true)
	case k == tui.CopyRaw, !tree && (k == tui.CopyValue || k == tui.CopyJSON && p.ext() == ".json"):
		return tui.CopyBytes(p.data)
	case tree && k == tui.CopyValue:
		return func() (string, error) { return PlainValue(value), nil }
	case tree && k == tui.CopyJSON:
		return tui.CopyBytes(value)
	}
	return nil
}

// PageText is the whole text for $PAGER, with the extension that it would be saved under.
func (d *Document) PageText() (text, ext string, ok bool) {
	d = d.front()
	if d.state != docReady || d.size() == 0 {
		return "", "", false
	}
	if !d.many() {
		return string(d.parts[0].data), d.parts[0].ext(), true
	}
	var b strings.Builder
	for i := range d.parts {
		fmt.Fprintf(&b, "── %d/%d %s ──\n%s\n", i+1, len(d.parts), d.parts[i].src.title, d.parts[i].data)
	}
	return b.String(), ".txt", true
}

// SaveAs asks for a file and writes data to it. A name that a server proposed
// is only ever a name in the working folder.
func SaveAs(c *tui.Ctx, view, name string, data []byte) tea.Cmd {
	return c.Ask(tui.Question{
		Label: "save as", Initial: FileName(name),
		Check: func(path string) string {
			if strings.TrimSpace(path) == "" {
				return "type a file name"
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, path string) tea.Cmd {
			if what := existing(path); what != "" {
				return c.Confirm(tui.Confirmation{
					Title: "Replace the file?", Body: what, Yes: "replace", No: "keep it", Danger: true,
					OnYes: func(c *tui.Ctx) tea.Cmd { return write(c, view, path, data, os.O_TRUNC) },
				})
			}
			return write(c, view, path, data, os.O_EXCL)
		},
	})
}

// existing says what is at path already, "" if nothing is.
func existing(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		return path + " is a link: what it points to would be replaced."
	}
	return path + " exists."
}

// saved is the outcome of saving.
type saved struct {
	path string
	n    int
}

func write(c *tui.Ctx, view, path string, data []byte, how int) tea.Cmd {
	cmd, _ := c.Go(view, "save", func(context.Context) (any, error) {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("cannot save %s: it is not a regular file; choose another place", path) // writing to a pipe might never end
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o600)
		if err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			return nil, fmt.Errorf("cannot save %s: %w; choose another place", path, err)
		}
		if _, err := f.Write(data); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("cannot save all of %s: %w", path, err)
		}
		return saved{path, len(data)}, f.Close()
	})
	return cmd
}

// SavedToast tells how saving went; ok is false if the message is something else.
func SavedToast(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	if m.Label != "save" {
		return nil, false
	}
	if m.Err != nil {
		return c.Toast(tui.Failure, m.Err.Error()), true
	}
	s, _ := m.Value.(saved)
	return c.Toast(tui.Success, fmt.Sprintf("saved %s to %s", text.Bytes(s.n), s.path)), true
}

// FileName makes a name that means a file in the working folder and nothing else.
func FileName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\:*?"<>|`, r), safe.Hidden(r):
			return '-'
		}
		return r
	}, filepath.Base(s))
	s = strings.TrimLeft(s, ".-~ ")
	if len(s) > 100 {
		s = text.Clip(s, 100)
	}
	if s == "" {
		return "untitled"
	}
	return s
}

// wrapPreference is the name under which it is kept whether lines are wrapped.
const wrapPreference = "wrap"

// wrapWord says whether long lines scroll sideways instead of wrapping.
func wrapWord(sideways bool) string {
	if sideways {
		return "off"
	}
	return "on"
}
