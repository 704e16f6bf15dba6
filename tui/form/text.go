package form

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// textInput is an input of one or more lines. The form keeps some of its keys for
// itself, and undoes by values rather than by letters.
type textInput struct {
	in  widget.Input
	all bool // all of it is selected: what is typed replaces it
}

func newText(s string) *textInput {
	t := &textInput{}
	t.in.SetMulti(true)
	t.in.SetFocus(true)
	t.in.SetValue(s)
	return t
}

// newLine is a text of one line: a filter, a key.
func newLine(s string) *textInput {
	t := newText(s)
	t.in.SetMulti(false)
	return t
}

func (t *textInput) String() string { return t.in.Value() }

func (t *textInput) empty() bool { return t.in.Value() == "" }

// count returns the number of lines.
func (t *textInput) count() int { return strings.Count(t.in.Value(), "\n") + 1 }

// pasted brings line ends to line feeds; terminals send carriage returns.
func pasted(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (t *textInput) insert(s string) {
	if t.all {
		t.all = false
		t.in.Replace(0, len(t.in.Value()), "")
	}
	t.in.Insert(s)
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
		t.in.Replace(0, len(t.in.Value()), "")
		if typed == "" {
			t.all = false
			return true, true
		}
	}
	rev := t.in.Rev()
	handled = t.in.Key(k, typed)
	t.all = t.all && !handled
	return handled, t.in.Rev() != rev
}

// vertical moves the cursor by lines; false when it is at the edge.
func (t *textInput) vertical(by int) bool {
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
	t.in.SetTheme(th)
	t.in.SetSize(w, h)
	lines = t.in.Lines()
	x, y, _ = t.in.Cursor()
	return lines, x, y
}
