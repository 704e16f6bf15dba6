package pane

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// ItemList is the list pane that tools, resources, templates and prompts share: a server's listing as rows, loaded when
// the screen is looked at, with a state for everything that can be in the way.
type ItemList struct {
	Rows
	kind   offer.Kind
	plural string // "tools"
	key    func(offer.Item) string

	Server   string
	Listing  offer.Listing
	hidden   int // tools that read-only mode leaves out of Listing
	status   session.Status
	Kept     map[string]string // row that the cursor was on, by server
	cols     ItemColumns
	foot     string
	counted  []cost.Entry // what each item costs, nil before it was counted
	counting costOf       // what is counted, or was
	Calls    *Calls
	offered  bool   // the server advertises the list
	looked   string // item whose mark goes when the cursor leaves it
	notified uint64 // change of the list that was notified of

	// Budget is how many tokens the items may take together, for the title; 0 is any number.
	Budget int

	Subscribed map[string]int // updates by URI of what is subscribed to; nil for none
}

// NewItemList is the list of one kind for a screen; plural names the kind ("tools"), key tells its items apart, and calls
// are shared by all screens.
func NewItemList(view string, kind offer.Kind, plural string, key func(offer.Item) string, calls *Calls) ItemList {
	return ItemList{Rows: Rows{View: view}, kind: kind, plural: plural, key: key, Kept: map[string]string{}, Calls: calls}
}

// Sync takes in the current server's listing, and asks for it when the screen is visible and nobody did yet.
func (p *ItemList) Sync(c *tui.Ctx) tea.Cmd {
	s := c.Server
	if s == nil {
		if p.Server != "" || p.status.State != "" {
			p.Server, p.Listing, p.status = "", offer.Listing{}, session.Status{}
			return p.Show(c)
		}
		return nil
	}
	st, l := s.Status(), s.Listing(p.kind)
	fresh := s.Name() != p.Server || l.Rev != p.Listing.Rev
	if fresh || st.Rev != p.status.Rev || l.Loading != p.Listing.Loading {
		p.Rev++
	}
	p.remember()
	p.Calls.Sync(c.Sessions.Journal())
	if c.ReadOnly && p.kind == offer.Tools {
		if fresh {
			l.Items, p.hidden = readOnly(l.Items)
		} else {
			l.Items = p.Listing.Items
		}
	}
	p.status, p.Listing, p.offered = st, l, s.Supports(p.kind.Method())
	if p.kind == offer.Resources {
		p.Subscribed = subscribedURIs(s)
	}
	cmds := []tea.Cmd{p.notify(c, s, l)}
	if l.Loaded {
		cmds = append(cmds, p.Calls.Earlier(c))
	}
	if fresh {
		if p.Server != "" && p.Server != s.Name() { // what was looked for was another server's
			p.SetFilter(c, "")
			c.FilterApplied(p.View, "list", "")
		}
		p.Server = s.Name()
		cmds = append(cmds, p.Show(c))
	}
	if st.State == session.Connected && !l.Loaded && !l.Loading && l.Err == nil && p.offered && p.turn(c, s) {
		cmds = append(cmds, p.Load(c, false))
	}
	return tea.Batch(cmds...)
}

// subscribedURIs are what is subscribed to at a server, with the number of updates; nil for none.
func subscribedURIs(s *session.Session) map[string]int {
	var out map[string]int
	for _, sub := range s.Subscriptions() {
		if out == nil {
			out = map[string]int{}
		}
		out[sub.URI] = sub.Count
	}
	return out
}

// notify says what a refresh changed in the list of the server that was looked at before, too.
func (p *ItemList) notify(c *tui.Ctx, s *session.Session, l offer.Listing) tea.Cmd {
	was := p.notified
	p.notified = l.ChangeRev
	if s.Name() != p.Server || l.ChangeRev <= was {
		return nil
	}
	return c.Toast(tui.Note, p.plural+": "+l.Changes.String())
}

// Look says that somebody sees the item under the cursor: the mark of the one before goes.
func (p *ItemList) Look(c *tui.Ctx) {
	it, ok := p.Selected()
	if !ok || c.View != p.View || c.Server == nil || c.Server.Name() != p.Server {
		return
	}
	key := p.kind.Key(it)
	if p.looked != "" && p.looked != key {
		c.Server.Seen(p.kind, p.looked)
	}
	p.looked = key
}

