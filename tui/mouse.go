package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// doubleTime is how close two clicks are for a double click.
const doubleTime = 400 * time.Millisecond

// mouse routes clicks and wheels to what is under them.
type mouse struct {
	on     bool // capture; off lets the terminal select text
	last   time.Time
	lx, ly int
}

// event deals with one mouse message.
func (m *mouse) event(a *App, msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	ev := PaneMouse{Mod: at.Mod}
	var after tea.Cmd
	switch e := msg.(type) {
	case tea.MouseClickMsg:
		ev.Click = e.Button
		now := time.Now()
		ev.Double = now.Sub(m.last) < doubleTime && m.lx == e.X && m.ly == e.Y
		m.last, m.lx, m.ly = now, e.X, e.Y
		if ev.Double {
			m.last = time.Time{}
		}
	case wheel:
		ev.Wheel = e.notches
		after = a.after(coalesceTime, func() tea.Msg { return wheelFlush{} })
	case tea.MouseMotionMsg:
		ev.Motion = true
	default:
		return nil
	}
	return join(m.deliver(a, at, ev), after)
}

func (m *mouse) deliver(a *App, at tea.Mouse, ev PaneMouse) tea.Cmd {
	if l := a.top(); l != nil {
		in := l.rect.framed()
		if ev.Click != tea.MouseNone && !l.rect.Contains(at.X, at.Y) {
			return nil // outside is not an answer
		}
		ev.Pane, ev.X, ev.Y = "overlay", at.X-in.X, at.Y-in.Y
		cmd, _ := l.overlay.Handle(&a.ctx, ev)
		return cmd
	}
	f := &a.frame
	if f.layout.Tabs.Contains(at.X, at.Y) && ev.Click == tea.MouseLeft {
		return m.tab(a, at.X)
	}
	for i, in := range f.at {
		outer := Rect{in.X - 1, in.Y - 1, in.W + 2, in.H + 1}
		if in.Empty() || !outer.Contains(at.X, at.Y) {
			continue
		}
		ev.X, ev.Y = at.X-in.X, at.Y-in.Y
		if i == railAt {
			return a.rail.mouse(a, ev)
		}
		var focus tea.Cmd
		if ev.Click != tea.MouseNone {
			focus = a.focusIndex(i)
		}
		ev.Pane = a.current().Panes[i].ID
		cmd, _ := a.current().Handle(&a.ctx, ev)
		return join(focus, cmd)
	}
	return nil
}

// tab goes to the screen whose name was clicked.
func (m *mouse) tab(a *App, x int) tea.Cmd {
	if a.frame.layout.Crumbs {
		return a.escape()
	}
	at := 0
	for _, tab := range a.tabs(a.w) {
		n := tab.width()
		if x >= at && x < at+n {
			return a.navigate(Navigate{View: tab.view})
		}
		at += n
	}
	return nil
}

func (m *mouse) toggle(a *App) tea.Cmd {
	m.on = !m.on
	if m.on {
		a.toasts.add(Note, "mouse capture is on; shift+drag selects text")
	} else {
		a.toasts.add(Note, "mouse capture is off: the terminal selects text; M turns it on")
	}
	return a.prefs.set("mouse", onOff(m.on))
}
