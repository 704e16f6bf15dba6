package pane

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/journal/filter"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/widget"
)

// Feed is a list of journal entries that grows at its end: traffic and logs. It holds sequence numbers only; what a row
// shows is asked of the journal when the row is drawn.
type Feed struct {
	view string
	list widget.List
	// Belongs is whether an entry is shown at all.
	Belongs func(*journal.Entry) bool
	// Fold is what an entry is counted as where it is folded away, "" for one that is always shown. Nil folds nothing.
	Fold func(*journal.Entry) string
	// Language is what words of the filter look at; nil for what a row of the traffic says.
	Language func(*tui.Ctx) filter.Options
	row      func(e journal.Entry, w int) string

	Journal *journal.Journal
	seqs    []uint64 // entries shown, ascending
	seen    uint64   // entries up to here were looked at
	all     int      // entries that belong, filtered or not
	folded  map[string]int
	Unfold  bool // folded entries are shown too
	typed   string
	filter  *filter.Filter // what was typed
	known   filter.Seen    // for completion
	Query   widget.Query   // its words, for marking them
	was     string         // the filter whose rows are listed
	busy    bool           // a rescan runs: what it finds replaces seqs
	away    bool           // the cursor was moved off the end, so it does not follow
	rev     int
	buf     []journal.Entry
}

// Len and Row make the feed the source of its own list.
func (f *Feed) Len() int { return len(f.seqs) }

// Row draws the i-th entry shown.
func (f *Feed) Row(i, w int) string {
	e, ok := f.Journal.Get(f.seqs[i])
	if !ok {
		return "…"
	}
	return f.row(e, w)
}

// scanned is the outcome of a rescan.
type scanned struct {
	seqs   []uint64
	seen   uint64
	all    int
	folded map[string]int
}

// sync takes in what was appended since the last call.
func (f *Feed) sync(j *journal.Journal) {
	if f.Journal != j {
		f.Journal, f.seqs, f.seen, f.all, f.folded = j, nil, 0, 0, nil
	}
	if f.busy || j == nil {
		return
	}
	f.buf = j.Snapshot(f.seen, f.buf[:0])
	if len(f.buf) == 0 {
		return
	}
	got := f.scan(context.Background(), f.buf)
	f.seqs = append(f.seqs, got.seqs...)
	f.seen, f.all = got.seen, f.all+got.all
	f.reveal(f.buf)
	for what, n := range got.folded {
		if f.folded == nil {
			f.folded = map[string]int{}
		}
		f.folded[what] += n
	}
	if cap(f.buf) > 4096 {
		f.buf = nil
	}
	f.trim()
	f.changed()
}

// scan picks the entries that belong and match.
func (f *Feed) scan(ctx context.Context, entries []journal.Entry) (s scanned) {
	for i := range entries {
		e := &entries[i]
		s.seen = e.Seq
		if i&1023 == 1023 && ctx.Err() != nil {
			return s
		}
		if !f.Belongs(e) {
			continue
		}
		if what := f.fold(e); what != "" {
			if e.Kind == journal.Request {
				if s.folded == nil {
					s.folded = map[string]int{}
				}
				s.folded[what]++
			}
			continue
		}
		s.all++
		if f.filter.Match(f.Journal, e) {
			s.seqs = append(s.seqs, e.Seq)
		}
	}
	return s
}

// fold is what an entry is folded away as, "" if it is not. A filter finds everything.
func (f *Feed) fold(e *journal.Entry) string {
	if f.Fold == nil || f.Unfold || !f.filter.Empty() {
		return ""
	}
	return f.Fold(e)
}

// reveal lists what was folded away until its answer came and said that it is worth a look.
func (f *Feed) reveal(entries []journal.Entry) {
	if f.Fold == nil || f.Unfold || !f.filter.Empty() {
		return
	}
	for i := range entries {
		if entries[i].Peer == 0 || entries[i].Peer >= entries[i].Seq {
			continue
		}
		e, ok := f.Journal.Get(entries[i].Peer)
		n, listed := slices.BinarySearch(f.seqs, e.Seq)
		if !ok || listed || !f.Belongs(&e) || f.Fold(&e) != "" {
			continue
		}
		f.seqs = slices.Insert(f.seqs, n, e.Seq)
		f.all++
		e.Status = journal.Pending // as it was when it was counted
		if what := f.Fold(&e); f.folded[what] > 0 {
			f.folded[what]--
		}
	}
}

// hidden says what is folded away: "14 pings, 2 probes hidden".
func (f *Feed) hidden() string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(f.folded)) {
		if f.folded[what] > 0 {
			out = append(out, Count(f.folded[what], what))
		}
	}
	if len(out) == 0 || f.Unfold || !f.filter.Empty() {
		return ""
	}
	return strings.Join(out, ", ") + " hidden"
}

