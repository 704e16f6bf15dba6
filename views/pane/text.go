package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
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
