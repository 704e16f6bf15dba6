package widget

import (
	"sort"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Section is one of the texts that a [Pager] shows below each other.
type Section struct {
	Head    []string // safe, styled rows above it
	Text    *Lines   // nil for none
	Painter Painter  // nil for none
	Rows    []string // safe, styled rows to show instead of Text, which a search then finds nothing in; see [StyledSection]
}

// StyledSection shows rows that are safe, styled and wrapped already (rendered markdown, an image). What is searched in
// them is what they say.
func StyledSection(rows []string) Section {
	if rows == nil {
		rows = []string{}
	}
	var text []byte
	for _, r := range rows {
		text = append(append(text, paint.Strip(r)...), '\n')
	}
	return Section{Rows: rows, Text: NewLines(text)}
}

// part is a section and its place among the others.
type part struct {
	Section
	first int // its first line
	base  int // offset of its text
}

// lines are those of the text.
func (q *part) lines() *lines { return &q.Text.lines }

// text is line k of the text as it is drawn: safe.
func (q *part) text(k int) string {
	start, end := q.lines().line(k)
	raw := q.lines().data[start:end]
	if len(raw) > 0 && raw[len(raw)-1] == '\r' {
		raw = raw[:len(raw)-1]
	}
	return safe.Line(string(raw), 0)
}

// drawn is where in a drawn line an offset of the text is: making safe changed lengths.
func (q *part) drawn(lineStart, at int, s string) int {
	return min(len(safe.Line(string(q.lines().data[lineStart:at]), 0)), len(s))
}

// size is the number of lines.
func (q *part) size() int {
	if q.Rows != nil {
		return len(q.Head) + len(q.Rows)
	}
	return len(q.Head) + q.lines().n
}

// SetSections shows texts below each other, from the beginning of the first.
func (p *Pager) SetSections(list []Section) {
	p.parts = make([]part, 0, len(list))
	line, base := 0, 0
	for _, s := range list {
		if s.Text == nil {
			s.Text = NewLines(nil)
		}
		q := part{Section: s, first: line, base: base}
		line += q.size()
		base += len(q.lines().data)
		p.parts = append(p.parts, q)
	}
	p.top, p.sub, p.x, p.fresh, p.at = 0, 0, 0, false, -1
	p.start, p.end = 0, 0
}

// SetHeads changes the rows above the texts, one entry for each; the position stays where their number does.
func (p *Pager) SetHeads(heads [][]string) {
	line := 0
	for i := range p.parts {
		p.parts[i].Head, p.parts[i].first = heads[i], line
		line += p.parts[i].size()
	}
	p.fresh = false
}

// Sections is how many texts there are.
func (p *Pager) Sections() int { return len(p.parts) }

// Texts are what a search looks at, for [FindIn].
func (p *Pager) Texts() [][]byte {
	out := make([][]byte, len(p.parts))
	for i := range p.parts {
		out[i] = p.parts[i].lines().data
	}
	return out
}

// Len returns the number of lines.
func (p *Pager) Len() int {
	if len(p.parts) == 0 {
		return 0
	}
	last := &p.parts[len(p.parts)-1]
	return last.first + last.size()
}

// locate returns the section that holds a line, and which of its lines that is; nil beyond the end.
func (p *Pager) locate(line int) (q *part, k int) {
	if line >= p.Len() {
		return nil, 0
	}
	i := sort.Search(len(p.parts), func(i int) bool { return p.parts[i].first > line }) - 1
	return &p.parts[i], line - p.parts[i].first
}

// holding returns the section whose text holds an offset, nil if none does.
func (p *Pager) holding(off int) *part {
	i := sort.Search(len(p.parts), func(i int) bool { return p.parts[i].base > off }) - 1
	if i < 0 || off < 0 || off-p.parts[i].base >= len(p.parts[i].lines().data) {
		return nil
	}
	return &p.parts[i]
}

// Section returns the number of the section that is read: the one that was jumped to, else the one at the top; -1 if there
// is none.
func (p *Pager) Section() int {
	if p.at >= 0 {
		return p.at
	}
	return sort.Search(len(p.parts), func(i int) bool { return p.parts[i].first > p.top }) - 1
}

// ShowSection scrolls to a section.
func (p *Pager) ShowSection(i int) {
	if i < 0 || i >= len(p.parts) {
		return
	}
	p.top, p.sub, p.fresh = p.parts[i].first, 0, false
	p.clamp()
	p.at = i
}

// ShowLine scrolls to a line.
func (p *Pager) ShowLine(i int) {
	p.top, p.sub, p.fresh = i, 0, false
	p.clamp()
}
