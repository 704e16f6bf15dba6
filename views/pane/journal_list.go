package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
)

// JournalList is a screen of journal entries: a list that grows at its end, and
// the whole of the entry under the cursor. Traffic and logs are such screens.
type JournalList struct {
	Feed  Feed
	Doc   Document
	seen  previews
	shown shown
	// ranged is the condition in the filter that another screen put there.
	ranged string
	// Open is what enter does instead of going to the detail pane; nil, or yielding nil, goes there.
	Open func(*tui.Ctx) tea.Cmd
	// Source is what the detail pane shows of an entry; its read is filled in.
	Source func(*tui.Ctx, journal.Entry) Source
	// Blocks takes an entry apart where what it says is only a part of it; nil or none shows all of it as one text. It runs beside
	// the event loop.
	Blocks func(j *journal.Journal, e journal.Entry, whole Source) []Source
}

// shown is the entry that the detail pane shows or loads, as far as what it shows can change.
type shown struct {
	seq, peer uint64
	status    string
	whole     bool // all of its exchange
	note      journal.Note
}

// NewJournalList is a list for a screen, and a document for its other pane. The caller sets what belongs to it and Source.
func NewJournalList(view, pane string) JournalList {
	return JournalList{Feed: Feed{view: view}, Doc: Document{view: view, pane: pane}}
}

// ListActions are open and follow, and what the document offers. now is what open does at present where title does not say it.
func (v *JournalList) ListActions(title, help string, now func(*tui.Ctx) string) []tui.Action {
	id := v.Feed.view
	return append([]tui.Action{
		{
			ID: id + ".open", Verb: tui.VerbOpen, Title: title, Now: now, Group: "List", Hint: 1, Pane: "list", Help: help,
			Disabled: v.Nothing, Run: v.open,
		},
		{
			ID: id + ".follow", Word: "follow", Title: "follow", Group: "List", Hint: 3, Pane: "list",
			Help: "Go to the newest row and stay there.",
			Run: func(c *tui.Ctx) tea.Cmd {
				v.Feed.Jump(^uint64(0))
				v.Feed.away = false
				return v.Load(c)
			},
		},
	}, v.Doc.actions(id, v.Doc.pane)...)
}

// open is what enter and a double click do.
func (v *JournalList) open(c *tui.Ctx) tea.Cmd {
	if v.Open != nil {
		if cmd := v.Open(c); cmd != nil {
			return cmd
		}
	}
	return c.FocusPane(v.Doc.pane)
}

// Nothing says that no row is under the cursor, "" if one is.
func (v *JournalList) Nothing(*tui.Ctx) string {
	if v.Feed.Selected() == 0 {
		return "nothing is selected"
	}
	return ""
}

// Entry is the one under the cursor.
func (v *JournalList) Entry(c *tui.Ctx) (journal.Entry, bool) {
	return c.Sessions.Journal().Get(v.Feed.Selected())
}

// Handle takes in new entries, and moves in list or document.
func (v *JournalList) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		cmd := v.Feed.catchUp(c)
		if c.View == v.Feed.view {
			return tea.Batch(cmd, v.Load(c)), true
		}
		return cmd, true
	case tui.Navigate:
		cmd := v.Feed.catchUp(c)
		switch arg := m.Arg.(type) {
		case uint64:
			v.Feed.Jump(arg)
		case Filtered:
			cmd = tea.Batch(cmd, v.Filter(c, string(arg)))
		}
		return tea.Batch(cmd, v.Load(c)), true
	case Range:
		return v.narrow(c, m), true
	case tui.FilterChanged:
		if c.Focus != v.Doc.pane {
			return tea.Batch(v.Feed.setFilter(c, m.Text), v.Load(c)), true
		}
	case tui.OpDone:
		if cmd, ok := SavedToast(c, m); ok {
			return cmd, true
		}
		if cmd, ok := v.Feed.filtered(c, m); ok {
			return tea.Batch(cmd, v.Load(c)), true
		}
		return v.Doc.Handle(c, msg)
	case tui.Resized:
		return v.Doc.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == v.Doc.pane {
			return v.Doc.Handle(c, msg)
		}
		return v.move(c, msg)
	}
	if c.Focus == v.Doc.pane {
		return v.Doc.Handle(c, msg)
	}
	return v.move(c, msg)
}

// move moves in the list.
func (v *JournalList) move(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	consumed, opened := v.Feed.moveCursor(msg)
	switch {
	case opened:
		return tea.Batch(v.Load(c), v.open(c)), true
	case consumed:
		return v.Load(c), true
	}
	return nil, false
}

// Load brings the selected entry into the detail pane.
func (v *JournalList) Load(c *tui.Ctx) tea.Cmd {
	seq := v.Feed.Selected()
	j := c.Sessions.Journal()
	e, ok := j.Get(seq)
	now := shown{seq: seq}
	if v.Feed.Exchanges {
		now = shown{seq: seq, peer: e.Peer, status: e.Status, whole: true}
	}
	now.note = j.Note(seq)
	if now == v.shown {
		return nil
	}
	v.shown = now
	if !ok {
		v.Doc.clear()
		return nil
	}
	src := v.Source(c, e)
	src.read = func() ([]byte, error) { return j.Body(seq) }
	if v.Blocks != nil {
		whole := src
		src.split = func() []Source { return v.Blocks(j, e, whole) }
	}
	return v.Doc.load(c, src)
}

// DrawList fills the list pane. keys are what rows depend on besides the feed; what and next say why there is none.
func (v *JournalList) DrawList(c *tui.Ctx, p *tui.Pane, what, next string, row func(e journal.Entry, w int) string, keys ...any) {
	if p.Same(c, append(keys, v.Feed.rev)...) {
		return
	}
	p.Foot = ""
	v.Feed.row = row
	v.Feed.draw(c, p, func(w int) []string {
		if v.Feed.typed != "" && v.Feed.all > 0 {
			return NothingMatches(c.Theme, w, v.Feed.typed)
		}
		return Message(c.Theme, w, what, next)
	})
	p.Badge = CountBadge(len(v.Feed.seqs), v.Feed.all)
	if v.Feed.Exchanges && v.Feed.frames > v.Feed.all {
		p.Badge += " · " + text.Count(v.Feed.frames, "frame")
	}
	if s := v.Feed.hidden(); s != "" {
		if long := p.Badge + " · " + s + " · :probes shows"; paint.Width(long)+16 < p.W {
			p.Badge = long
		} else {
			p.Foot = s + " · :probes shows"
		}
	}
}

// Preview is how an entry's payload begins: not safe yet.
func (v *JournalList) Preview(c *tui.Ctx, e journal.Entry) string {
	return v.seen.of(c.Sessions.Journal(), e)
}

// PageText is the entry for $PAGER.
func (v *JournalList) PageText(*tui.Ctx) (text, ext string, ok bool) { return v.Doc.PageText() }

// Filter narrows the rows down to a filter, as if it were typed.
func (v *JournalList) Filter(c *tui.Ctx, text string) tea.Cmd {
	c.FilterApplied(v.Feed.view, "list", text)
	return tea.Batch(v.Feed.setFilter(c, text), v.Load(c))
}

// Each walks the entries shown, oldest first.
func (v *JournalList) Each(c *tui.Ctx, f func(*journal.Journal, journal.Entry)) {
	j := c.Sessions.Journal()
	v.Feed.sync(j)
	for _, seq := range v.Feed.seqs {
		if e, ok := j.Get(seq); ok {
			f(j, e)
		}
	}
}
