package call

import (
	"cmp"
	"context"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// resources lists the current server's resources and shows what they hold.
// Navigate's Arg may be the URI (string) of a resource to read, listed or not.
type resources struct {
	pane.ItemList
	about   pane.ItemDetail
	reply   pane.Reply
	reading string // URI that the detail pane shows, "" for what the list says
	op      uint64
	request uint64 // journal entry of the request that read it, 0 if there is none
}

// NewResources is the screen of the resources that a server lists, and of what they hold.
func NewResources(calls *pane.Calls) *tui.Screen {
	return (&resources{
		ItemList: pane.NewItemList("resources", offer.Resources, "resources", resourceKey, calls),
		about:    pane.NewItemDetail("resources", offer.Resources, calls),
		reply:    pane.NewReply("resources", "detail"),
	}).screen()
}

func resourceKey(it offer.Item) string {
	if it.URI != "" {
		return it.URI
	}
	return it.Name
}

func (v *resources) screen() *tui.Screen {
	return &tui.Screen{
		ID: "resources", Title: "Resources", Aliases: []string{"resource", "r"}, Split: listSplit,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Resources"}, {ID: "detail", Title: "Resource"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, PageText: v.pageText, CopyText: v.copyText, Lone: v.Lone, Pending: v.Pending, Breadcrumb: v.breadcrumb, Badge: v.Badge,
		Find: v.find,
	}
}

func (v *resources) actions() []tui.Action {
	return append([]tui.Action{
		v.Calls.HistoryAction("resources", offer.Resources, func() string {
			it, _ := v.Selected()
			return cmp.Or(v.reading, it.URI)
		}),
		{
			ID: "resources.read", Verb: tui.VerbOpen, Title: "read", Group: "Resources", Hint: 1, Pane: "list",
			Help: "Read the resource and show what it holds.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				v.Settle()
				if why := v.none(c); why != "" {
					return c.Toast(tui.Warning, why)
				}
				it, _ := v.Selected()
				return v.read(c, it.URI)
			},
		},
		{
			ID: "resources.uri", Verb: tui.VerbElsewhere, Word: "uri", Title: "read a URI", Group: "Resources", Hint: 3, Pane: "list",
			Help: "Read any URI, also one that the server does not list.", Disabled: pane.Offline,
			Run: func(c *tui.Ctx) tea.Cmd {
				it, _ := v.Selected()
				return c.Ask(tui.Question{
					Label: "URI", Initial: safe.Line(it.URI, 2000),
					OnDone: func(c *tui.Ctx, uri string) tea.Cmd { return v.read(c, uri) },
				})
			},
		},
		{
			ID: "resources.templates", Word: "templates", Title: "templates", Group: "Resources", Hint: 2, Pane: "list",
			Help: "Go to the resource templates.",
			Run:  func(c *tui.Ctx) tea.Cmd { return c.Navigate("templates", nil) },
		},
		{
			ID: "resources.subscribe", Word: "subscribe", Title: "subscribe", Group: "Resources", Hint: 4,
			Help: "Subscribe to the resource, to be told what its updates change, or unsubscribe from it.", Disabled: v.unsubscribable,
			Now: func(*tui.Ctx) string {
				if _, on := v.Subscribed[v.uri()]; on {
					return "unsubscribe"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				v.Settle()
				uri := v.uri()
				if _, on := v.Subscribed[uri]; on {
					return pane.Unsubscribe(c, "resources", c.Server, uri)
				}
				return pane.Subscribe(c, "resources", c.Server, uri)
			},
		},
		{
			ID: "resources.subscriptions", Word: "subscriptions", Title: "subscriptions", Group: "Resources", Hint: 5, Pane: "list",
			Help: "Go to what is subscribed, and to what its updates changed.",
			Disabled: func(c *tui.Ctx) string {
				for _, s := range c.Sessions.Servers() {
					if len(s.Subscriptions()) > 0 {
						return ""
					}
				}
				return "nothing is subscribed"
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("subscriptions", nil) },
		},
		pane.SkillsAction("resources", pane.CurrentServer),
		pane.DriftAction("resources"),
		refreshAction("resources", "resources", func(c *tui.Ctx) tea.Cmd { return v.Load(c, true) }),
	}, v.reply.Actions("resources", "detail")...)
}

func (v *resources) none(*tui.Ctx) string {
	if it, ok := v.Selected(); !ok || it.URI == "" {
		return "no resource is selected"
	}
	return ""
}

// uri is that of what is read, or of what the cursor is on.
func (v *resources) uri() string {
	if v.reading != "" {
		return v.reading
	}
	it, _ := v.Selected()
	return it.URI
}

func (v *resources) unsubscribable(c *tui.Ctx) string {
	if v.uri() == "" {
		return "no resource is selected"
	}
	return pane.Unsubscribable(c)
}

// resourceRead is the outcome of reading.
type resourceRead struct {
	uri   string
	reply rpc.Reply
}

// read asks the server for what a resource holds.
func (v *resources) read(c *tui.Ctx, uri string) tea.Cmd {
	s := c.Server
	if why := pane.Offline(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	v.reading, v.request = uri, 0
	v.reply.Wait("reading " + safe.Line(uri, 300))
	cmd, op := c.Go("resources", "resources/read "+safe.Line(uri, 80), func(ctx context.Context) (any, error) {
		r, err := s.ReadResource(ctx, uri, session.CallOptions{OnProgress: pane.ReportTo(ctx)})
		return resourceRead{uri, r}, err
	})
	v.op = op
	return tea.Batch(cmd, c.FocusPane("detail"))
}

func (v *resources) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.FocusChanged: // the last one also when the screen is back
		return tea.Batch(v.Sync(c), v.describe(c)), true
	case tui.ServerChanged:
		v.leave()
		return tea.Batch(v.Sync(c), v.describe(c)), true
	case tui.Navigate:
		cmd := tea.Batch(v.Sync(c), v.Enter(c), v.describe(c))
		if uri, ok := m.Arg.(string); ok {
			return tea.Batch(cmd, v.read(c, uri)), true
		}
		return cmd, true
	case tui.Resized:
		cmd1, _ := v.reply.Handle(c, msg)
		cmd2, _ := v.about.Handle(c, msg)
		return tea.Batch(cmd1, cmd2), true
	case tui.FilterChanged:
		if c.Focus == "detail" {
			return v.detail(c, msg)
		}
		v.leave()
		return tea.Batch(v.SetFilter(c, m.Text), v.describe(c)), true
	case tui.Rendered:
		return v.about.Handle(c, msg)
	case tui.OpDone:
		return v.finished(c, m), true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.detail(c, msg)
		}
	}
	if c.Focus == "detail" {
		return v.detail(c, msg)
	}
	consumed, opened := v.MoveCursor("list", msg)
	if opened && v.none(c) == "" {
		it, _ := v.Selected()
		return v.read(c, it.URI), true
	}
	if consumed {
		v.leave()
	}
	return v.describe(c), consumed
}

