package paint

import "strings"

// Box draws the border of a pane. It keeps its top and bottom rows, so drawing
// it again around other lines costs little more than copying them.
type Box struct {
	spec        BoxSpec
	top, bottom string
}

// BoxSpec is what the border of a pane looks like. Sizes include the border.
type BoxSpec struct {
	W, H         int
	Title, Badge string // safe text; the badge is at the right end of the top row
	Foot         string // safe text at the right end of the bottom row
	Focused      bool
	Warn         bool // the title is a warning
	Theme        *Theme
	// Pos and Total are the first visible row and the number of rows; where
	// there are more rows than fit, the right border shows a scroll bar.
	Pos, Total int
}

// Draw appends the H rows of the box to dst, each exactly W cells wide, with
// lines inside. Lines may be shorter, wider, fewer or more than fit.
func (b *Box) Draw(dst []string, lines []string, spec BoxSpec) []string {
	if spec.W < 2 || spec.H < 2 {
		for range spec.H {
			dst = append(dst, Blanks(spec.W))
		}
		return dst
	}
	f := spec.Theme.borders.frame()
	key := spec
	key.Pos, key.Total, key.H = 0, 0, 0
	if b.top == "" || b.spec != key {
		b.spec = key
		b.top = edge(spec, f.topLeft, f.topRight, f.across, spec.Title, spec.Badge)
		b.bottom = edge(spec, f.bottomLeft, f.bottomRight, f.across, "", spec.Foot)
	}
	st := spec.border()
	side := st.S(f.down)
	inner, rows := spec.W-2, spec.H-2
	from, to := thumb(spec.Pos, rows, spec.Total)
	bar := st.S(f.bar)
	dst = append(dst, b.top)
	for i := range rows {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		right := side
		if i >= from && i < to {
			right = bar
		}
		dst = append(dst, side+Fit(line, inner)+right)
	}
	return append(dst, b.bottom)
}

func (s *BoxSpec) border() Style {
	if s.Focused {
		return s.Theme.BorderFocus
	}
	return s.Theme.Border
}

// edge is the top or bottom row: ╭─ title ───── badge ─╮. The badge yields to the title where both do not fit.
func edge(s BoxSpec, left, right, dash, title, badge string) string {
	st, inner := s.border(), s.W-2
	var mid strings.Builder
	room := inner - 2 // a dash at each end
	if badge != "" && Width(title)+Width(badge)+6 > inner {
		badge = ""
	}
	used := 0
	if title != "" && room > 4 {
		title = Cut(title, room-2)
		ts := s.Theme.Text
		if s.Focused {
			ts = s.Theme.Title
		}
		if s.Warn {
			ts = s.Theme.Warn
		}
		mid.WriteString(st.S(dash))
		mid.WriteString(" " + ts.S(title) + " ")
		used = 3 + Width(title)
	}
	if badge != "" && room > 4 {
		badge = Cut(badge, room-2)
		n := 3 + Width(badge)
		mid.WriteString(st.S(strings.Repeat(dash, max(inner-used-n, 0))))
		mid.WriteString(" " + s.Theme.Muted.S(badge) + " " + st.S(dash))
	} else {
		mid.WriteString(st.S(strings.Repeat(dash, max(inner-used, 0))))
	}
	return st.S(left) + mid.String() + st.S(right)
}

// thumb returns the rows that the scroll bar covers, none where all is visible.
func thumb(pos, page, total int) (from, to int) {
	if page <= 0 || total <= page {
		return 0, 0
	}
	n := max(page*page/total, 1)
	last := total - page // largest pos
	from = min(max(pos, 0), last) * (page - n) / last
	return from, from + n
}
