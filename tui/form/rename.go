package form

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// rename is the key of a map being typed: a new one, or another name for an old one.
type rename struct {
	parent int    // row of the container, -1 for the root
	ptr    string // of the container
	old    string
	isNew  bool
	text   *textInput
	err    string
}

func (f *Form) startKey(parent int, ptr, old string) {
	f.rename = &rename{parent: parent, ptr: ptr, old: old, isNew: old == "", text: newLine(old)}
	f.pop, f.input = nil, nil
	f.fresh = false
	for i := range f.rows {
		if r := &f.rows[i]; old == "" && r.kind == rowAdd && r.ptr == ptr {
			f.setCur(i)
		}
	}
}

// renameRow edits the key of the focused row; false where the key is the schema's or an index.
func (f *Form) renameRow() bool {
	r := f.row()
	if r == nil || r.item >= 0 || r.child.Declared || r.ptr == "" || r.bare() || !r.val.IsSet() {
		return false
	}
	path, _ := schema.SplitPointer(r.ptr)
	f.settleInput()
	f.startKey(r.parent, schema.Pointer(path[:len(path)-1]...), r.name)
	f.rename.isNew = false
	return true
}

func (f *Form) renameKey(m tea.KeyPressMsg) bool {
	r := f.rename
	switch m.String() {
	case "esc":
		f.rename = nil
		return true
	case "enter":
		f.commitKey()
		return true
	case "tab":
		f.leaveKey()
		return true
	case "ctrl+c":
		return false
	}
	handled, changed := r.text.key(m)
	if changed {
		r.err = ""
	}
	if handled || m.Text != "" {
		return true
	}
	// Any other key is meant for the form or the screen: the key that was
	// typed so far is taken as it is, an empty one is given up.
	if f.leaveKey(); f.rename != nil {
		return true
	}
	return f.Key(m)
}

// leaveKey ends the typing of a key without losing it; it stays open where there is such a key already.
func (f *Form) leaveKey() {
	if f.rename != nil && f.rename.text.String() == "" {
		f.rename = nil
		return
	}
	if f.rename != nil {
		f.commitKey()
	}
}

func (f *Form) commitKey() {
	r := f.rename
	name := r.text.String()
	path, _ := schema.SplitPointer(r.ptr)
	at := append(path[:len(path):len(path)], name)
	switch {
	case !r.isNew && name == r.old:
		f.rename = nil
		return
	case f.value.At(path...).Get(name).IsSet():
		r.err = "there is such a key already; type another name"
		return
	}
	f.remember("")
	f.rename = nil
	if r.isNew {
		f.makeParents(r.parent)
		field := f.owner(r.parent).Property(name)
		f.value = f.value.Set(at, field.Empty())
	} else {
		f.value = f.value.Rename(append(path[:len(path):len(path)], r.old), name)
	}
	f.touch(r.ptr)
	f.stale = true
	f.build()
	f.focusPtr(schema.Pointer(at...))
	if r.isNew {
		f.offer()
	}
}
