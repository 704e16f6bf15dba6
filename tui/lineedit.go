package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// maxLineEdit bounds what can be pasted into a prompt, in bytes.
const maxLineEdit = 64 << 10

// lineEdit is one line of text with a cursor, for the prompt and for searching
// in overlays: an Input that flattens what is pasted and is drawn plain.
type lineEdit struct {
	in    widget.Input
	plain paint.Theme
}

func (e *lineEdit) String() string { return e.in.Value() }

func (e *lineEdit) set(s string) { e.in.SetValue(s) }

// insert puts text at the cursor; line feeds become blanks.
func (e *lineEdit) insert(s string) {
	s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
	if room := max(0, maxLineEdit-len(e.in.Value())); len(s) > room {
		for room > 0 && !utf8.RuneStart(s[room]) {
			room--
		}
		s = s[:room]
	}
	e.in.Insert(s)
}

// key applies an editing key and reports whether it was one.
func (e *lineEdit) key(m tea.KeyPressMsg) bool {
	k := m.String()
	if k == "ctrl+h" { // what some terminals send for backspace
		k = "backspace"
	}
	if m.Mod&(tea.ModMeta|tea.ModSuper) != 0 {
		return false
	}
	return e.in.Key(k, m.Text)
}

// draw returns the visible part in w cells, and the cursor's cell in it.
func (e *lineEdit) draw(w int, secret bool) (string, int) {
	if w < 2 {
		return "", 0
	}
	e.in.SetTheme(&e.plain)
	e.in.SetSize(w, 1)
	e.in.SetFocus(true)
	e.in.SetMask(secret)
	x, _, _ := e.in.Cursor()
	return strings.Join(e.in.Lines(), ""), x
}
