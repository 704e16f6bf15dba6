package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// newHelp lists what the keys do, the focused pane's first; enter runs the line under the cursor.
func newHelp(a *App) *picker {
	local, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
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
		elsewhere := func(g string) int { // what has no action of the focused pane stands behind what has one
			if slices.ContainsFunc(by[g], func(x *Action) bool { return x.Pane != "" }) {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(groups, func(g, h string) int { return elsewhere(g) - elsewhere(h) })
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
		add(a.current().Title, local)
	}
	add(everywhere, unshadowed(local, global))
	return newPicker("Help: type to search, enter runs", items)
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

// binding is a key and what it does, as the models of bubbles take them.
func binding(k, title string) key.Binding {
	return key.NewBinding(key.WithKeys(k), key.WithHelp(keyNames([]string{k}), title))
}

// keyBar is a line of keys and what they do, as many as fit in w cells.
func keyBar(t *Theme, w int, list []key.Binding) string {
	bar := help.New()
	bar.ShortSeparator = "  "
	bar.SetWidth(w - 2)
	plain := lipgloss.NewStyle()
	bar.Styles = help.Styles{ShortKey: plain.Transform(t.Accent.S), ShortDesc: plain.Transform(t.Muted.S), Ellipsis: plain.Transform(t.Muted.S)}
	return paint.Cut(" "+bar.ShortHelpView(list), w)
}

func actionItem(a *App, x *Action, group string) item {
	return item{
		title: x.title(&a.ctx), keys: reached(x), help: x.Help, group: group, why: x.reason(&a.ctx),
		pick: func(a *App) tea.Cmd { return a.runAnywhere(x) },
	}
}

// reached is how an action is reached: by its keys, else by its word.
func reached(x *Action) string {
	if len(x.Keys) == 0 && x.Word != "" {
		return ":" + x.Word
	}
	return keyNames(x.Keys)
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

// The groups of the palette.
const (
	foundGroup = "Tools, prompts, resources"
	placeGroup = "Go to"
	everywhere = "Everywhere"
)

// foundFirst is how many tools the palette lists before something is typed.
const foundFirst = 4

// newPalette lists everything that can be done from here: what can be done on the screen, what the servers offer, the screens and
// servers to go to, and what can be done everywhere. Typing ranks.
func newPalette(a *App) *picker {
	var items []item
	local, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
	listed := map[string]bool{}
	add := func(x *Action, group, help string, typed bool) {
		// Keys that move say nothing here, and screens have their names.
		if strings.HasPrefix(x.ID, "move.") || strings.HasPrefix(x.ID, "app.screen") || x.ID == paletteID || typed && listed[x.Title] {
			return
		}
		listed[x.Title] = true
		it := actionItem(a, x, group)
		if it.help, it.typed = help, typed; typed { // whether it can run is known once its screen is there
			it.why = ""
		}
		items = append(items, it)
	}
	for _, x := range local {
		add(x, "Here · "+a.current().Title, x.Help, false)
	}
	found := 0
	for i := range a.actions.views {
		if v := a.actions.views[i]; v.Find != nil {
			for _, f := range v.Find(&a.ctx) {
				items = append(items, item{
					title: f.Name, keys: f.Kind, help: f.About, group: foundGroup, typed: found >= foundFirst,
					pick: func(a *App) tea.Cmd { return f.Run(&a.ctx) },
				})
				found++
			}
		}
	}
	for i := range a.actions.views {
		v := &a.actions.views[i]
		items = append(items, item{
			title: v.Title, keys: a.tabKey(v.ID), help: placeHelp(a.whereIs(v), v.Aliases), group: placeGroup,
			pick: func(a *App) tea.Cmd { return a.navigate(Navigate{View: v.ID}) },
		})
	}
	for i := range a.servers.rows {
		r := &a.servers.rows[i]
		name, help := r.name, "Look at this server."
		if r.title != r.name {
			help = "Look at this server, " + safe.Line(r.name, 60) + " in its configuration."
		}
		items = append(items, item{
			title: safe.Line(r.title, 60), keys: "server", help: help, group: placeGroup,
			pick: func(a *App) tea.Cmd { return a.selectServer(name) },
		})
	}
	for _, x := range global {
		add(x, everywhere, x.Help, false)
	}
	for i := range a.actions.views {
		v := &a.actions.views[i]
		if v.Typing != nil { // what its keys do is about the field that has the focus
			continue
		}
		for _, x := range v.actions {
			add(x, everywhere, v.Title+": "+x.Help, true)
		}
	}
	return newPicker("Command palette", items)
}

// placeHelp says where a screen is, and by which other words `:` goes there.
func placeHelp(where, words []string) string {
	s := strings.Join(where, crumbsSeparator)
	if len(words) > 0 {
		s += " · :" + strings.Join(words, " :")
	}
	return s
}
