package views

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// items is the list pane that tools, resources, templates and prompts share: a
// server's listing as rows, loaded when the screen is looked at, with a state
// for everything that can be in the way.
type items struct {
	rows
	kind   session.ListKind
	plural string // "tools"
	key    func(session.Item) string

	server  string
	listing session.Listing
	status  session.Status
	kept    map[string]string // row that the cursor was on, by server
	nameCol int               // cells that the longest name takes
}

func newItems(view string, kind session.ListKind, plural string, key func(session.Item) string) items {
	return items{rows: rows{view: view}, kind: kind, plural: plural, key: key, kept: map[string]string{}}
}

// sync takes in the current server's listing, and asks for it when the screen
// is visible and nobody did yet.
func (p *items) sync(c *tui.Ctx) tea.Cmd {
	s := c.Server
	if s == nil {
		if p.server != "" || p.status.State != "" {
			p.server, p.listing, p.status = "", session.Listing{}, session.Status{}
			return p.show(c)
		}
		return nil
	}
	st, l := s.Status(), s.Listing(p.kind)
	fresh := s.Name() != p.server || l.Rev != p.listing.Rev
	if fresh || st.Rev != p.status.Rev || l.Loading != p.listing.Loading {
		p.rev++
	}
	p.remember()
	p.status, p.listing = st, l
	var cmds []tea.Cmd
	if fresh {
		p.server = s.Name()
		cmds = append(cmds, p.show(c))
	}
	if c.View == p.view && st.State == session.Connected && !l.Loaded && !l.Loading && l.Err == nil && s.Supports(p.kind.Method()) {
		cmds = append(cmds, p.load(c, false))
	}
	return tea.Batch(cmds...)
}

// load asks the server for the list.
func (p *items) load(c *tui.Ctx, again bool) tea.Cmd {
	s := c.Server
	if s == nil {
		return nil
	}
	get := s.List
	if again {
		get = s.Refresh
	}
	kind := p.kind
	cmd, _ := c.Replace(p.view, "list", "list "+p.plural, func(ctx context.Context) (any, error) {
		return get(ctx, kind)
	})
	return cmd
}

// show puts the listing into the list and the cursor back where it was.
func (p *items) show(c *tui.Ctx) tea.Cmd {
	all := p.listing.Items
	key := p.key
	p.nameCol = widest(len(all), func(i int) string {
		if all[i].URI != "" {
			return all[i].Name // the column that the URI follows
		}
		return key(all[i])
	})
	p.freeze = func() (int, func(int) string) {
		return len(all), func(i int) string {
			return key(all[i]) + " " + all[i].Name + " " + all[i].Title + " " + text.Clip(all[i].Description, 2000)
		}
	}
	cmd := p.setRows(c, p.source(c))
	if want, ok := p.kept[p.server]; ok {
		for i := range all {
			if key(all[i]) == want {
				p.list.Select(i)
				break
			}
		}
	}
	return cmd
}

// source draws rows in the theme of the moment.
func (p *items) source(c *tui.Ctx) itemRows { return itemRows{p, c} }

type itemRows struct {
	p *items
	c *tui.Ctx
}

// Len is the number of items, flawed ones included.
func (r itemRows) Len() int { return len(r.p.listing.Items) }

// Row is an item's name, marks and the first line of what it says of itself.
func (r itemRows) Row(i, w int) string {
	th, it := r.c.Theme, r.p.listing.Items[i]
	name := safe.Line(r.p.key(it), 300)
	if it.Flaw != nil {
		if name == "" {
			name = fmt.Sprintf("item %d", i+1)
		}
		return th.Error.S("✗ ") + name + " " + th.Error.S("malformed: "+safe.Line(it.Flaw.Error(), 200))
	}
	if it.URI != "" {
		return r.uriRow(it, name, w)
	}
	out := column(r.p.query.Highlight(name, th.Text, th.Match), r.p.nameCol, w)
	if mark := itemMark(th, it); mark != "" {
		out += "  " + mark
	}
	about := it.Description
	if it.Title != "" && !sameWords(it.Title, it.Name) {
		about = it.Title + " — " + about
	}
	if room := w - paint.Width(out) - 2; room > 8 && about != "" {
		out += "  " + th.Muted.S(paint.Cut(safe.Line(text.Clip(text.FirstLine(about), 4*room), 0), room))
	}
	return out
}