// trim forgets entries that the journal dropped.
func (f *Feed) trim() {
	first := f.Journal.First()
	n, _ := slices.BinarySearch(f.seqs, first)
	if n == 0 {
		return
	}
	at := f.list.Selected()
	f.seqs = slices.Delete(f.seqs, 0, n)
	f.list.SetRows(f)
	f.list.Select(max(at-n, 0))
}

// changed keeps the cursor at the end unless the user moved it away.
func (f *Feed) changed() {
	f.rev++
	f.list.SetRows(f)
	if !f.away {
		f.list.Select(len(f.seqs) - 1)
	}
}

// setFilter takes what was typed in the `/` prompt. What is not a filter changes nothing.
func (f *Feed) setFilter(c *tui.Ctx, text string) tea.Cmd {
	f.sync(c.Sessions.Journal())
	if text == f.typed || f.Journal == nil || !f.parse(c, text) {
		return nil
	}
	return f.rescan(c)
}

// parse makes a text the filter.
func (f *Feed) parse(c *tui.Ctx, text string) bool {
	to, err := f.language(c).Parse(text)
	if err != nil {
		return false
	}
	f.typed, f.filter, f.Query = text, to, widget.ParseQuery(to.Words())
	return true
}

// Refilter builds the rows anew after what belongs, or what is folded, changed.
func (f *Feed) Refilter(c *tui.Ctx) tea.Cmd {
	if f.Journal == nil {
		return nil
	}
	return f.rescan(c)
}

// rescan builds the rows anew, beside the event loop when there are many.
func (f *Feed) rescan(c *tui.Ctx) tea.Cmd {
	if f.Journal.Len() <= slowFilter {
		s := f.scan(context.Background(), f.Journal.Snapshot(0, nil))
		f.take(s)
		return nil
	}
	f.busy = true
	worker := *f
	worker.buf, worker.seqs = nil, nil
	cmd, _ := c.Replace(f.view, filterSlot, "filter", func(ctx context.Context) (any, error) {
		s := worker.scan(ctx, worker.Journal.Snapshot(0, nil))
		return s, ctx.Err()
	})
	return cmd
}

func (f *Feed) take(s scanned) {
	at := f.Selected()
	f.busy, f.was = false, f.typed
	f.seqs, f.seen, f.all, f.folded = s.seqs, s.seen, s.all, s.folded
	f.changed()
	if f.away {
		n, _ := slices.BinarySearch(f.seqs, at)
		f.list.Select(n)
	}
}

// filtered takes the outcome of a rescan; false if the message is something else. After one that was cancelled, the filter
// before it is in force again, for what arrived meanwhile as well.
func (f *Feed) filtered(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	if m.Slot != filterSlot {
		return nil, false
	}
	if s, ok := m.Value.(scanned); ok && m.Err == nil {
		f.take(s)
		return nil, true
	}
	f.busy = false
	f.parse(c, f.was)
	f.rev++
	f.sync(f.Journal)
	return filterFailed(c, f.view, "list", f.was, m.Err), true
}

// Selected is the sequence number of the entry under the cursor, 0 if none.
func (f *Feed) Selected() uint64 {
	if i := f.list.Selected(); i >= 0 && i < len(f.seqs) {
		return f.seqs[i]
	}
	return 0
}

// Jump puts the cursor on an entry, or on the next one shown.
func (f *Feed) Jump(seq uint64) {
	n, _ := slices.BinarySearch(f.seqs, seq)
	f.list.Select(n)
	f.away = n < len(f.seqs)-1
	f.rev++
}

// moveCursor moves the cursor by key or mouse; opened is true after a double click.
func (f *Feed) moveCursor(msg tea.Msg) (consumed, opened bool) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		consumed = f.list.Key(m.String())
	case tui.PaneMouse:
		consumed = true
		opened = MouseTo(m, f.list.Mouse) == widget.HitOpen
	}
	if consumed {
		f.rev++
		f.away = f.list.Selected() < len(f.seqs)-1
	}
	return consumed, opened
}

// draw fills the pane; empty says what to show when there is no row.
func (f *Feed) draw(c *tui.Ctx, p *tui.Pane, empty func(w int) []string) {
	f.list.SetTheme(c.Theme)
	f.list.SetSize(p.W, p.H)
	f.list.SetFocus(p.Focused)
	if len(f.seqs) == 0 {
		p.Lines, p.Scroll, p.Selected = empty(p.W), tui.Scroll{}, 0
		return
	}
	f.list.SetRows(f) // rows change when their answer comes
	p.Lines = append(p.Lines[:0], f.list.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = f.list.Scroll()
	p.Selected = f.list.Line()
}
