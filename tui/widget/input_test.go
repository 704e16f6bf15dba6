package widget

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

func newInput(w, h int, multi bool) *Input {
	n := &Input{}
	n.SetTheme(testTheme(colorprofile.NoTTY))
	n.SetSize(w, h)
	n.SetFocus(true)
	n.SetMulti(multi)
	return n
}

// press presses keys; what is not a name of a key is typed.
func press(n *Input, keys ...string) {
	for _, k := range keys {
		if utf8.RuneCountInString(k) == 1 {
			n.Key(k, k)
		} else if k == "space" {
			n.Key(k, " ")
		} else {
			n.Key(k, "")
		}
	}
}

func TestInputEdits(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧"
	for _, tt := range []struct {
		value string
		keys  string
		want  string
		caret int
	}{
		{"", "a b c", "abc", 3},
		{"ac", "left b", "abc", 2},
		{"abc", "backspace", "ab", 2},
		{"abc", "home delete", "bc", 0},
		{"a" + family + "b", "left backspace", "ab", 1},
		{"e\u0301x", "home right backspace", "x", 0},
		{"🇩🇪🇫🇷", "backspace", "🇩🇪", 8},
		{"日本", "left left right", "日本", 3},
		{"one two_x three", "ctrl+left ctrl+left", "one two_x three", 4},
		{"one two", "home ctrl+right", "one two", 3},
		{"one two", "ctrl+w", "one ", 4},
		{"one two", "home alt+d", " two", 0},
		{"one two", "ctrl+left ctrl+u", "two", 0},
		{"one two", "ctrl+left ctrl+k", "one ", 4},
		{"abc", "x y ctrl+z", "abc", 3},
		{"abc", "x y ctrl+z ctrl+y", "abcxy", 5},
		{"abc", "x left y ctrl+z", "abcx", 3},
		{"abc", "x left y ctrl+z ctrl+z", "abc", 3},
		{"abc", "backspace backspace ctrl+z", "ab", 2},
		{"a", "q space r ctrl+z", "aq ", 3},
		{"abc", "ctrl+z", "abc", 3},
		{"a\xffb", "left backspace", "ab", 1},
		{"a\r\nb", "left backspace", "a\rb", 2},
		{"ab", "enter", "ab", 2},
		{"ab", "tab", "ab", 2},
		{"", "backspace delete left right home end", "", 0},
	} {
		n := newInput(20, 1, false)
		n.SetValue(tt.value)
		press(n, strings.Fields(tt.keys)...)
		if n.Value() != tt.want || n.Caret() != tt.caret {
			t.Errorf("%q, %s: %q at %d, want %q at %d", tt.value, tt.keys, n.Value(), n.Caret(), tt.want, tt.caret)
		}
	}
}

func TestInputScrolls(t *testing.T) {
	t.Parallel()
	n := newInput(6, 1, false)
	n.SetValue("abcdefghij")
	if x, y, ok := n.Cursor(); n.Lines()[0] != "fghij" || x != 5 || y != 0 || !ok {
		t.Errorf("%q, cursor %d,%d", n.Lines()[0], x, y)
	}
	press(n, "home")
	if x, _, _ := n.Cursor(); n.Lines()[0] != "abcdef" || x != 0 {
		t.Errorf("%q, cursor %d", n.Lines()[0], x)
	}
	n.SetValue("日本語テキスト")
	press(n, "left")
	if x, _, _ := n.Cursor(); n.Lines()[0] != " キス" || x != 5 {
		t.Errorf("%q, cursor %d", n.Lines()[0], x)
	}
	n.SetFocus(false)
	if _, _, ok := n.Cursor(); ok {
		t.Error("a cursor without the keyboard")
	}
	n.SetValue("a\nb\tc")
	assert.Equal(t, n.Lines()[0], "a⏎b c")
	n.SetMask(true)
	n.SetValue("pä日")
	assert.Equal(t, n.Lines()[0], "•••")
}

