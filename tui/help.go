package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/safe"
)

// newHelp lists what the keys do, the focused pane's first; enter runs the line under the cursor.
func newHelp(a *App) *picker {
	local, global := a.actions.scoped(a.place.view, a.ctx.Focus)
	var items []item
	add := func(scope string, list []*Action) {
		var groups []string
		by := map[string][]*Action{}
		for _, x := range list {
			if by[x.Group] == nil {
				groups = append(groups, x.Group)
			}
			by[x.Group] = append(by[x.Group], x)
		}
		for _, g := range groups {
			title := scope + " · " + g
			if g == scope {
				title = g
			}
			for _, x := range by[g] {
				items = append(items, actionItem(a, x, title))
			}
		}
	}
	if a.place.focus == RailFocus {
		items = append(items, a.rail.help()...)
	} else {
		add(a.current().info.Title, local)
	}
	add("Everywhere", unshadowed(local, global))
	return newPicker("Help: type to search, enter runs", items, false)
}

// unshadowed are the global actions of which a key is left.
func unshadowed(local, global []*Action) (out []*Action) {
	taken := map[string]bool{}
	for _, x := range local {
		for _, k := range x.Keys {
			taken[k] = true
		}
	}
	for _, x := range global {
		free := len(x.Keys) == 0
		for _, k := range x.Keys {
			free = free || !taken[k]
		}
		if free {
			out = append(out, x)
		}
	}
	return out
}

func actionItem(a *App, x *Action, group string) item {
	return item{
		title: x.Title, keys: keyNames(x.Keys), help: x.Help, group: group, why: x.reason(&a.ctx),
		pick: func(a *App) tea.Cmd { return a.runAnywhere(x) },
	}
}

// keyNames writes keys for people.
func keyNames(keys []string) string {
	short := strings.NewReplacer("shift+tab", "⇧tab", "up", "↑", "down", "↓", "left", "←", "right", "→")
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		switch k {
		case "pgup", "pgdown":
		default:
			k = short.Replace(k)
		}
		out = append(out, k)
	}
	return strings.Join(out, " ")
}

// newPalette lists everything that can be done from here, screens and servers included; typing ranks.
func newPalette(a *App) *picker {
	var items []item
	local, global := a.actions.scoped(a.place.view, a.ctx.Focus)
	for _, x := range local {
		items = append(items, actionItem(a, x, a.current().info.Title))
	}
	for i := range a.actions.views {
		v := &a.actions.views[i]
		items = append(items, item{
			title: "go to " + v.info.Title, keys: a.tabKey(v.info.ID), group: placeGroup,
			pick: func(a *App) tea.Cmd { return a.navigate(Navigate{View: v.info.ID}) },
		})
	}
	for _, n := range a.servers.names() {
		items = append(items, item{
			title: "server " + safe.Line(n, 60), group: placeGroup,
			pick: func(a *App) tea.Cmd { return a.selectServer(n) },
		})
	}
	for _, x := range global {
		items = append(items, actionItem(a, x, "Everywhere"))
	}
	shown := map[*Action]bool{}
	for _, x := range local {
		shown[x] = true
	}
	for i := range a.actions.views {
		v := &a.actions.views[i]
		for _, x := range v.actions {
			if !shown[x] {
				items = append(items, elsewhere(a, v, x))
			}
		}
	}
	return newPicker("Command palette", items, true)
}

// elsewhere is an action of another screen or pane: whether it can run is only known once its screen is there.
func elsewhere(_ *App, v *registered, x *Action) item {
	return item{
		title: v.info.Title + ": " + x.Title, keys: keyNames(x.Keys), help: x.Help, group: v.info.Title,
		pick: func(a *App) tea.Cmd { return a.runAnywhere(x) },
	}
}

// tabKey is the number key of a screen, "" if it has none.
func (a *App) tabKey(id string) string {
	for i, v := range a.actions.tabs() {
		if v.info.ID == id && i < 9 {
			return string(rune('1' + i))
		}
	}
	return ""
}

// chordMenu shows what can follow the first key of a chord.
type chordMenu struct {
	first string
	list  []*Action
	next  []string
}

func newChordMenu(a *App, first string) *chordMenu {
	m := &chordMenu{first: first}
	local, global := a.actions.scoped(a.place.view, a.ctx.Focus)
	for _, x := range append(append([]*Action(nil), local...), global...) {
		for _, k := range x.Keys {
			if rest, ok := strings.CutPrefix(k, first+" "); ok {
				m.list = append(m.list, x)
				m.next = append(m.next, rest)
			}
		}
	}
	return m
}

// Title is the key that was pressed.
func (m *chordMenu) Title() string { return m.first + " …" }

// Size fits the list.
func (m *chordMenu) Size(maxW, maxH int) (int, int) { return min(maxW, 46), min(maxH, len(m.list)) }

// Handle runs what the second key stands for.
func (m *chordMenu) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	c.app.drop(m)
	for i, n := range m.next {
		if n == k.String() {
			return c.app.run(m.list[i]), true
		}
	}
	return nil, true
}

// Draw lists the second keys.
func (m *chordMenu) Draw(c *Ctx, p *Pane) *tea.Cursor {
	p.Lines = p.Lines[:0]
	for i, x := range m.list {
		st := c.Theme.Text
		title := x.Title
		if why := x.reason(c); why != "" {
			st = c.Theme.Muted
			title += " (" + why + ")"
		}
		p.Lines = append(p.Lines, " "+c.Theme.Accent.S(m.next[i])+"  "+st.S(safe.Line(title, max(p.W-5, 1))))
	}
	return nil
}
