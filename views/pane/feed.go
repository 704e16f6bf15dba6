package pane

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
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
	// Exchanges makes one row of a request and all that is part of its exchange.
	Exchanges bool
	row       func(e journal.Entry, w int) string

	Journal *journal.Journal
	seqs    []uint64 // entries with a row, ascending
	tally
	verdicts map[uint64]verdict // of exchanges, by their request, while there is a filter
	first    uint64             // oldest entry that the journal keeps
	Unfold   bool               // folded entries are shown too
	typed    string
	filter   *filter.Filter // what was typed
	known    filter.Seen    // for completion
	Query    widget.Query   // its words, for marking them
	was      string         // the filter whose rows are listed
	busy     bool           // a scan runs beside the event loop: what it finds replaces seqs, or is added
	run      int            // of scans beside it
	away     bool           // the cursor was moved off the end, so it does not follow
	rev      int
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

// Applied is the filter that was typed, nil for none.
func (f *Feed) Applied() *filter.Filter { return f.filter }

// use lists the entries of a journal.
func (f *Feed) use(j *journal.Journal) {
	if f.Journal != j {
		f.Journal, f.seqs, f.tally, f.verdicts = j, nil, tally{}, nil
	}
}

// sync takes in what was appended since the last call.
func (f *Feed) sync(j *journal.Journal) {
	f.use(j)
	if f.busy || j == nil {
		return
	}
	f.first = j.First()
	f.joined()
	f.merge(f.scan(context.Background()))
}

// How much may have come since the last look for it to be looked at on the event loop.
const (
	maxBehind = 50_000  // entries
	maxBodies = 1 << 20 // bytes of bodies, where the filter reads them
)

// catchUp is sync, beside the event loop where there is much to look at.
func (f *Feed) catchUp(c *tui.Ctx) tea.Cmd {
	j := c.Sessions.Journal()
	if f.use(j); f.busy || j == nil || !f.behind() {
		f.sync(j)
		return nil
	}
	f.first = j.First()
	f.joined()
	f.busy = true
	f.run++
	worker := *f
	cmd, _ := c.Replace(f.view, filterSlot, "filter", func(ctx context.Context) (any, error) {
		return more{worker.scan(ctx), worker.run}, ctx.Err()
	})
	return cmd
}

// behind is whether there is much to look at.
func (f *Feed) behind() bool {
	if f.Journal.First()+uint64(f.Journal.Len()) > f.seen+maxBehind {
		return true
	}
	bytes := 0
	if f.filter.Reads() {
		f.Journal.Each(f.seen, func(e *journal.Entry) bool {
			bytes += e.Size + 1<<10
			return bytes <= maxBodies
		})
	}
	return bytes > maxBodies
}

// more is what was found of entries that were not looked at before, and is added to what there is.
type more struct {
	scanned
	run int
}

func (f *Feed) merge(got scanned) {
	if got.seen == f.seen {
		return
	}
	at := f.Selected()
	got.heads = append(f.heads, got.heads...)
	f.verdicts = got.verdicts
	f.tally.add(&got.tally)
	f.reveal(got.ended)
	f.insert(got.rows)
	f.remove(got.off)
	f.trim()
	f.changed(at)
}

// insert lists rows that are not listed yet.
func (f *Feed) insert(rows []uint64) {
	for _, seq := range rows {
		if n := len(f.seqs); n == 0 || seq > f.seqs[n-1] {
			f.seqs = append(f.seqs, seq)
		} else if i, listed := slices.BinarySearch(f.seqs, seq); !listed {
			f.seqs = slices.Insert(f.seqs, i, seq)
		}
	}
}

// remove takes rows off.
func (f *Feed) remove(rows []uint64) {
	for _, seq := range rows {
		if i, listed := slices.BinarySearch(f.seqs, seq); listed {
			f.seqs = slices.Delete(f.seqs, i, i+1)
		}
	}
}

// reveal lists what was folded away until its answer came and said that it is worth a look.
func (f *Feed) reveal(ended []uint64) {
	if f.Fold == nil || f.Unfold || !f.filter.Empty() {
		return
	}
	for _, seq := range ended {
		e, ok := f.Journal.Get(seq)
		_, listed := slices.BinarySearch(f.seqs, seq)
		if !ok || listed || !f.Belongs(&e) || f.Fold(&e) != "" {
			continue
		}
		e.Status = journal.Pending // as it was when it was counted
		what := f.Fold(&e)
		if what == "" {
			continue // it is part of another row
		}
		if f.folded[what] > 0 {
			f.folded[what]--
			f.all++
		}
		f.insert([]uint64{seq})
	}
}

