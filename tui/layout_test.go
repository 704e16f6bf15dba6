package tui_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/tui"
)

// draw paints a layout with one letter for each part: t tabs, c breadcrumbs,
// r rail, 1 to 3 panes, | and - rules, k ticker, s status, h hints. "." is nobody's.
func draw(l tui.Layout, w, h int) string {
	grid := make([][]byte, h)
	for y := range grid {
		grid[y] = []byte(strings.Repeat(".", w))
	}
	put := func(r tui.Rect, c byte) {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if grid[y][x] != '.' {
					c = '!' // two parts on one cell
				}
				grid[y][x] = c
			}
		}
	}
	top := byte('t')
	if l.Crumbs {
		top = 'c'
	}
	put(l.Tabs, top)
	put(l.Rail, 'r')
	put(l.Panes[0], '1')
	put(l.Panes[1], '2')
	put(l.Panes[2], '3')
	put(l.Rules[0], '|')
	put(l.Rules[1], '|')
	put(l.Rules[2], '|')
	put(l.Rule, '-')
	put(l.Ticker, 'k')
	put(l.Status, 's')
	put(l.Hints, 'h')
	lines := make([]string, h)
	for y := range grid {
		lines[y] = shrink(string(grid[y]))
	}
	return strings.Join(lines, "\n")
}

// shrink writes runs as the letter and its count, so that a drawing of 200
// columns fits a page: "r26 1 70" as "r26 1*70".
func shrink(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(s[i])
		b.WriteByte('*')
		b.WriteString(itoa(j - i))
		i = j
	}
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestSolve(t *testing.T) {
	two := tui.LayoutState{Panes: 2}
	with := func(f func(*tui.LayoutState)) tui.LayoutState {
		s := two
		f(&s)
		return s
	}
	for _, c := range []struct {
		name string
		w, h int
		s    tui.LayoutState
		want string
	}{
		{"wide", 120, 10, two, `
t*120
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
-*120
k*120
s*120
h*120`},
		{"wide with one pane", 120, 10, tui.LayoutState{Panes: 1}, `
t*120
r*25 |*1 1*94
r*25 |*1 1*94
r*25 |*1 1*94
r*25 |*1 1*94
r*25 |*1 1*94
-*120
k*120
s*120
h*120`},
		{"wide with the detail below", 130, 12, with(func(s *tui.LayoutState) { s.Arrange = tui.Below }), `
t*130
r*25 |*1 1*104
r*25 |*1 1*104
r*25 |*1 1*104
r*25 |*1 2*104
r*25 |*1 2*104
r*25 |*1 2*104
r*25 |*1 2*104
-*130
k*130
s*130
h*130`},
		{"wide with a third pane, which has no room", 139, 10, with(func(s *tui.LayoutState) { s.Panes = 3 }), `
t*139
r*25 |*1 1*45 |*1 2*67
r*25 |*1 1*45 |*1 2*67
r*25 |*1 1*45 |*1 2*67
r*25 |*1 1*45 |*1 2*67
r*25 |*1 1*45 |*1 2*67
-*139
k*139
s*139
h*139`},
		{"with a third pane", 140, 10, with(func(s *tui.LayoutState) { s.Panes = 3 }), `
t*140
r*25 |*1 1*30 |*1 2*44 |*1 3*38
r*25 |*1 1*30 |*1 2*44 |*1 3*38
r*25 |*1 1*30 |*1 2*44 |*1 3*38
r*25 |*1 1*30 |*1 2*44 |*1 3*38
r*25 |*1 1*30 |*1 2*44 |*1 3*38
-*140
k*140
s*140
h*140`},
		{"with a third pane and no rail", 200, 10, with(func(s *tui.LayoutState) { s.Panes, s.NoRail, s.Split = 3, true, 50 }), `
t*200
1*66 |*1 2*66 |*1 3*66
1*66 |*1 2*66 |*1 3*66
1*66 |*1 2*66 |*1 3*66
1*66 |*1 2*66 |*1 3*66
1*66 |*1 2*66 |*1 3*66
-*200
k*200
s*200
h*200`},
		{"with a third pane and the detail below", 140, 10, with(func(s *tui.LayoutState) { s.Panes, s.Arrange = 3, tui.Below }), `
t*140
r*25 |*1 1*114
r*25 |*1 1*114
r*25 |*1 2*114
r*25 |*1 2*114
r*25 |*1 2*114
-*140
k*140
s*140
h*140`},
		{"zoomed on the third pane", 140, 10, with(func(s *tui.LayoutState) { s.Panes, s.Focus, s.Zoom = 3, 2, true }), `
t*140
3*140
3*140
3*140
3*140
3*140
-*140
k*140
s*140
h*140`},
		{"wide, resized", 120, 10, with(func(s *tui.LayoutState) { s.Split = 60 }), `
t*120
r*25 |*1 1*56 |*1 2*37
r*25 |*1 1*56 |*1 2*37
r*25 |*1 1*56 |*1 2*37
r*25 |*1 1*56 |*1 2*37
r*25 |*1 1*56 |*1 2*37
-*120
k*120
s*120
h*120`},
		{"wide without a rail", 120, 10, with(func(s *tui.LayoutState) { s.NoRail = true }), `
t*120
1*48 |*1 2*71
1*48 |*1 2*71
1*48 |*1 2*71
1*48 |*1 2*71
1*48 |*1 2*71
-*120
k*120
s*120
h*120`},
		{"wide without a rail, which is asked for", 120, 10, with(func(s *tui.LayoutState) { s.NoRail, s.Focus = true, tui.RailFocus }), `
t*120
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
r*25 |*1 1*37 |*1 2*56
-*120
k*120
s*120
h*120`},
		{"wide, zoomed on the detail", 120, 10, with(func(s *tui.LayoutState) { s.Zoom, s.Focus = true, 1 }), `
t*120
2*120
2*120
2*120
2*120
2*120
-*120
k*120
s*120
h*120`},
		{"wide, zoomed on the rail", 120, 10, with(func(s *tui.LayoutState) { s.Zoom, s.Focus = true, tui.RailFocus }), `
t*120
r*120
r*120
r*120
r*120
r*120
-*120
k*120
s*120
h*120`},
		{"middle", 119, 10, two, `
t*119
1*47 |*1 2*71
1*47 |*1 2*71
1*47 |*1 2*71
1*47 |*1 2*71
1*47 |*1 2*71
1*47 |*1 2*71
-*119
s*119
h*119`},
		{"middle with the rail asked for", 80, 10, with(func(s *tui.LayoutState) { s.Focus = tui.RailFocus }), `
t*80
r*80
r*80
r*80
r*80
r*80
r*80
-*80
s*80
h*80`},
		{"narrow on the list", 79, 10, two, `
c*79
1*79
1*79
1*79
1*79
1*79
1*79
-*79
s*79
h*79`},
		{"narrow on the detail", 40, 10, with(func(s *tui.LayoutState) { s.Focus = 1 }), `
c*40
2*40
2*40
2*40
2*40
2*40
2*40
-*40
s*40
h*40`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := draw(tui.Solve(c.w, c.h, c.s), c.w, c.h)
			if got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("Solve(%d, %d, %+v) draws\n%s\nwant%s", c.w, c.h, c.s, got, c.want)
			}
		})
	}
}

