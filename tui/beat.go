package tui

import (
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
)

// beatTime is the distance of two Beats.
const beatTime = 100 * time.Millisecond

// beat is the one shared ticker. It runs only while something on the screen changes by itself.
type beat struct {
	ticking bool
	now     time.Time
}

// next is called after every message: it starts the ticker when it is needed, lets toasts of other screens
// go and gathers the timers of new ones.
func (b *beat) next(a *App) tea.Cmd {
	a.toasts.follow(a.place.view)
	timers := a.toasts.timers(a)
	if b.ticking || !b.needed(a) {
		return timers
	}
	b.ticking = true
	return join(timers, a.after(beatTime, func() tea.Msg { return Beat{time.Now()} }))
}

// after is tea.Tick that ends with the program: a timer must not outlive it.
func (a *App) after(d time.Duration, f func() tea.Msg) tea.Cmd {
	done := a.ops.ctx.Done()
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return f()
		case <-done:
			return nil
		}
	}
}

func (b *beat) needed(a *App) bool {
	return len(a.ops.all) > 0 || a.servers.moving()
}

// tick tells the visible view and the overlays.
func (b *beat) tick(a *App, m Beat) tea.Cmd {
	b.ticking = false
	b.now = m.Now
	a.servers.refresh(a)
	cmd, _ := a.current().Handle(&a.ctx, m)
	return join(cmd, a.deliver("", m))
}

// Spinner is a one-cell picture for something that has been running for d; blank for the first 150 ms. A view redraws it at
// each [Beat].
func Spinner(d time.Duration) string {
	if d < 150*time.Millisecond {
		return " "
	}
	frames := spinner.MiniDot.Frames // its model would tick by itself, once for each: here all that move share the Beat
	return frames[int(d/beatTime)%len(frames)]
}

// Elapsed is how long something has been running, to a tenth of a second: "" for the first second, then "1.2s", "2m3s".
func Elapsed(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return text.Duration(d.Truncate(100 * time.Millisecond))
}

// Countdown is the time left until t in whole seconds ("4s"), "" when t is past or zero.
func Countdown(t time.Time) string {
	left := time.Until(t)
	if t.IsZero() || left <= 0 {
		return ""
	}
	return text.Duration((left + time.Second - 1).Truncate(time.Second))
}

// took is Elapsed in brackets.
func took(d time.Duration) string {
	if e := Elapsed(d); e != "" {
		return " (" + e + ")"
	}
	return ""
}