// hidden says what is folded away: "14 pings, 2 probes hidden".
func (f *Feed) hidden() string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(f.folded)) {
		if f.folded[what] > 0 {
			out = append(out, text.Count(f.folded[what], what))
		}
	}
	if len(out) == 0 || f.Unfold || !f.filter.Empty() {
		return ""
	}
	return strings.Join(out, ", ") + " hidden"
}

// trim forgets entries that the journal dropped.
func (f *Feed) trim() {
	f.first = f.Journal.First()
	if n, _ := slices.BinarySearch(f.seqs, f.first); n > 0 {
		f.seqs = slices.Delete(f.seqs, 0, n)
	}
}

// changed keeps the cursor at the end, or on its entry where the user moved it away.
func (f *Feed) changed(at uint64) {
	f.rev++
	f.list.SetRows(f)
	if !f.away {
		f.list.Select(len(f.seqs) - 1)
	} else if n, _ := slices.BinarySearch(f.seqs, at); n != f.list.Selected() {
		f.list.Select(n)
	}
}

// setFilter takes what was typed in the `/` prompt. What is not a filter changes nothing.
func (f *Feed) setFilter(c *tui.Ctx, text string) tea.Cmd {
	f.use(c.Sessions.Journal())
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
	f.run++
	f.first = f.Journal.First()
	worker := *f
	worker.seqs, worker.tally, worker.verdicts = nil, tally{}, nil
	if f.Journal.Len() <= slowFilter {
		f.take(worker.scan(context.Background()))
		return nil
	}
	f.busy = true
	cmd, _ := c.Replace(f.view, filterSlot, "filter", func(ctx context.Context) (any, error) {
		return worker.scan(ctx), ctx.Err()
	})
	return cmd
}

func (f *Feed) take(s scanned) {
	at := f.Selected()
	f.busy, f.was = false, f.typed
	f.seqs, f.tally, f.verdicts = s.rows, s.tally, s.verdicts
	f.changed(f.rowOf(at))
}

// filtered takes the outcome of a rescan; false if the message is something else. After one that was cancelled, the filter
// before it is in force again, for what arrived meanwhile as well.
func (f *Feed) filtered(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	if m.Slot != filterSlot {
		return nil, false
	}
	if m.Err == nil {
		f.busy = false
		switch s := m.Value.(type) {
		case scanned:
			f.take(s)
		case more:
			if s.run == f.run {
				f.merge(s.scanned)
			}
		}
		return f.catchUp(c), true
	}
	f.busy = false
	f.parse(c, f.was)
	f.rev++
	f.sync(f.Journal)
	return filterFailed(c, f.view, "list", f.was, m.Err), true
}

// rowOf is the row that an entry is part of.
func (f *Feed) rowOf(seq uint64) uint64 {
	if e, ok := f.Journal.Get(seq); ok {
		return f.owner(&e)
	}
	return seq
}

// Selected is the sequence number of the entry under the cursor, 0 if none.
func (f *Feed) Selected() uint64 {
	if i := f.list.Selected(); i >= 0 && i < len(f.seqs) {
		return f.seqs[i]
	}
	return 0
}

// Jump puts the cursor on an entry's row, or on the next one shown.
func (f *Feed) Jump(seq uint64) {
	if f.Journal == nil {
		return
	}
	n, _ := slices.BinarySearch(f.seqs, f.rowOf(seq))
	f.list.Select(n)
	f.away = n < len(f.seqs)-1
	f.rev++
}

// Seek is the next row, or with back the one before, that is what is looked for; 0 if there is none. It reads no more than
// maxSeek rows, since it runs on the event loop.
func (f *Feed) Seek(back bool, is func(*journal.Entry) bool) uint64 {
	const maxSeek = 200_000
	step := 1
	if back {
		step = -1
	}
	i := f.list.Selected() + step
	for n := 0; n < maxSeek && i >= 0 && i < len(f.seqs); n, i = n+1, i+step {
		if e, ok := f.Journal.Get(f.seqs[i]); ok && is(&e) {
			return e.Seq
		}
	}
	return 0
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
