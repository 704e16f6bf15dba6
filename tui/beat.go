package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// beatTime is the distance of two Beats.
const beatTime = 100 * time.Millisecond

// beat is the one shared ticker. It runs only while something on the screen
// changes by itself.
type beat struct {
	ticking bool
	now     time.Time
}

// next is called after every message: it starts the ticker when it is needed
// and gathers the timers of new toasts.
func (b *beat) next(a *App) tea.Cmd {
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
	return len(a.ops.all) > 0 || a.world.moving()
}

// tick tells the visible view and the overlays.
func (b *beat) tick(a *App, m Beat) tea.Cmd {
	b.ticking = false
	b.now = m.Now
	a.world.refresh(a)
	cmd, _ := a.current().view.Handle(&a.ctx, m)
	return join(cmd, a.deliver("", m))
}

// spinner is the picture for something that has been running for d; nothing
// during the first 150 ms.
func spinner(d time.Duration) string {
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	if d < 150*time.Millisecond {
		return " "
	}
	r := []rune(frames)
	return string(r[int(d/beatTime)%len(r)])
}

// Spinner is a one-cell picture for something that has been running for d;
// blank for the first 150 ms. A view redraws it at each [Beat].
func Spinner(d time.Duration) string { return spinner(d) }

// Elapsed writes how long something has been running: "" for the first second,
// then "1.2s", "2m03s".
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return d.Truncate(100 * time.Millisecond).String()
	}
	return d.Truncate(time.Second).String()
}

// took is Elapsed in brackets.
func took(d time.Duration) string {
	if e := Elapsed(d); e != "" {
		return " (" + e + ")"
	}
	return ""
}
