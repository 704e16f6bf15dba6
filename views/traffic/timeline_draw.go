package traffic

import (
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// drawnLane is a lane with the lines that it has on the screen.
type drawnLane struct {
	view    stats.View
	i, y, h int
}

// maxLaneRows is how many calls of a lane that overlap are drawn below each other.
const maxLaneRows = 12

// maxBinRows is how tall a lane is that shows numbers of calls: their bars, and below them a line of failures.
const maxBinRows = 5

func (v *timeline) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "numbers" {
		v.drawNumbers(c, p)
		return nil
	}
	if p.Same(c, v.rev, v.busy) {
		return nil
	}
	all := v.lanes.All()
	if len(all) == 0 {
		p.Badge, p.Foot, p.Scroll = "", "", tui.Scroll{}
		what, next := "No calls yet.", "They appear here as soon as a server is called."
		if v.typed != "" && !v.busy {
			p.Lines = pane.NothingMatches(c.Theme, p.W, v.typed)
			return nil
		}
		if v.busy {
			what, next = "Counting calls.", ""
		} else if v.foreign != nil && v.foreign.Empty != nil {
			what, next = v.foreign.Empty()
		}
		p.Lines = pane.Message(c.Theme, p.W, what, next)
		return nil
	}
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = laneName(c, l)
	}
	label := pane.Widest(len(names), max(min(p.W/4, 24), 6), func(i int) string { return names[i] })
	v.columns, v.label = max(p.W-label-1, 1), label+1
	w := v.window()
	v.layout(w, max(p.H-3, 1))

	lines := append(p.Lines[:0], paint.Blanks(label+1)+v.clocks(c.Theme, w), paint.Blanks(label+1)+v.axis(c.Theme, w))
	for _, d := range v.drawn {
		for row := range d.h {
			name := ""
			switch {
			case row == 0:
				name = names[d.i]
			case row == d.h-1 && d.view.Hidden > 0:
				name = fmt.Sprintf("+%d more", d.view.Hidden)
			}
			st := c.Theme.Muted
			if row == 0 {
				st = c.Theme.Server(all[d.i].Server)
			}
			if d.i == v.lane && row == 0 {
				st, p.Selected = st.And(c.Theme.Bold), len(lines)+1
			}
			lines = append(lines, st.S(paint.Fit(safe.Line(name, 200), label))+" "+v.laneRow(c.Theme, w, d, row))
		}
	}
	for len(lines) < p.H-1 {
		lines = append(lines, "")
	}
	p.Lines = append(lines[:max(min(len(lines), p.H-1), 0)], v.about(c, p.W))
	p.Scroll.Pos, p.Scroll.Total = 0, 0
	if len(v.drawn) < len(all) {
		p.Scroll.Pos, p.Scroll.Total = v.top, len(all)+p.H
	}
	p.Badge = text.Count(v.numbers.Total().Calls, "call") + " · " + text.Duration(time.Duration(w.To-w.From))
	p.Foot = map[follow]string{fit: "all", tail: "following", still: ""}[v.mode]
	switch {
	case v.mark != 0:
		p.Foot = "range from " + time.Unix(0, v.mark).Format("15:04:05.000") + " · space ends it"
	case v.brush != [2]int64{}:
		p.Foot = time.Unix(0, v.brush[0]).Format("15:04:05.000") + " to " + time.Unix(0, v.brush[1]).Format("15:04:05.000") + " · esc all the time"
	case v.busy:
		p.Foot = "counting"
	}
	return nil
}

// laneName is the server of a lane, and who recorded it.
func laneName(c *tui.Ctx, l *stats.Lane) string {
	name := safe.Line(c.ServerTitle(l.Server), 64)
	if l.Hop != "" {
		name = safe.Line(l.Hop, 20) + " " + name
	}
	if name == "" {
		return "(no server)"
	}
	return name
}

// layout shares h lines among the lanes: each gets as many as its calls need while there are enough, and one where there are not.
func (v *timeline) layout(w stats.Window, h int) {
	all := v.lanes.All()
	v.lane = min(v.lane, len(all)-1)
	v.top = min(max(v.top, v.lane-h+1), v.lane)
	shown := all[v.top:min(v.top+h, len(all))]
	v.drawn = v.drawn[:0]
	left := h
	for i, l := range shown {
		share := min(max(left/(len(shown)-i), 1), maxLaneRows)
		if i == 0 && len(shown) > 1 { // lanes that need less leave more
			share = min(max(left-(len(shown)-1)*2, share), maxLaneRows)
		}
		view := l.View(w, share)
		rows := view.Rows
		if view.Bins != nil && share > 1 {
			rows = min(share, maxBinRows)
		}
		if view.Hidden > 0 && rows == 1 {
			view.Hidden = 0
		}
		v.drawn = append(v.drawn, drawnLane{view, v.top + i, 2 + h - left, rows})
		left -= rows
	}
}

