package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/safe"
)

// Toasts: how long one stays, how many are kept.
const (
	toastTime = 4 * time.Second
	maxToasts = 4
)

// toasts are the short messages in the corner. Errors stay until esc.
type toasts struct {
	list []toast
	seq  int
	log  []Toast // what was said, for `:messages` and tests; bounded
	arm  []int   // toasts whose timer is not started yet
}

type toast struct {
	Toast
	seq int
}

// toastExpired takes a toast away.
type toastExpired struct{ seq int }

func (t *toasts) add(level Level, text string) {
	t.seq++
	m := Toast{level, safe.Line(text, 300)}
	t.list = append(t.list, toast{m, t.seq})
	t.log = append(t.log, m)
	if len(t.log) > 200 {
		t.log = t.log[len(t.log)-200:]
	}
	for len(t.list) > maxToasts {
		t.list = t.list[1:]
	}
	if level != Failure {
		t.arm = append(t.arm, t.seq)
	}
}

// timers starts what takes the new toasts away again.
func (t *toasts) timers(a *App) tea.Cmd {
	var cmds []tea.Cmd
	for _, seq := range t.arm {
		cmds = append(cmds, a.after(toastTime, func() tea.Msg { return toastExpired{seq} }))
	}
	t.arm = t.arm[:0]
	return join(cmds...)
}

func (t *toasts) expire(m toastExpired) {
	for i, x := range t.list {
		if x.seq == m.seq {
			t.list = append(t.list[:i:i], t.list[i+1:]...)
			return
		}
	}
}

// acknowledge takes away the newest error and reports whether there was one.
func (t *toasts) acknowledge() bool {
	for i := len(t.list) - 1; i >= 0; i-- {
		if t.list[i].Level == Failure {
			t.list = append(t.list[:i:i], t.list[i+1:]...)
			return true
		}
	}
	return false
}

// failures are the errors that nobody acknowledged.
func (t *toasts) failures() (out []string) {
	for _, x := range t.list {
		if x.Level == Failure {
			out = append(out, x.Text)
		}
	}
	return out
}

// rows draws the toasts, newest last, each a line of at most w cells.
func (q *toasts) rows(t *Theme, w int) []string {
	out := make([]string, 0, len(q.list))
	for _, x := range q.list {
		glyph, st := "i", t.Info
		switch x.Level {
		case Success:
			glyph, st = "✓", t.OK
		case Warning:
			glyph, st = "!", t.Warn
		case Failure:
			glyph, st = "✗", t.Error
		}
		text := x.Text
		if x.Level == Failure {
			text += "  (esc)"
		}
		out = append(out, st.And(t.Surface).S(safe.Line(" "+glyph+" "+text+" ", w)))
	}
	return out
}
