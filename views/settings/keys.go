package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pane"
)

// keys lists the keys of all actions, and gives an action others.
type keys struct {
	pane.ListPage
	store
	all []tui.Bound
}

// NewKeys is the screen of the keys.
func NewKeys(f File) *tui.Screen {
	v := &keys{store: storeOf(f, "keys")}
	v.View, v.Page, v.About, v.Pick = "keys", v.page, v.about, v.change
	return v.Screen(tui.Screen{
		ID: "keys", Title: "Keys", Aliases: []string{"bindings"}, Tab: "servers", NoRail: true, AllServers: true, Split: 62, StackUnder: 110,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Keys"}, {ID: "detail", Title: "Action"}},
		Actions: v.actions, Handle: v.handle,
	})
}

func (v *keys) actions() []tui.Action {
	none := func(*tui.Ctx) string {
		if v.List.Selected() < 0 {
			return "nothing is selected"
		}
		return ""
	}
	return []tui.Action{
		{
			ID: "keys.change", Verb: tui.VerbOpen, Title: "change", Group: "Keys", Hint: 1, Pane: "list",
			Help: "Give the action under the cursor other keys, and write them to config.yaml; a key that another has is refused.", Disabled: none,
			Run: func(c *tui.Ctx) tea.Cmd { return v.change(c, v.List.Selected()) },
		},
		{
			ID: "keys.default", Verb: tui.VerbLeaveOut, Title: "usual keys", Group: "Keys", Hint: 2,
			Help: "Take the keys of the action out of config.yaml, so that it has its usual ones.",
			Disabled: func(c *tui.Ctx) string {
				if why := none(c); why != "" {
					return why
				}
				if _, in := v.given(v.List.Selected()); !in {
					return "it has its usual keys"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return v.bind(c, v.List.Selected(), nil) },
		},
	}
}

// given is what the file gives an action.
func (v *keys) given(i int) (userconfig.Given, bool) {
	g, ok := v.is.Given["keys."+v.all[i].ID]
	return g, ok
}

func (v *keys) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		return tea.Batch(v.renew(c), v.read(c)), true
	case tui.FocusChanged:
		return v.read(c), true
	case tui.ThemeChanged: // also when the file was read again
		if c.View == v.View {
			return tea.Batch(v.renew(c), v.read(c)), true
		}
		return nil, true
	case tui.OpDone:
		if cmd, ok := v.done(c, m, v.renew, func(*tui.Ctx, wrote) tea.Cmd { return nil }); ok {
			return cmd, true
		}
		return v.Filtered(c, m)
	}
	return v.Handle(c, msg, func() tea.Cmd { return v.change(c, v.List.Selected()) })
}

// renew lists the keys as they are now.
func (v *keys) renew(c *tui.Ctx) tea.Cmd {
	v.all = c.Bounds()
	return v.Changed(c)
}

// shownKeys are keys for people.
func shownKeys(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func (v *keys) page(*tui.Ctx) page.Page {
	p := page.Page{Title: "Keys", Counted: true, Foot: v.foot()}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: 20}, {Cells: 24, Found: true}, {Cells: 14}, {From: 72}},
		Len:     len(v.all), Row: func(i int) page.Row {
			b, from := v.all[i], ""
			if g, in := v.given(i); in {
				from = fmt.Sprintf("%s:%d", filepath.Base(v.file.Path), g.Line)
			}
			tone := page.Accent
			if len(b.Keys) == 0 {
				tone = page.Quiet
			}
			return page.Row{Cells: []page.Text{{S: shownKeys(b.Keys), Tone: tone}, {S: b.Title}, {S: b.Scope, Tone: page.Quiet}, {S: from}}}
		},
	}
	return p
}

func (v *keys) about(c *tui.Ctx, i int) page.Page {
	b := v.all[i]
	p := page.Page{Title: b.ID}
	p.Line(page.Plain, b.Help)
	p.Line(page.Plain, "")
	p.Field("keys", shownKeys(b.Keys)).Field("where", b.Scope)
	g, in := v.given(i)
	if in {
		p.Field("from", fmt.Sprintf("%s:%d", v.file.Path, g.Line))
	}
	if !slices.Equal(b.Keys, b.Usual) {
		p.Field("usual", shownKeys(b.Usual))
	}
	if why := c.Unfit(b.ID, g.Texts); in && why != "" {
		p.Line(page.Warn, fmt.Sprintf("%s cannot be: %s", shownKeys(g.Texts), why))
	}
	return p
}

// change offers the ways to give an action keys.
func (v *keys) change(c *tui.Ctx, i int) tea.Cmd {
	v.Settle()
	if i < 0 {
		return nil
	}
	if no := v.closed(c); no != nil {
		return no
	}
	b := v.all[i]
	fits := func(list []string) string { return c.Unfit(b.ID, list) }
	press := func(title string, before []string) tui.Option {
		return tui.Option{Group: b.Title, Title: title, Run: func(c *tui.Ctx) tea.Cmd {
			with := func(key string) []string { return append(slices.Clone(before), key) }
			return c.PressKey(b.Title, func(key string) string { return fits(with(key)) }, func(c *tui.Ctx, key string) tea.Cmd { return v.bind(c, i, with(key)) })
		}}
	}
	var options []tui.Option
	if !c.Linear {
		options = append(options, press("press another key", nil))
		if len(b.Keys) > 0 {
			options = append(options, press("press one more key", b.Keys))
		}
	}
	options = append(options,
		tui.Option{Group: b.Title, Title: "type the keys", Help: "a comma between keys, a blank in a chord: z, y v", Run: func(c *tui.Ctx) tea.Cmd {
			return c.Ask(tui.Question{
				Label: "keys of " + b.Title, Initial: strings.Join(b.Keys, ", "), Check: func(text string) string { return fits(typedKeys(text)) },
				OnDone: func(c *tui.Ctx, text string) tea.Cmd { return v.bind(c, i, typedKeys(text)) },
			})
		}},
		tui.Option{Group: b.Title, Title: "no key", Help: "palette and words run it", Run: func(c *tui.Ctx) tea.Cmd { return v.bind(c, i, []string{}) }})
	if _, in := v.given(i); in {
		options = append(options, tui.Option{Group: b.Title, Title: "usual keys", Help: shownKeys(b.Usual), Run: func(c *tui.Ctx) tea.Cmd { return v.bind(c, i, nil) }})
	}
	return c.Pick("Keys of "+b.Title, options)
}

// typedKeys are keys as they are typed, a comma between two; the comma itself is typed alone.
func typedKeys(text string) []string {
	if strings.TrimSpace(text) == "," {
		return []string{","}
	}
	list := []string{}
	for k := range strings.SplitSeq(text, ",") {
		if k = strings.Join(strings.Fields(k), " "); k != "" {
			list = append(list, k)
		}
	}
	return list
}

// bind writes the keys of an action, nil for the usual ones.
func (v *keys) bind(c *tui.Ctx, i int, list []string) tea.Cmd {
	return v.write(c, row{Setting: userconfig.Setting{Key: "keys." + v.all[i].ID, Kind: userconfig.Bindings}, live: true}, list)
}
