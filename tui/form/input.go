package form

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// shown is the text a field is edited as. For a field that takes anything, a string that would read as JSON is written
// as JSON, so that the text means the value and nothing else.
func shown(field *schema.Field, v *schema.Value) string {
	switch v.Kind() {
	case schema.Unset:
		return ""
	case schema.Object, schema.Array:
		return v.String()
	case schema.String:
		if s := field.Shape(); s == schema.ShapeAny || s == schema.ShapeVariants {
			if again, err := field.Coerce(v.Text()); err != nil || again.Kind() != schema.String {
				return v.Literal()
			}
		}
	}
	return v.Text()
}

// edit returns the text of the focused row, nil if it has none.
func (f *Form) edit() *textInput {
	r := f.row()
	if r == nil || !r.textual() {
		return nil
	}
	if f.input == nil {
		f.input = newField(shown(r.field, r.val))
		f.input.all = f.recalled(r) && !f.input.empty()
	}
	return f.input
}

// typed turns the text of the focused row into its value. Text that cannot be a value of the field becomes a string:
// nothing that was typed is lost, and the problem says what is wrong with it.
func (f *Form) typed() {
	r := f.row()
	t := f.input.String()
	f.deferred = false
	if f.pop != nil && f.pop.suggestion {
		f.pop = nil
	}
	var v *schema.Value
	switch shape := r.field.Shape(); {
	case shape == schema.ShapeString:
		v = schema.StringValue(t)
	case t == "":
	default:
		got, err := r.field.Coerce(t)
		if err != nil {
			got = schema.StringValue(t)
		} else if k := got.Kind(); k == schema.Object || k == schema.Array {
			f.deferred = true // it gets rows of its own once the cursor leaves
			got = schema.StringValue(t)
		}
		v = got
	}
	if (r.item >= 0 || r.undeclared()) && !v.IsSet() { // an emptied item stays an item, and a key of the user's own a key
		v = schema.StringValue("")
	}
	f.put(r, v, true)
	f.rebuildKeeping()
	if f.Complete != nil {
		if cmd := f.Complete(f.row().ptr, t); cmd != nil {
			f.cmds = append(f.cmds, cmd)
		}
	}
}

// rebuildKeeping rebuilds rows while the input goes on being edited.
func (f *Form) rebuildKeeping() {
	if f.stale {
		in := f.input
		f.build()
		f.input = in
	}
}

// settleInput ends editing: JSON typed into a field that takes anything becomes an object or array now.
func (f *Form) settleInput() {
	if f.raw != nil && f.raw.late {
		f.parseRaw()
	}
	if !f.deferred || f.input == nil {
		return
	}
	f.deferred = false
	r := f.row()
	if r == nil {
		return
	}
	if v, err := r.field.Coerce(f.input.String()); err == nil {
		f.put(r, v, true)
		f.input = nil
		f.stale = true
		f.build()
	}
}

// textKey gives a key to the text of the focused row.
func (f *Form) textKey(m tea.KeyPressMsg) bool {
	t := f.edit()
	if t == nil {
		return false
	}
	r := f.row()
	f.fresh = false
	switch k := m.String(); k {
	case "alt+enter", "shift+enter", "ctrl+enter":
		if k == "ctrl+enter" || r.field.Shape() != schema.ShapeString {
			return false
		}
		t.insert("\n")
		f.typed()
		return true
	case "backspace":
		if t.empty() {
			if r.val.IsSet() && r.item < 0 {
				f.unset(r)
			}
			return true
		}
	}
	handled, changed := t.key(m)
	if changed {
		f.typed()
	}
	return handled
}

// Paste puts text in at the cursor: into the field, the filter of a list, or
// the raw editor. It reports whether anything took it.
func (f *Form) Paste(s string) bool {
	s = pasted(s)
	f.fresh = false
	switch {
	case f.raw != nil:
		f.pasteRaw(s)
		return true
	case f.rename != nil:
		f.rename.text.insert(strings.ReplaceAll(s, "\n", " "))
		return true
	case f.pop != nil && f.pop.filterable:
		f.pop.filter.insert(strings.ReplaceAll(s, "\n", " "))
		f.pop.narrow()
		return true
	}
	t := f.edit()
	if t == nil {
		return false
	}
	if r := f.row(); r.field.Shape() == schema.ShapeInteger || r.field.Shape() == schema.ShapeNumber {
		s = strings.TrimSpace(s)
	}
	insert := func() {
		t.insert(s)
		f.undoAt = ""
		f.typed()
	}
	if v := f.wholeForm(s); v.IsSet() {
		f.openPopup(&popup{choices: []choice{
			{"fill the whole form from this", brief(v), func() {
				f.remember("")
				f.assign(v)
			}},
			{"insert it as text", "into " + f.row().name, insert},
		}}, 0)
		return true
	}
	insert()
	return true
}

// wholeForm is the value that a pasted text holds where that is rather meant for the whole form than for the focused field.
func (f *Form) wholeForm(s string) *schema.Value {
	if shape := f.row().field.Shape(); shape == schema.ShapeAny || f.row().ptr == "" || !strings.HasPrefix(strings.TrimSpace(s), "{") {
		return nil
	}
	v, err := schema.ParseValue([]byte(s))
	if err != nil || v.Kind() != schema.Object {
		return nil
	}
	root := f.sch.Root().Active(v)
	for _, m := range v.Members() {
		if root.Declares(m.Name) {
			return v
		}
	}
	return nil
}

// EditText returns what $EDITOR is to be opened on: the text of the focused string, else the whole value as JSON. tag
// names it for [Form.Edited]; ext is a file name extension.
func (f *Form) EditText() (tag, text, ext string) {
	f.settleInput()
	blank := f.blank()
	if f.raw != nil && !(blank && f.raw.calm) {
		return "json:", f.raw.text.String(), ".json"
	}
	if r := f.row(); f.raw == nil && r != nil && r.textual() && r.field.Shape() == schema.ShapeString {
		return "text:" + r.ptr, shown(r.field, r.val), ".txt"
	}
	v := f.value
	if blank {
		v = schema.Under(v, f.sch.Root().Skeleton())
	}
	return "json:", string(v.Indent()), ".json"
}

// Edited takes back what an editor made of [Form.EditText]. A line end that the editor put behind the last line is not
// part of a string. JSON that is malformed opens the raw editor with the text as it is.
func (f *Form) Edited(tag, text string) {
	if ptr, ok := strings.CutPrefix(tag, "text:"); ok {
		if !f.Focus(ptr) {
			return
		}
		old := shown(f.row().field, f.row().val)
		if !strings.HasSuffix(old, "\n") {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
		if text == old {
			return
		}
		f.undoAt = ""
		f.input = newField(text)
		f.typed()
		return
	}
	_ = f.SetJSON([]byte(text)) // the raw editor shows the error
}
