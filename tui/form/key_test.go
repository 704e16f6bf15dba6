package form

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

const mapSchema = `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}},"z":{"type":"string"}},"additionalProperties":false}`

// Typing a map's key is not a trap: keys that are none of its own end it, and
// what was typed is not lost.
func TestTypingAKeyIsLeftByOtherKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"text:a down", `{"m":{"a":""}}`},
		{"down", `{}`},
		{"tab", `{}`},
		{"enter", `{"m":{"":""}}`},
		{"text:a esc", `{}`},
	} {
		f := open(t, mapSchema)
		press(t, f, "ctrl+n")
		if f.rename == nil {
			t.Fatal("ctrl+n does not ask for a key")
		}
		press(t, f, strings.Fields(c.keys)...)
		if f.rename != nil || string(f.JSON()) != c.want {
			t.Errorf("%s: still typing %v, value %s, want %s", c.keys, f.rename != nil, f.JSON(), c.want)
		}
	}
	f := open(t, mapSchema)
	press(t, f, "ctrl+n", "text:a")
	if f.Key(key("ctrl+g")) || f.rename != nil || string(f.JSON()) != `{"m":{"a":""}}` {
		t.Errorf("ctrl+g does not go on to the screen with the key taken: %s", f.JSON())
	}
	press(t, f, "ctrl+n", "text:a", "down")
	if f.rename == nil || !strings.Contains(screen(f), "there is such a key already") {
		t.Errorf("a key twice is not said:\n%s", screen(f))
	}
}

// A group that is opened at the lower edge scrolls, so that its rows are seen.
func TestOpeningAGroupShowsItsRows(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"a":{},"b":{},"c":{},"list":{"type":"array","items":{"type":"string"}}}}`)
	f.SetSize(40, 10)
	press(t, f, "down", "down", "down")
	if strings.Contains(screen(f), "add item") {
		t.Fatal("the group is open already")
	}
	press(t, f, "enter")
	assert.Contains(t, screen(f), "› ▾ list", "+ add item")
}

// Letters narrow the values of a list, so they are not commands there; on a boolean they are, and change nothing.
func TestLettersOnChoices(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"e":{"enum":["red","green"]},"v":{"anyOf":[{"type":"string"},{"type":"array"}]},"b":{"type":"boolean"}}}`)
	for _, at := range []string{"/e", "/v"} {
		if f.Focus(at); !f.Typing() {
			t.Errorf("at %s letters are taken for commands", at)
		}
	}
	f.Focus("/b")
	if f.Typing() {
		t.Error("on a boolean letters are taken for text")
	}
	for _, k := range []string{"y", "n", "t", "f"} {
		press(t, f, "text:"+k)
	}
	if got := string(f.JSON()); got != `{}` {
		t.Errorf("letters made it %s", got)
	}
}

// Of a value with a title that has no room for both, the title stands there whole.
func TestTitleOfAChosenValue(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"hero":{"oneOf":[{"const":"hero-1","title":"Superman"},{"const":"hero-2","title":"Batman"}]}}}`)
	press(t, f, "space", "enter")
	for w, want := range map[int]string{100: "‹ Superman  \"hero-1\" ▾ ›", 36: "‹ Superman ▾ ›"} {
		if f.SetSize(w, 20); !strings.Contains(screen(f), want) {
			t.Errorf("in %d cells it is not %s:\n%s", w, want, screen(f))
		}
	}
}