// detail gives a message to what the detail pane shows.
func (v *resources) detail(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if v.reading != "" {
		return v.reply.Handle(c, msg)
	}
	return v.about.Handle(c, msg)
}

// leave goes back to what the list says of the resource under the cursor.
func (v *resources) leave() {
	v.reading = ""
	v.reply.Clear()
}

func (v *resources) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if m.Op == v.op && v.op != 0 {
		v.op = 0
		if r, ok := m.Value.(resourceRead); ok {
			v.request = r.reply.Request
		}
		if m.Err != nil {
			v.reply.Fail(m, v.request)
			return nil
		}
		r := m.Value.(resourceRead)
		again := pane.ResultAsSent(c.Sessions.Journal(), r.reply)
		return v.reply.Load(c, v.request, func() (pane.Verdict, []pane.Part, error) {
			_, parts := pane.ResultParts(pane.FileName(r.uri), r.reply.Result, again)
			line := "✓ " + cost(r.reply)
			if hints := offer.ReadHints(r.reply.Result); hints.TTL != nil && *hints.TTL > 0 {
				line += " · " + hints.String()
			}
			return pane.Verdict{Line: line}, parts, nil
		})
	}
	if cmd, ok := pane.SubscriptionDone(c, m); ok {
		return cmd
	}
	if cmd, ok := v.Filtered(c, m); ok {
		return tea.Batch(cmd, v.describe(c))
	}
	if m.Slot == "list" {
		return tea.Batch(v.Listed(c), v.describe(c))
	}
	if cmd, ok := v.reply.Handle(c, m); ok {
		return cmd
	}
	cmd, _ := v.about.Handle(c, m)
	return cmd
}

