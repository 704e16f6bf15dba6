package tui

import tea "charm.land/bubbletea/v2"

// Laid says how large the visible view's panes are now. It goes to that view
// whenever the sizes, the view or the colours changed, so that what must be
// prepared for a width can be before it is drawn.
type Laid struct {
	panes map[string]Rect // inner rectangles
}

// Width is the inner width of a pane, 0 while it is not on the screen.
func (m Laid) Width(pane string) int { return m.panes[pane].W }

// laying remembers what the last Laid said.
type laying struct {
	view   string
	theme  *Theme
	layout Layout
}

// lay tells the visible view of a new arrangement.
func (a *App) lay() tea.Cmd {
	if a.w <= 0 || a.h <= 0 {
		return nil
	}
	now := laying{a.place.view, a.ctx.Theme, Solve(a.w, a.h, a.arrange)}
	if now == a.laid {
		return nil
	}
	a.laid = now
	m := Laid{panes: map[string]Rect{}}
	v := a.current()
	for i, p := range v.info.Panes {
		if r := now.layout.Panes[i]; !r.Empty() {
			m.panes[p.ID] = r.Inner()
		}
	}
	cmd, _ := v.view.Handle(&a.ctx, m)
	return cmd
}
