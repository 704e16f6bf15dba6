package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Input edits a line of text, or with SetMulti several lines, by grapheme cluster. What it holds is exactly what was
// typed, pasted or set; only what it draws is made safe. The zero value is an empty line.
type Input struct {
	theme       *paint.Theme
	w, h        int
	focus       bool
	multi, mask bool
	painter     Painter
	edit
	goal     int // column that up and down keep to, -1 if the caret moved otherwise
	x, top   int // first visible cell and line
	rev      uint64
	out      []string
	fresh    bool
	cx, cy   int
	spans    []Span
	lineOffs []int
}

// SetTheme sets the styles to draw with.
func (n *Input) SetTheme(t *paint.Theme) {
	if n.theme != t {
		n.theme, n.fresh = t, false
	}
}

// SetSize sets width and height in cells.
func (n *Input) SetSize(w, h int) {
	if n.w != w || n.h != h {
		n.w, n.h, n.fresh = max(w, 0), max(h, 0), false
	}
}

// SetFocus says whether the input has the keyboard.
func (n *Input) SetFocus(on bool) {
	if n.focus != on {
		n.focus, n.fresh = on, false
	}
}

// SetMulti says whether the text has several lines. In a single line, line
// feeds that were pasted are kept and shown as ⏎.
func (n *Input) SetMulti(on bool) { n.multi, n.fresh = on, false }

// SetMask draws bullets instead of the text.
func (n *Input) SetMask(on bool) { n.mask, n.fresh = on, false }

// SetPainter colours the lines.
func (n *Input) SetPainter(p Painter) { n.painter, n.fresh = p, false }

// SetValue replaces the text, puts the caret at its end and forgets the history.
func (n *Input) SetValue(s string) {
	n.edit = edit{text: s, caret: len(s)}
	n.touch()
	n.x, n.top = 0, 0
}

// Value returns the text.
func (n *Input) Value() string { return n.text }

// Rev changes with the text.
func (n *Input) Rev() uint64 { return n.rev }

// Caret returns the offset of the caret in the text, in bytes.
func (n *Input) Caret() int { return n.caret }

// SetCaret moves the caret to an offset, or to the character that holds it.
func (n *Input) SetCaret(at int) {
	at = min(max(at, 0), len(n.text))
	for k := 0; k < utf8.UTFMax && at > 0 && at < len(n.text) && !utf8.RuneStart(n.text[at]); k++ {
		at--
	}
	n.caret, n.goal, n.typed, n.fresh = at, -1, false, false
}

// Insert replaces nothing and types s at the caret, as one step of the history.
func (n *Input) Insert(s string) {
	n.replace(n.caret, n.caret, s, false)
	n.touch()
}

// Replace replaces the bytes from..to (completion does that) in one step of the history.
func (n *Input) Replace(from, to int, s string) {
	from = min(max(from, 0), len(n.text))
	to = min(max(to, from), len(n.text))
	n.replace(from, to, s, false)
	n.touch()
}

func (n *Input) touch() {
	n.rev++
	n.goal, n.fresh = -1, false
}

// Key edits. key is the name of the key ("ctrl+left"), text what it types, if
// anything. It reports whether the key means something here.
func (n *Input) Key(key, text string) bool {
	if n.move(key) {
		n.typed, n.fresh = false, false
		return true
	}
	switch key {
	case "backspace":
		n.delete(n.before(n.caret), n.caret)
	case "delete", "ctrl+d":
		n.delete(n.caret, n.after(n.caret))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		n.delete(n.wordBefore(n.caret), n.caret)
	case "alt+d", "ctrl+delete", "alt+delete":
		n.delete(n.caret, n.wordAfter(n.caret))
	case "ctrl+u":
		n.delete(n.start(), n.caret)
	case "ctrl+k":
		end := n.end()
		if end == n.caret && end < len(n.text) {
			end++ // the line feed, as emacs does
		}
		n.delete(n.caret, end)
	case "ctrl+z":
		if n.back() {
			n.touch()
		}
	case "ctrl+y", "ctrl+shift+z":
		if n.again() {
			n.touch()
		}
	case "enter", "shift+enter":
		if !n.multi {
			return false
		}
		n.replace(n.caret, n.caret, "\n", false)
		n.touch()
	default:
		if text == "" || strings.HasPrefix(key, "ctrl+") || strings.HasPrefix(key, "alt+") {
			return false
		}
		n.replace(n.caret, n.caret, text, true)
		n.touch()
	}
	return true
}

func (n *Input) delete(from, to int) {
	n.replace(from, to, "", false)
	n.touch()
}

// start and end bound what home and end move in.
func (n *Input) start() int {
	if n.multi {
		return n.lineStart(n.caret)
	}
	return 0
}

func (n *Input) end() int {
	if n.multi {
		return n.lineEnd(n.caret)
	}
	return len(n.text)
}

func (n *Input) move(key string) bool {
	at := n.caret
	switch key {
	case "left", "ctrl+b":
		at = n.before(at)
	case "right", "ctrl+f":
		at = n.after(at)
	case "home", "ctrl+a":
		at = n.start()
	case "end", "ctrl+e":
		at = n.end()
	case "ctrl+left", "alt+left", "alt+b":
		at = n.wordBefore(at)
	case "ctrl+right", "alt+right", "alt+f":
		at = n.wordAfter(at)
	case "ctrl+home":
		at = 0
	case "ctrl+end":
		at = len(n.text)
	case "up":
		return n.vertical(-1)
	case "down":
		return n.vertical(1)
	case "pgup":
		return n.vertical(-max(n.h-1, 1))
	case "pgdown":
		return n.vertical(max(n.h-1, 1))
	default:
		return false
	}
	n.caret, n.goal = at, -1
	return true
}

