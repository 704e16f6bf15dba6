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

// Toasts: how long one stays, how many errors are kept, and how many rows the text of one may take.
const (
	toastTime = 4 * time.Second
	maxToasts = 4
	toastRows = 3
)

// toasts are the short messages in the row below the panes, of which the newest is shown. Errors stay until esc; hints
// and warnings go with the screen that they came up on.
type toasts struct {
	list []toast
	seq  int
	log  []Toast // what was said, for the list of messages and linear mode; bounded
	arm  []armed // toasts whose timer is not started yet
	view string  // the screen
}

// armed is a toast and how long it stays.
type armed struct {
	seq  int
	time time.Duration
}

type toast struct {
	Toast
	seq   int
	op    uint64 // the operation with which it goes; 0: it stays its time
	stays bool   // on every screen
	view  string // the screen that it came up on, "" before the end of that update
}

// toastExpired takes a toast away.
type toastExpired struct{ seq int }

func (t *toasts) add(level Level, text string) { t.put(level, text, 0) }

// addFor shows a note until an operation has ended.
func (t *toasts) addFor(op uint64, text string) { t.put(Note, text, op) }

// notice shows a note for some time, whatever the screen.
func (t *toasts) notice(text string, stays time.Duration) {
	t.put(Note, text, 0)
	t.list[len(t.list)-1].stays = true
	t.arm[len(t.arm)-1].time = stays
}

func (t *toasts) put(level Level, text string, op uint64) {
	t.seq++
	m := Toast{level, safe.Line(text, 0)}
	t.list = slices.DeleteFunc(t.list, func(x toast) bool { return x.Level != Failure && x.op == 0 })
	t.list = append(t.list, toast{Toast: m, seq: t.seq, op: op})
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

// follow takes away what came up on another screen than the visible one. It runs after every message, so that what a key
// says on the way to another screen is read there.
func (t *toasts) follow(view string) {
	for i := range t.list {
		if x := &t.list[i]; x.view == "" {
			x.view = view
		}
	}
	if t.view != view {
		t.view = view
		t.list = slices.DeleteFunc(t.list, func(x toast) bool { return x.view != view && x.passes() })
	}
}

// passes is whether a toast is about its screen alone, and not about what was done, what failed or what runs.
func (x *toast) passes() bool {
	return (x.Level == Note || x.Level == Warning) && x.op == 0 && !x.stays
}

// shown is the toast on the screen.
func (t *toasts) shown() (toast, bool) {
	if len(t.list) == 0 {
		return toast{}, false
	}
	return t.list[len(t.list)-1], true
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

// glyph says the same as the colour of a level.
func (l Level) glyph() string {
	return [...]string{Note: "i", Success: "✓", Warning: "!", Failure: "✗"}[l]
}

// rows draws the newest toast in rows of at most w cells: one, and more only where it is longer. Of one that is still longer the last row
// says where all of it is.
func (t *toasts) rows(th *Theme, w int) (out []string) {
	x, ok := t.shown()
	if !ok {
		return nil
	}
	st := [...]paint.Style{Note: th.Info, Success: th.OK, Warning: th.Warn, Failure: th.Error}[x.Level]
	tail := ""
	if x.Level == Failure {
		tail = " (esc)"
	}
	w -= 2
	lines := strings.Split(ansi.Wrap(x.Level.glyph()+" "+safe.Line(x.Text, (toastRows+1)*w)+tail, w, ""), "\n")
	if len(lines) > toastRows {
		rest := strings.TrimSuffix(strings.Join(lines[toastRows-1:], " "), tail)
		tail = " · :" + messagesWord + " shows all" + tail
		lines = append(lines[:toastRows-1:toastRows-1], safe.Line(rest, w-paint.Width(tail))+tail)
	}
	for i, line := range lines {
		if i < len(lines)-1 {
			line = paint.Fit(line, w)
		}
		out = append(out, " "+st.S(line)+" ")
	}
	return out
}
