package form

import "testing"

// Clearing the text of a key that the schema does not name does not remove it: what is typed next is its value.
func TestClearingAValueKeepsItsKey(t *testing.T) {
	for _, values := range []string{`true`, `{}`, `{"type":"number"}`, `{"type":"integer"}`, `{"type":"string"}`, `{"anyOf":[{"type":"number"},{"type":"null"}]}`} {
		f := open(t, `{"type":"object","properties":{"args":{"type":"object","additionalProperties":`+values+`}}}`)
		press(t, f, "ctrl+n", "text:seconds", "enter", "text:5", "ctrl+u")
		if r := f.row(); r == nil || r.ptr != "/args/seconds" || !f.Typing() {
			t.Fatalf("%s: the cursor is at %+v after ctrl+u, with %s", values, r, f.JSON())
		}
		press(t, f, "text:1")
		if got, want := string(f.JSON()), `{"args":{"seconds":1}}`; got != want && got != `{"args":{"seconds":"1"}}` {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
		for range 2 { // the letter, and then the key
			press(t, f, "backspace")
		}
		if got := string(f.JSON()); got != `{}` && got != `{"args":{}}` {
			t.Errorf("%s: backspace at an empty value leaves %s", values, got)
		}
	}
}