func (v *resources) describe(c *tui.Ctx) tea.Cmd {
	v.Look(c)
	it, ok := v.Selected()
	if !ok {
		v.about.Clear()
		return nil
	}
	cmd := v.about.Show(c, v.Server, it)
	v.about.Marked(v.Listing.Marks[offer.Resources.Key(it)])
	return cmd
}

func (v *resources) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "list" {
		v.DrawItems(c, p)
		return nil
	}
	if v.reading != "" {
		p.Title = safe.Line(v.reading, 200)
		return v.reply.Draw(c, p)
	}
	p.Title, p.Badge, p.Foot = "Resource", "", ""
	if it, ok := v.Selected(); ok {
		p.Title = safe.Line(it.URI, 200)
	}
	return v.about.Draw(c, p)
}

func (v *resources) breadcrumb(*tui.Ctx) string {
	if v.reading != "" {
		return safe.Line(v.reading, 60)
	}
	it, _ := v.Selected()
	return safe.Line(it.URI, 60)
}

func (v *resources) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if k == tui.CopyCurl {
		if v.reading == "" {
			return nil
		}
		return shell.Curl(c.Sessions, v.request)
	}
	if v.reading != "" && c.Focus == "detail" && k != tui.CopyCommand && k != tui.CopyPath {
		return v.reply.Doc.CopyText(k)
	}
	it, ok := v.Selected()
	uri := it.URI
	if v.reading != "" {
		uri, ok = v.reading, true
	}
	if !ok {
		return nil
	}
	switch k {
	case tui.CopyValue, tui.CopyPath:
		return tui.CopyString(uri, true)
	case tui.CopyJSON, tui.CopyRaw:
		return tui.CopyBytes(it.Raw)
	case tui.CopyCommand:
		return pane.CopyCommand(c.Server.Config(), pane.WithMeta(c.Server, pane.Invoke("resources read", uri)))
	}
	return nil
}

func (v *resources) pageText(*tui.Ctx) (text, ext string, ok bool) {
	if v.reading != "" {
		return v.reply.Doc.PageText()
	}
	it, ok := v.Selected()
	return string(it.Raw), ".json", ok
}

func (v *resources) choices(*tui.Ctx) (out []tui.Choice) {
	for i := range v.List.Listed() {
		if it := v.Listing.Items[i]; it.URI != "" {
			out = append(out, tui.Choice{
				Label: safe.Line(it.URI, 200) + v.Marks(it) + pane.Summary(it),
				Run:   func(c *tui.Ctx) tea.Cmd { return v.read(c, it.URI) },
			})
		}
	}
	return out
}

// find lists the resources of all open servers, those of the current one first.
func (v *resources) find(c *tui.Ctx) []tui.Found {
	return pane.Find(c, offer.Resources, func(it offer.Item) (name, screen string) { return it.URI, "resources" })
}

func (v *resources) plain(c *tui.Ctx, w io.Writer) {
	if v.reading != "" {
		v.reply.Plain(w)
		return
	}
	v.PlainItems(c, w)
}
