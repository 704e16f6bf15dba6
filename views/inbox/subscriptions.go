package inbox

import (
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// subscriptions lists what is subscribed to at all servers, and what became of it.
type subscriptions struct {
	pane.Rows
	all      []subscribed
	detail   pane.TextPane
	at       string         // which subscription the detail pane shows
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
	return (&subscriptions{Rows: pane.Rows{View: "subscriptions"}, known: map[string]int{}}).screen()
}

func (v *subscriptions) screen() *tui.Screen {
	return &tui.Screen{
		ID: "subscriptions", Title: "Subscriptions", Aliases: []string{"subscription", "subs"}, Hidden: true, AllServers: true, Split: 35,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "Subscriptions"}, {ID: "detail", Title: "Updates"}},
		Actions:    v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, PageText: v.pageText, CopyText: v.copyText, Hints: v.hints, Breadcrumb: v.breadcrumb,
	}
}

func (v *subscriptions) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "subscriptions.read", Keys: []string{"enter"}, Title: "read", Group: "Subscriptions", Hint: 1,
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
			ID: "subscriptions.end", Keys: []string{"d"}, Title: "unsubscribe", Group: "Subscriptions", Hint: 2,
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
			ID: "subscriptions.add", Keys: []string{"a"}, Title: "subscribe", Group: "Subscriptions", Hint: 3,
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
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(all), func(i int) (name, about string) { return all[i].URI, all[i].title }
	}
	cmd := v.SetRows(c, subscriptionRows{v, c})
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

type subscriptionRows struct {
	v *subscriptions
	c *tui.Ctx
}

// Len is the number of subscriptions at all servers.
func (r subscriptionRows) Len() int { return len(r.v.all) }

// Row is a subscription's state, how often its resource was updated and when at last, and its URI.
func (r subscriptionRows) Row(i, w int) string {
	th, s := r.c.Theme, r.v.all[i]
	_, mark := subscriptionState(th, s)
	out := paint.Fit(mark, 9) + " " + th.Text.S(fmt.Sprintf("%4d×", s.Count)) + " " + th.Muted.S(fmt.Sprintf("%-8s", lastUpdate(s))) + " "
	tail := ""
	if r.v.many {
		tail = "  " + th.Muted.S(safe.Line(s.title, 20))
	}
	uri := pane.CutStart(safe.Line(s.URI, 4000), max(w-paint.Width(out)-paint.Width(tail), 8)) // its end tells most
	return out + r.v.Query.HighlightName(uri, th.Text, th.Match) + tail
}

// subscriptionState is the state of a subscription as a word, and with its glyph and colour.
func subscriptionState(th *tui.Theme, s subscribed) (word, styled string) {
	switch {
	case s.Err != nil:
		return "refused", th.Error.S("✗ refused")
	case s.Live:
		return "live", th.OK.S("● live")
	}
	return "offline", th.Muted.S("○ offline")
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
	return pane.ListAndText(c, &v.Rows, &v.detail, msg, func() tea.Cmd {
		s, ok := v.selected()
		if !ok {
			return nil
		}
		return c.NavigateOn(s.server, "resources", s.URI)
	})
}

// hints say how to leave the screen, which has no number.
func (v *subscriptions) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

func (v *subscriptions) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		v.drawDetail(c, p)
		return nil
	}
	if p.Same(c, v.Rev, v.List.Selected(), c.Server) {
		return nil
	}
	v.List.SetRows(subscriptionRows{v, c}) // rows carry the theme
	v.DrawList(c, p, func(w int) []string {
		switch why := pane.Unsubscribable(c); {
		case v.Typed != "":
			return pane.NothingMatches(c.Theme, w, v.Typed)
		case why != "":
			return pane.Message(c.Theme, w, "Nothing is subscribed: "+why+".", "Press 3 for the resources, 1 for the servers.")
		}
		return pane.Message(c.Theme, w, "Nothing is subscribed.", "Press s on a resource (3) to be told of its updates, or a for any URI.")
	})
	p.Foot = ""
	if len(v.all) > 0 {
		p.Foot = text.Count(len(v.all), "subscription")
	}
	return nil
}

func (v *subscriptions) drawDetail(c *tui.Ctx, p *tui.Pane) {
	s, ok := v.selected()
	p.Title = "Updates"
	if ok {
		p.Title = safe.Line(s.URI, 200)
	}
	if v.at != s.key() {
		v.at, v.detail.Top = s.key(), 0
	}
	if p.Same(c, v.Rev, s.key(), v.detail.Top) {
		return
	}
	if !ok {
		p.Lines, p.Scroll = nil, tui.Scroll{}
		return
	}
	v.detail.Draw(p, updateLines(c.Theme, p.W, s))
}

// updateLines is a subscription, and what its updates changed, newest first.
func updateLines(th *tui.Theme, w int, s subscribed) []string {
	d := pane.NewDetails(th, w)
	_, mark := subscriptionState(th, s)
	d.Lines = append(d.Lines, mark+th.Muted.S(fmt.Sprintf(" · %s since %s · %s", text.Count(s.Count, "update"), s.Since.Format(time.TimeOnly), safe.Line(s.title, 60))))
	if s.Err != nil {
		d.Lines = append(d.Lines, pane.ErrorLines(th, w, s.Err)...)
	}
	for _, u := range s.Updates {
		if len(d.Lines) > pane.MaxUpdateLines {
			d.Note("… and older ones")
			break
		}
		d.Lines = append(d.Lines, "", th.Heading.S(u.At.Format(time.TimeOnly))+" "+th.Muted.S(updateSummary(u)))
		if u.Err != nil {
			d.Lines = append(d.Lines, pane.ErrorLines(th, w, u.Err)...)
		}
		d.Lines = append(d.Lines, pane.DiffLines(th, w, u.Diff)...)
	}
	if len(s.Updates) == 0 {
		d.Lines = append(d.Lines, "")
		d.Note("No update yet. What it holds was read, and is compared with what it holds then.")
	}
	return d.Lines
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

func (v *subscriptions) choices(*tui.Ctx) (out []tui.Choice) {
	for i := range v.List.Listed() {
		s := v.all[i]
		out = append(out, tui.Choice{
			Label: safe.Line(s.URI, 200) + " · " + text.Count(s.Count, "update"),
			Run:   func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(s.server, "resources", s.URI) },
		})
	}
	return out
}

func (v *subscriptions) plain(c *tui.Ctx, w io.Writer) {
	if len(v.all) == 0 {
		fmt.Fprintln(w, "nothing is subscribed")
	}
	for _, s := range v.all {
		word, _ := subscriptionState(c.Theme, s)
		fmt.Fprintf(w, "%s %s %s %s\n", word, text.Count(s.Count, "update"), safe.Line(s.URI, 300), safe.Line(s.title, 60))
		for _, u := range s.Updates {
			fmt.Fprintf(w, "  %s %s\n", u.At.Format(time.TimeOnly), updateSummary(u))
		}
	}
}
