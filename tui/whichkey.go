package tui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// chordPause is how long the first key of a chord is waited on before what can follow it is shown: who knows the second
// key never sees the list.
const chordPause = 300 * time.Millisecond

// chordMenu has the keys after the first one of a chord, and lists what can follow.
type chordMenu struct {
	first string
	list  []*Action
	next  []string
	at    int // of the line under the cursor, -1 until it is moved
	rows  int // lines of one column, as drawn last
	colW  int
}

// chordWaits says that nothing followed the first key of a chord.
type chordWaits struct{ menu *chordMenu }

// begin takes the first key of a chord. What can follow is drawn once nothing did, and at once in linear mode.
func (a *App) begin(first string) tea.Cmd {
	m := &chordMenu{first: first, at: -1}
	local, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
	if a.place.focus == RailFocus {
		local = nil
	}
	for _, x := range slices.Concat(local, global) {
		for _, k := range x.Keys {
			if rest, ok := strings.CutPrefix(k, first+" "); ok && !slices.Contains(m.next, rest) {
				m.list = append(m.list, x)
				m.next = append(m.next, rest)
			}
		}
	}
	a.push(m, false)
	if a.linear {
		return nil
	}
	a.top().hidden = true
	return a.after(max(cmp.Or(a.settings.WhichKey, chordPause), 0), func() tea.Msg { return chordWaits{m} })
}

// reveal draws a menu if it still waits for its second key.
func (a *App) reveal(m *chordMenu) {
	for _, l := range a.overlays {
		if l.overlay == m {
			l.hidden = false
		}
	}
}

// Title is the key that was pressed.
func (m *chordMenu) Title() string { return m.first + " …" }

// Size fits the list, in two columns where it is too tall for one.
func (m *chordMenu) Size(maxW, maxH int) (int, int) {
	if len(m.list) > maxH {
		return maxW, min(maxH, (len(m.list)+1)/2)
	}
	return min(maxW, 60), len(m.list)
}

// Hints are what its keys do.
func (m *chordMenu) Hints(*Ctx) []Hint {
	return []Hint{{"down", "next"}, {"enter", "run"}, {"esc", "close"}}
}

// Handle runs what the second key stands for, or the line that was chosen.
func (m *chordMenu) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch k := msg.(type) {
	case PaneMouse:
		if i := m.under(k.X, k.Y); k.Click == tea.MouseLeft && i >= 0 {
			return m.run(c, i), true
		}
		m.move(k.Wheel)
		return nil, true
	case tea.KeyPressMsg:
		if i := slices.Index(m.next, k.String()); i >= 0 {
			return m.run(c, i), true
		}
		switch k.String() {
		case "down", "tab":
			m.move(1)
		case "up", "shift+tab":
			m.move(-1)
		case "enter":
			if m.at >= 0 {
				return m.run(c, m.at), true
			}
		case "esc":
			c.app.drop(m)
		default:
			c.app.drop(m)
			c.app.toasts.add(Note, fmt.Sprintf("%s %s is not bound; %s lists what is", m.first, k.String(), m.first))
		}
		c.app.reveal(m)
		return nil, true
	}
	return nil, false
}

func (m *chordMenu) move(by int) {
	if by != 0 {
		m.at = min(max(m.at+by, 0), len(m.list)-1)
	}
}

func (m *chordMenu) run(c *Ctx, i int) tea.Cmd {
	c.app.drop(m)
	return c.app.run(m.list[i])
}

// under is the line at a place of the popup, -1 if there is none.
func (m *chordMenu) under(x, y int) int {
	if m.rows == 0 || y < 0 || y >= m.rows || x < 0 {
		return -1
	}
	if i := x/max(m.colW, 1)*m.rows + y; i < len(m.list) {
		return i
	}
	return -1
}

// Draw lists the second keys.
func (m *chordMenu) Draw(c *Ctx, p *Pane) *tea.Cursor {
	m.rows, m.colW = min(len(m.list), p.H), p.W
	if len(m.list) > p.H {
		m.rows, m.colW = (len(m.list)+1)/2, p.W/2
	}
	p.Lines, p.Selected = p.Lines[:0], 0
	for y := range m.rows {
		line := ""
		for i := y; i < len(m.list); i += m.rows {
			line += paint.Fit(m.row(c, i, m.colW), m.colW)
		}
		p.Lines = append(p.Lines, line)
	}
	if m.at >= 0 {
		p.Selected = m.at%m.rows + 1
	}
	return nil
}

func (m *chordMenu) row(c *Ctx, i, w int) string {
	x, st := m.list[i], c.Theme.Text
	title := x.title(c)
	if why := x.reason(c); why != "" {
		st = c.Theme.Muted
		title += " (" + why + ")"
	}
	key := keyNames([]string{m.next[i]})
	if i == m.at {
		return c.Theme.SelectRow(safe.Line(" "+key+"  "+title, w), w, true)
	}
	return " " + c.Theme.Accent.S(key) + "  " + st.S(safe.Line(title, max(w-5, 1)))
}

// plain writes the list for linear mode, where both keys are typed in one line.
func (m *chordMenu) plain(c *Ctx, w io.Writer) {
	for i, x := range m.list {
		why := ""
		if r := x.reason(c); r != "" {
			why = " (" + r + ")"
		}
		fmt.Fprintf(w, "%s %s: %s%s\n", m.first, m.next[i], x.title(c), why)
	}
}
