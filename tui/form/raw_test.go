package form

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const sums = `{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer","examples":[7]},"note":{"type":"string","default":"x"},"when":{"type":"string","format":"date"}}}`

// Pasting into raw JSON that nobody touched replaces it, elsewhere it inserts; every change can be undone, those that leave
// no JSON too.
func TestRawTakesAPaste(t *testing.T) {
	f := open(t, sums)
	press(t, f, "ctrl+r")
	f.Paste(`{"a":1,"b":2}`)
	if got := string(f.JSON()); got != `{"a":1,"b":2}` || f.Err() != nil {
		t.Fatalf("%s, %v\n%s", got, f.Err(), screen(f))
	}
	press(t, f, "end")
	f.Paste(`,{`)
	if f.Err() == nil {
		t.Fatalf("%s", screen(f))
	}
	press(t, f, "ctrl+r")
	if s := screen(f); !f.Raw() || !strings.Contains(s, "cannot go back to the form: not valid JSON, line 1, column 14") {
		t.Errorf("why it stays is not said:\n%s", s)
	}
	press(t, f, "ctrl+z")
	if got := f.raw.text.String(); got != `{"a":1,"b":2}` || f.Err() != nil {
		t.Errorf("undone: %s, %v", got, f.Err())
	}
	press(t, f, "ctrl+z")
	assert.Equalf(t, f.raw.text.String(), `{}`, "undone twice")
	if f.Key(key("tab")) || f.Key(key("shift+tab")) {
		t.Error("tab does not leave the editor")
	}
}

// One key adds what the schema requires, the next time the rest; what was typed stays, and undo takes it back.
func TestFillFromTheSchema(t *testing.T) {
	for _, raw := range []bool{false, true} {
		f := open(t, sums)
		press(t, f, "text:5")
		if raw {
			press(t, f, "ctrl+r")
		}
		for _, want := range []string{`{"a":5,"b":0,"note":"x"}`, `{"a":5,"b":0,"note":"x","when":"2026-11-21"}`} {
			press(t, f, "ctrl+l")
			assert.Equalf(t, string(f.JSON()), want, "raw %v", raw)
		}
		if f.Key(key("ctrl+l")) {
			t.Error("there was something left to fill in")
		}
		press(t, f, "ctrl+z", "ctrl+z")
		if got := string(f.JSON()); got != `{"a":5}` {
			t.Errorf("raw %v: undone to %s", raw, got)
		}
	}
	f := open(t, sums)
	press(t, f, "down", "down", "down", "ctrl+r")
	if _, text, _ := f.EditText(); text != "{\n  \"a\": 0,\n  \"b\": 0,\n  \"note\": \"x\"\n}" {
		t.Errorf("the editor starts with %s", text)
	}
	press(t, f, "text: ")
	if _, text, _ := f.EditText(); text != " {}" {
		t.Errorf("what was typed is edited as %s", text)
	}
}

// An object pasted into a field can be meant for the whole form.
func TestPasteForTheWholeForm(t *testing.T) {
	f := open(t, sums)
	f.Paste(`{"a": 1, "note": "n"}`)
	if s := screen(f); !strings.Contains(s, "fill the whole form from this") || f.JSON() != nil && string(f.JSON()) != "{}" {
		t.Fatalf("%s\n%s", f.JSON(), s)
	}
	press(t, f, "enter")
	assert.Equal(t, string(f.JSON()), `{"a":1,"note":"n"}`)
	f.Focus("/note")
	press(t, f, "ctrl+u")
	f.Paste(`{"a":2}`)
	press(t, f, "down", "enter")
	assert.Equal(t, string(f.JSON()), `{"a":1,"note":"{\"a\":2}"}`)
	press(t, f, "ctrl+u")
	f.Paste(`{"unknown":2}`)
	if f.pop != nil {
		t.Error("an object of nothing the form has is offered to it")
	}
}

// The first completion is taken by enter and by tab; an optional field that was left empty stays so.
func TestCompletionsAreTaken(t *testing.T) {
	for _, k := range []string{"enter", "tab"} {
		f := New(schema.FromArguments([]schema.Argument{{Name: "team", Required: true}, {Name: "other"}}), plainTheme())
		f.SetSize(80, 20)
		run(f)
		var asked []string
		f.Complete = func(ptr, text string) tea.Cmd {
			asked = append(asked, ptr+"="+text)
			return func() tea.Msg { return nil }
		}
		press(t, f, "text:Eng")
		f.Suggest("/team", "Eng", Suggestions{Values: []string{"Engineering", "English"}})
		press(t, f, k)
		if got := f.Strings()["team"]; got != "Engineering" || f.row().ptr != "/team" {
			t.Errorf("%s makes it %q at %s", k, got, f.row().ptr)
		}
		press(t, f, k)
		if f.row().ptr != "/other" || asked[len(asked)-1] != "/other=" {
			t.Errorf("%s again is at %s after %v", k, f.row().ptr, asked)
		}
		f.Suggest("/other", "", Suggestions{Values: []string{"x"}})
		if !strings.Contains(screen(f), "\n      x") || f.pop == nil {
			t.Errorf("nothing pops up on focus:\n%s", screen(f))
		}
		f.Key(key(k))
		if got, set := f.Strings()["other"]; set {
			t.Errorf("%s takes %q into an optional field", k, got)
		}
	}
}

// A problem is said as people say it.
func TestRawProblemsAreSentences(t *testing.T) {
	f := open(t, sums)
	press(t, f, "ctrl+r")
	f.Paste(`{"a":1}`)
	assert.Contains(t, screen(f), "✗ b is required")
}
