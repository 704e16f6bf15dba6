package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// text is an editable text of one or more lines. What it holds is exactly
// what was typed or set; only drawing makes it safe.
type text struct {
	lines []string
	row   int  // cursor
	col   int  // in bytes of its line
	left  int  // first byte drawn of the cursor's line
	top   int  // first line drawn
	all   bool // all of it is selected: what is typed replaces it
}

func newText(s string) *text {
	t := &text{lines: strings.Split(s, "\n")}
	t.row = len(t.lines) - 1
	t.col = len(t.lines[t.row])
	return t
}

func (t *text) String() string { return strings.Join(t.lines, "\n") }

func (t *text) empty() bool { return len(t.lines) == 1 && t.lines[0] == "" }

// pasted brings line ends to line feeds; terminals send carriage returns.
func pasted(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (t *text) insert(s string) {
	if t.all {
		*t = text{lines: []string{""}}
	}
	line := t.lines[t.row]
	head, tail := line[:t.col], line[t.col:]
	add := strings.Split(s, "\n")
	if len(add) == 1 {
		t.lines[t.row] = head + s + tail
		t.col += len(s)
		return
	}
	last := len(add) - 1
	end := len(add[last])
	add[0] = head + add[0]
	add[last] += tail
	lines := make([]string, 0, len(t.lines)+last)
	lines = append(append(append(lines, t.lines[:t.row]...), add...), t.lines[t.row+1:]...)
	t.lines, t.row, t.col = lines, t.row+last, end
}

// key applies an editing key; changed says whether the text is another now.
func (t *text) key(m tea.KeyPressMsg) (handled, changed bool) {
	if k := m.String(); t.all && (k == "backspace" || k == "delete") {
		*t = text{lines: []string{""}}
		return true, true
	}
	defer func() { t.all = t.all && !handled }()
	line := t.lines[t.row]
	switch m.String() {
	case "left":
		if t.col == 0 && t.row > 0 {
			t.row--
			t.col = len(t.lines[t.row])
		} else {
			t.col = prev(line, t.col)
		}
	case "right":
		if t.col == len(line) && t.row < len(t.lines)-1 {
			t.row, t.col = t.row+1, 0
		} else {
			t.col = after(line, t.col)
		}
	case "home":
		t.col = 0
	case "end":
		t.col = len(line)
	case "ctrl+left", "alt+left", "alt+b":
		t.col = wordLeft(line, t.col)
	case "ctrl+right", "alt+right", "alt+f":
		t.col = wordRight(line, t.col)
	case "backspace":
		if t.col == 0 {
			return true, t.joinUp()
		}
		return true, t.cut(prev(line, t.col), t.col)
	case "delete":
		if t.col == len(line) {
			if t.row == len(t.lines)-1 {
				return true, false
			}
			t.row, t.col = t.row+1, 0
			return true, t.joinUp()
		}
		return true, t.cut(t.col, after(line, t.col))
	case "ctrl+w", "alt+backspace":
		return true, t.cut(wordLeft(line, t.col), t.col)
	case "ctrl+u":
		return true, t.cut(0, t.col)
	case "ctrl+k":
		return true, t.cut(t.col, len(line))
	default:
		if m.Text == "" || m.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper) != 0 {
			return false, false
		}
		t.insert(m.Text)
		return true, true
	}
	return true, false
}

// vertical moves the cursor by lines; false when it is at the edge.
func (t *text) vertical(by int) bool {
	row := min(max(t.row+by, 0), len(t.lines)-1)
	if row == t.row {
		return false
	}
	t.row = row
	t.col = min(t.col, len(t.lines[row]))
	for t.col > 0 && t.col < len(t.lines[row]) && !utf8.RuneStart(t.lines[row][t.col]) {
		t.col--
	}
	t.left = 0
	return true
}

func (t *text) cut(from, to int) bool {
	line := t.lines[t.row]
	t.lines[t.row] = line[:from] + line[to:]
	t.col = from
	return from != to
}

func (t *text) joinUp() bool {
	if t.row == 0 {
		return false
	}
	t.col = len(t.lines[t.row-1])
	t.lines[t.row-1] += t.lines[t.row]
	t.lines = append(t.lines[:t.row:t.row], t.lines[t.row+1:]...)
	t.row--
	return true
}

// goTo puts the cursor at line and column, both from 1, columns in characters.
func (t *text) goTo(line, column int) {
	t.row = min(max(line-1, 0), len(t.lines)-1)
	t.col = 0
	for range column - 1 {
		_, n := utf8.DecodeRuneInString(t.lines[t.row][t.col:])
		t.col += n
	}
	t.left = 0
}

// cluster returns the first character of s as a reader sees it: its bytes,
// how it is shown, and in how many cells.
func cluster(s string) (n int, shown string, w int) {
	if c := s[0]; c >= 0x20 && c < 0x7f && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, s[:1], 1
	}
	g, _ := ansi.FirstGraphemeCluster(s[:min(len(s), 256)], ansi.GraphemeWidth)
	if g == "" {
		g = s[:1]
	}
	shown = safe.Line(g, 0)
	return len(g), shown, paint.Width(shown)
}

func after(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	n, _, _ := cluster(s[i:])
	return i + n
}

func prev(s string, i int) int {
	start := max(i-128, 0)
	for start > 0 && !utf8.RuneStart(s[start]) {
		start--
	}
	at := start
	for at < i {
		n := after(s[:i], at)
		if n >= i {
			break
		}
		at = n
	}
	return at
}

func wordLeft(s string, i int) int {
	rs := []rune(s[:i])
	p := len(rs)
	for p > 0 && !wordRune(rs[p-1]) {
		p--
	}
	for p > 0 && wordRune(rs[p-1]) {
		p--
	}
	return len(string(rs[:p]))
}

func wordRight(s string, i int) int {
	seen := false
	for j, r := range s[i:] {
		if w := wordRune(r); w {
			seen = true
		} else if seen {
			return i + j
		}
	}
	return len(s)
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// window returns what of the cursor's line is visible in w cells, and the
// cursor's cell in it. Nothing beyond the window is measured.
func (t *text) window(w int) (string, int) {
	line := t.lines[t.row]
	if w <= 1 {
		return "", 0
	}
	t.left = min(t.left, len(line))
	if t.col < t.left {
		t.left = t.col
	}
	if t.col-t.left > 8*w { // far right: start near the cursor
		t.left = t.col - 4*w
		for t.left > 0 && !utf8.RuneStart(line[t.left]) {
			t.left--
		}
	}
	x := widthOf(line[t.left:t.col])
	for x >= w && t.left < t.col {
		n, _, cw := cluster(line[t.left:])
		t.left += n
		x -= cw
	}
	return clipLine(line[t.left:], w), x
}

func widthOf(s string) (w int) {
	for i := 0; i < len(s); {
		n, _, cw := cluster(s[i:])
		i, w = i+n, w+cw
	}
	return w
}

// clipLine shows the beginning of s in at most w cells.
func clipLine(s string, w int) string {
	var b strings.Builder
	for i, x := 0, 0; i < len(s); {
		n, shown, cw := cluster(s[i:])
		if x += cw; x > w {
			break
		}
		b.WriteString(shown)
		i += n
	}
	return b.String()
}

// at returns the byte of line that cell x of it shows.
func at(line string, x int) int {
	for i, cell := 0, 0; i < len(line); {
		n, _, cw := cluster(line[i:])
		if cell += cw; cell > x {
			return i
		}
		i += n
	}
	return len(line)
}
