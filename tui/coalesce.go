package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// coalesceTime is one frame: a wheel or a motion within it is folded into the next one that passes.
const coalesceTime = 16 * time.Millisecond

// coalescer folds wheel and motion events before they reach Update: fast
// wheels send hundreds a second, and each message costs a frame.
type coalescer struct {
	now     func() time.Time
	motion  time.Time // the last motion that passed
	at      tea.Mouse // where the wheel turned last
	notches int
	waiting bool // for the end of a frame
}

// wheel is a folded wheel event.
type wheel struct {
	at      tea.Mouse
	notches int // -: up, +: down
}

// String makes it a tea.MouseMsg.
func (w wheel) String() string { return w.at.String() }

// Mouse makes it a tea.MouseMsg.
func (w wheel) Mouse() tea.Mouse { return w.at }

// wheelFlush delivers what was folded last, when nothing came after it.
type wheelFlush struct{}

func newCoalescer() *coalescer {
	return &coalescer{now: time.Now}
}

// filter is given to tea.WithFilter. It runs on the event loop.
func (c *coalescer) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			c.notches--
		case tea.MouseWheelDown:
			c.notches++
		default:
			return nil
		}
		c.at = tea.Mouse(m)
		if c.waiting {
			return nil
		}
		return c.flush()
	case wheelFlush:
		c.waiting = false
		return c.flush()
	case tea.MouseMotionMsg:
		now := c.now()
		if now.Sub(c.motion) < coalesceTime {
			return nil
		}
		c.motion = now
	}
	return msg
}

// flush makes one event of what was gathered. The App answers each with a
// timer of one frame, whose wheelFlush comes back here.
func (c *coalescer) flush() tea.Msg {
	if c.notches == 0 {
		return nil
	}
	w := wheel{c.at, c.notches}
	c.notches = 0
	c.waiting = true
	return w
}
