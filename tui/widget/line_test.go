package widget

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/paint"
)

func lineKey(s string) tea.KeyPressMsg {
	switch s {
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "right":
		return tea.KeyPressMsg{Code: tea.KeyRight}
	case "home":
		return tea.KeyPressMsg{Code: tea.KeyHome}
	case "end":
		return tea.KeyPressMsg{Code: tea.KeyEnd}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case "alt+d":
		return tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt}
	case "ctrl+w":
		return tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

func TestLineSelection(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"x y", "xy"},
		{"backspace", ""},
		{"right x", "oldx"},
		{"end x", "oldx"},
		{"home x", "xold"},
	} {
		var l Line
		l.SetValue("old")
		l.Select()
		for _, k := range strings.Fields(c.keys) {
			l.Key(lineKey(k))
		}
		if l.Value() != c.want || l.Selected() {
			t.Errorf("%s gives %q", c.keys, l.Value())
		}
	}
	var l Line
	l.SetValue("old")
	l.Select()
	if l.Insert("pasted\r\ntext\x1b"); l.Value() != "pasted text" {
		t.Errorf("a paste gives %q", l.Value())
	}
}

// What a Line holds it gives back; everything else it says that it does not hold.
func TestLineHolds(t *testing.T) {
	for _, s := range []string{"", "a", "日本語", "é🎉", "a b ", "a\tb", "a\nb", "a\x1b[31mb", "e\u0301", "👨‍👩‍👧", "a\u202eb", "\xff", strings.Repeat("x", MaxField+1)} {
		var l Line
		l.SetValue(s)
		text, _ := l.Draw(len(s)+10, false)
		if LineHolds(s) && (l.Value() != s || strings.TrimRight(text, " ") != strings.TrimRight(s, " ")) {
			t.Errorf("%q is held as %q and drawn as %q", s, l.Value(), text)
		}
		if !LineHolds(s) && len(s) < 6 && utf8.ValidString(s) && !strings.ContainsAny(s, "\t\n\x1b\u0301\u202e") {
			t.Errorf("%q is not held", s)
		}
	}
}

// No key at any place panics or draws more than there is room for, whatever the text.
func TestLineAtTheEdges(t *testing.T) {
	for _, s := range []string{"", " ", "a ", "  ", "日本 語 ", "a\u202eb\u200b ", strings.Repeat("long ", 100)} {
		for _, k := range []string{"left", "right", "home", "end", "backspace", "alt+d", "ctrl+w", "x", "語"} {
			for at := range min(len([]rune(s))+1, 12) {
				for _, w := range []int{0, 1, 2, 3, 20} {
					var l Line
					l.SetValue(s)
					l.SetCursor(at)
					l.Key(lineKey(k))
					if text, x := l.Draw(w, at%2 == 0); paint.Width(text) > w || x > w {
						t.Fatalf("%q after %s at %d in %d cells: %q, cursor at %d", s, k, at, w, text, x)
					}
				}
			}
		}
	}
}

// A line is edited at its cursor, and stays one line of bounded length without controls.
func TestLineEdits(t *testing.T) {
	var e Line
	e.SetValue("héllo wörld")
	for _, k := range []string{"ctrl+w", "backspace", "home", "alt+d"} {
		if !e.Key(lineKey(k)) {
			t.Fatalf("%s is no editing key", k)
		}
	}
	e.Insert("a\nb")
	assert.Equalf(t, e.Value(), "a b", "the text")
	if text, x := e.Draw(5, true); text != "•••" || x != 3 {
		t.Errorf("a secret is drawn as %q with the cursor at %d", text, x)
	}
	e.SetValue(strings.Repeat("宽", 50))
	text, x := e.Draw(10, false)
	if n := len([]rune(text)); n > 5 || x > 9 {
		t.Errorf("wide text is drawn as %q with the cursor at %d", text, x)
	}
	e.Key(lineKey("home"))
	if text, x := e.Draw(10, false); x != 0 || !strings.HasPrefix(text, strings.Repeat("宽", 4)) {
		t.Errorf("at its start wide text is drawn as %q with the cursor at %d", text, x)
	}
	e.SetValue("\x1b[2J")
	if text, _ := e.Draw(20, false); strings.Contains(text, "\x1b") {
		t.Errorf("a pasted escape is drawn as %q", text)
	}
	e.Insert(strings.Repeat("x", 2*maxLine))
	if len(e.Value()) > maxLine {
		t.Errorf("a paste made the line %d long", len(e.Value()))
	}
}
