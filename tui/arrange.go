package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
)

// share is where the user moved the rule between panes on a screen, in percent, 0 if nowhere: of the list beside or above the detail.
func (p *preferences) share(where, view string) int {
	n, err := strconv.Atoi(p.get(where + "." + view))
	if err != nil || n < MinSplit || n > MaxSplit {
		return 0
	}
	return n
}

// arrangement is where the user put the second pane of a screen.
func (p *preferences) arrangement(view string) Arrangement {
	switch p.get("second." + view) {
	case "beside":
		return Beside
	case "below":
		return Below
	}
	return Automatic
}

// flip puts the second pane of the visible screen below the first one, or beside it. Back where this size has it by itself, every size
// has it so again.
func (a *App) flip() tea.Cmd {
	where, usual := "below", a.arrange
	if usual.Arrange = a.settings.Second; a.layout().Below {
		where = "beside"
	}
	if Solve(a.w, a.h, usual).Below == (where == "below") {
		where = ""
	}
	return a.prefs.set("second."+a.place.view, where)
}

// resize moves the rule between the visible screen's panes.
func (a *App) resize(by int) tea.Cmd {
	l := a.layout()
	where, n := "beside", share(a.arrange.Split)
	if l.Below {
		whole := max(l.Panes[0].H+l.Panes[1].H, 1)
		where, n = "above", (l.Panes[0].H*100+whole/2)/whole
		if a.arrange.Above != 0 {
			n = share(a.arrange.Above)
		}
	}
	return a.prefs.set(where+"."+a.place.view, strconv.Itoa(share(n+by)))
}

// layout is where things are now, also before they are drawn.
func (a *App) layout() Layout { return Solve(a.w, a.h, a.arrange) }

// Below is whether the visible view's second pane is below the first one; ok is false while only one is visible.
func (c *Ctx) Below() (below, ok bool) { return c.app.layout().Below, onePane(c) == "" }

// KeyOf is how an action is reached: its key as it is shown, else its word for the `:` line or, where that would be typed into a field,
// for the palette; "" if it has neither.
func (c *Ctx) KeyOf(id string) string {
	x := c.app.actions.byID[id]
	if x == nil {
		return ""
	}
	if k := hintKey(x, c.app.typing()); k != "" {
		return keyNames([]string{k})
	}
	switch typing := c.app.typing(); {
	case len(x.Keys) == 0 && x.Word != "" && !typing:
		return ":" + x.Word
	case len(x.Keys) == 0 && x.Word != "":
		return "ctrl+p " + x.Word
	}
	return ""
}

// onePane is why there is nothing to arrange.
func onePane(c *Ctx) string {
	if l := c.app.layout(); l.Panes[0].Empty() || l.Panes[1].Empty() {
		return "only one pane is visible"
	}
	return ""
}