// Enter asks for a list again whose time is over, when somebody comes to look at it.
func (p *ItemList) Enter(c *tui.Ctx) tea.Cmd {
	if l := p.Listing; c.Server == nil || !l.Loaded || l.Loading || l.Fresh(time.Now()) || p.status.State != session.Connected {
		return nil
	}
	return p.Load(c, false)
}

// Listed takes in a list that came, and lets the screens whose turn is next do so.
func (p *ItemList) Listed(c *tui.Ctx) tea.Cmd {
	rev := c.Sessions.Rev()
	return tea.Batch(p.Sync(c), func() tea.Msg { return tui.SessionChanged{Rev: rev} })
}

// listOf are the lists of the screens that show one.
var listOf = map[string]offer.Kind{"tools": offer.Tools, "resources": offer.Resources, "prompts": offer.Prompts, "templates": offer.Templates}

// turn is whether it is a list's turn to be fetched: the visible one, and once it is there the others one after the other,
// for the numbers on their tabs. Templates have no tab, and servers with resources that do not know them.
func (p *ItemList) turn(c *tui.Ctx, s *session.Session) bool {
	if c.View == p.View {
		return true
	}
	if k, list := listOf[c.View]; list && s.Supports(k.Method()) && !settled(s, k) {
		return false
	}
	some := false
	for k := range offer.NumKinds {
		some = some || s.Listing(k).Loaded
	}
	for _, k := range []offer.Kind{offer.Tools, offer.Resources, offer.Prompts} {
		if k == p.kind {
			return some
		}
		if s.Supports(k.Method()) && !settled(s, k) {
			break
		}
	}
	return false
}

// settled is whether a list came, or cannot be had.
func settled(s *session.Session, k offer.Kind) bool {
	l := s.Listing(k)
	return l.Loaded || l.Err != nil
}

// Badge is the number of items for the screen's tab, [tui.NotOffered] where the server has none to offer, "" where that
// is not known yet.
func (p *ItemList) Badge(*tui.Ctx) string {
	switch {
	case p.Listing.Loaded:
		return fmt.Sprint(len(p.Listing.Items))
	case p.Server != "" && p.status.State == session.Connected && !p.offered:
		return tui.NotOffered
	}
	return ""
}

// readOnly are the tools that change nothing, and how many others there are.
func readOnly(all []offer.Item) (kept []offer.Item, hidden int) {
	for _, it := range all {
		if it.ReadOnly() {
			kept = append(kept, it)
		}
	}
	return kept, len(all) - len(kept)
}

// Load asks the server for the list.
func (p *ItemList) Load(c *tui.Ctx, again bool) tea.Cmd {
	s := c.Server
	if s == nil {
		return nil
	}
	get := s.List
	if again {
		s.Seen(p.kind, "") // whoever reloads has seen what there was
		get = s.Refresh
	}
	kind := p.kind
	cmd, _ := c.Replace(p.View, "list", "list "+p.plural, func(ctx context.Context) (any, error) {
		return get(ctx, kind)
	})
	return cmd
}

// Show puts the listing into the list and the cursor back where it was.
func (p *ItemList) Show(c *tui.Ctx) tea.Cmd {
	all := p.Listing.Items
	key := p.key
	counting := p.count(c)
	p.cols, p.foot = NewItemColumns(len(all), p.row), p.weight()
	p.Freeze = func() (int, func(int) (string, string)) {
		return len(all), func(i int) (name, about string) {
			it := &all[i]
			if name = key(*it); it.URI != "" {
				name = it.Name + " " + name
			}
			about = it.Title
			if it.Description != "" {
				about += "\n" + text.Clip(it.Description, searched)
			}
			return name, about
		}
	}
	cmd := tea.Batch(p.SetRows(c, p.source(c)), counting)
	if want, ok := p.Kept[p.Server]; ok {
		for i := range all {
			if key(all[i]) == want {
				p.List.Select(i)
				break
			}
		}
	}
	return cmd
}

// source draws rows in the theme of the moment.
func (p *ItemList) source(c *tui.Ctx) itemRows { return itemRows{p, c} }

type itemRows struct {
	p *ItemList
	c *tui.Ctx
}

// Len is the number of items, flawed ones included.
func (r itemRows) Len() int { return len(r.p.Listing.Items) }

