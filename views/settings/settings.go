// Package settings is the screen on which config.yaml is read and written: one row for each setting of package userconfig, and the keys of
// all actions.
package settings

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pane"
)

// File is config.yaml, and what comes before it.
type File struct {
	Path string // "" where there is no folder for it
	// Over is what wins over the file, such as MCPHUD_THEME, and its value; "" for nothing. Nil never does.
	Over func(key string) (from, value string)
}

// settings lists what config.yaml can say, and changes it.
type settings struct {
	pane.ListPage
	store
	rows []row
}

// New is the screen of the settings.
func New(f File) *tui.Screen {
	v := &settings{store: storeOf(f, "settings"), rows: rowsOf(userconfig.Table())}
	v.View, v.Page, v.About, v.Pick = "settings", v.page, v.about, v.change
	return v.Screen(tui.Screen{
		ID: "settings", Title: "Settings", Aliases: []string{"config", "preferences"}, Tab: "servers", NoRail: true, AllServers: true, Split: 62, StackUnder: 110,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Settings"}, {ID: "detail", Title: "Setting"}},
		Actions: v.actions, Handle: v.handle, CopyText: v.copyText,
	})
}

func (v *settings) actions() []tui.Action {
	none := func(*tui.Ctx) string {
		if v.List.Selected() < 0 {
			return "nothing is selected"
		}
		return ""
	}
	return []tui.Action{
		{
			ID: "settings.change", Verb: tui.VerbOpen, Title: "change", Group: "Settings", Hint: 1, Pane: "list",
			Help: "Change the setting under the cursor, and write it to config.yaml.", Disabled: none,
			Run: func(c *tui.Ctx) tea.Cmd { return v.change(c, v.List.Selected()) },
		},
		{
			ID: "settings.default", Verb: tui.VerbLeaveOut, Title: "default", Group: "Settings", Hint: 2,
			Help: "Take the setting under the cursor out of config.yaml, so that its default holds.",
			Disabled: func(c *tui.Ctx) string {
				if why := none(c); why != "" {
					return why
				}
				if _, in := v.is.Given[v.key()]; !in && c.Arranged(v.key()) == "" {
					return "it has its default"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return v.write(c, v.rows[v.List.Selected()], nil) },
		},
		{
			ID: "settings.edit", Verb: tui.VerbEdit, Title: "edit config.yaml", Group: "Settings", Hint: 3,
			Help: "Open config.yaml in your editor; what cannot be read is not taken.", Disabled: v.noFile,
			Run: func(c *tui.Ctx) tea.Cmd { return v.edit(c, v.text()) },
		},
	}
}

// key is that of the setting under the cursor, "" for none.
func (v *settings) key() string {
	if i := v.List.Selected(); i >= 0 {
		return v.rows[i].Key
	}
	return ""
}

func (v *settings) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		return tea.Batch(v.Changed(c), v.read(c)), true
	case tui.FocusChanged: // also when one comes back from the keys
		return v.read(c), true
	case tui.ThemeChanged: // also when the file was read again
		v.Rev++
		if c.View == v.View {
			return v.read(c), true
		}
		return nil, true
	case tui.Edited:
		return v.edited(c, m), true
	case tui.OpDone:
		if cmd, ok := v.done(c, m, v.Changed, v.holds); ok {
			return cmd, true
		}
		return v.Filtered(c, m)
	}
	return v.Handle(c, msg, func() tea.Cmd { return v.change(c, v.List.Selected()) })
}

// page is the settings by what they are about.
func (v *settings) page(c *tui.Ctx) page.Page {
	p := page.Page{Title: "Settings", Counted: true, Foot: v.foot()}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: 8}, {Cells: 19, Found: true}, {Cells: 29}, {From: 72}},
		Len:     len(v.rows), Row: func(i int) page.Row {
			r, what := v.rows[i], v.valueOf(c, v.rows[i])
			group := r.group
			if i > 0 && v.rows[i-1].group == group && !v.List.Filtered() && !c.Linear {
				group = ""
			}
			return page.Row{Cells: []page.Text{{S: group, Tone: page.Heading}, {S: r.Key}, {S: what.shown, Tone: what.tone()}, {S: what.from, Tone: page.Quiet}}}
		},
	}
	return p
}

// about says of a setting what it does, what it is, and what else it can be.
func (v *settings) about(c *tui.Ctx, i int) page.Page {
	r, what := v.rows[i], v.valueOf(c, v.rows[i])
	p := page.Page{Title: r.Key}
	p.Line(page.Plain, r.About())
	if what.over != "" {
		p.Line(page.Warn, what.over+" wins over config.yaml as long as it is there.")
	}
	p.Line(page.Plain, "")
	p.Field("now", what.shown).Field("from", what.long).Field("in the file", what.hidden)
	if what.from != usual {
		p.Field("default", r.Usual())
	}
	if r.Kind != userconfig.Word {
		p.Field("can be", r.Expected())
	}
	if !r.live {
		p.Note("A change holds from the next start of mcphud on.")
	}
	if v.err != nil {
		p.Line(page.Bad, v.err.Error()).Key(c.KeyOf("settings.edit"), "opens it in your editor; nothing is written until it can be read")
	}
	for i := range v.is.Warnings {
		p.Line(page.Warn, v.wrong(i))
	}
	return p
}

func (v *settings) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	i := v.List.Selected()
	switch {
	case i < 0:
	case k == tui.CopyValue:
		return tui.CopyString(v.valueOf(c, v.rows[i]).shown, true)
	case k == tui.CopyPath:
		return tui.CopyString(v.file.Path, v.file.Path != "")
	}
	return nil
}
