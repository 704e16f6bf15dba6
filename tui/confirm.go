package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/safe"
)

// confirm is the overlay of a Confirmation.
type confirm struct {
	q       Confirmation
	answers []Answer // yes, the further ones, and no
	at      int      // the answer under the cursor
	spots   []Rect   // of the answers, as drawn last
	top     int      // first line of the body that is drawn
	page    int      // lines of the body that fit
	n       int      // lines of the body
	end     bool     // the body's last line was on the screen
}

func newConfirm(q Confirmation) *confirm {
	if q.Yes == "" {
		q.Yes = "yes"
	}
	if q.No == "" {
		q.No = "cancel"
	}
	q.Body = Sanitize(q.Body)
	d := &confirm{q: q, answers: slices.Concat([]Answer{{"y", q.Yes, q.OnYes}}, q.Also, []Answer{{"n", q.No, q.OnNo}})}
	d.at = d.no()
	return d
}

// no is the answer that declines: the one that enter gives unless another was chosen.
func (d *confirm) no() int { return len(d.answers) - 1 }

// Title is the question.
func (d *confirm) Title() string { return safe.Line(d.q.Title, 0) }

// Size fits the body.
func (d *confirm) Size(maxW, maxH int) (int, int) {
	w := min(maxW, 60)
	for line := range strings.SplitSeq(d.q.Body, "\n") {
		w = max(w, min(ansi.StringWidth(line), maxW, 100))
	}
	return w, min(maxH, len(d.lines(w))+1+d.flow(w))
}

func (d *confirm) lines(w int) []string {
	return strings.Split(ansi.Wrap(d.q.Body, w, ""), "\n")
}

// label is an answer with its key, as it stands in the dialog.
func (d *confirm) label(i int) string {
	a := d.answers[i]
	return " " + a.Key + " " + safe.Line(a.Label, 40) + " "
}

// flow lays the answers out in rows of w cells, and says how many rows they take. Y counts from the first.
func (d *confirm) flow(w int) (rows int) {
	d.spots = d.spots[:0]
	x := 0
	for i := range d.answers {
		n := ansi.StringWidth(d.label(i)) + 2
		if x > 0 && x+n > w {
			x = 0
			rows++
		}
		d.spots = append(d.spots, Rect{X: x, Y: rows, W: n, H: 1})
		x += n + 1
	}
	return rows + 1
}

// Handle answers.
func (d *confirm) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		switch key := m.String(); key {
		case "esc", "q":
			return d.answer(c, d.no()), true
		case "enter", "space":
			return d.answer(c, d.at), true
		case "right", "tab", "l":
			d.at = (d.at + 1) % len(d.answers)
		case "left", "shift+tab", "h":
			d.at = (d.at + d.no()) % len(d.answers)
		case "down", "j":
			d.scroll(1)
		case "up", "k":
			d.scroll(-1)
		case "pgdown", "ctrl+d":
			d.scroll(d.page)
		case "pgup", "ctrl+u":
			d.scroll(-d.page)
		default:
			if i := d.find(key); i >= 0 {
				return d.answer(c, i), true
			}
		}
		return nil, true
	case PaneMouse:
		d.scroll(m.Wheel)
		if m.Click == tea.MouseLeft {
			for i, at := range d.spots {
				if at.Contains(m.X, m.Y) {
					return d.answer(c, i), true
				}
			}
		}
		return nil, true
	}
	return nil, false
}

// find is the answer of a key, -1 if it is none's.
func (d *confirm) find(key string) int {
	return slices.IndexFunc(d.answers, func(a Answer) bool { return strings.EqualFold(a.Key, key) })
}

// Hints are the dialog's keys besides those that its answers name.
func (d *confirm) Hints(*Ctx) []Hint {
	hints := []Hint{{"tab", "next answer"}, {"enter", d.answers[d.at].Label}}
	if d.at != d.no() {
		hints = append(hints, Hint{"esc", d.q.No})
	}
	if d.n > d.page {
		hints = append(hints, Hint{"down", "read on"})
	}
	return hints
}

// scroll moves the body where it is longer than the dialog.
func (d *confirm) scroll(by int) { d.top = max(min(d.top+by, d.n-d.page), 0) }

// answer ends the dialog. Nobody agrees to what may do damage before having
// seen all of it: a yes goes on to the next page instead.
func (d *confirm) answer(c *Ctx, i int) tea.Cmd {
	if i != d.no() && d.q.Danger && !d.end && !c.Linear {
		d.scroll(d.page)
		return nil
	}
	c.app.drop(d)
	if f := d.answers[i].Run; f != nil {
		return f(c)
	}
	return nil
}

// Draw shows body and answers.
func (d *confirm) Draw(c *Ctx, p *Pane) *tea.Cursor {
	t := c.Theme
	lines := d.lines(p.W)
	rows := d.flow(p.W)
	d.n, d.page = len(lines), max(p.H-1-rows, 1)
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
	p.Lines = append(append(p.Lines[:0], lines...), "")
	first := len(p.Lines)
	for i := range d.answers {
		at := &d.spots[i]
		if at.X == 0 {
			p.Lines = append(p.Lines, "")
		} else {
			p.Lines[first+at.Y] += " "
		}
		p.Lines[first+at.Y] += d.mark(t, i)
		at.Y += first
	}
	return nil
}

// mark is an answer, in brackets where the cursor is.
func (d *confirm) mark(t *Theme, i int) string {
	switch s := d.label(i); {
	case i != d.at:
		return t.Muted.S(" " + s + " ")
	case d.q.Danger && i != d.no():
		return t.Error.And(t.Bold).S("[" + s + "]")
	default:
		return t.Selection.S("[" + s + "]")
	}
}
