package widget

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Bounds of a [Line], in bytes: of what it takes, and of what [LineHolds], which is asked at every key.
const (
	maxLine  = 64 << 10
	MaxField = 2 << 10
)

// Line is one line of text with a cursor: bubbles' textinput, which can also have all of it selected. What is pasted is made
// one line of it, without controls. For text that must stay as it is there is [Input]. The zero value is an empty line.
type Line struct {
	in    textinput.Model
	ready bool
	all   bool
	first int // first visible character
}

func (l *Line) model() *textinput.Model {
	if !l.ready {
		l.in = textinput.New()
		l.in.Prompt, l.in.CharLimit = "", maxLine
		l.in.SetVirtualCursor(false)
		l.in.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // terminals paste by themselves
		_ = l.in.Focus()
		l.ready = true
	}
	return &l.in
}

// LineHolds reports whether a Line keeps a text as it is, draws it as it is, and moves in it as people expect, which it does
// by code points.
func LineHolds(s string) bool {
	if len(s) > MaxField || !utf8.ValidString(s) {
		return false
	}
	for i, r := range s {
		switch {
		case r < 0x20 || r == 0x7f:
			return false
		case r >= 0x80:
			return safe.Line(s, 0) == s && singles(s[i:])
		}
	}
	return true
}

// singles reports whether each cluster of a text is one code point.
func singles(s string) bool {
	for len(s) > 0 {
		n, _, _ := paint.Next(s)
		if _, size := utf8.DecodeRuneInString(s); n > size {
			return false
		}
		s = s[max(n, 1):]
	}
	return true
}

// Value returns the text.
func (l *Line) Value() string { return l.model().Value() }

// SetValue replaces the text and puts the cursor at its end.
func (l *Line) SetValue(s string) {
	m := l.model()
	m.SetValue(s)
	m.CursorEnd()
	l.all = false
}

// Select selects all of the text: what is typed replaces it, and moving the cursor keeps it.
func (l *Line) Select() { l.all = l.Value() != "" }

// Selected reports whether all of the text is selected.
func (l *Line) Selected() bool { return l.all }

// Insert puts text at the cursor, or in place of what is selected.
func (l *Line) Insert(s string) {
	if l.all {
		l.SetValue("")
	}
	m := l.model()
	*m, _ = m.Update(tea.PasteMsg{Content: strings.ReplaceAll(s, "\r\n", "\n")})
}

// Key edits and reports whether the key means something here.
func (l *Line) Key(k tea.KeyPressMsg) bool {
	m := l.model()
	if k.Mod&(tea.ModMeta|tea.ModSuper) != 0 {
		return false
	}
	typed := k.Text != "" && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0
	edits := typed || key.Matches(k, m.KeyMap.CharacterForward, m.KeyMap.CharacterBackward, m.KeyMap.WordForward, m.KeyMap.WordBackward,
		m.KeyMap.DeleteWordBackward, m.KeyMap.DeleteWordForward, m.KeyMap.DeleteAfterCursor, m.KeyMap.DeleteBeforeCursor,
		m.KeyMap.DeleteCharacterBackward, m.KeyMap.DeleteCharacterForward, m.KeyMap.LineStart, m.KeyMap.LineEnd)
	if !edits {
		return false
	}
	if l.all {
		l.all = false
		if typed || key.Matches(k, m.KeyMap.DeleteCharacterBackward, m.KeyMap.DeleteCharacterForward) {
			m.SetValue("")
			if !typed {
				return true
			}
		}
	}
	if key.Matches(k, m.KeyMap.DeleteWordForward) && strings.TrimSpace(string([]rune(m.Value())[m.Position():])) == "" {
		k = tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl} // textinput looks for a word behind the end
	}
	*m, _ = m.Update(k)
	return true
}

// Cursor returns the offset of the cursor in the text, in characters, and SetCursor moves it.
func (l *Line) Cursor() int { return l.model().Position() }

// SetCursor moves the cursor to a character.
func (l *Line) SetCursor(at int) { l.model().SetCursor(at); l.all = false }

// Click puts the cursor at a cell of what was drawn last.
func (l *Line) Click(x int) {
	runes, at := []rune(l.Value()), l.first
	for cells := 0; at < len(runes); at++ {
		if cells += cellsOf(runes[at]); cells > x {
			break
		}
	}
	l.SetCursor(at)
}

// Draw returns the visible part of the text in at most w cells, safe and plain, and the cursor's cell in it. A mask draws
// bullets in place of it. textinput's own view is not safe, and its cursor takes every character for one cell.
func (l *Line) Draw(w int, mask bool) (string, int) {
	if w < 2 {
		return "", 0
	}
	runes, at := []rune(l.Value()), l.Cursor()
	if mask {
		for i := range runes {
			runes[i] = '•'
		}
	}
	l.first = min(l.first, at)
	room := w - 1 // and the cell of the cursor behind the end
	for i := at - 1; i >= l.first; i-- {
		if room -= cellsOf(runes[i]); room < 0 {
			l.first = i + 1
			break
		}
	}
	if room = w - 1; len(runes)-l.first < w { // nothing at the left is hidden that has room
		for _, r := range runes[l.first:] {
			room -= cellsOf(r)
		}
		for l.first > 0 && room >= cellsOf(runes[l.first-1]) {
			l.first--
			room -= cellsOf(runes[l.first])
		}
	}
	x := paint.Width(safe.Line(string(runes[l.first:at]), 0))
	return paint.Cut(safe.Line(string(runes[l.first:min(l.first+w, len(runes))]), 0), w), min(x, w-1)
}

// Cell is the cell at which a character was drawn last; less than 0 for one that is hidden at the left.
func (l *Line) Cell(at int) int {
	runes := []rune(l.Value())
	at = min(max(at, 0), len(runes))
	if at < l.first {
		return -1
	}
	return paint.Width(safe.Line(string(runes[l.first:at]), 0))
}

// cellsOf is how many cells a character takes as it is drawn.
func cellsOf(r rune) int {
	if r >= 0x20 && r < 0x7f {
		return 1
	}
	return paint.Width(safe.Line(string(r), 0))
}