// Row is an item's marks, its name and what it says of itself.
func (r itemRows) Row(i, w int) string {
	th, it := r.c.Theme, r.p.Listing.Items[i]
	if it.Flaw != nil {
		name := safe.Line(r.p.key(it), 300)
		if name == "" {
			name = fmt.Sprintf("item %d", i+1)
		}
		word := "malformed: "
		if it.Barred != nil {
			word = "" // the reason says so
		}
		return th.Error.S("✗ ") + name + " " + th.Error.S(word+safe.Line(it.Flaw.Error(), 200))
	}
	row := r.p.row(i)
	row.Calls = r.p.Calls.Count(r.p.Server, r.p.kind, r.p.key(it))
	r.p.mark(&row)
	return r.p.cols.Row(th, r.p.Query, row, w)
}

// mark notes in a row what became of its item, and whether it is subscribed to.
func (p *ItemList) mark(row *ItemRow) {
	if m, ok := p.Listing.Marks[p.kind.Key(row.Item)]; ok {
		row.Mark = &m
	}
	row.Updates, row.Subscribed = p.Subscribed[row.Item.URI]
}

// Marks are an item's marks in plain text, after a space each.
func (p *ItemList) Marks(it offer.Item) (out string) {
	row := ItemRow{Item: it}
	p.mark(&row)
	for _, m := range row.marks() {
		out += " " + m.text
	}
	return out
}

// row is what stands in row i.
func (p *ItemList) row(i int) ItemRow {
	it := p.Listing.Items[i]
	name := p.key(it)
	if it.URI != "" {
		name = cmp.Or(it.Name, it.URI)
	}
	row := ItemRow{Item: it, Name: name}
	if i < len(p.counted) {
		row.Tokens = p.counted[i].Tokens
	}
	return row
}

// weight is how many items there are, and what they weigh.
func (p *ItemList) weight() string {
	items := p.Listing.Items
	if len(items) == 0 {
		return ""
	}
	if p.hidden > 0 {
		return fmt.Sprintf("%d of %d tools: read-only", len(items), len(items)+p.hidden)
	}
	return Weight(len(items), p.plural, func(i int) offer.Item { return items[i] }, p.counted)
}

func (p *ItemList) remember() {
	if it, ok := p.Selected(); ok {
		p.Kept[p.Server] = p.key(it)
	}
}

// Selected is the item under the cursor.
func (p *ItemList) Selected() (offer.Item, bool) {
	if i := p.List.Selected(); i >= 0 && i < len(p.Listing.Items) {
		return p.Listing.Items[i], true
	}
	return offer.Item{}, false
}

// DrawItems fills the list pane.
func (p *ItemList) DrawItems(c *tui.Ctx, pane *tui.Pane) {
	if pane.Same(c, p.Rev, c.Server, p.Calls.Rev, p.beat()) {
		return
	}
	p.List.SetRows(p.source(c)) // rows carry the theme
	p.Rows.DrawList(c, pane, func(w int) []string { return p.empty(c, w) })
	pane.Foot, pane.Badge = p.foot, ""
	if p.Budget > 0 {
		title := strings.ToUpper(p.plural[:1]) + p.plural[1:]
		pane.Title, pane.Warn = p.budgeted(c, title, pane.W)
	}
	if ttl := p.Listing.Hints.TTL; ttl != nil && *ttl > 0 { // nearly every server of 2026-07-28 says 0
		pane.Badge = p.Listing.Hints.String()
	}
	if p.Typed != "" && p.foot != "" {
		pane.Badge = CountBadge(p.List.Len(), len(p.Listing.Items))
	}
}

// beat changes while something on the pane must move.
func (p *ItemList) beat() any {
	if p.status.State == session.Connected && !p.Listing.Loading {
		return nil
	}
	return Tick()
}

// empty says why there is no row.
func (p *ItemList) empty(c *tui.Ctx, w int) []string {
	th := c.Theme
	switch {
	case c.Server == nil:
		return Message(th, w, "No server is open.", "Press 1 for the servers, or start with: mcphud -- COMMAND, mcphud URL, mcphud demo.")
	case p.status.State != session.Connected && !p.Listing.Loaded:
		start := startPage(c.Server, p.status)
		return start.Lines(th, w)
	case !c.Server.Supports(p.kind.Method()):
		return Message(th, w, fmt.Sprintf("%s offers no %s: it does not advertise them.", safe.Line(c.Server.Title(), 80), p.plural),
			"Press 1 for what it can do. mcphud raw METHOD in a shell sends the request anyway.")
	case p.Listing.Err != nil:
		return errorMessage(th, w, ErrorText(p.Listing.Err), "Press r to try again.")
	case p.Listing.Loading || !p.Listing.Loaded:
		return Message(th, w, spinner()+" Loading "+p.plural+"…", "Press x to cancel.")
	case len(p.Listing.Items) == 0 && p.hidden > 0:
		return Message(th, w, fmt.Sprintf("Read-only mode hides all %d tools: %s marks none of them as read-only.", p.hidden, safe.Line(c.Server.Name(), 80)),
			"Start without read-only mode to call them.")
	case len(p.Listing.Items) == 0:
		return Message(th, w, fmt.Sprintf("%s has no %s.", safe.Line(c.Server.Title(), 80), p.plural), "Press r to reload.")
	}
	return NothingMatches(th, w, p.Typed)
}

