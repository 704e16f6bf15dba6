package paint

import "strings"

// Borders is how frames and rules are drawn.
type Borders string

// The ways, of which "" is [Rounded].
const (
	Rounded Borders = "rounded"
	Square  Borders = "square"
	Heavy   Borders = "heavy"
	Double  Borders = "double"
	ASCII   Borders = "ascii"
)

// frame has the corners of a box from the top left one clockwise, its lines, its scroll bar, and where a line ends at
// another one: below it, to its right, above it.
type frame struct {
	topLeft, topRight, bottomRight, bottomLeft string
	across, down, bar                          string
	below, right, above                        string
	mark                                       string // of the selected line
}

func (b Borders) frame() frame {
	switch b {
	case Square:
		return frame{"┌", "┐", "┘", "└", "─", "│", "┃", "┬", "├", "┴", "▌"}
	case Heavy:
		return frame{"┏", "┓", "┛", "┗", "━", "┃", "█", "┳", "┣", "┻", "▌"}
	case Double:
		return frame{"╔", "╗", "╝", "╚", "═", "║", "┃", "╦", "╠", "╩", "▌"}
	case ASCII:
		return frame{"+", "+", "+", "+", "-", "|", "#", "+", "+", "+", ">"}
	}
	return frame{"╭", "╮", "╯", "╰", "─", "│", "┃", "┬", "├", "┴", "▌"}
}

// Floor is what the row below all panes has below one of them, w cells wide: a rule with safe text at its right end, at which
// the rule beside the pane ends if side is set.
func (t *Theme) Floor(w int, foot string, side bool) string {
	f, end := t.borders.frame(), ""
	if side {
		w, end = w-1, f.above
	}
	if foot = Cut(foot, w-4); foot == "" {
		return t.Border.S(strings.Repeat(f.across, max(w, 0)) + end)
	}
	return t.Border.S(strings.Repeat(f.across, w-3-Width(foot))) + " " + t.Muted.S(foot) + " " + t.Border.S(f.across+end)
}

// Framed is the theme with other frames.
func (t *Theme) Framed(b Borders) *Theme {
	t.borders = b
	return t
}
