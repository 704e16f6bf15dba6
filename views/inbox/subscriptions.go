package inbox

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// subscriptions lists what is subscribed to at all servers, and what became of it.
type subscriptions struct {
	pane.ListPage
	all      []subscribed
	many     bool           // servers have subscriptions
	notified time.Time      // when the last toast said of an update
	known    map[string]int // updates by server and URI, as far as they were notified of
}

// subscribed is a subscription at a server.
type subscribed struct {
	server, title string
	session.Subscription
}

func (s subscribed) key() string { return s.server + "\x00" + s.URI }

// NewSubscriptions is the screen of what is subscribed at all servers.
func NewSubscriptions() *tui.Screen {
	v := &subscriptions{known: map[string]int{}}
	v.View, v.Page, v.About = "subscriptions", v.page, func(_ *tui.Ctx, i int) page.Page { return updates(v.all[i]) }
	v.Pick = func(c *tui.Ctx, i int) tea.Cmd { return c.NavigateOn(v.all[i].server, "resources", v.all[i].URI) }
	return v.screen()
}

func (v *subscriptions) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "subscriptions", Title: "Subscriptions", Aliases: []string{"subscription", "subs"}, Tab: "resources", Peer: true, AllServers: true, Split: 35,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "Subscriptions"}, {ID: "detail", Title: "Updates"}},
		Actions:    v.actions, Handle: v.handle, PageText: v.pageText, CopyText: v.copyText, Breadcrumb: v.breadcrumb,
	})
}

func (v *subscriptions) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "subscriptions.read", Verb: tui.VerbOpen, Title: "read", Group: "Subscriptions", Hint: 1,
			Help: "Go to the resource and read it.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				s, ok := v.selected()
				if !ok {
					return nil
				}
				return c.NavigateOn(s.server, "resources", s.URI)
			},
		},
		{
			ID: "subscriptions.end", Verb: tui.VerbCancel, Title: "unsubscribe", Group: "Subscriptions", Hint: 2,
			Help: "End the subscription.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				one, ok := v.selected()
				if !ok {
					return nil
				}
				s, found := c.Sessions.Server(one.server)
				if !found {
					return nil
				}
				return pane.Unsubscribe(c, "subscriptions", s, one.URI)
			},
		},
		{
			ID: "subscriptions.add", Verb: tui.VerbAdd, Title: "subscribe", Group: "Subscriptions", Hint: 3,
			Help: "Subscribe to a URI at the current server, also to one that it does not list.", Disabled: pane.Unsubscribable,
			Run: func(c *tui.Ctx) tea.Cmd {
				return c.Ask(tui.Question{Label: "URI", OnDone: func(c *tui.Ctx, uri string) tea.Cmd {
					return pane.Subscribe(c, "subscriptions", c.Server, uri)
				}})
			},
		},
	}
}

func (v *subscriptions) selected() (subscribed, bool) {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i], true
	}
	return subscribed{}, false
}

func (v *subscriptions) none(*tui.Ctx) string {
	if _, ok := v.selected(); !ok {
		return "nothing is selected"
	}
	return ""
}

// sync takes in the subscriptions of all servers.
func (v *subscriptions) sync(c *tui.Ctx) tea.Cmd {
	was, had := v.selected()
	n := len(v.all)
	v.all, v.many = nil, false
	first := ""
	for _, s := range c.Sessions.Servers() {
		for _, sub := range s.Subscriptions() {
			v.many = v.many || first != "" && first != s.Name()
			first = s.Name()
			v.all = append(v.all, subscribed{s.Name(), s.Title(), sub})
		}
	}
	if len(v.all)+n == 0 {
		return nil
	}
	all := v.all
	cmd := v.Changed(c)
	for i := range all {
		if had && all[i].key() == was.key() {
			v.List.Select(i)
		}
	}
	return tea.Batch(cmd, v.notify(c))
}

// toastRest is the least time between two toasts about updates.
const toastRest = 5 * time.Second

// notify says of updates that came while another screen was looked at.
func (v *subscriptions) notify(c *tui.Ctx) tea.Cmd {
	var news *subscribed
	for i, s := range v.all {
		if seen, known := v.known[s.key()]; s.Count > seen || !known {
			v.known[s.key()] = s.Count
			if s.Count > 0 {
				news = &v.all[i]
			}
		}
	}
	if len(v.known) > len(v.all) { // of subscriptions that ended
		clear(v.known)
		for _, s := range v.all {
			v.known[s.key()] = s.Count
		}
	}
	if news == nil || c.View == v.View || time.Since(v.notified) < toastRest {
		return nil
	}
	v.notified = time.Now()
	return c.Toast(tui.Note, fmt.Sprintf("resource updated (%d): %s", news.Count, text.Clip(news.URI, 120)))
}

