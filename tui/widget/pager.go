package widget

import "github.com/mcphud/mcphud/tui/paint"

// Pager shows a text of any size, or several below each other: only the lines on screen are made safe, wrapped and
// coloured. The zero value shows nothing.
type Pager struct {
	theme *paint.Theme
	w, h  int
	parts []part
	wrap  bool
	x     int // first visible cell, without wrapping

	top, sub int // position: line and row of it
	at       int // part that was jumped to, while nothing scrolled since; -1 for none

	query      Query
	start, end int // current match in the texts, end 0 for none

	out   []string
	fresh bool
	spans []Span
	found []Span
	rows  []int32
}

// SetTheme sets the styles to draw with.
func (p *Pager) SetTheme(t *paint.Theme) {
	if p.theme != t {
		p.theme, p.fresh = t, false
	}
}

// SetSize sets width and height in cells. The top line stays.
func (p *Pager) SetSize(w, h int) {
	if p.w != w || p.h != h {
		p.w, p.h, p.fresh = max(w, 0), max(h, 0), false
		p.clamp()
	}
}

// SetText shows a text from its beginning, as it came: unsafe bytes are made safe when drawn. The pager keeps data and
// does not copy or change it. painter may be nil. Finding the lines takes a millisecond per MB: see [Lines].
func (p *Pager) SetText(data []byte, painter Painter) {
	p.SetLines(NewLines(data), painter)
}

// SetLines is SetText for a text whose lines were found beforehand.
func (p *Pager) SetLines(text *Lines, painter Painter) {
	p.SetSections([]Section{{Text: text, Painter: painter}})
}

// SetWrap says whether long lines are wrapped or scrolled sideways.
func (p *Pager) SetWrap(on bool) {
	p.wrap, p.fresh, p.x, p.sub = on, false, 0, 0
	p.clamp()
}

// Wrapped says whether long lines are wrapped.
func (p *Pager) Wrapped() bool { return p.wrap }

// Scroll returns the first visible line and the number of lines.
func (p *Pager) Scroll() (pos, total int) { return p.top, p.Len() }

// AtEnd reports whether the end of the text is in view.
func (p *Pager) AtEnd() bool {
	room := p.h + p.sub
	for line := p.top; line < p.Len(); line++ {
		if room -= p.height(line, room+1); room < 0 {
			return false
		}
	}
	return true
}

// Top returns the offset of the first visible line in the texts; a search starts there.
func (p *Pager) Top() int {
	q, k := p.locate(p.top)
	if q == nil {
		return 0
	}
	if k -= len(q.Head); k >= 0 && k < q.lines().n {
		start, _ := q.lines().line(k)
		return q.base + start
	}
	return q.base
}

// Key scrolls; it reports whether the key means something here.
func (p *Pager) Key(k string) bool {
	switch k {
	case "up", "k":
		p.move(-1)
	case "down", "j":
		p.move(1)
	case "pgup":
		p.move(-p.h)
	case "pgdown", "space":
		p.move(p.h)
	case "ctrl+u":
		p.move(-max(p.h/2, 1))
	case "ctrl+d":
		p.move(max(p.h/2, 1))
	case "home", "g":
		p.top, p.sub = 0, 0
	case "end", "G":
		p.top, p.sub = p.Len(), 0
		p.clamp()
	case "left", "h":
		return p.pan(-8)
	case "right", "l":
		return p.pan(8)
	default:
		return false
	}
	p.fresh, p.at = false, -1
	return true
}

func (p *Pager) pan(d int) bool {
	if p.wrap {
		return false
	}
	p.x, p.fresh = min(max(p.x+d, 0), drawCap), false
	return true
}

// Mouse scrolls.
func (p *Pager) Mouse(m Mouse) Hit {
	switch m.Kind {
	case WheelUp:
		p.move(-wheel)
	case WheelDown:
		p.move(wheel)
	case WheelLeft:
		p.pan(-8)
	case WheelRight:
		p.pan(8)
	default:
		return HitNone
	}
	p.fresh, p.at = false, -1
	return HitScroll
}

// move scrolls by rows.
func (p *Pager) move(d int) {
	if !p.wrap {
		p.top += d
		p.clamp()
		return
	}
	for ; d < 0 && (p.top > 0 || p.sub > 0); d++ {
		if p.sub--; p.sub < 0 {
			p.top--
			p.sub = p.height(p.top, 0) - 1
		}
	}
	for ; d > 0 && p.top < p.Len(); d-- {
		if p.sub++; p.sub >= p.height(p.top, p.sub+2) {
			p.top++
			p.sub = 0
		}
	}
	p.clamp()
}

// height is how many rows a line takes, counted up to most (0: all).
func (p *Pager) height(line, most int) int {
	if !p.wrap {
		return 1
	}
	q, k := p.locate(line)
	if q == nil || k < len(q.Head) || q.Rows != nil {
		return 1
	}
	if most <= 0 {
		most = drawCap
	}
	p.rows = appendWrap(p.rows[:0], q.text(k-len(q.Head)), p.w, most)
	return len(p.rows)
}

// clamp keeps the last page full.
func (p *Pager) clamp() {
	p.top = min(p.top, p.Len())
	if p.top < 0 {
		p.top, p.sub = 0, 0
	}
	need := p.h
	for line := p.top; line < p.Len() && need > 0; line++ {
		n := p.height(line, need+p.sub+1)
		if line == p.top {
			p.sub = min(p.sub, n-1)
			n -= p.sub
		}
		need -= n
	}
	for need > 0 && (p.top > 0 || p.sub > 0) {
		if p.sub == 0 {
			p.top--
			p.sub = p.height(p.top, 0)
		}
		k := min(need, p.sub)
		p.sub -= k
		need -= k
	}
}

