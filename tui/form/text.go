package form

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// textInput is an input of one or more lines. The form keeps some of its keys for itself, and undoes by values rather than by
// letters. It is a widget.Line for as long as that holds the text, and an own widget.Input for all else: several lines, tabs
// and other controls, which a JSON string may have and which must stay; emoji and scripts of several code points; very long
// text; and the raw editor. There bubbles' textarea does not do: it writes tabs as blanks, colours and undoes nothing, and
// takes 3 ms for a key in 10 lines and 7 ms in 200, where a key and its frame have 2; the own one takes 0.02 ms.
type textInput struct {
	in   widget.Input
	one  *widget.Line
	mask bool
	all  bool // all of it is selected: what is typed replaces it
}

// newText is a text of any kind.
func newText(s string) *textInput {
	t := &textInput{}
	t.in.SetMulti(true)
	t.in.SetFocus(true)
	t.in.SetValue(s)
	return t
}

// newField is a text that most likely is one short line.
func newField(s string) *textInput {
	t := newText("")
	if !widget.LineHolds(s) {
		t.in.SetValue(s)
		return t
	}
	t.one = &widget.Line{}
	t.one.SetValue(s)
	return t
}

// newLine is a text of one line: a filter, a key.
func newLine(s string) *textInput {
	t := newField(s)
	t.in.SetMulti(false)
	return t
}

// grow goes on with the input that holds everything.
func (t *textInput) grow() {
	if t.one != nil {
		at := len(string([]rune(t.one.Value())[:t.one.Cursor()]))
		t.in.SetValue(t.one.Value())
		t.in.SetCaret(at)
		t.one = nil
	}
}

func (t *textInput) String() string {
	if t.one != nil {
		return t.one.Value()
	}
	return t.in.Value()
}

func (t *textInput) empty() bool { return t.String() == "" }

// count returns the number of lines.
func (t *textInput) count() int { return strings.Count(t.String(), "\n") + 1 }

// pasted brings line ends to line feeds; terminals send carriage returns.
func pasted(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (t *textInput) insert(s string) {
	if t.all {
		t.clear()
	}
	if t.one != nil {
		now := t.one.Value()
		if widget.LineHolds(s) && len(now)+len(s) < widget.MaxField {
			t.one.Insert(s)
			t.check()
			return
		}
		t.grow()
	}
	t.in.Insert(s)
}

// clear takes all of the text away.
func (t *textInput) clear() {
	t.all = false
	if t.one != nil {
		t.one.SetValue("")
		return
	}
	t.in.Replace(0, len(t.in.Value()), "")
}

// check leaves a line that does not hold its text any more.
func (t *textInput) check() {
	if !widget.LineHolds(t.one.Value()) {
		t.grow()
	}
}

// click puts the cursor at a cell of what was drawn.
func (t *textInput) click(x, y int) bool {
	t.all = false
	if t.one != nil {
		t.one.Click(x)
		return true
	}
	return t.in.Mouse(widget.Mouse{Kind: widget.Click, X: x, Y: y}) != widget.HitNone
}

// key applies an editing key; changed says whether the text is another now.
func (t *textInput) key(m tea.KeyPressMsg) (handled, changed bool) {
	k := m.String()
	switch k {
	case "ctrl+e", "ctrl+a", "ctrl+b", "ctrl+d", "ctrl+f", "ctrl+y", "ctrl+z", "enter", "shift+enter", "up", "down", "pgup", "pgdown":
		return false, false // the form's, the caller's, or a multiplexer's
	}
	typed := m.Text
	if m.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper) != 0 {
		typed = ""
	}
	if t.all && (typed != "" || k == "backspace" || k == "delete") {
		t.clear()
		if typed == "" {
			return true, true
		}
	}
	if t.one != nil {
		before := t.one.Value()
		handled = t.one.Key(m)
		t.all = t.all && !handled
		changed = t.one.Value() != before
		if t.check(); t.one == nil {
			changed = true
		}
		return handled, changed
	}
	rev := t.in.Rev()
	handled = t.in.Key(k, typed)
	t.all = t.all && !handled
	return handled, t.in.Rev() != rev
}

// vertical moves the cursor by lines; false when it is at the edge.
func (t *textInput) vertical(by int) bool {
	if t.one != nil {
		return false
	}
	k := "down"
	if by < 0 {
		k, by = "up", -by
	}
	moved := false
	for range by {
		if !t.in.Key(k, "") {
			break
		}
		moved = true
	}
	return moved
}

// goTo puts the cursor at line and column, both from 1, columns in characters.
func (t *textInput) goTo(line, column int) {
	s, at := t.in.Value(), 0
	for ; line > 1; line-- {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	for i := range s[at:] {
		if column--; column == 0 {
			t.in.SetCaret(at + i)
			return
		}
	}
	t.in.SetCaret(len(s))
}

// line returns what stands before the cursor on its line.
func (t *textInput) line() string {
	s := t.in.Value()[:t.in.Caret()]
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// draw returns the visible lines in w by h cells, and the cursor's cell.
func (t *textInput) draw(th *paint.Theme, w, h int) (lines []string, x, y int) {
	if t.one != nil {
		text, x := t.one.Draw(w, t.mask)
		return []string{text}, x, 0
	}
	t.in.SetTheme(th)
	t.in.SetSize(w, h)
	t.in.SetMask(t.mask)
	lines = t.in.Lines()
	x, y, _ = t.in.Cursor()
	return lines, x, y
}
