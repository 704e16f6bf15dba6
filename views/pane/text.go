package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// TextPane is a pane of styled lines that scrolls: for what is at most a few hundred lines, such as what a server says
// of itself. Longer things are a [document].
type TextPane struct {
	lines []string
	Top   int
	page  int
}

// Handle scrolls; it reports whether the message meant something.
func (t *TextPane) Handle(msg tea.Msg) bool {
	to := t.Top
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		switch m.String() {
		case "up", "k":
			to--
		case "down", "j":
			to++
		case "pgup":
			to -= t.page
		case "pgdown", "space":
			to += t.page
		case "ctrl+u":
			to -= t.page / 2
		case "ctrl+d":
			to += t.page / 2
		case "g", "home":
			to = 0
		case "G", "end":
			to = len(t.lines)
		default:
			return false
		}
	case tui.PaneMouse:
		to += 3 * m.Wheel
	default:
		return false
	}
	t.Top = to
	t.clamp()
	return true
}

func (t *TextPane) clamp() { t.Top = max(0, min(t.Top, len(t.lines)-t.page)) }

// Draw fills the pane with lines, which were built for its width.
func (t *TextPane) Draw(p *tui.Pane, lines []string) {
	t.lines, t.page = lines, p.H
	t.clamp()
	p.Lines = append(p.Lines[:0], lines[t.Top:min(len(lines), t.Top+p.H)]...)
	p.Scroll = tui.Scroll{Pos: t.Top, Total: len(lines)}
}

// TextPage is a screen of a page that scrolls.
type TextPage struct {
	TextPane
	Page func(*tui.Ctx) page.Page
	of   any // the server that it is about
}

// Screen completes a screen by what it is.
func (t *TextPage) Screen(x tui.Screen) *tui.Screen {
	x.Page = t.Page
	x.Hints = func(*tui.Ctx) []tui.Hint { return BackHint(true) }
	x.Handle = func(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
		if IsBack(msg) {
			return c.Back(), true
		}
		return nil, t.Handle(msg)
	}
	x.Draw = func(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
		is := t.Page(c)
		if t.of != any(c.Server) {
			t.of, t.Top = c.Server, 0
		}
		if p.Same(c, c.Server, t.Top, is.Print(0), is.None) {
			return nil
		}
		lines := is.Lines(c.Theme, p.W)
		if len(lines) == 0 {
			lines = Message(c.Theme, p.W, safe.Text(is.None[0]), is.None[1])
		}
		t.TextPane.Draw(p, lines)
		return nil
	}
	return &x
}