// Lines returns the visible rows. The slice is the pager's own until the next call.
func (p *Pager) Lines() []string {
	if p.fresh {
		return p.out
	}
	p.out, p.fresh = p.out[:0], true
	if p.theme == nil {
		return p.out
	}
	skip := p.sub
	for i := p.top; i < p.Len() && len(p.out) < p.h; i++ {
		q, k := p.locate(i)
		switch body := k - len(q.Head); {
		case body < 0:
			p.out = append(p.out, paint.Cut(q.Head[k], p.w))
		case q.Rows != nil:
			p.out = append(p.out, paint.Cut(p.marked(q, body), p.w))
		default:
			p.draw(q, body, skip)
		}
		skip = 0
	}
	return p.out
}

// marked is a row that was styled before, with what was searched in it.
func (p *Pager) marked(q *part, k int) string {
	row := q.Rows[k]
	if p.query.Empty() || q.lines().n != len(q.Rows) {
		return row
	}
	s := q.text(k)
	p.mark(q, k, s)
	out := []string{row}
	for _, f := range p.found {
		paint.Splice(out, []string{f.Style.S(s[f.Start:f.End])}, paint.Width(s[:f.Start]), 0, paint.Width(s[f.Start:f.End]))
	}
	return out[0]
}

// draw appends the rows of a line of text from its row skip on, as far as they fit.
func (p *Pager) draw(q *part, k, skip int) {
	s := q.text(k)
	if !p.wrap {
		from, to, lead, more := window(s, p.x, p.w)
		p.colour(q, k, s[:to])
		row := append(make([]byte, 0, to-from+64), paint.Blanks(lead)...)
		row = appendSpans(row, s, from, to, p.spans, p.found)
		if more { // the last cell says so
			p.out = append(p.out, paint.Fit(string(row)+"…", p.w))
			return
		}
		p.out = append(p.out, string(row))
		return
	}
	p.rows = appendWrap(p.rows[:0], s, p.w, skip+p.h-len(p.out)+1)
	last := min(skip+p.h-len(p.out), len(p.rows))
	if last < len(p.rows) {
		p.colour(q, k, s[:p.rows[last]])
	} else {
		p.colour(q, k, s)
	}
	for k := skip; k < last; k++ {
		to := len(s)
		if k+1 < len(p.rows) {
			to = int(p.rows[k+1])
			if s[to-1] == ' ' {
				to-- // the blank that the row broke at
			}
		}
		row := string(appendSpans(nil, s, int(p.rows[k]), to, p.spans, p.found))
		if p.w < 2 {
			row = paint.Cut(row, p.w) // narrower than a wide character
		}
		p.out = append(p.out, row)
	}
}

// colour finds the spans of a drawn line, as far as it is on screen.
func (p *Pager) colour(q *part, k int, s string) {
	p.spans = p.spans[:0]
	if q.Painter != nil {
		p.spans = q.Painter(p.theme, s, p.spans)
	}
	p.mark(q, k, s)
}

// mark finds what of the query is on a line.
func (p *Pager) mark(q *part, k int, s string) {
	p.found = p.found[:0]
	if p.query.Empty() {
		return
	}
	cur := -1
	if at := p.start - q.base; p.end > 0 && at >= 0 && at < len(q.lines().data) {
		start, end := q.lines().line(k)
		if at >= start && at < end {
			cur = q.drawn(start, at, s)
		}
	}
	w := p.query.words[0]
	for at := 0; at < len(s); {
		b, e := w.find(s, at)
		if b < 0 {
			return
		}
		st := p.theme.Match
		if b == cur {
			st = p.theme.MatchCurrent
		}
		p.found = append(p.found, Span{b, e, st})
		at = e
	}
}

// SetQuery marks every occurrence of text on screen; empty marks none.
func (p *Pager) SetQuery(text string) {
	p.query = Query{}
	if text != "" {
		p.query = wholeQuery(text)
	}
	p.start, p.end, p.fresh = 0, 0, false
}

// Match returns the current match; end is 0 if there is none.
func (p *Pager) Match() (start, end int) { return p.start, p.end }

// Show makes a range that [FindIn] returned the current match and scrolls to it.
func (p *Pager) Show(start, end int) {
	q := p.holding(start)
	if q == nil {
		return
	}
	p.start, p.end, p.fresh, p.at = start, end, false, -1
	k := q.lines().at(start - q.base)
	line := q.first + len(q.Head) + k
	lineStart, _ := q.lines().line(k)
	s := q.text(k)
	off := q.drawn(lineStart, start-q.base, s)
	sub, x := 0, 0
	if p.wrap && q.Rows == nil {
		p.rows = appendWrap(p.rows[:0], s, p.w, drawCap)
		for sub+1 < len(p.rows) && int(p.rows[sub+1]) <= off {
			sub++
		}
	} else if cell := paint.Width(s[:off]); !p.wrap && cell >= p.w*3/4 {
		x = max(cell-p.w/2, 0)
	}
	p.x = x
	if p.visible(line, sub) {
		return
	}
	p.top, p.sub = line, sub
	p.move(-p.h / 3)
	p.clamp()
}

// visible says whether a row is on screen.
func (p *Pager) visible(line, sub int) bool {
	if line < p.top || line == p.top && sub < p.sub || line > p.top+p.h {
		return false
	}
	rows := -p.sub
	for i := p.top; i < line; i++ {
		rows += p.height(i, p.h+p.sub+1)
		if rows >= p.h {
			return false
		}
	}
	return rows+sub < p.h
}
