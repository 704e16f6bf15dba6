package widget

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// drawCap is how many bytes of a line are drawn. What is cut is counted at the
// end of the row; a match further right moves the window to itself.
const drawCap = 4 << 10

// Pager shows a text of any size: only the lines on screen are made safe,
// wrapped and coloured. The zero value shows nothing.
type Pager struct {
	theme *paint.Theme
	w, h  int
	text  lines
	paint Painter
	wrap  bool
	x     int // first visible cell, without wrapping

	top, sub int // position: line and row of it

	query      Query
	start, end int // current match in the text, end 0 for none

	styled []string // pre-styled lines instead of text
	out    []string
	fresh  bool
	spans  []Span
	found  []Span
	rows   []int32
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
	p.text, p.paint, p.styled = text.lines, painter, nil
	p.top, p.sub, p.x, p.fresh = 0, 0, 0, false
	p.start, p.end = 0, 0
}

// SetStyled shows lines that are safe, styled and wrapped already (rendered markdown, an image) from the first one.
func (p *Pager) SetStyled(rows []string) {
	p.SetText(nil, nil)
	p.styled = rows
	if rows == nil {
		p.styled = []string{}
	}
}

// SetWrap says whether long lines are wrapped or scrolled sideways.
func (p *Pager) SetWrap(on bool) {
	p.wrap, p.fresh, p.x, p.sub = on, false, 0, 0
	p.clamp()
}

// Wrapped says whether long lines are wrapped.
func (p *Pager) Wrapped() bool { return p.wrap }

// Text returns the text that is shown.
func (p *Pager) Text() []byte { return p.text.data }

// Len returns the number of lines.
func (p *Pager) Len() int {
	if p.styled != nil {
		return len(p.styled)
	}
	return p.text.n
}

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

// Top returns the offset of the first visible line in the text; a search starts there.
func (p *Pager) Top() int {
	if p.text.n == 0 {
		return 0
	}
	start, _ := p.text.line(p.top)
	return start
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
	p.fresh = false
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
	p.fresh = false
	return HitScroll
}

// move scrolls by rows.
func (p *Pager) move(d int) {
	if !p.wrap || p.styled != nil {
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
	if !p.wrap || p.styled != nil || line >= p.Len() {
		return 1
	}
	if most <= 0 {
		most = drawCap
	}
	s, _ := p.line(line)
	p.rows = appendWrap(p.rows[:0], s, p.w, most)
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

// line returns a line as it is drawn: safe, cut, with what was cut counted. from
// is the offset in the line at which the window on it begins.
func (p *Pager) line(i int) (s string, from int) {
	start, end := p.text.line(i)
	raw := p.text.data[start:end]
	if len(raw) > 0 && raw[len(raw)-1] == '\r' {
		raw = raw[:len(raw)-1]
	}
	if len(raw) <= drawCap {
		return safe.Line(string(raw), 0), 0
	}
	if p.end > 0 && p.start >= start && p.start < end && p.end-start > drawCap {
		from = p.start - start - drawCap/4
		from = runeStart(raw, from)
	}
	to := runeStart(raw, from+drawCap)
	s = safe.Line(string(raw[from:to]), 0)
	if from > 0 {
		s = fmt.Sprintf("⟨%d bytes⟩… ", from) + s
	}
	if to < len(raw) {
		s += fmt.Sprintf(" …⟨%d more bytes⟩", len(raw)-to)
	}
	return s, from
}

// runeStart returns i, or where the UTF-8 character that holds byte i begins.
func runeStart(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	for k := i; k > max(i-utf8.UTFMax, 0); k-- {
		if utf8.RuneStart(b[k]) {
			return k
		}
	}
	return i
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
	if p.styled != nil {
		for i := p.top; i < min(p.top+p.h, len(p.styled)); i++ {
			p.out = append(p.out, paint.Cut(p.styled[i], p.w))
		}
		return p.out
	}
	skip := p.sub
	for i := p.top; i < p.text.n && len(p.out) < p.h; i++ {
		p.draw(i, skip)
		skip = 0
	}
	return p.out
}

// draw appends the rows of a line from its row skip on, as far as they fit.
func (p *Pager) draw(i, skip int) {
	s, cut := p.line(i)
	if !p.wrap {
		from, to, lead, more := window(s, p.x, p.w)
		p.colour(i, s[:to], cut)
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
		p.colour(i, s[:p.rows[last]], cut)
	} else {
		p.colour(i, s, cut)
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
func (p *Pager) colour(i int, s string, cut int) {
	p.spans = p.spans[:0]
	if p.paint != nil {
		p.spans = p.paint(p.theme, s, p.spans)
	}
	p.mark(i, s, cut)
}

// mark finds what of the query is on a line.
func (p *Pager) mark(i int, s string, from int) {
	p.found = p.found[:0]
	if p.query.Empty() {
		return
	}
	cur := -1
	if p.end > 0 {
		start, end := p.text.line(i)
		if p.start >= start && p.start < end {
			cur = p.inDrawn(start, s, from)
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

// inDrawn is where in a drawn line the current match begins: making safe changed lengths.
func (p *Pager) inDrawn(lineStart int, s string, from int) int {
	n := 0
	if from > 0 {
		n = len(fmt.Sprintf("⟨%d bytes⟩… ", from))
	}
	before := p.text.data[lineStart+from : p.start]
	return min(n+len(safe.Line(string(before), 0)), len(s))
}

// SetQuery marks every occurrence of text on screen; empty marks none.
func (p *Pager) SetQuery(text string) {
	p.query = Query{}
	if text != "" {
		p.query = Query{words: []word{{text: text, fold: newFinder(text).fold}}}
	}
	p.start, p.end, p.fresh = 0, 0, false
}

// Match returns the current match; end is 0 if there is none.
func (p *Pager) Match() (start, end int) { return p.start, p.end }

// Show makes a range that [Find] returned the current match and scrolls to it.
func (p *Pager) Show(start, end int) {
	if start < 0 || end > len(p.text.data) || p.text.n == 0 {
		return
	}
	p.start, p.end, p.fresh = start, end, false
	line := p.text.at(start)
	sub, x := 0, 0
	s, from := p.line(line)
	lineStart, _ := p.text.line(line)
	off := p.inDrawn(lineStart, s, from)
	if p.wrap {
		p.rows = appendWrap(p.rows[:0], s, p.w, drawCap)
		for sub+1 < len(p.rows) && int(p.rows[sub+1]) <= off {
			sub++
		}
	} else if cell := paint.Width(s[:off]); cell >= p.w*3/4 {
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

// LineCount returns how many lines a text has, as a [Pager] counts them.
func LineCount(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}