// page lists the subscriptions, with what their updates changed below them.
func (v *subscriptions) page(c *tui.Ctx) page.Page {
	p := page.Page{None: [2]string{"Nothing is subscribed.", ":subscribe on a resource (3) to be told of its updates, or a for any URI."}}
	if why := pane.Unsubscribable(c); why != "" {
		p.None = [2]string{"Nothing is subscribed: " + why + ".", "Press 3 for the resources, 1 for the servers."}
	}
	if len(v.all) > 0 {
		p.Foot = text.Count(len(v.all), "subscription")
	}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: 9}, {Cells: 5, Right: true}, {Cells: 8}, {Cells: 0}, {Found: true, End: true}}, Len: len(v.all),
		Row: func(i int) page.Row {
			s := v.all[i]
			r := page.Row{Cells: []page.Text{subscriptionMark(s).Text(), {S: fmt.Sprintf("%d×", s.Count)}, {S: lastUpdate(s), Tone: page.Quiet}, {}, {S: s.URI}}}
			if v.many {
				r.Cells[3] = page.Text{S: text.Clip(s.title, 20), Tone: page.Quiet}
			}
			for _, u := range s.Updates {
				r.Below = append(r.Below, u.At.Format(time.TimeOnly)+" "+updateSummary(u))
			}
			return r
		},
	}
	return p
}

// subscriptionMark is the state of a subscription.
func subscriptionMark(s subscribed) page.Mark {
	switch {
	case s.Err != nil:
		return page.Mark{Glyph: "✗", Word: "refused", Tone: page.Bad}
	case s.Live:
		return page.Mark{Glyph: "●", Word: "live", Tone: page.Good}
	}
	return page.Mark{Glyph: "○", Word: "offline", Tone: page.Quiet}
}

// lastUpdate is when the last update came, "" if none did.
func lastUpdate(s subscribed) string {
	if len(s.Updates) == 0 {
		return ""
	}
	return s.Updates[0].At.Format(time.TimeOnly)
}

func (v *subscriptions) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.Navigate:
		return v.sync(c), true
	case tui.OpDone:
		if cmd, ok := pane.SubscriptionDone(c, m); ok {
			return cmd, true
		}
		return v.Filtered(c, m)
	}
	return v.Handle(c, msg, func() tea.Cmd { return v.Pick(c, v.List.Selected()) })
}

// updates is a subscription, and what its updates changed, newest first.
func updates(s subscribed) page.Page {
	p := page.Page{Title: s.URI}
	mark := subscriptionMark(s).Text(text.Count(s.Count, "update")+" since "+s.Since.Format(time.TimeOnly), s.title)
	p.Line(mark.Tone, mark.S)
	if s.Err != nil {
		p.Line(page.Bad, pane.ErrorText(s.Err))
	}
	lines := 0
	for _, u := range s.Updates {
		if lines > pane.MaxUpdateLines {
			p.Note("… and older ones")
			break
		}
		p.Heading(u.At.Format(time.TimeOnly) + " " + updateSummary(u))
		if u.Err != nil {
			p.Line(page.Bad, pane.ErrorText(u.Err))
		}
		p.Diff(u.Diff)
		lines += 2 + strings.Count(u.Diff, "\n")
	}
	if len(s.Updates) == 0 {
		p.Line(page.Plain, "").Note("No update yet. What it holds was read, and is compared with what it holds then.")
	}
	return p
}

// updateSummary is how much an update changed.
func updateSummary(u session.Update) string {
	out := fmt.Sprintf("+%d −%d lines", u.Added, u.Removed)
	switch {
	case u.Err != nil:
		out = "could not be read"
	case u.Diff == "":
		out = "the content is the same"
	}
	if u.Offline {
		out += ", while there was no connection"
	}
	return out
}

func (v *subscriptions) breadcrumb(*tui.Ctx) string {
	s, _ := v.selected()
	return safe.Line(s.URI, 60)
}

func (v *subscriptions) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	s, ok := v.selected()
	if !ok {
		return nil
	}
	switch k {
	case tui.CopyValue, tui.CopyPath:
		return tui.CopyString(s.URI, true)
	case tui.CopyCommand:
		if srv, ok := c.Sessions.Server(s.server); ok {
			return pane.CopyCommand(srv.Config(), pane.WithMeta(srv, pane.Invoke("resources subscribe", s.URI)))
		}
	}
	return nil
}

// pageText is what the last update changed.
func (v *subscriptions) pageText(*tui.Ctx) (text, ext string, ok bool) {
	s, ok := v.selected()
	if !ok || len(s.Updates) == 0 {
		return "", "", false
	}
	return s.Updates[0].Diff, ".diff", true
}
