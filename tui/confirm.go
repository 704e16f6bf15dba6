package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/safe"
)

// confirm is the overlay of a Confirmation.
type confirm struct {
	q    Confirmation
	yes  bool // the answer under the cursor
	row  int  // row of the answers, as drawn last
	mid  int  // column where No starts
	top  int  // first line of the body that is drawn
	page int  // lines of the body that fit
	n    int  // lines of the body
	end  bool // the body's last line was on the screen
}

func newConfirm(q Confirmation) *confirm {
	if q.Yes == "" {
		q.Yes = "yes"
	}
	if q.No == "" {
		q.No = "cancel"
	}
	q.Body = Sanitize(q.Body)
	return &confirm{q: q, yes: !q.Danger}
}

// Title is the question.
func (d *confirm) Title() string { return safe.Line(d.q.Title, 0) }

// Size fits the body.
func (d *confirm) Size(maxW, maxH int) (int, int) {
	w := min(maxW, 60)
	for line := range strings.SplitSeq(d.q.Body, "\n") {
		w = max(w, min(ansi.StringWidth(line), maxW, 100))
	}
	return w, min(maxH, len(d.lines(w))+2)
}

func (d *confirm) lines(w int) []string {
	return strings.Split(ansi.Wrap(d.q.Body, w, ""), "\n")
}

// Handle answers.
func (d *confirm) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		switch m.String() {
		case "y", "Y":
			return d.answer(c, true), true
		case "n", "N", "esc", "q":
			return d.answer(c, false), true
		case "enter", "space":
			return d.answer(c, d.yes), true
		case "left", "right", "tab", "shift+tab", "h", "l":
			d.yes = !d.yes
		case "down", "j":
			d.scroll(1)
		case "up", "k":
			d.scroll(-1)
		case "pgdown", "ctrl+d":
			d.scroll(d.page)
		case "pgup", "ctrl+u":
			d.scroll(-d.page)
		}
		return nil, true
	case PaneMouse:
		d.scroll(m.Wheel)
		if m.Click == tea.MouseLeft && m.Y == d.row {
			return d.answer(c, m.X < d.mid), true
		}
		return nil, true
	}
	return nil, false
}

// scroll moves the body where it is longer than the dialog.
func (d *confirm) scroll(by int) { d.top = max(min(d.top+by, d.n-d.page), 0) }

// answer ends the dialog. Nobody agrees to what may do damage before having
// seen all of it: a yes goes on to the next page instead.
func (d *confirm) answer(c *Ctx, yes bool) tea.Cmd {
	if yes && d.q.Danger && !d.end && !c.Linear {
		d.scroll(d.page)
		return nil
	}
	c.app.drop(d)
	f := d.q.OnNo
	if yes {
		f = d.q.OnYes
	}
	if f == nil {
		return nil
	}
	return f(c)
}

// Draw shows body and answers.
func (d *confirm) Draw(c *Ctx, p *Pane) *tea.Cursor {
	t := c.Theme
	lines := d.lines(p.W)
	d.n, d.page = len(lines), max(p.H-2, 1)
	if d.n <= d.page {
		d.top = 0
	} else {
		d.page = max(d.page-1, 1) // a line says that there is more
		d.scroll(0)
		left := d.n - d.top - d.page
		lines = lines[d.top : d.top+d.page : d.top+d.page]
		more := "▲ the end; up goes back"
		if left > 0 {
			more = fmt.Sprintf("▼ %d more lines: press down to read them", left)
		}
		lines = append(lines, t.Warn.S(safe.Line(more, p.W)))
		p.Scroll = Scroll{d.top, d.n}
	}
	d.end = d.end || d.top+d.page >= d.n
	yes, no := " y "+safe.Line(d.q.Yes, 30)+" ", " n "+safe.Line(d.q.No, 30)+" "
	mark := func(s string, on bool) string {
		if !on {
			return t.Muted.S(" " + s + " ")
		}
		if d.q.Danger && d.yes {
			return t.Error.And(t.Bold).S("[" + s + "]")
		}
		return t.Selection.S("[" + s + "]")
	}
	d.row = len(lines) + 1
	d.mid = ansi.StringWidth(yes) + 3
	p.Lines = append(append(p.Lines[:0], lines...), "", mark(yes, d.yes)+" "+mark(no, !d.yes))
	return nil
}
