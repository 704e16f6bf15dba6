package form

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/widget"
)

// rawMode is the value as JSON text.
type rawMode struct {
	text *textInput
	err  *schema.SyntaxError
	val  *schema.Value // what the text says, while err is nil
	late bool          // the text is too long to be parsed at every key
	calm bool          // nobody edited the text or moved in it
	back bool          // going back to the form was refused
}

// liveRaw is the largest text that is parsed at every key; a larger one is
// parsed when the cursor leaves a line and before anything is done with it.
const liveRaw = 64 << 10

// Raw reports whether the raw JSON editor is open.
func (f *Form) Raw() bool { return f.raw != nil }

// ToggleRaw goes to the raw JSON editor and back. It stays there while the
// text is not JSON, with the cursor at the error; the text is never lost.
func (f *Form) ToggleRaw() {
	f.fresh = false
	if f.raw == nil {
		f.settleInput()
		f.openRaw()
		return
	}
	f.parseRaw()
	if f.raw.err != nil {
		f.raw.back = true
		f.raw.text.goTo(f.raw.err.Line, f.raw.err.Column)
		return
	}
	f.rawOld, f.raw = f.raw, nil // the layout of the text comes back with it
	f.stale, f.input = true, nil
	f.build()
}

// openRaw shows the value as text: the text that was left, if it still says the same, else indented JSON.
func (f *Form) openRaw() {
	f.fresh, f.pop, f.rename, f.input = false, nil, nil, nil
	if old := f.rawOld; old != nil && old.err == nil && schema.Same(old.val, f.value) {
		f.raw, f.rawOld = old, nil
		f.raw.calm, f.raw.back = true, false
		f.raw.text.in.SetCaret(0)
		return
	}
	t := newText(string(f.value.Indent()))
	t.in.SetPainter(widget.PaintJSON)
	t.in.SetCaret(0)
	f.raw, f.rawOld = &rawMode{text: t, val: f.value, calm: true}, nil
}

func (f *Form) openRawText(s string) {
	f.fresh, f.pop, f.rename, f.input = false, nil, nil, nil
	f.raw = &rawMode{text: newText(s)}
	f.raw.text.in.SetPainter(widget.PaintJSON)
	f.parseRaw()
	if f.raw.err != nil {
		f.raw.text.goTo(f.raw.err.Line, f.raw.err.Column)
	}
}

// parseRaw brings the value to what the text says.
func (f *Form) parseRaw() {
	r := f.raw
	r.late = false
	v, err := schema.ParseValue([]byte(r.text.String()))
	var syn *schema.SyntaxError
	if errors.As(err, &syn) {
		r.err = syn
		return
	}
	r.err, r.val = nil, v
	if !schema.Same(v, f.value) || v.IsSet() != f.value.IsSet() {
		f.remember("raw")
		f.value = v
		clear(f.picks)
		f.stale = true
		f.touch("")
	}
}

// pasteRaw puts text into the raw editor. JSON takes the place of a text that nobody touched.
func (f *Form) pasteRaw(s string) {
	t := f.raw.text
	if v, err := schema.ParseValue([]byte(s)); f.raw.calm && err == nil && (v.Kind() == schema.Object || v.Kind() == schema.Array) {
		t.in.Replace(0, len(t.String()), s)
	} else {
		t.insert(s)
	}
	f.raw.calm, f.raw.back = false, false
	f.rawChanged()
}

func (f *Form) rawChanged() {
	f.edits++
	f.shout = true
	f.fresh = false
	if len(f.raw.text.String()) > liveRaw {
		f.raw.late = true
		return
	}
	f.parseRaw()
}

func (f *Form) rawKey(m tea.KeyPressMsg) bool {
	t := f.raw.text
	page := max(f.h-3, 1)
	f.raw.back = false
	if k := m.String(); k != "tab" && k != "shift+tab" && k != "ctrl+l" {
		f.raw.calm = false
	}
	switch k := m.String(); k {
	case "up":
		t.vertical(-1)
	case "down":
		t.vertical(1)
	case "pgup":
		t.vertical(-page)
	case "pgdown":
		t.vertical(page)
	case "ctrl+home":
		t.in.SetCaret(0)
	case "ctrl+end":
		t.in.SetCaret(len(t.String()))
	case "enter":
		t.insert("\n" + indentOf(t.line()))
		f.rawChanged()
	case "ctrl+l":
		return f.Fill()
	case "ctrl+z":
		rev := t.in.Rev()
		if t.in.Key(k, ""); t.in.Rev() != rev { // the text's own history goes through what is not JSON too
			f.rawChanged()
			return true
		}
		if !f.Undo() {
			return false
		}
		f.openRaw()
	default:
		handled, changed := t.key(m)
		if changed {
			f.rawChanged()
		}
		return handled
	}
	return true
}

// indentOf returns the blanks a new line begins with, one step more after an opening bracket.
func indentOf(line string) string {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	indent := line[:n]
	if last := len(line) - 1; last >= 0 && (line[last] == '{' || line[last] == '[') {
		indent += "  "
	}
	return indent
}
