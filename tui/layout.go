package tui

// Rect is a rectangle of terminal cells; the zero value is "not there".
type Rect struct {
	X, Y, W, H int
}

// Empty reports whether the rectangle has no cells.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell lies in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Inner is the rectangle of a pane without its title row and the blank at each side.
func (r Rect) Inner() Rect {
	return Rect{r.X + 1, r.Y + 1, max(r.W-2, 0), max(r.H-1, 0)}
}

// framed is the rectangle of a dialog without its frame.
func (r Rect) framed() Rect {
	r = r.Inner()
	r.H = max(r.H-1, 0)
	return r
}

// Widths at which the arrangement changes, and the smallest screen that is drawn at all.
const (
	ThirdWidth = 140
	WideWidth  = 120
	MidWidth   = 80
	MinWidth   = 40
	MinHeight  = 10
)

// Bounds of what `<` and `>` can do, in percent of the space for list and detail, and the rail's width with the rule beside it.
const (
	MinSplit     = 20
	MaxSplit     = 80
	DefaultSplit = 40
	RailWidth    = 26
)

// Arrangement is where the second of two panes goes.
type Arrangement uint8

// The arrangements: below the first one where the panes have less than StackUnder columns, or as the user chose.
const (
	Automatic Arrangement = iota
	Beside
	Below
)

// RailFocus is LayoutState.Focus when the server rail has the keys.
const RailFocus = -1

// LayoutState is everything besides the terminal's size that decides where things are.
type LayoutState struct {
	// Panes is how many panes of the visible view have something to show, 1 to 3.
	Panes int
	// Focus is the index of the focused pane, or RailFocus.
	Focus int
	// Zoom gives the focused pane all the room.
	Zoom bool
	// Arrange is where the second pane goes, StackUnder the columns below which [Automatic] puts it below the first one.
	Arrange    Arrangement
	StackUnder int
	// Split is the list's share in percent beside the detail; 0 means DefaultSplit.
	Split int
	// Above is its share above the detail. 0 means Rows: how many of h rows it takes, both panes having w by h cells, title
	// rows included; nil means DefaultSplit.
	Above int
	Rows  func(w, h int) int
	// NoRail leaves the rail out unless it has the keys.
	NoRail bool
}

// Layout says where things are. Rectangles of panes include their title rows and the blanks at their sides.
type Layout struct {
	// TooSmall says that nothing but a message fits.
	TooSmall bool
	// Tabs is the top line: tabs, or breadcrumbs where Crumbs is true.
	Tabs   Rect
	Crumbs bool
	Rail   Rect
	Panes  [3]Rect
	// Below is whether the second pane is below the first one.
	Below bool
	// Rules are the columns to the right of the rail and of the first two panes, where something is beside them.
	Rules [3]Rect
	// Rule is the row below all panes, which a toast replaces.
	Rule   Rect
	Ticker Rect
	Status Rect
	// Hints is the hint bar, which the prompt line replaces.
	Hints Rect
}

// Solve arranges a screen of w by h cells. It is a pure function.
//
// From WideWidth on there is the server rail, list and detail, and a ticker, from ThirdWidth on the third pane where the
// second one is beside the first; from MidWidth list and detail; below it one pane.
func Solve(w, h int, s LayoutState) Layout {
	if w < MinWidth || h < MinHeight {
		return Layout{TooSmall: true}
	}
	l := Layout{
		Tabs:   Rect{0, 0, w, 1},
		Crumbs: w < MidWidth,
		Status: Rect{0, h - 2, w, 1},
		Hints:  Rect{0, h - 1, w, 1},
	}
	room := Rect{0, 1, w, h - 4}
	if w >= WideWidth {
		l.Ticker = Rect{0, h - 3, w, 1}
		room.H--
	}
	l.Rule = Rect{0, room.Y + room.H, w, 1}
	switch {
	case s.Focus == RailFocus && (s.Zoom || w < WideWidth):
		l.Rail = room
	case s.Zoom || w < MidWidth:
		l.Panes[index(s)] = room
	default:
		if w >= WideWidth && (!s.NoRail || s.Focus == RailFocus) {
			l.Rail, room = beside(room, RailWidth-1)
			l.Rules[0] = ruleAfter(l.Rail)
		}
		l.Below = s.Panes > 1 && (s.Arrange == Below || s.Arrange == Automatic && room.W < s.StackUnder)
		if s.Panes > 2 && FitsThird(w, s.Arrange) {
			room, l.Panes[2] = beside(room, room.W-room.W/3-1)
			l.Rules[2] = ruleAfter(room)
		}
		l.Panes[0], l.Panes[1] = split(room, s, l.Below)
		if s.Panes > 1 && !l.Below {
			l.Rules[1] = ruleAfter(l.Panes[0])
		}
	}
	return l
}

// FitsThird is whether a screen of w columns has room for a third pane, the second one being where a says.
func FitsThird(w int, a Arrangement) bool { return w >= ThirdWidth && a != Below }

// beside takes w columns and one for a rule from the left of the room.
func beside(room Rect, w int) (left, rest Rect) {
	left, rest = room, room
	left.W = w
	rest.X += w + 1
	rest.W -= w + 1
	return left, rest
}

// ruleAfter is the column behind a rectangle.
func ruleAfter(r Rect) Rect { return Rect{r.X + r.W, r.Y, 1, r.H} }

// index is the pane that a lone pane is.
func index(s LayoutState) int {
	return min(max(s.Focus, 0), s.Panes-1)
}

// split divides the room between list and detail.
func split(room Rect, s LayoutState, below bool) (a, b Rect) {
	if s.Panes < 2 {
		return room, b
	}
	if !below {
		return beside(room, room.W*share(s.Split)/100)
	}
	a, b = room, room
	if s.Above == 0 && s.Rows != nil {
		a.H = s.Rows(room.W, room.H)
	} else {
		a.H = room.H * share(s.Above) / 100
	}
	a.H = min(max(a.H, 3), room.H-3)
	b.Y, b.H = room.Y+a.H, room.H-a.H
	return a, b
}

// share is a share in percent within its bounds.
func share(n int) int {
	if n == 0 {
		n = DefaultSplit
	}
	return min(max(n, MinSplit), MaxSplit)
}
