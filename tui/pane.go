package tui

import tea "charm.land/bubbletea/v2"

// Pane is the canvas of one pane of a view. The shell owns it and keeps it
// between draws; a view's Draw reads W, H and Focused and sets the rest.
type Pane struct {
	// ID is the id of the PaneSpec.
	ID string
	// W and H are the cells below the title row and between the blanks at the sides.
	W, H int
	// Focused is whether keys go to this pane.
	Focused bool

	// Title and Badge are sanitised plain text for the title row's left and right end ("Tools", "3 of 12").
	Title, Badge string
	// Warn draws the title in the colour of warnings; its words say which.
	Warn bool
	// Foot is sanitised plain text for the right end of the line below the pane ("24 tools"), behind the badge where that line is
	// the title row of another; an overlay without one says how it closes.
	Foot string
	// Lines are safe, already styled rows, each at most W cells wide; the shell
	// fills up with blanks and ignores rows beyond H.
	Lines []string
	// Scroll places the thumb at the right edge.
	Scroll Scroll
	// Selected is the number of the line under the cursor of a list, from 1; 0 if there is none.
	Selected int
	// Server is whose that line is, by name, on a screen about all servers: its colour marks the line. "" is nobody's.
	Server string

	filter string   // what is applied by `/`
	lead   []string // the way to it, for its border
	key    paneKey
	extra  []any
	cursor *tea.Cursor

	boxed boxCache
}

// Scroll is the position of the first visible row among Total rows. Total 0 or <= H draws no thumb.
type Scroll struct {
	Pos, Total int
}

// paneKey is what always decides whether a pane must be drawn again.
type paneKey struct {
	w, h    int
	focused bool
	theme   *Theme
}

// Same reports whether size, focus, theme and the given keys are those of the
// last call, and remembers them. A view starts Draw with
//
//	if p.Same(c, v.rev, v.cursor) { return p.Cursor() }
//
// where the keys are everything else that its lines depend on (comparable
// values only; a value that cannot be compared counts as changed).
func (p *Pane) Same(c *Ctx, keys ...any) bool {
	k := paneKey{p.W, p.H, p.Focused, c.Theme}
	same := k == p.key && len(keys) == len(p.extra) && p.Lines != nil
	for i := 0; same && i < len(keys); i++ {
		same = equal(keys[i], p.extra[i])
	}
	if !same {
		p.key = k
		p.extra = append(p.extra[:0], keys...)
	}
	return same
}

// Cursor is what Draw returned last.
func (p *Pane) Cursor() *tea.Cursor { return p.cursor }

// equal compares without panicking on values that cannot be compared.
func equal(a, b any) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	return a == b
}