// uriRow is a resource: its name, then the URI, of which the end tells most.
func (r itemRows) uriRow(it session.Item, uri string, w int) string {
	th := r.c.Theme
	name := safe.Line(it.Name, 300)
	if name == "" || name == uri {
		return r.p.query.Highlight(cutFront(uri, w), th.Text, th.Match)
	}
	out := column(r.p.query.Highlight(name, th.Text, th.Match), r.p.nameCol, w)
	if room := w - paint.Width(out) - 2; room > 8 {
		out += "  " + r.p.query.Highlight(cutFront(uri, room), th.Muted, th.Match)
	}
	return out
}

// cutFront is the end of a plain text that fits in w cells.
func cutFront(s string, w int) string {
	if n := paint.Width(s); n > w {
		return ansi.TruncateLeft(s, n-max(w, 1)+1, "…")
	}
	return s
}

// itemMark warns of tools that destroy.
func itemMark(th *tui.Theme, it session.Item) string {
	if destructive(it) {
		return th.Warn.S("⚠ destructive")
	}
	return ""
}

func (p *items) remember() {
	if it, ok := p.selected(); ok {
		p.kept[p.server] = p.key(it)
	}
}

// selected is the item under the cursor.
func (p *items) selected() (session.Item, bool) {
	if i := p.list.Selected(); i >= 0 && i < len(p.listing.Items) {
		return p.listing.Items[i], true
	}
	return session.Item{}, false
}

// draw fills the list pane.
func (p *items) draw(c *tui.Ctx, pane *tui.Pane) {
	if pane.Same(c, p.rev, c.Server, p.beat()) {
		return
	}
	p.list.SetRows(p.source(c)) // rows carry the theme
	p.rows.draw(c, pane, func(w int) []string { return p.empty(c, w) })
	pane.Badge = counted(p.list.Len(), len(p.listing.Items))
	if len(p.listing.Items) == 0 {
		pane.Badge = ""
	}
}

// beat changes while something on the pane must move.
func (p *items) beat() any {
	if p.status.State == session.Connected && !p.listing.Loading {
		return nil
	}
	return tick()
}

// empty says why there is no row.
func (p *items) empty(c *tui.Ctx, w int) []string {
	th := c.Theme
	switch {
	case c.Server == nil:
		return message(th, w, "No server is open.", "Press 1 for the servers, or start with: mcphud -- COMMAND, mcphud URL, mcphud demo.")
	case p.status.State != session.Connected && !p.listing.Loaded:
		return notConnected(c, w, c.Server.Name(), p.status)
	case !c.Server.Supports(p.kind.Method()):
		return message(th, w, fmt.Sprintf("%s offers no %s: it does not advertise them.", safe.Line(c.Server.Name(), 80), p.plural),
			"Press 1 for what it can do. mcphud raw METHOD in a shell asks it all the same.")
	case p.listing.Err != nil:
		return errorMessage(th, w, errorText(p.listing.Err), "Press r to try again.")
	case p.listing.Loading || !p.listing.Loaded:
		return message(th, w, spin()+" Loading "+p.plural+"…", "Press x to cancel.")
	case len(p.listing.Items) == 0:
		return message(th, w, fmt.Sprintf("%s has no %s.", safe.Line(c.Server.Name(), 80), p.plural), "Press r to ask again.")
	}
	return nothingMatches(th, w, p.typed)
}

// notConnected is the state of every pane that needs a connection.
func notConnected(c *tui.Ctx, w int, name string, st session.Status) []string {
	th := c.Theme
	name = safe.Line(name, 80)
	switch st.State {
	case session.Connecting:
		return message(th, w, spin()+" Connecting to "+name+"…", "Press 1 for the server, x to cancel.")
	case session.Failed:
		next := "Press r to connect again, 1 for the servers."
		if left := tui.Countdown(st.RetryAt); left != "" {
			next = "Trying again in " + left + ". Press r to try now, 1 for the servers."
		}
		return errorMessage(th, w, errorText(st.Err), next)
	}
	return message(th, w, name+" is not connected.", "Press r to connect, 1 for the servers.")
}

// errorText is an error as lines of safe text: what happened, then what the
// server printed before, then what to do.
func errorText(err error) string {
	if err == nil {
		return "unknown error"
	}
	e, ok := err.(*failure.Error) // what wraps one has words of its own
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
