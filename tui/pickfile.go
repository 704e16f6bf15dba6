package tui

import (
	"path/filepath"
	"strings"

	"charm.land/bubbles/v2/filepicker"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// filePicker lets a file be chosen: bubbles' filepicker in a dialog. Folders are read beside the event loop.
type filePicker struct {
	in   filepicker.Model
	pick func(*Ctx, string) tea.Cmd
}

// PickFile lets the user choose a file, from a folder on, and gives its absolute path to pick.
func (c *Ctx) PickFile(folder string, pick func(c *Ctx, path string) tea.Cmd) tea.Cmd {
	return c.pickPath(folder, false, pick)
}

// PickFolder is PickFile for a folder.
func (c *Ctx) PickFolder(folder string, pick func(c *Ctx, path string) tea.Cmd) tea.Cmd {
	return c.pickPath(folder, true, pick)
}

func (c *Ctx) pickPath(folder string, folders bool, pick func(c *Ctx, path string) tea.Cmd) tea.Cmd {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return c.Toast(Failure, "cannot list files: "+err.Error())
	}
	p := &filePicker{in: filepicker.New(), pick: pick}
	p.in.CurrentDirectory, p.in.AutoHeight, p.in.ShowPermissions, p.in.ShowSize, p.in.Cursor = folder, false, false, false, cursorMark
	p.in.DirAllowed, p.in.FileAllowed = folders, !folders
	slash := lipgloss.NewStyle().Transform(func(s string) string { return s + string(filepath.Separator) })
	p.in.Styles = filepicker.Styles{Directory: slash} // this program draws in its own colours
	p.in.KeyMap.Back = key.NewBinding(key.WithKeys("h", "backspace", "left"))
	p.in.KeyMap.GoToTop.SetKeys("g", "home")
	p.in.KeyMap.GoToLast.SetKeys("G", "end")
	c.app.push(p, false)
	return p.in.Init()
}

// cursorMark begins the line of the file under the cursor.
const cursorMark = "▸"

func (p *filePicker) Title() string {
	if p.in.DirAllowed {
		return "Pick a folder"
	}
	return "Pick a file"
}

func (p *filePicker) Hints(*Ctx) []Hint { return nil }

func (p *filePicker) Size(w, h int) (int, int) { return min(w, 76), min(h, 20) }

func (p *filePicker) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	var cmd tea.Cmd
	switch m := msg.(type) {
	case Close, SessionChanged, tea.PasteMsg:
		return nil, false
	case tea.KeyPressMsg:
		if m.String() == "esc" {
			return nil, false
		}
	case PaneMouse:
		down := tea.KeyPressMsg{Code: tea.KeyDown}
		if m.Wheel < 0 {
			down.Code = tea.KeyUp
		}
		for range max(m.Wheel, -m.Wheel) {
			p.in, _ = p.in.Update(down)
		}
		return nil, true
	}
	p.in, cmd = p.in.Update(msg)
	if p.in.Path != "" {
		c.app.drop(p)
		return p.pick(c, p.in.Path), true
	}
	return cmd, true
}

func (p *filePicker) Draw(c *Ctx, pane *Pane) *tea.Cursor {
	t := c.Theme
	pane.Foot = "enter picks · ← folder above · esc closes"
	if p.in.DirAllowed {
		pane.Foot = "enter picks · → opens · ← folder above · esc closes"
	}
	if h := max(pane.H-2, 1); h != p.in.Height() {
		p.in.SetHeight(h)
		p.in, _ = p.in.Update(tea.WindowSizeMsg{Height: h}) // shows as many files as there is room for now
	}
	lines := append(pane.Lines[:0], t.Heading.S(safe.Line(p.in.CurrentDirectory, pane.W)), "")
	pane.Selected = 0
	for l := range strings.Lines(p.in.View()) {
		l = safe.Line(ansi.Strip(strings.TrimRight(l, "\n")), pane.W)
		if strings.HasPrefix(l, cursorMark) {
			pane.Selected = len(lines) + 1
			l = t.SelectRow(l, pane.W, true)
		}
		lines = append(lines, paint.Cut(l, pane.W))
	}
	pane.Lines = lines
	return nil
}
