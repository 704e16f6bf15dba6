package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// NotOffered is the badge of a screen for what the server does not offer.
const NotOffered = "–"

// tab is a screen in the top line: its name, and its badge in a field of its own width.
type tab struct {
	view, name, badge string
	field             int // cells of the badge, with the blank before it
}

// width is the cells that it takes.
func (t tab) width() int { return paint.Width(t.name) + t.field + 2 }

// badgeCells is what a badge has room for where that is: counts up to 99 do not move the tabs behind them.
const badgeCells = 2

// tabs are the screens in the top line for w cells. Names always stand there; where the line is too narrow the badges have the room that
// they need, and then the last ones go.
func (a *App) tabs(w int) (list []tab) {
	here, used := a.actions.tabOf(a.current()).ID, 0
	for _, v := range a.actions.tabs() {
		badge, has := a.badge(v)
		if v.Transient && badge == "" && v.ID != here {
			continue
		}
		t := tab{view: v.ID, name: v.Title, badge: badge}
		if has {
			t.field = max(badgeCells, paint.Width(badge)) + 1
		}
		list = append(list, t)
		used += t.width()
	}
	for _, keep := range []bool{true, false} {
		for i := len(list) - 1; i >= 0 && used > w; i-- {
			t := &list[i]
			used -= t.width()
			if t.field = 0; keep && t.badge != "" {
				t.field = paint.Width(t.badge) + 1
			}
			used += t.width()
		}
	}
	return list
}

// badge is what a tab says, of a transient one also what its sections say; has is whether anything ever is.
func (a *App) badge(tab *registered) (badge string, has bool) {
	for i := range a.actions.views {
		v := &a.actions.views[i]
		if v.Badge == nil || v.ID != tab.ID && (!tab.Transient || v.Tab != tab.ID) {
			continue
		}
		has = true
		if s := v.Badge(&a.ctx); s != "" && (badge == "" || v.ID == tab.ID) {
			badge = shortBadge(s)
		}
	}
	return badge, has
}

// shortBadge is a badge in few cells: of a count from 1000 on the thousands.
func shortBadge(s string) string {
	if n, err := strconv.Atoi(s); err == nil && n >= 1000 {
		s = strconv.Itoa(n/1000) + "k"
	}
	return safe.Line(s, 5)
}

// tabLine is the top line: the tabs with the sections beside the visible one, or where one is when there is no room for them.
func (a *App) tabLine(w int) string {
	t := a.ctx.Theme
	if a.frame.layout.Crumbs {
		s := t.Title.S(safe.Line(a.crumbs(), w-2))
		if len(a.history) > 0 {
			s = t.Muted.S("‹ ") + s
		}
		return paint.Fit(s, w)
	}
	here := a.actions.tabOf(a.current()).ID
	var b strings.Builder
	for _, tab := range a.tabs(w) {
		field := strings.Repeat(" ", tab.field)
		if tab.field > 0 {
			field = paint.Fit(" "+tab.badge, tab.field)
		}
		switch {
		case tab.view == here:
			b.WriteString(t.Selection.S(" " + tab.name + field + " "))
		case tab.badge == NotOffered:
			b.WriteString(t.Muted.S(" " + tab.name + field + " "))
		default:
			b.WriteString(t.Text.S(" "+tab.name) + t.Muted.S(field+" "))
		}
	}
	s := b.String()
	if strip := a.strip(); strip != "" {
		if room := w - paint.Width(s) - paint.Width(strip); room > 3 {
			s += strings.Repeat(" ", room) + strip
		}
	}
	return paint.Fit(s, w)
}

// strip is the sections beside the visible screen, "" where there are none.
func (a *App) strip() string {
	t := a.ctx.Theme
	var names []string
	for _, v := range a.peersHere() {
		st := t.Muted
		if v.ID == a.place.view {
			st = t.Accent
		}
		names = append(names, st.S(safe.Line(v.Title, 20)))
	}
	if names == nil {
		return ""
	}
	return t.Muted.S("[ ") + strings.Join(names, t.Muted.S(" · ")) + t.Muted.S(" ] ")
}

