package call

import (
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// itemScreen is a screen that lists what a server offers of one kind, and for the
// item under the cursor what it is in words and as sent; enter opens the screen
// that asks for it. Navigate's Arg may be the name (string) of an item to go to.
type itemScreen struct {
	itemKind
	pane.ItemList
	about pane.ItemDetail
}

// itemKind is what tells these screens apart.
type itemKind struct {
	info         tui.Screen // without functions
	kind         offer.Kind
	plural, verb string
	opens, help  string // screen that enter opens, with the item's name
	name         func(offer.Item) string
	command      func(offer.Item) shell.Invocation // mcphud subcommand for an item
	extra        []tui.Action
	app          bool // items may have the page of an app
}

func newItemScreen(k itemKind, calls *pane.Calls) *itemScreen {
	return &itemScreen{
		itemKind: k, ItemList: pane.NewItemList(k.info.ID, k.kind, k.plural, k.name, calls),
		about: pane.NewItemDetail(k.info.ID, k.kind, calls),
	}
}

func (v *itemScreen) screen() *tui.Screen {
	s := v.info
	s.Actions, s.Handle, s.Draw, s.Plain, s.Choices, s.PageText, s.CopyText = v.actions, v.handle, v.draw, v.plain, v.choices, v.pageText, v.copyText
	s.Hints, s.Lone, s.Pending, s.Breadcrumb, s.Badge, s.Find = v.hints, v.Lone, v.Pending, v.breadcrumb, v.Badge, v.find
	if v.third() {
		s.Third = func(*tui.Ctx) bool { return v.Calls.Answered(v.Server, v.itemKind.kind) }
	}
	return &s
}

// third is whether the screen has a pane for the last result.
func (v *itemScreen) third() bool { return len(v.info.Panes) > 2 }

func (v *itemScreen) actions() []tui.Action {
	id := v.info.ID
	extra := slices.Clone(v.extra)
	switch {
	case v.app:
		extra = append(extra, appAction(id, v.info.Title, &v.about, func() (string, offer.Item) {
			it, _ := v.Selected()
			return v.Server, it
		}))
	case v.third():
		extra = append(extra, v.about.LinkAction(id, v.info.Title))
	}
	if v.third() {
		extra = append(extra, v.about.LastActions()...)
	}
	return append([]tui.Action{
		{
			ID: id + ".open", Verb: tui.VerbOpen, Title: v.verb, Group: v.info.Title, Hint: 1,
			Help: v.help, Disabled: v.none, Run: v.open,
		},
		pane.VariableAction(id, pane.CurrentServer),
		v.Calls.HistoryAction(id, v.itemKind.kind, func() string {
			it, ok := v.Selected()
			if !ok {
				return ""
			}
			return v.itemKind.name(it)
		}),
		pane.DriftAction(id),
		refreshAction(id, v.itemKind.plural, func(c *tui.Ctx) tea.Cmd { return v.Load(c, true) }),
	}, slices.Concat(extra, v.about.Actions(id, "detail"))...)
}

// appAction shows what the app of a tool, the one that of gives, is made of, without running it; where the last result has the
// keys, it opens what that links to.
func appAction(id, group string, about *pane.ItemDetail, of func() (server string, it offer.Item)) tui.Action {
	return tui.Action{
		ID: id + ".app", Verb: tui.VerbElsewhere, Title: "app page", Group: group, Hint: 7,
		Help: "Read the page that shows the tool as an app: its source, what it may connect to and its permissions. It is not run.",
		Now: func(c *tui.Ctx) string {
			if about.Link(c) != "" {
				return "open resource"
			}
			return "app page"
		},
		Disabled: func(c *tui.Ctx) string {
			if _, it := of(); it.App == "" && about.Link(c) == "" {
				return "the tool has no app"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			server, it := of()
			if uri := about.Link(c); uri != "" {
				return c.NavigateOn(server, "resources", uri)
			}
			return c.NavigateOn(server, "resources", it.App)
		},
	}
}

func (v *itemScreen) open(c *tui.Ctx) tea.Cmd {
	v.Settle()
	it, ok := v.Selected()
	if !ok && v.Coming(c) {
		return c.Await(v.info.ID, v.itemKind.plural, v.Coming, v.open)
	}
	if why := v.none(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	return c.Navigate(v.opens, v.name(it))
}

func (v *itemScreen) none(c *tui.Ctx) string {
	it, ok := v.Selected()
	switch {
	case !ok && v.Coming(c):
		return ""
	case !ok:
		return "nothing is selected"
	case v.name(it) == "":
		return "this definition has no name"
	}
	return ""
}

// refreshAction asks the server for a list again.
func refreshAction(view, plural string, run func(*tui.Ctx) tea.Cmd) tui.Action {
	return tui.Action{
		ID: view + ".refresh", Verb: tui.VerbRun, Title: "reload", Group: "List", Hint: 2,
		Help: "Reload the server's " + plural + "; connect first where it is not connected.",
		Now: func(c *tui.Ctx) string {
			switch {
			case tui.WantsLogin(c.Server):
				return "log in"
			case c.Server == nil || c.Server.Status().State == session.Connected:
				return ""
			}
			return pane.ConnectWord(c.Server)
		},
		Disabled: func(c *tui.Ctx) string {
			if c.Server == nil || c.Server.Status().State == session.Connecting {
				return pane.Offline(c)
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			switch {
			case tui.WantsLogin(c.Server):
				return c.Navigate("login", tui.LogIn{})
			case c.Server.Status().State == session.Connected:
				return run(c)
			}
			return c.Navigate("servers", pane.Reopen{Server: c.Server.Name(), Screen: view})
		},
	}
}

func (v *itemScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.FocusChanged: // the last one also when the screen is back
		return tea.Batch(v.Sync(c), v.describe(c)), true
	case tui.Navigate:
		cmd := tea.Batch(v.Sync(c), v.Enter(c))
		if name, ok := m.Arg.(string); ok {
			v.Kept[v.Server] = name
			cmd = tea.Batch(cmd, v.Show(c))
		}
		return tea.Batch(cmd, v.describe(c)), true
	case tui.OpDone:
		if m.Slot == "list" {
			return tea.Batch(v.Listed(c), v.describe(c)), true
		}
		if v.Counted(m) {
			return nil, true
		}
	}
	if v.info.Tab != "" && pane.IsBack(msg) {
		return c.Back(), true
	}
	return v.about.Route(c, &v.Rows, msg, v.describe, func(c *tui.Ctx) tea.Cmd {
		if v.none(c) != "" {
			return v.describe(c)
		}
		return v.open(c)
	})
}

// hints say how to leave a screen that has no number.
func (v *itemScreen) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(v.info.Tab != "") }

// describe brings the item under the cursor into the detail pane.
func (v *itemScreen) describe(c *tui.Ctx) tea.Cmd {
	v.Look(c)
	it, ok := v.Selected()
	if !ok {
		v.about.Clear()
		return nil
	}
	cmd := v.about.Show(c, v.Server, it)
	v.about.Marked(v.Listing.Marks[v.itemKind.kind.Key(it)])
	return cmd
}

func (v *itemScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == pane.LastPane {
		return v.about.DrawLast(c, p)
	}
	if p.ID == "detail" {
		p.Title = v.info.Panes[1].Title
		if it, ok := v.Selected(); ok {
			p.Title = safe.Line(v.name(it), 120)
		}
		return v.about.Draw(c, p)
	}
	v.DrawItems(c, p)
	return nil
}

func (v *itemScreen) breadcrumb(*tui.Ctx) string {
	it, _ := v.Selected()
	return safe.Line(v.name(it), 60)
}

func (v *itemScreen) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	it, ok := v.Selected()
	if !ok {
		return nil
	}
	if c.Focus == pane.LastPane {
		return v.about.CopyLast(k)
	}
	switch k {
	case tui.CopyValue:
		return tui.CopyString(v.name(it), true)
	case tui.CopyJSON, tui.CopyRaw:
		return tui.CopyBytes(it.Raw)
	case tui.CopyCommand:
		return pane.CopyCommand(c.Server.Config(), pane.WithMeta(c.Server, v.command(it)))
	}
	return nil
}

func (v *itemScreen) pageText(c *tui.Ctx) (text, ext string, ok bool) {
	if c.Focus == pane.LastPane {
		return v.about.PageLast()
	}
	it, ok := v.Selected()
	return string(it.Raw), ".json", ok
}

func (v *itemScreen) choices(c *tui.Ctx) (out []tui.Choice) {
	for i := range v.List.Listed() {
		it := v.Listing.Items[i]
		if v.name(it) == "" {
			continue
		}
		out = append(out, tui.Choice{
			Label: safe.Line(v.name(it), 120) + v.Marks(it) + pane.Summary(it),
			Run:   func(c *tui.Ctx) tea.Cmd { return c.Navigate(v.opens, v.name(it)) },
		})
	}
	return out
}

// find lists the items of all open servers, those of the current one first.
func (v *itemScreen) find(c *tui.Ctx) []tui.Found {
	return pane.Find(c, v.itemKind.kind, func(it offer.Item) (name, screen string) { return v.name(it), v.opens })
}

func (v *itemScreen) plain(c *tui.Ctx, w io.Writer) { v.PlainItems(c, w) }