func TestSolveTooSmall(t *testing.T) {
	for _, size := range [][2]int{{39, 10}, {40, 9}, {0, 0}, {1, 1}} {
		if l := tui.Solve(size[0], size[1], tui.LayoutState{Panes: 2}); l != (tui.Layout{TooSmall: true}) {
			t.Errorf("Solve%v = %+v, want only TooSmall", size, l)
		}
	}
}

// Every cell belongs to exactly one part at every size and in every state.
func TestSolveTiles(t *testing.T) {
	for w := tui.MinWidth; w < 210; w += 13 {
		for h := tui.MinHeight; h < 70; h += 11 {
			for _, panes := range []int{1, 2} {
				for focus := tui.RailFocus; focus < panes; focus++ {
					for flags := range 6 {
						for _, share := range []int{0, -5, 50, 1000} {
							s := tui.LayoutState{
								Panes: panes, Focus: focus, Zoom: flags&1 != 0, Arrange: tui.Arrangement(flags / 2), StackUnder: 110,
								Split: share, Above: share, Rows: func(_, h int) int { return share + h },
							}
							if d := draw(tui.Solve(w, h, s), w, h); strings.ContainsAny(d, ".!") {
								t.Fatalf("Solve(%d, %d, %+v) leaves gaps or overlaps:\n%s", w, h, s, d)
							}
						}
					}
				}
			}
		}
	}
}
