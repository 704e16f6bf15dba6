package pane

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
)

// LeadPane is a TextPane some of whose lines lead somewhere: up and down go through them, and scroll where there is none in sight.
type LeadPane struct {
	TextPane
	leads []page.Lead
	at    int // of them
}

// First puts the cursor on the first line that leads somewhere.
func (l *LeadPane) First() { l.at, l.Top = 0, 0 }

// Key is what changes with the cursor.
func (l *LeadPane) Key() [2]int { return [2]int{l.Top, l.at} }

// Chosen is where the line under the cursor leads, "" for nowhere.
func (l *LeadPane) Chosen() string {
	if l.at < len(l.leads) {
		return l.leads[l.at].To
	}
	return ""
}

// Handle moves; it reports whether the message meant something.
func (l *LeadPane) Handle(msg tea.Msg) bool {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		by := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1}[m.String()]
		if to := l.at + by; by != 0 && to >= 0 && to < len(l.leads) && l.near(l.leads[to].Line) {
			l.at = to
			l.Top = min(max(l.Top, l.leads[to].Line-l.page+1), l.leads[to].Line)
			return true
		}
	case tui.PaneMouse:
		for i, x := range l.leads {
			if m.Click == tea.MouseLeft && x.Line == l.Top+m.Y {
				l.at = i
			}
		}
	}
	return l.TextPane.Handle(msg)
}

// near is whether a line is in sight or next to it.
func (l *LeadPane) near(line int) bool { return line >= l.Top-l.page && line < l.Top+2*l.page }

// Draw fills the pane with lines, of which leads lead somewhere.
func (l *LeadPane) Draw(c *tui.Ctx, p *tui.Pane, lines []string, leads []page.Lead) {
	l.leads, l.at = leads, min(l.at, max(len(leads)-1, 0))
	l.TextPane.Draw(p, lines)
	p.Selected = 0
	if i := l.at; p.Focused && i < len(leads) {
		if y := leads[i].Line - l.Top; y >= 0 && y < len(p.Lines) {
			p.Lines[y], p.Selected = c.Theme.SelectRow(ansi.Strip(p.Lines[y]), p.W, true), y+1
		}
	}
}
