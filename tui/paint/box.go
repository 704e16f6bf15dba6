package paint

import "strings"

// Box draws a pane below its title row, or a dialog within its frame. It keeps the rows with words, so drawing it again
// around other lines costs little more than copying them.
type Box struct {
	spec        BoxSpec
	top, bottom string
}

// BoxSpec is what is drawn around the lines. Sizes include it.
type BoxSpec struct {
	W, H         int
	Title, Badge string // safe text; the badge is at the right end of the top row
	Foot         string // safe text, behind the badge and at the right end of a dialog's bottom row
	Focused      bool
	Warn         bool // the title is a warning
	Theme        *Theme
	// Pos and Total are the first visible row and the number of rows; where
	// there are more rows than fit, the right edge shows a scroll bar.
	Pos, Total int
	// Selected is the line under the cursor, from 1, which has a mark in that style at its left where nothing is framed.
	Selected int
	Mark     Style
	// Framed draws a frame of one cell. Otherwise the top row is a rule with the words in it, and a blank is at each side.
	Framed bool
	// Side is whether the last column of what is not framed is a rule, and Branch the row in which another one begins at it.
	Side   bool
	Branch int
}

// Draw appends the H rows of the box to dst, each exactly W cells wide, with
// lines inside. Lines may be shorter, wider, fewer or more than fit.
func (b *Box) Draw(dst []string, lines []string, spec BoxSpec) []string {
	if spec.W < 4 || spec.H < 2 {
		for range spec.H {
			dst = append(dst, Blanks(spec.W))
		}
		return dst
	}
	f := spec.Theme.borders.frame()
	key := spec
	key.Pos, key.Total, key.H, key.Selected = 0, 0, 0, 0
	if b.top == "" || b.spec != key {
		b.spec = key
		b.top, b.bottom = spec.title(f), ""
		if spec.Framed {
			b.top = edge(spec, f.topLeft, f.topRight, f.across, spec.Title, spec.Badge)
			b.bottom = edge(spec, f.bottomLeft, f.bottomRight, f.across, "", spec.Foot)
		}
	}
	st := spec.border()
	left, right, inner, rows := " ", " ", spec.W-2, spec.H-1
	switch {
	case spec.Framed:
		left, right, rows = st.S(f.down), st.S(f.down), rows-1
	case spec.Side:
		right, inner = " "+spec.Theme.Border.S(f.down), inner-1
	}
	from, to := thumb(spec.Pos, rows, spec.Total)
	bar := st.S(f.bar)
	if spec.Side {
		bar = " " + bar
	}
	dst = append(dst, b.top)
	for i := range rows {
		line, end := "", right
		if i < len(lines) {
			line = lines[i]
		}
		switch {
		case i >= from && i < to:
			end = bar
		case spec.Side && i+1 == spec.Branch:
			end = " " + spec.Theme.Border.S(f.right)
		}
		start := left
		if i+1 == spec.Selected && !spec.Framed {
			start = spec.Mark.S(f.mark)
		}
		dst = append(dst, start+Fit(line, inner)+end)
	}
	if spec.Framed {
		dst = append(dst, b.bottom)
	}
	return dst
}

// title is the top row of what is not framed: a rule with the words in it. The title has half of the row before what
// stands at the right end is cut, and yields to it then.
func (s *BoxSpec) title(f frame) string {
	w, end, st := s.W, "", s.Theme.Border
	if s.Side {
		w, end = w-1, st.S(f.below)
	}
	if s.Focused {
		st = s.Theme.BorderFocus
	}
	const around = 6 // blanks beside the words, and a dash behind each of them
	right := s.Badge
	if s.Foot != "" {
		right = strings.TrimPrefix(right+" · "+s.Foot, " · ")
	}
	right = Cut(right, w-around-min(Width(s.Title), w/2))
	if Width(right) < min(4, Width(s.Badge+s.Foot)) {
		right = ""
	}
	used := 0
	if right != "" {
		used = Width(right) + 3
	}
	left := Cut(s.Title, w-used-3)
	if left != "" {
		used += Width(left) + 2
		left = " " + s.heading().S(left) + " "
	}
	if right != "" {
		right = " " + s.Theme.Muted.S(right) + " " + st.S(f.across)
	}
	return left + st.S(strings.Repeat(f.across, max(w-used, 0))) + right + end
}

// heading is the style of the title.
func (s *BoxSpec) heading() Style {
	switch {
	case s.Warn:
		return s.Theme.Warn
	case s.Focused:
		return s.Theme.Title
	}
	return s.Theme.Text
}

func (s *BoxSpec) border() Style {
	if s.Focused {
		return s.Theme.BorderFocus
	}
	return s.Theme.Border
}

// edge is the top or bottom row of a frame: ╭─ title ───── badge ─╮. The badge yields to the title where both do not fit.
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
		mid.WriteString(st.S(dash))
		mid.WriteString(" " + s.heading().S(title) + " ")
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