// clocks are times above the axis, as precise as the window is narrow.
func (v *timeline) clocks(th *tui.Theme, w stats.Window) string {
	layout := "15:04:05"
	switch cell := w.Cell(); {
	case cell < 50*time.Microsecond:
		layout = "05.000000"
	case cell < 50*time.Millisecond:
		layout = "15:04:05.000"
	case cell > time.Hour:
		layout = "01-02 15:04"
	}
	every := (len(layout) + 4 + 9) / 10 * 10
	b := []byte(strings.Repeat(" ", w.Columns))
	for col := 0; col+len(layout) <= w.Columns; col += every {
		copy(b[col:], time.Unix(0, w.Time(col)).Format(layout))
	}
	return th.Muted.S(string(b))
}

// axis is the line below the clocks, with the range and the cursor.
func (v *timeline) axis(th *tui.Theme, w stats.Window) string {
	cells := make([]rune, w.Columns)
	for i := range cells {
		cells[i] = '─'
		if i%10 == 0 {
			cells[i] = '┴'
		}
	}
	from, to := -1, -1
	put := func(at int64, r rune) int {
		col := w.Column(at)
		if col >= 0 && col < w.Columns {
			cells[col] = r
		}
		return col
	}
	switch {
	case v.mark != 0:
		from = put(v.mark, '╞')
	case v.brush != [2]int64{}:
		from, to = w.Column(v.brush[0]), w.Column(v.brush[1])
		for i := max(from, 0); i <= min(to, w.Columns-1); i++ {
			cells[i] = '═'
		}
		put(v.brush[0], '╞')
		put(v.brush[1], '╡')
		if from == to && from >= 0 && from < w.Columns {
			cells[from] = '◆'
		}
	}
	cursor := -1
	if q := v.selected(); q != nil {
		cursor = put(q.Start, '▼')
	}
	var b []byte
	for i, r := range cells {
		st := th.Border
		switch {
		case i == cursor:
			st = th.Accent
		case i >= from && i <= max(to, from) && from >= 0:
			st = th.Warn
		}
		b = st.Append(b, string(r))
	}
	return string(b)
}

// A cell of a lane.
type cell struct {
	r     rune
	state stats.State
	on    bool // of the call under the cursor
	tick  bool
}

// laneRow draws one line of a lane.
func (v *timeline) laneRow(th *tui.Theme, w stats.Window, d drawnLane, row int) string {
	cells := make([]cell, w.Columns)
	if d.view.Bins != nil {
		v.bins(cells, d, row, w)
	} else {
		v.bars(cells, d, row)
	}
	var b []byte
	for i := 0; i < len(cells); {
		k := i + 1
		for k < len(cells) && cells[k].r == 0 && cells[i].r == 0 {
			k++
		}
		if cells[i].r == 0 {
			b = append(b, paint.Blanks(k-i)...)
			i = k
			continue
		}
		for k < len(cells) && cells[k].r != 0 && cells[k].state == cells[i].state && cells[k].on == cells[i].on && cells[k].tick == cells[i].tick && v.inside(w, k) == v.inside(w, i) {
			k++
		}
		var run []rune
		for _, x := range cells[i:k] {
			run = append(run, x.r)
		}
		st := callStyle(th, cells[i].state)
		switch {
		case cells[i].on:
			st = th.Selection
		case !v.inside(w, i):
			st = th.Muted
		case cells[i].tick:
			st = th.Info
		}
		b = st.Append(b, string(run))
		i = k
	}
	return string(b)
}

// inside is whether a column is within the range, if there is one.
func (v *timeline) inside(w stats.Window, column int) bool {
	return v.brush == [2]int64{} || column >= w.Column(v.brush[0]) && column <= w.Column(v.brush[1])
}

// callStyle is the colour of a call; its glyphs say the same.
func callStyle(th *tui.Theme, s stats.State) paint.Style {
	switch s {
	case stats.Failed:
		return th.Error
	case stats.Cancelled, stats.Running:
		return th.Warn
	}
	return th.OK
}

// callGlyphs are what calls are drawn with: a line, its end, and a call that is in one column.
func callGlyphs(s stats.State) (line, end, single rune) {
	switch s {
	case stats.Failed:
		return '━', '✗', '✗'
	case stats.Cancelled:
		return '╍', '⊘', '⊘'
	case stats.Running:
		return '╍', '…', '…'
	}
	return '━', '╸', '▪'
}

// bars puts the calls of a row, and what happened during them, into its cells.
func (v *timeline) bars(cells []cell, d drawnLane, row int) {
	for _, x := range d.view.Bars {
		if x.Row != row || x.To < 0 || x.From >= len(cells) {
			continue
		}
		line, end, single := callGlyphs(x.Call.State)
		on := x.Call.Seq == v.call
		for i := x.From; i <= min(max(x.To, x.From), len(cells)-1); i++ {
			r := line
			switch {
			case x.To <= x.From:
				r = single
				if was := cells[i]; was.r != 0 && !on && (was.on || was.state != stats.OK) {
					continue // what failed is not hidden by the next call
				}
			case i == x.To:
				r = end
			}
			cells[i] = cell{r: r, state: x.Call.State, on: on}
		}
	}
	for _, m := range d.view.Marks {
		if m.Row != row || m.Column >= len(cells) {
			continue
		}
		x := &cells[m.Column]
		switch x.r {
		case '━', '╍':
			if x.r = '┿'; m.Round {
				x.r = '?'
			}
			x.tick = true
		case '┿':
			if m.Round {
				x.r = '?'
			}
		}
	}
}

