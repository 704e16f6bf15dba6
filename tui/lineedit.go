package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/safe"
)

// maxLineEdit bounds what can be pasted into a prompt, in runes.
const maxLineEdit = 64 << 10

// lineEdit is one line of text with a cursor, for the prompt and for searching
// in overlays. The text is kept as typed; drawing makes it safe.
type lineEdit struct {
	text []rune
	pos  int // cursor, in runes
	left int // first rune drawn
}

func (e *lineEdit) String() string { return string(e.text) }

func (e *lineEdit) set(s string) {
	e.text = []rune(s)
	e.pos, e.left = len(e.text), 0
}

// insert puts text at the cursor; line feeds become blanks.
func (e *lineEdit) insert(s string) {
	s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
	add := []rune(s)
	add = add[:min(len(add), max(0, maxLineEdit-len(e.text)))]
	rest := append(add, e.text[e.pos:]...)
	e.text = append(e.text[:e.pos:e.pos], rest...)
	e.pos += len(add)
}

// key applies an editing key and reports whether it was one.
func (e *lineEdit) key(m tea.KeyPressMsg) bool {
	switch m.String() {
	case "left", "ctrl+b":
		e.pos = e.step(-1)
	case "right", "ctrl+f":
		e.pos = e.step(1)
	case "home", "ctrl+a":
		e.pos = 0
	case "end", "ctrl+e":
		e.pos = len(e.text)
	case "alt+left", "ctrl+left", "alt+b":
		e.pos = e.word(-1)
	case "alt+right", "ctrl+right", "alt+f":
		e.pos = e.word(1)
	case "backspace", "ctrl+h":
		e.cut(e.step(-1), e.pos)
	case "delete", "ctrl+d":
		e.cut(e.pos, e.step(1))
	case "ctrl+w", "alt+backspace":
		e.cut(e.word(-1), e.pos)
	case "ctrl+u":
		e.cut(0, e.pos)
	case "ctrl+k":
		e.cut(e.pos, len(e.text))
	default:
		if m.Text == "" || m.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper) != 0 {
			return false
		}
		e.insert(m.Text)
	}
	return true
}

func (e *lineEdit) cut(from, to int) {
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.pos = from
}

// step is the position one character further, over combining marks.
func (e *lineEdit) step(by int) int {
	p := e.pos + by
	for p > 0 && p < len(e.text) && unicode.Is(unicode.M, e.text[p]) {
		p += by
	}
	return min(max(p, 0), len(e.text))
}

// word is the position one word further.
func (e *lineEdit) word(by int) int {
	p := e.pos
	blank := func(i int) bool { return unicode.IsSpace(e.text[i]) }
	if by < 0 {
		for p > 0 && blank(p-1) {
			p--
		}
		for p > 0 && !blank(p-1) {
			p--
		}
		return p
	}
	for p < len(e.text) && blank(p) {
		p++
	}
	for p < len(e.text) && !blank(p) {
		p++
	}
	return p
}

// draw returns the visible part in w cells, and the cursor's cell in it.
func (e *lineEdit) draw(w int, secret bool) (string, int) {
	if w < 2 {
		return "", 0
	}
	show := func(from, to int) string {
		if secret {
			return strings.Repeat("•", to-from)
		}
		return safe.Line(string(e.text[from:to]), 0)
	}
	if e.pos < e.left {
		e.left = e.pos
	}
	// A prompt is short; walking the start forward is quick enough, and a long
	// paste is caught by jumping first.
	if e.pos-e.left > w {
		e.left = e.pos - w
	}
	for e.left < e.pos && ansi.StringWidth(show(e.left, e.pos)) >= w {
		e.left++
	}
	x := ansi.StringWidth(show(e.left, e.pos))
	end := min(len(e.text), e.left+w)
	return ansi.Truncate(show(e.left, end), w, ""), x
}
