package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// rail is the list of all servers at the left edge.
type rail struct {
	p          Pane
	at         int    // row under the cursor, in shown
	top        int    // first row drawn
	filterText string // what `/` has
	query      widget.Query
}

// shown are the servers that pass the filter, the best first.
func (r *rail) shown(a *App) []*serverRow {
	rows := a.servers.rows
	found, err := r.query.Filter(context.Background(), len(rows), func(i int) (string, string) { return rows[i].title, rows[i].name })
	if err != nil { // nobody cancels it
		return nil
	}
	out := make([]*serverRow, len(found))
	for i, at := range found {
		out[i] = &rows[at]
	}
	return out
}

// seek puts the cursor on the current server.
func (r *rail) seek(a *App) {
	for i, x := range r.shown(a) {
		if x.name == a.servers.current {
			r.at = i
		}
	}
}

func (r *rail) filter(a *App, text string) {
	r.filterText, r.query, r.at = text, widget.ParseQuery(text), 0
	if text == "" {
		r.seek(a)
	}
}

// key moves and picks; other keys are the shell's.
func (r *rail) key(a *App, k string) (tea.Cmd, bool) {
	n := len(r.shown(a))
	switch k {
	case "up", "k":
		r.at--
	case "down", "j":
		r.at++
	case "g", "home":
		r.at = 0
	case "G", "end":
		r.at = n - 1
	case "pgup", "ctrl+u":
		r.at -= max(r.p.H/2, 1)
	case "pgdown", "ctrl+d":
		r.at += max(r.p.H/2, 1)
	case "enter":
		return r.pick(a), true
	default:
		return nil, false
	}
	r.at = min(max(r.at, 0), max(n-1, 0))
	return nil, true
}

// pick makes the server under the cursor the current one, and shows the
// servers screen when it is not connected: what to do about it is there.
func (r *rail) pick(a *App) tea.Cmd {
	list := r.shown(a)
	if r.at >= len(list) {
		return nil
	}
	x := list[r.at]
	cmd := a.selectServer(x.name)
	if !x.connected() && a.actions.find("servers") != nil {
		return join(cmd, a.navigate(Navigate{View: "servers", Arg: x.name}))
	}
	return join(cmd, a.focusIndex(a.focus[a.place.view]))
}

func (r *rail) mouse(a *App, ev PaneMouse) tea.Cmd {
	n := len(r.shown(a))
	r.at = min(max(r.at+ev.Wheel, 0), max(n-1, 0))
	if ev.Click != tea.MouseLeft {
		return nil
	}
	cmd := a.focusIndex(RailFocus)
	if i := r.top + ev.Y; ev.Y >= 0 && i < n {
		r.at = i
		return join(cmd, r.pick(a))
	}
	return cmd
}

// pane draws the servers: the state as a glyph before the name and, where
// there is room, as a word after it. Below them is what the current one is.
func (r *rail) pane(a *App, at Rect) *Pane {
	p := &r.p
	in := at.Inner()
	p.ID, p.Title, p.W, p.H = "rail", "Servers", max(in.W, 1), max(in.H, 1)
	p.Focused = a.place.focus == RailFocus && a.prompt == nil && !a.covered()
	t := a.ctx.Theme
	list := r.shown(a)
	r.at = min(r.at, max(len(list)-1, 0))
	r.top = min(max(r.top, r.at-p.H+1), r.at)
	p.Lines, p.Selected = p.Lines[:0], 0
	if len(list) > 0 {
		p.Selected = r.at - r.top + 1
	}
	for i := r.top; i < len(list) && len(p.Lines) < p.H; i++ {
		p.Lines = append(p.Lines, r.row(a, list[i], i == r.at && p.Focused, p.W))
	}
	if about := a.servers.about(t, p.W); len(list) > 0 && len(p.Lines)+len(about) <= p.H {
		p.Lines = append(p.Lines, about...)
	}
	if len(list) == 0 {
		msg := "no servers: see Servers"
		if r.filterText != "" {
			msg = "none matches " + r.filterText
		}
		p.Lines = append(p.Lines, t.Muted.S(safe.Line(msg, p.W)))
	}
	p.Badge = ""
	if r.filterText != "" {
		p.Badge = "/" + safe.Line(r.filterText, 10)
	}
	p.Scroll = Scroll{r.top, len(list)}
	return p
}

// marked is the line under the cursor while the rail has the keys, and the colour of its server.
func (r *rail) marked(a *App) (line int, st paint.Style) {
	if !r.p.Focused {
		return 0, st
	}
	if list := r.shown(a); r.at < len(list) {
		return r.p.Selected, a.ctx.Theme.Server(list[r.at].name)
	}
	return 0, st
}

func (r *rail) row(a *App, x *serverRow, at bool, w int) string {
	t := a.ctx.Theme
	mark := " "
	if x.name == a.servers.current {
		mark = "▸"
	}
	name := safe.Line(x.title, w)
	row := mark + x.dot(t) + " " + t.Server(x.name).S(name)
	if word := x.word(); paint.Width(row)+paint.Width(word) < w {
		row = paint.Fit(row, w-paint.Width(word)) + HealthOf(x.state).Style(t).S(word)
	}
	switch {
	case at:
		return t.SelectRow(row, w, true)
	case x.name == a.servers.current:
		return t.SelectRow(row, w, false)
	}
	return row
}

// help are the rail's keys.
func (r *rail) help() []item {
	g := "Servers"
	return []item{
		{title: "open server", keys: "enter", help: "Make the server under the cursor the current one.", group: g, pick: func(a *App) tea.Cmd { return a.rail.pick(a) }},
	}
}