// vertical moves by lines and keeps the column. At the first and last line the
// key is not taken: it means what it means around the input.
func (n *Input) vertical(d int) bool {
	if !n.multi {
		return false
	}
	start := n.lineStart(n.caret)
	if n.goal < 0 {
		n.goal = n.cells(start, n.caret)
	}
	moved := false
	for ; d < 0 && start > 0; d++ {
		start, moved = n.lineStart(start-1), true
	}
	for ; d > 0; d-- {
		end := n.lineEnd(start)
		if end == len(n.text) {
			break
		}
		start, moved = end+1, true
	}
	if moved {
		goal := n.goal
		n.caret = n.offset(start, goal)
		n.goal = goal
	}
	return moved
}

// cells is how wide text[from:to], part of one line, is drawn.
func (n *Input) cells(from, to int) int { return paint.Width(n.draw(n.text[from:to])) }

// offset returns the offset in the line that begins at start which is drawn at a column, or the end of the line.
func (n *Input) offset(start, column int) int {
	end := len(n.text)
	if n.multi {
		end = n.lineEnd(start)
	}
	end = min(end, start+drawCap)
	at := start
	for cell := 0; at < end; {
		next := min(n.after(at), end)
		cell += max(n.cells(at, next), 1)
		if cell > column {
			break
		}
		at = next
	}
	return at
}

// draw is how a part of a line looks.
func (n *Input) draw(s string) string {
	if !n.mask {
		return safe.Line(s, 0)
	}
	e := edit{text: s}
	var b strings.Builder
	for i := 0; i < len(s); i = e.after(i) {
		b.WriteString("•")
	}
	return b.String()
}

// Mouse puts the caret where was clicked and scrolls.
func (n *Input) Mouse(m Mouse) Hit {
	n.layout()
	switch m.Kind {
	case Click, DoubleClick:
		line := n.top + m.Y
		if m.Y < 0 || line >= len(n.lineOffs) {
			return HitNone
		}
		from := n.lineOffs[line]
		if f := n.from(line); f > from {
			from = f
		}
		n.caret, n.goal, n.typed, n.fresh = n.offset(from, m.X+n.x), -1, false, false
		return HitSelect
	case WheelUp:
		if n.vertical(-wheel) {
			n.fresh = false
			return HitScroll
		}
	case WheelDown:
		if n.vertical(wheel) {
			n.fresh = false
			return HitScroll
		}
	}
	return HitNone
}

// layout finds the lines.
func (n *Input) layout() {
	n.lineOffs = append(n.lineOffs[:0], 0)
	for at := 0; n.multi; {
		i := strings.IndexByte(n.text[at:], '\n')
		if i < 0 {
			return
		}
		at += i + 1
		n.lineOffs = append(n.lineOffs, at)
	}
}

// from is where the drawn part of a line begins: of a very long one, only what is around the caret is drawn.
func (n *Input) from(line int) int {
	start := n.lineOffs[line]
	if n.caret < start || n.caret-start <= drawCap/2 || line+1 < len(n.lineOffs) && n.caret >= n.lineOffs[line+1] {
		return start
	}
	from := n.caret - drawCap/2
	for k := 0; k < utf8.UTFMax && !utf8.RuneStart(n.text[from]); k++ {
		from--
	}
	return from
}

// Scroll returns the first visible line and the number of lines.
func (n *Input) Scroll() (pos, total int) { return n.top, strings.Count(n.text, "\n") + 1 }

// Cursor returns the cell of the caret for the terminal's own cursor; ok is false while the input has not the keyboard.
func (n *Input) Cursor() (x, y int, ok bool) {
	n.Lines()
	return n.cx, n.cy, n.focus && n.w > 0 && n.h > 0
}

// Lines returns the visible lines. The slice is the input's own until the next call.
func (n *Input) Lines() []string {
	if n.fresh {
		return n.out
	}
	n.out, n.fresh = n.out[:0], true
	if n.theme == nil || n.w <= 0 || n.h <= 0 {
		return n.out
	}
	n.layout()
	cur := len(n.lineOffs) - 1
	for n.lineOffs[cur] > n.caret {
		cur--
	}
	n.top = min(max(n.top, cur-n.h+1), cur)
	n.top = max(min(n.top, len(n.lineOffs)-n.h), 0)
	column := n.cells(n.from(cur), n.caret)
	n.x = min(n.x, column)
	if column >= n.x+n.w {
		n.x = column - n.w + 1
	}
	n.cx, n.cy = column-n.x, cur-n.top
	for i := n.top; i < min(n.top+n.h, len(n.lineOffs)); i++ {
		n.out = append(n.out, n.row(i))
	}
	return n.out
}

func (n *Input) row(i int) string {
	from, to := n.from(i), len(n.text)
	if i+1 < len(n.lineOffs) {
		to = n.lineOffs[i+1] - 1
	}
	s := n.draw(n.text[from:min(to, from+drawCap)])
	a, b, lead, _ := window(s, n.x, n.w)
	n.spans = n.spans[:0]
	if n.painter != nil && !n.mask {
		n.spans = n.painter(n.theme, s[:b], n.spans)
	}
	row := append(make([]byte, 0, b-a+lead+32), paint.Blanks(lead)...)
	return string(appendSpans(row, s, a, b, n.spans, nil))
}
