package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Toasts: how long one stays, how many are kept.
const (
	toastTime = 4 * time.Second
	maxToasts = 4
)

// toasts are the short messages above the status bar. Errors stay until esc.
type toasts struct {
	list []toast
	seq  int
	log  []Toast // what was said, for `:messages` and tests; bounded
	arm  []armed // toasts whose timer is not started yet
}

// armed is a toast and how long it stays.
type armed struct {
	seq  int
	time time.Duration
}

type toast struct {
	Toast
	seq int
	op  uint64 // the operation with which it goes; 0: it stays its time
}

// toastExpired takes a toast away.
type toastExpired struct{ seq int }

func (t *toasts) add(level Level, text string) { t.put(level, text, 0) }

// addFor shows a note until an operation has ended.
func (t *toasts) addFor(op uint64, text string) { t.put(Note, text, op) }

// notice shows a note for some time.
func (t *toasts) notice(text string, stays time.Duration) {
	t.put(Note, text, 0)
	t.arm[len(t.arm)-1].time = stays
}

func (t *toasts) put(level Level, text string, op uint64) {
	t.seq++
	m := Toast{level, safe.Line(text, 300)}
	t.list = append(t.list, toast{m, t.seq, op})
	t.log = append(t.log, m)
	if len(t.log) > 200 {
		t.log = t.log[len(t.log)-200:]
	}
	for len(t.list) > maxToasts {
		t.list = t.list[1:]
	}
	if level != Failure {
		t.arm = append(t.arm, armed{t.seq, toastTime})
	}
}

// timers starts what takes the new toasts away again.
func (t *toasts) timers(a *App) tea.Cmd {
	var cmds []tea.Cmd
	for _, x := range t.arm {
		cmds = append(cmds, a.after(x.time, func() tea.Msg { return toastExpired{x.seq} }))
	}
	t.arm = t.arm[:0]
	return join(cmds...)
}

func (t *toasts) expire(m toastExpired) {
	t.list = slices.DeleteFunc(t.list, func(x toast) bool { return x.seq == m.seq })
}

// ended takes away what was shown until an operation has ended.
func (t *toasts) ended(op uint64) {
	t.list = slices.DeleteFunc(t.list, func(x toast) bool { return x.op == op })
}

// acknowledge takes away the errors and reports whether there was one.
func (t *toasts) acknowledge() bool {
	n := len(t.list)
	t.list = slices.DeleteFunc(t.list, func(x toast) bool { return x.Level == Failure })
	return len(t.list) < n
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

// rows draws the newest toasts, newest last, in at most most rows of w cells: a long text is wrapped.
func (t *toasts) rows(th *Theme, w, most int) (out []string) {
	for i := len(t.list) - 1; i >= 0 && len(out) < most; i-- {
		x := t.list[i]
		glyph, st := "i", th.Info
		switch x.Level {
		case Success:
			glyph, st = "✓", th.OK
		case Warning:
			glyph, st = "!", th.Warn
		case Failure:
			glyph, st = "✗", th.Error
		}
		text, tail := x.Text, ""
		if x.Level == Failure {
			tail = "  (esc)"
		}
		lines := strings.Split(ansi.Wrap(glyph+" "+text, w-2-paint.Width(tail), ""), "\n")
		if room := most - len(out); len(lines) > room {
			rest := strings.Join(lines[room-1:], " ")
			lines = append(lines[:room-1:room-1], safe.Line(rest, w-2-paint.Width(tail)))
		}
		lines[len(lines)-1] += tail
		for k := range lines {
			lines[k] = st.And(th.Surface).S(" " + lines[k] + " ")
		}
		out = append(lines, out...)
	}
	return out
}