func TestInputMulti(t *testing.T) {
	t.Parallel()
	n := newInput(10, 3, true)
	n.Insert("one\ntwo two\nthree\n4")
	if n.Value() != "one\ntwo two\nthree\n4" {
		t.Fatalf("%q", n.Value())
	}
	if got := n.Lines(); !slices.Equal(got, []string{"two two", "three", "4"}) {
		t.Errorf("%q", got)
	}
	press(n, "up", "end", "up", "up")
	if x, y, _ := n.Cursor(); x != 3 || y != 0 || !slices.Equal(n.Lines(), []string{"one", "two two", "three"}) {
		t.Errorf("cursor %d,%d in %q", x, y, n.Lines())
	}
	press(n, "down")
	if x, _, _ := n.Cursor(); x != 5 {
		t.Errorf("the column was lost: %d", x)
	}
	if n.Key("pgup", ""); n.Key("up", "") {
		t.Error("up on the first line is the form's")
	}
	press(n, "ctrl+home", "enter", "ctrl+end", "enter", "x")
	assert.Equal(t, n.Value(), "\none\ntwo two\nthree\n4\nx")
	n.SetCaret(0)
	press(n, "ctrl+k")
	assert.Equalf(t, n.Value(), "one\ntwo two\nthree\n4\nx", "ctrl+k on an empty line")
	n.Lines()
	if n.Mouse(Mouse{Kind: Click, X: 2, Y: 1}) != HitSelect || n.Caret() != 6 {
		t.Errorf("a click put the caret at %d", n.Caret())
	}
	if n.Mouse(Mouse{Kind: Click, X: 99, Y: 0}) != HitSelect || n.Caret() != 3 {
		t.Errorf("a click behind the line put the caret at %d", n.Caret())
	}
}

func TestInputKeepsAnything(t *testing.T) {
	t.Parallel()
	for _, h := range hostile.Strings() {
		n := newInput(30, 4, true)
		n.Insert(h.Value)
		if n.Value() != h.Value {
			t.Errorf("%s: changed", h.Name)
		}
		for _, k := range []string{"left", "up", "home", "right", "ctrl+right", "ctrl+left", "end", "backspace", "delete", "ctrl+z", "ctrl+z", "ctrl+z", "ctrl+y"} {
			press(n, k)
			x, y, _ := n.Cursor()
			if x < 0 || x >= 30 || y < 0 || y >= 4 {
				t.Errorf("%s: after %s the cursor is at %d,%d", h.Name, k, x, y)
			}
			for _, line := range n.Lines() {
				if line != safe.Line(line, 0) || paint.Width(line) > 30 {
					t.Errorf("%s: %q", h.Name, line)
				}
			}
		}
		if n.Value() != h.Value {
			t.Errorf("%s: undo and redo lost something", h.Name)
		}
	}
}

func FuzzInput(f *testing.F) {
	f.Add("a👨‍👩‍👧\n\x1b日", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8})
	keys := []string{"left", "right", "up", "down", "home", "end", "backspace", "delete", "x", "é", "enter", "ctrl+w", "alt+d", "ctrl+k", "ctrl+u", "ctrl+left", "ctrl+right", "ctrl+z", "ctrl+y", "pgdown"}
	f.Fuzz(func(t *testing.T, text string, moves []byte) {
		n := newInput(9, 3, len(moves)%2 == 0)
		n.Insert(text)
		for _, m := range moves[:min(len(moves), 50)] {
			press(n, keys[int(m)%len(keys)])
			if x, y, _ := n.Cursor(); x < 0 || x >= 9 || y < 0 || y >= 3 {
				t.Fatalf("cursor %d,%d", x, y)
			}
			if n.Caret() < 0 || n.Caret() > len(n.Value()) {
				t.Fatalf("caret %d of %d", n.Caret(), len(n.Value()))
			}
		}
		for range len(moves) + 2 {
			press(n, "ctrl+z")
		}
		if n.Value() != "" {
			t.Fatalf("undone to %q", n.Value())
		}
	})
}

func BenchmarkInputKey1MB(b *testing.B) {
	n := newInput(120, 40, true)
	n.SetValue(strings.Repeat("a line of text in a form field\n", 32<<10))
	for b.Loop() {
		press(n, "x", "left", "backspace", "up", "down")
		n.Lines()
	}
}