// bins puts the number of calls of each column into the cells: as bars on all lines but the last, which has the failures. On a lane
// of one line failures take the place of bars.
func (v *timeline) bins(cells []cell, d drawnLane, row int, w stats.Window) {
	const steps = 8 // of a line
	most := 1
	for _, b := range d.view.Bins {
		most = max(most, b.Calls)
	}
	cursor := -1
	if q := v.selected(); q != nil && d.i == v.lane {
		cursor = w.Column(q.Start)
	}
	tall := max(d.h-1, 1)
	for i, b := range d.view.Bins {
		switch {
		case b.Calls == 0:
		case row == d.h-1 && b.Failed > 0:
			cells[i] = cell{r: '✗', state: stats.Failed}
		case row < tall:
			n := max(b.Calls*steps*tall/most, 1) - steps*(tall-1-row)
			if n > 0 {
				cells[i] = cell{r: level(min(n, steps), steps), state: stats.OK, on: i == cursor}
			}
		}
	}
}

// level is the bar of a sparkline for n of most.
func level(n, most int) rune {
	bars := [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}
	return bars[min(max((n*len(bars)-1)/max(most, 1), 0), len(bars)-1)]
}

// about says what the call under the cursor is.
func (v *timeline) about(c *tui.Ctx, w int) string {
	th := c.Theme
	e, ok := v.j.Get(v.call)
	if !ok || v.call == 0 {
		return th.Muted.S(paint.Fit("no call is selected", w))
	}
	state, style := "✓ ok", th.OK
	switch e.Status {
	case journal.Failed:
		state, style = "✗ error", th.Error
	case journal.Cancelled:
		state, style = "⊘ cancelled", th.Warn
	case journal.Pending:
		if state, style = "… pending", th.Warn; v.over() {
			state = "… unanswered"
		}
	}
	subject := safe.Line(strings.TrimSpace(e.Method+" "+e.Tool), 120)
	if e.ID != "" {
		subject += " #" + safe.Line(e.ID, 40)
	}
	tail := ""
	if e.Took > 0 {
		tail = " " + text.Duration(e.Took)
	}
	tail += " at " + e.Time.Local().Format("15:04:05.000")
	room := max(w-paint.Width(state)-paint.Width(tail)-3, 10)
	return paint.Cut(pane.DirGlyph(e.Dir)+" "+th.Text.S(paint.Cut(subject, room))+" "+style.S(state)+th.Muted.S(tail), w)
}

// mouse puts the cursor on the call that was clicked, opens it on a double click, and zooms by the wheel.
func (v *timeline) mouse(c *tui.Ctx, m tui.PaneMouse) tea.Cmd {
	if m.Wheel != 0 {
		v.pan(0.1 * float64(m.Wheel))
		return nil
	}
	if m.Click != tea.MouseLeft || v.none(c) != "" {
		return nil
	}
	for _, d := range v.drawn {
		if m.Y < d.y || m.Y >= d.y+d.h {
			continue
		}
		v.lane = d.i
		w := v.window()
		at := w.Time(m.X - v.label)
		calls := d.view.Lane.Calls
		best, distance := -1, int64(0)
		if d.view.Bins == nil {
			for _, b := range d.view.Bars {
				if b.Row != m.Y-d.y {
					continue
				}
				k, _ := index(d.view.Lane, b.Call.Seq)
				far := max(b.Call.Start-at, at-min(b.Call.End, w.Now), 0)
				if best < 0 || far < distance {
					best, distance = k, far
				}
			}
		}
		if best < 0 {
			v.toLaneAt(d.i, at)
			break
		}
		v.put(&calls[best])
		if m.Double {
			return c.Navigate("traffic", pane.FramesOf(v.call))
		}
	}
	return nil
}

// plain writes the numbers, and then the lanes as lists of their newest calls.
func (v *timeline) plain(c *tui.Ctx, w io.Writer) {
	v.plainNumbers(w)
	for _, l := range v.lanes.All() {
		fmt.Fprintf(w, "%s: %s\n", laneName(c, l), text.Count(len(l.Calls), "call"))
		for _, q := range l.Calls[max(len(l.Calls)-10, 0):] {
			if e, ok := v.j.Get(q.Seq); ok {
				fmt.Fprintf(w, "  %s %s %s %s\n", e.Time.Local().Format("15:04:05.000"), safe.Line(strings.TrimSpace(e.Method+" "+e.Tool), 120), e.Status, text.Duration(e.Took))
			}
		}
	}
}
