package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/tui"
)

// entries is a screen of journal entries: a list that grows at its end, and
// the whole of the entry under the cursor. Traffic and logs are such screens.
type entries struct {
	feed  feed
	doc   document
	shown uint64 // entry that the detail pane shows or loads
	// source is what the detail pane shows of an entry; its read is filled in.
	source func(*tui.Ctx, journal.Entry) source
}

func newEntries(view, pane string) entries {
	return entries{feed: feed{view: view}, doc: document{view: view, pane: pane}}
}

// actions are open and follow, and what the document offers.
func (v *entries) actions(open, help string) []tui.Action {
	id, pane := v.feed.view, v.doc.pane
	return append([]tui.Action{
		{
			ID: id + ".open", Keys: []string{"enter"}, Title: open, Group: "List", Hint: 1, Pane: "list", Help: help,
			Disabled: func(*tui.Ctx) string {
				if v.feed.selected() == 0 {
					return "nothing is selected"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.FocusPane(pane) },
		},
		{
			ID: id + ".follow", Keys: []string{"f"}, Title: "follow", Group: "List", Hint: 3, Pane: "list",
			Help: "Go to the newest row and stay there.",
			Run: func(c *tui.Ctx) tea.Cmd {
				v.feed.jump(^uint64(0))
				v.feed.away = false
				return v.load(c)
			},
		},
	}, v.doc.actions(id, pane)...)
}

// entry is the one under the cursor.
func (v *entries) entry(c *tui.Ctx) (journal.Entry, bool) {
	return c.Sessions.Journal().Get(v.feed.selected())
}

func (v *entries) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		v.feed.sync(c.Sessions.Journal())
		if c.View == v.feed.view {
			return v.load(c), true
		}
		return nil, true
	case tui.Navigate:
		v.feed.sync(c.Sessions.Journal())
		if seq, ok := m.Arg.(uint64); ok {
			v.feed.jump(seq)
		}
		return v.load(c), true
	case tui.FilterChanged:
		if c.Focus != v.doc.pane {
			return tea.Batch(v.feed.setFilter(c, m.Text), v.load(c)), true
		}
	case tui.OpDone:
		if cmd, ok := savedToast(c, m); ok {
			return cmd, true
		}
		if cmd, ok := v.feed.done(c, m); ok {
			return tea.Batch(cmd, v.load(c)), true
		}
		return v.doc.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == v.doc.pane {
			return v.doc.Handle(c, msg)
		}
		return v.move(c, msg)
	}
	if c.Focus == v.doc.pane {
		return v.doc.Handle(c, msg)
	}
	return v.move(c, msg)
}

// move moves in the list.
func (v *entries) move(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	consumed, opened := v.feed.handle(msg)
	switch {
	case opened:
		return tea.Batch(v.load(c), c.FocusPane(v.doc.pane)), true
	case consumed:
		return v.load(c), true
	}
	return nil, false
}

// load brings the selected entry into the detail pane.
func (v *entries) load(c *tui.Ctx) tea.Cmd {
	seq := v.feed.selected()
	if seq == v.shown {
		return nil
	}
	v.shown = seq
	j := c.Sessions.Journal()
	e, ok := j.Get(seq)
	if !ok {
		v.doc.clear()
		return nil
	}
	src := v.source(c, e)
	src.read = func() ([]byte, error) { return j.Body(seq) }
	return v.doc.load(c, src)
}

// drawList fills the list pane. keys are what rows depend on besides the feed;
// what and next say why there is none.
func (v *entries) drawList(c *tui.Ctx, p *tui.Pane, what, next string, row func(e journal.Entry, w int) string, keys ...any) {
	if p.Same(c, append(keys, v.feed.rev)...) {
		return
	}
	v.feed.row = row
	v.feed.draw(c, p, func(w int) []string {
		if v.feed.typed != "" && v.feed.all > 0 {
			return nothingMatches(c.Theme, w, v.feed.typed)
		}
		return message(c.Theme, w, what, next)
	})
	p.Badge = counted(len(v.feed.seqs), v.feed.all)
}

func (v *entries) PageText(*tui.Ctx) (text, ext string, ok bool) { return v.doc.pageText() }

// each walks the entries shown, oldest first.
func (v *entries) each(c *tui.Ctx, f func(*journal.Journal, journal.Entry)) {
	j := c.Sessions.Journal()
	v.feed.sync(j)
	for _, seq := range v.feed.seqs {
		if e, ok := j.Get(seq); ok {
			f(j, e)
		}
	}
}
