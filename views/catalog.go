package views

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/shell"
)

// catalog is a screen that lists what a server offers of one kind, and for the
// item under the cursor what it is in words and as sent; enter opens the screen
// that asks for it. Navigate's Arg may be the name (string) of an item to go to.
type catalog struct {
	catalogue
	items
	about about
}

// catalogue is what tells these screens apart.
type catalogue struct {
	info         tui.Info
	kind         session.ListKind
	plural, verb string
	screen, help string // screen that enter opens, with the item's name
	name         func(session.Item) string
	command      func(session.Item) shell.Invocation // mcphud subcommand for an item
}

func newCatalog(k catalogue) *catalog {
	return &catalog{catalogue: k, items: newItems(k.info.ID, k.kind, k.plural, k.name), about: newAbout(k.info.ID)}
}

func (v *catalog) Info() tui.Info { return v.info }

func (v *catalog) Actions() []tui.Action {
	id := v.info.ID
	return append([]tui.Action{
		{
			ID: id + ".open", Keys: []string{"enter"}, Title: v.verb, Group: v.info.Title, Hint: 1,
			Help: v.help, Disabled: v.none, Run: v.open,
		},
		refreshAction(id, v.catalogue.plural, func(c *tui.Ctx) tea.Cmd { return v.load(c, true) }),
	}, v.about.actions(id, "detail")...)
}

func (v *catalog) open(c *tui.Ctx) tea.Cmd {
	it, _ := v.selected()
	return c.Navigate(v.screen, v.name(it))
}

func (v *catalog) none(*tui.Ctx) string {
	it, ok := v.selected()
	switch {
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
		ID: view + ".refresh", Keys: []string{"r"}, Title: "ask again", Group: "List", Hint: 5,
		Help: "Ask the server for its " + plural + " again; connect first where it is not connected.",
		Disabled: func(c *tui.Ctx) string {
			if c.Server == nil || c.Server.Status().State == session.Connecting {
				return offline(c)
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			if c.Server.Status().State != session.Connected {
				return c.Navigate("servers", reopen{c.Server.Name(), view})
			}
			return run(c)
		},
	}
}

// offline is the reason why something that needs a connection cannot run.
func offline(c *tui.Ctx) string {
	switch {
	case c.Server == nil:
		return "no server is open"
	case c.Server.Status().State != session.Connected:
		return "the server is not connected; press 1"
	}
	return ""
}

func (v *catalog) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged:
		return tea.Batch(v.sync(c), v.describe(c)), true
	case tui.Navigate:
		cmd := v.sync(c)
		if name, ok := m.Arg.(string); ok {
			v.kept[v.server] = name
			cmd = tea.Batch(cmd, v.show(c))
		}
		return tea.Batch(cmd, v.describe(c)), true
	case tui.FilterChanged:
		if c.Focus == "detail" {
			return v.about.Handle(c, msg)
		}
		return tea.Batch(v.setFilter(c, m.Text), v.describe(c)), true
	case tui.OpDone:
		if cmd, ok := savedToast(c, m); ok {
			return cmd, true
		}
		if cmd, ok := v.done(c, m); ok {
			return tea.Batch(cmd, v.describe(c)), true
		}
		if m.Slot == "list" {
			return tea.Batch(v.sync(c), v.describe(c)), true
		}
		return v.about.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.about.Handle(c, msg)
		}
	}
	if c.Focus == "detail" {
		return v.about.Handle(c, msg)
	}
	consumed, opened := v.handle("list", msg)
	if opened && v.none(c) == "" {
		it, _ := v.selected()
		return c.Navigate(v.screen, v.name(it)), true
	}
	return v.describe(c), consumed
}

// describe brings the item under the cursor into the detail pane.
func (v *catalog) describe(c *tui.Ctx) tea.Cmd {
	it, ok := v.selected()
	if !ok {
		v.about.clear()
		return nil
	}
	return v.about.show(c, v.server, it)
}

func (v *catalog) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		if it, ok := v.selected(); ok {
			p.Title = safe.Line(v.name(it), 120)
		}
		return v.about.draw(c, p)
	}
	v.draw(c, p)
	return nil
}

// Badge is the number of items.
func (v *catalog) Badge(*tui.Ctx) string {
	if n := len(v.listing.Items); n > 0 {
		return fmt.Sprint(n)
	}
	return ""
}

func (v *catalog) Breadcrumb(*tui.Ctx) string {
	it, _ := v.selected()
	return safe.Line(v.name(it), 60)
}

func (v *catalog) CopyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	it, ok := v.selected()
	if !ok {
		return nil
	}
	switch k {
	case tui.CopyValue:
		return tui.CopyString(v.name(it), true)
	case tui.CopyJSON, tui.CopyRaw:
		return tui.CopyBytes(it.Raw)
	case tui.CopyCommand:
		return copyCommand(c.Server.Config(), v.command(it))
	}
	return nil
}

func (v *catalog) PageText(*tui.Ctx) (text, ext string, ok bool) {
	it, ok := v.selected()
	return string(it.Raw), ".json", ok
}

func (v *catalog) Choices(c *tui.Ctx) (out []tui.Choice) {
	for _, it := range v.listing.Items {
		if v.name(it) == "" {
			continue
		}
		out = append(out, tui.Choice{
			Label: safe.Line(v.name(it), 120) + about1(it),
			Run:   func(c *tui.Ctx) tea.Cmd { return c.Navigate(v.screen, v.name(it)) },
		})
	}
	return out
}

func (v *catalog) Plain(c *tui.Ctx, w io.Writer) { v.plain(c, w) }

// about1 is " — what it is" in a line, "" if the server says nothing.
func about1(it session.Item) string {
	if it.Description == "" {
		return ""
	}
	return " — " + safe.Line(text.FirstLine(it.Description), 200)
}

// plain writes a listing for linear mode.
func (p *items) plain(c *tui.Ctx, w io.Writer) {
	if c.Server != nil && p.status.State == session.Connected && !p.listing.Loaded && p.listing.Err == nil {
		fmt.Fprintln(w, "loading "+p.plural+"…")
		return
	}
	if len(p.listing.Items) == 0 {
		for _, l := range p.empty(c, 100) {
			fmt.Fprintln(w, stripped(l))
		}
		return
	}
	for i, it := range p.listing.Items {
		if it.Flaw != nil {
			fmt.Fprintf(w, "item %d is malformed: %s\n", i+1, safe.Line(it.Flaw.Error(), 300))
			continue
		}
		fmt.Fprintf(w, "%s%s\n", safe.Line(p.key(it), 300), about1(it))
	}
}
