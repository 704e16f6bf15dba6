package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// maxHistory bounds how far esc goes back.
const maxHistory = 100

// navigate shows another screen and tells it why.
func (a *App) navigate(m Navigate) tea.Cmd {
	v := a.actions.find(m.View)
	if v == nil {
		a.toasts.add(Failure, "there is no screen "+m.View+"; ctrl+p lists them")
		return nil
	}
	var pre tea.Cmd
	if m.Server != "" && m.Server != a.servers.current {
		pre = a.selectServer(m.Server)
	}
	if v.ID != a.place.view {
		a.history = append(a.history, a.place)
		if len(a.history) > maxHistory {
			a.history = a.history[1:]
		}
		a.leave()
		a.place = place{view: v.ID, focus: a.focus[v.ID]}
	} else if a.place.focus == RailFocus {
		a.place.focus = a.focus[v.ID]
	}
	m.View = v.ID
	a.sync()
	cmd, _ := v.Handle(&a.ctx, m)
	return join(pre, cmd)
}

// back shows the screen before, which takes in what changed meanwhile; on the first one it does nothing.
func (a *App) back() tea.Cmd {
	n := len(a.history)
	if n == 0 {
		return nil
	}
	a.leave()
	a.place = a.history[n-1]
	a.history = a.history[:n-1]
	a.sync()
	cmd, _ := a.current().Handle(&a.ctx, FocusChanged{a.ctx.Focus})
	if a.cfg.Sessions == nil {
		return cmd
	}
	more, _ := a.current().Handle(&a.ctx, SessionChanged{a.cfg.Sessions.Rev()})
	return join(cmd, more)
}

// backTo goes back to the last visit of one of some screens, else to the screen before.
func (a *App) backTo(views []string) tea.Cmd {
	for n := len(a.history); n > 0; n-- {
		if slices.Contains(views, a.history[n-1].view) {
			a.history = a.history[:n]
			break
		}
	}
	return a.back()
}

// returnTo goes back to the last visit of a screen; one that was not visited takes the place of this one.
func (a *App) returnTo(view string) tea.Cmd {
	for n := len(a.history); n > 0; n-- {
		if a.history[n-1].view == view {
			a.history = a.history[:n]
			return a.back()
		}
	}
	if a.actions.find(view) == nil {
		return a.back()
	}
	a.leave()
	a.place = place{view: view, focus: a.focus[view]}
	a.sync()
	return a.navigate(Navigate{View: view})
}

// leave remembers which pane had the keys.
func (a *App) leave() {
	if a.place.focus != RailFocus {
		a.focus[a.place.view] = a.place.focus
	}
}

// focusPane gives the keys to a pane of the visible view, or to the rail.
func (a *App) focusPane(id string) tea.Cmd {
	if id == "rail" {
		return a.focusIndex(RailFocus)
	}
	for i, p := range a.current().Panes {
		if p.ID == id {
			return a.focusIndex(i)
		}
	}
	return nil
}

func (a *App) focusIndex(i int) tea.Cmd {
	if i == a.place.focus {
		return nil
	}
	a.place.focus = i
	a.leave()
	a.sync()
	if i == RailFocus {
		a.rail.seek(a)
		return nil
	}
	cmd, _ := a.current().Handle(&a.ctx, FocusChanged{a.ctx.Focus})
	return cmd
}

// cycle moves the focus to the next or previous pane; the rail is one of them where it is on the screen.
func (a *App) cycle(by int) tea.Cmd {
	n := a.arrange.Panes
	first := 0
	if a.w >= WideWidth && !a.arrange.Zoom && !a.arrange.NoRail {
		first = RailFocus
	}
	span := n - first
	i := (a.place.focus - first + by + 2*span) % span
	return a.focusIndex(i + first)
}

// selectServer makes a registered server the current one.
func (a *App) selectServer(name string) tea.Cmd {
	if name == a.servers.current {
		return nil
	}
	if !a.servers.choose(a, name) {
		a.toasts.add(Failure, "there is no server "+name+"; the tab Servers lists them")
		return nil
	}
	return a.broadcast(ServerChanged{Name: name})
}

// filterKey is where the text of `/` is kept for the focused pane.
func (a *App) filterKey() string { return a.place.view + "\x00" + a.paneID() }

// keepFilter remembers the text of `/` under a filterKey.
func (a *App) keepFilter(key, text string) {
	if text == "" {
		delete(a.filters, key)
	} else {
		a.filters[key] = text
	}
}

// setFilter delivers the text of `/` to the visible view.
func (a *App) setFilter(text string, done bool) tea.Cmd {
	k := a.filterKey()
	if s := a.current(); s.CheckFilter != nil && a.place.focus != RailFocus { // linear mode has no prompt that says so
		if wrong := s.CheckFilter(&a.ctx, text); wrong != nil {
			a.toasts.add(Failure, fmt.Sprintf("not a filter: column %d: %s", wrong.At+1, wrong.Why))
			return nil
		}
	}
	a.keepFilter(k, text)
	if a.place.focus == RailFocus {
		a.rail.filter(a, text)
		return nil
	}
	cmd, ok := a.current().Handle(&a.ctx, FilterChanged{Text: text, Done: done})
	if !ok && done && text != "" {
		delete(a.filters, k)
		a.toasts.add(Warning, a.current().Title+" has nothing to filter in this pane")
	}
	return cmd
}

// escape is what esc does where nothing else wanted it: it acknowledges the
// errors, then leaves the zoom, then takes the filter away, then goes back. It never quits.
func (a *App) escape() tea.Cmd {
	switch {
	case a.toasts.acknowledge():
		return nil
	case a.arrange.Zoom:
		return a.setZoom(false)
	case a.filters[a.filterKey()] != "":
		return a.setFilter("", true)
	case a.place.focus == RailFocus:
		return a.focusIndex(a.focus[a.place.view])
	case a.w < WideWidth && a.place.focus > 0:
		return a.focusIndex(a.place.focus - 1)
	}
	return a.back()
}
