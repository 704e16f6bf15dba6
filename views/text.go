package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
)

// textPane is a pane of styled lines that scrolls: for what is at most a few
// hundred lines, such as what a server says of itself. Longer things are a
// [document].
type textPane struct {
	lines []string
	top   int
	page  int
}

// handle scrolls; it reports whether the message meant something.
func (t *textPane) handle(msg tea.Msg) bool {
	to := t.top
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
	t.top = to
	t.clamp()
	return true
}

func (t *textPane) clamp() { t.top = max(0, min(t.top, len(t.lines)-t.page)) }

// draw fills the pane with lines, which were built for its width.
func (t *textPane) draw(p *tui.Pane, lines []string) {
	t.lines, t.page = lines, p.H
	t.clamp()
	p.Lines = append(p.Lines[:0], lines[t.top:min(len(lines), t.top+p.H)]...)
	p.Scroll = tui.Scroll{Pos: t.top, Total: len(lines)}
}