// peersHere are the visible screen and the sections beside it, none where there is nothing beside it.
func (a *App) peersHere() []*registered {
	here := a.current()
	all := a.actions.peers(a.actions.tabOf(here))
	if !slices.ContainsFunc(all, func(v *registered) bool { return v.ID == here.ID }) {
		return nil
	}
	return all
}

// section is the one by sections further, nil where there is none.
func (a *App) section(by int) *registered {
	all := a.peersHere()
	if len(all) == 0 {
		return nil
	}
	i := slices.IndexFunc(all, func(v *registered) bool { return v.ID == a.place.view })
	return all[(i+by+len(all))%len(all)]
}

// goBeside goes to a section beside the visible one: esc leads back to where the first of them was come from.
func (a *App) goBeside(by int) tea.Cmd {
	next := a.section(by)
	if next == nil {
		return nil
	}
	if n := len(a.history); n > 0 && a.history[n-1].view == next.ID {
		return a.back()
	}
	cmd := a.navigate(Navigate{View: next.ID})
	if n := len(a.history); n > 1 && a.actions.find(a.history[n-1].view).Tab != "" {
		a.history = a.history[:n-1]
	}
	return cmd
}

// leaveOrQuit leaves a section for where it was come from, its tab where it was the first screen, and the program on a tab.
func (a *App) leaveOrQuit() tea.Cmd {
	tab := a.current().Tab
	switch {
	case tab == "":
		return a.quit.request(a)
	case len(a.history) == 0:
		return a.returnTo(tab)
	}
	return a.back()
}

// tabKey is the number key of a screen, "" if it has none.
func (a *App) tabKey(id string) string {
	for i, v := range a.actions.tabs() {
		if v.ID == id && i < tabKeys {
			return string(rune('1' + i))
		}
	}
	return ""
}

// whereIs names what there is between the server and the thing: the tab, and the section of it.
func (a *App) whereIs(v *registered) []string {
	parts := []string{v.Title}
	if tab := a.actions.tabOf(v); tab.ID != v.ID {
		parts = []string{tab.Title, v.Title}
	}
	return parts
}

// way is where one is, from the server to the section. A section that is one of the things that its tab is called after (a prompt of
// Prompts) is not named: what it is called follows.
func (a *App) way() []string {
	v := a.current()
	parts := a.whereIs(v)
	if len(parts) == 2 && parts[0] == parts[1]+"s" {
		parts = parts[:1]
	}
	if a.servers.current == "" || v.AllServers {
		return parts
	}
	at := 0
	if a.actions.tabOf(v).AllServers { // what is about one server is a part of a tab about all
		at = 1
	}
	return slices.Insert(parts, at, a.servers.titleOf(a.servers.current))
}

// crumbsSeparator stands between the parts of the way to something.
const crumbsSeparator = " ▸ "

// crumbs is the way to what is on the screen: server, tab, section, thing.
func (a *App) crumbs() string {
	parts := a.way()
	if v := a.current(); v.Breadcrumb != nil {
		if s := v.Breadcrumb(&a.ctx); s != "" {
			parts = append(parts, s)
		}
	}
	return safe.Line(strings.Join(parts, crumbsSeparator), 200)
}

// lead is the way to what a pane calls itself, for its border: without what its title says again.
func (a *App) lead(p *Pane) []string {
	parts := a.way()
	for i := range parts {
		parts[i] = safe.Line(parts[i], 40)
	}
	if i := len(parts) - 1; p.Title == parts[i] {
		return parts[:i]
	}
	return parts
}

// heading is a pane's title with the way to it, as much of it as w cells have room for: what is left out first stands in the status line
// and in the tab line.
func (p *Pane) heading(w int) string {
	for i := range p.lead {
		if s := strings.Join(append(slices.Clone(p.lead[i:]), p.Title), crumbsSeparator); paint.Width(s) <= w {
			return s
		}
	}
	return p.Title
}
