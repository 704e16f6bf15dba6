package paint

// Borders is how frames are drawn.
type Borders string

// The ways, of which "" is [Rounded].
const (
	Rounded Borders = "rounded"
	Square  Borders = "square"
	Heavy   Borders = "heavy"
	Double  Borders = "double"
	ASCII   Borders = "ascii"
)

// frame has the corners of a box from the top left one clockwise, its lines, and its scroll bar.
type frame struct {
	topLeft, topRight, bottomRight, bottomLeft string
	across, down, bar                          string
}

func (b Borders) frame() frame {
	switch b {
	case Square:
		return frame{"┌", "┐", "┘", "└", "─", "│", "┃"}
	case Heavy:
		return frame{"┏", "┓", "┛", "┗", "━", "┃", "█"}
	case Double:
		return frame{"╔", "╗", "╝", "╚", "═", "║", "┃"}
	case ASCII:
		return frame{"+", "+", "+", "+", "-", "|", "#"}
	}
	return frame{"╭", "╮", "╯", "╰", "─", "│", "┃"}
}

// Framed is the theme with other frames.
func (t *Theme) Framed(b Borders) *Theme {
	t.borders = b
	return t
}
