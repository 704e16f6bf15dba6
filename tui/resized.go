package tui

import tea "charm.land/bubbletea/v2"

// Resized says how large the visible view's panes are now. It goes to that view whenever the sizes, the view or the
// colours changed, so that what must be prepared for a width can be before it is drawn.
type Resized struct {
	panes map[string]Rect // inner rectangles
}

// Width is the inner width of a pane, 0 while it is not on the screen.
func (m Resized) Width(pane string) int { return m.panes[pane].W }

// arrangement is what the last Resized was about.
type arrangement struct {
	view   string
	theme  *Theme
	layout Layout
}

// arrangePanes sends the visible view the sizes of a new arrangement.
func (a *App) arrangePanes() tea.Cmd {
	if a.w <= 0 || a.h <= 0 {
		return nil
	}
	now := arrangement{a.place.view, a.ctx.Theme, Solve(a.w, a.h, a.arrange)}
	if now == a.arranged {
		return nil
	}
	a.arranged = now
	m := Resized{panes: map[string]Rect{}}
	v := a.current()
	for i, p := range v.Panes {
		if r := now.layout.Panes[i]; !r.Empty() {
			m.panes[p.ID] = r.Inner()
		}
	}
	cmd, _ := v.Handle(&a.ctx, m)
	return cmd
}
