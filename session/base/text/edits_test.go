package text

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		d      int
		within int // of EditsWithin with a limit of 2
	}{
		{"", "", 0, 0},
		{"", "ab", 2, 2},
		{"abc", "", 3, 3},
		{"same", "same", 0, 0},
		{"protocl", "protocol", 1, 1},
		{"portocol", "protocol", 1, 1},
		{"sesion", "session", 1, 1},
		{"kitten", "sitting", 3, 3},
		{"abc", "xyz", 3, 3},
		{"größe", "grosse", 3, 3},
		{"abcdef", "uvwxyz", 6, 3},
	} {
		if d, within := Edits(c.a, c.b), EditsWithin([]rune(c.a), []rune(c.b), 2); d != c.d || within != c.within {
			t.Errorf("%q to %q: %d, within 2: %d; want %d, %d", c.a, c.b, d, within, c.d, c.within)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0, "tool"), "0 tools"}, {Count(1, "tool"), "1 tool"}, {Count(2, "tool"), "2 tools"}, {Count(1, "entry", "entries"), "1 entry"}, {Count(3, "entry", "entries"), "3 entries"},
	} {
		assert.Equal(t, c.got, c.want)
	}
}