// Coming is whether the list of the current server is on its way.
func (p *ItemList) Coming(c *tui.Ctx) bool {
	if c.Server == nil {
		return false
	}
	return c.Server.Status().State == session.Connecting || p.Pending(c)
}

// Pending is whether a connected server's list is about to be asked for, is asked for, or came and is not taken in.
func (p *ItemList) Pending(c *tui.Ctx) bool {
	if c.Server == nil || c.Server.Status().State != session.Connected {
		return false
	}
	l := c.Server.Listing(p.kind)
	if l.Rev != p.Listing.Rev || c.Server.Name() != p.Server {
		return true
	}
	return l.Loading || !l.Loaded && l.Err == nil && c.Server.Supports(p.kind.Method())
}

// Lone says that there is nothing to show but the state of the server.
func (p *ItemList) Lone(c *tui.Ctx) bool {
	return c.Server == nil || p.status.State != session.Connected && !p.Listing.Loaded
}

// remedies are what the screens have for the remedies of errors.
var remedies = map[failure.Remedy]string{
	failure.GiveHeader:      "headers in its configuration",
	failure.ChooseProxy:     "proxy in its configuration",
	failure.TrustAuthority:  "ca in its configuration",
	failure.GiveCertificate: "client_cert and client_key in its configuration",
	failure.RemoveCache:     "rm -rf %s",
	failure.SeeTraffic:      "on the Traffic screen",
	failure.TrustServer:     "open it in the server list",
	failure.Reconnect:       "r does so now",
	failure.LogIn:           "L does so now",
}

// ErrorText is an error as lines of safe text: what happened, then what the server printed before, then what to do.
func ErrorText(err error) string {
	if err == nil {
		return "unknown error"
	}
	e, ok := err.(*failure.Error) // what wraps one has words of its own
	if ok {
		e = e.With(remedies, safe.Quote)
		err = e
	}
	if !ok || !strings.Contains(strings.TrimSpace(e.Detail), "\n") {
		return safe.Text(text.Clip(err.Error(), 4000))
	}
	head := *e
	head.Detail, head.Next = "", ""
	out := head.Error() + ":"
	for l := range strings.Lines(strings.TrimSpace(text.Clip(e.Detail, 4000))) {
		out += "\n  " + strings.TrimRight(l, "\r\n")
	}
	if e.Next != "" {
		out += "\n" + e.Next
	}
	return safe.Text(text.Clip(out, 8000))
}

// Summary is " — what it is" in a line, "" if the server says nothing.
func Summary(it offer.Item) string {
	if it.Description == "" {
		return ""
	}
	return " — " + safe.Line(text.FirstLine(it.Description), 200)
}

// PlainItems writes a listing. In linear mode the rows that can be chosen are the screen's choices, and are left to them.
func (p *ItemList) PlainItems(c *tui.Ctx, w io.Writer) {
	if c.Server != nil && p.status.State == session.Connected && !p.Listing.Loaded && p.Listing.Err == nil {
		fmt.Fprintln(w, "loading "+p.plural+"…")
		return
	}
	if len(p.Listing.Items) == 0 {
		for _, l := range p.empty(c, 100) {
			fmt.Fprintln(w, plainLine(l))
		}
		return
	}
	if c.Linear && p.List.Len() == 0 {
		fmt.Fprintln(w, NothingListed(p.Typed))
		return
	}
	for i, it := range p.Listing.Items {
		if it.Flaw != nil {
			fmt.Fprintf(w, "item %d (%s) cannot be used: %s\n", i+1, safe.Line(p.key(it), 100), safe.Line(it.Flaw.Error(), 300))
			continue
		}
		if c.Linear {
			continue
		}
		fmt.Fprintf(w, "%s%s\n", safe.Line(p.key(it), 300), Summary(it))
	}
}
