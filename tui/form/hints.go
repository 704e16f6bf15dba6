package form

import "github.com/mcphud/mcphud/session/offer/schema"

// Hint is one key that means something now, for the hint bar and help.
type Hint struct {
	Keys []string // as tea.KeyPressMsg.String has them, all doing the same
	Text string   // "add item"
}

// Hints returns the keys that mean something at the focused row, the most
// useful first. ctrl+e ([Form.EditText]) and sending are the caller's to bind.
func (f *Form) Hints() []Hint {
	if f.raw != nil {
		return []Hint{
			{[]string{"ctrl+r"}, "back to the form"}, {[]string{"ctrl+l"}, "fill from the schema"}, {[]string{"ctrl+z"}, "undo"}, {[]string{"ctrl+e"}, "open in $EDITOR"},
		}
	}
	if f.rename != nil {
		if f.rename.isNew {
			return []Hint{{[]string{"enter"}, "add this key"}, {[]string{"esc"}, "add none"}}
		}
		return []Hint{{[]string{"enter"}, "use this key"}, {[]string{"esc"}, "keep the old"}}
	}
	if f.pop != nil && f.pop.suggestion {
		return []Hint{{[]string{"tab", "enter"}, "choose"}, {[]string{"down", "up"}, "next"}, {[]string{"esc"}, "close"}}
	}
	if f.pop != nil {
		return []Hint{{[]string{"enter"}, "choose"}, {[]string{"tab", "down", "up"}, "next"}, {[]string{"esc"}, "close"}}
	}
	var out []Hint
	add := func(text string, keys ...string) { out = append(out, Hint{keys, text}) }
	r := f.row()
	if r == nil {
		add("raw JSON", "ctrl+r")
		return out
	}
	switch {
	case r.kind == rowAdd:
		add(r.name, "enter", "space")
	case (r.kind == rowGroup || r.kind == rowRest) && r.open:
		add("fold", "space", "left")
	case r.kind == rowGroup:
		add("unfold", "space", "right")
	case r.kind == rowRest:
		add("show them", "enter", "space", "right")
	case r.kind == rowVariant:
		add("choose variant", "space", "enter")
	case r.selectable():
		add("choose", "space", "enter")
	case r.kind == rowField && r.field.Shape() == schema.ShapeBoolean:
		add("toggle", "space")
	}
	if f.likelyFile() {
		what := "pick a file"
		if f.WantsFolder() {
			what = "pick a folder"
		}
		add(what, "ctrl+f")
	}
	add("next field", "tab", "down")
	add("raw JSON", "ctrl+r")
	if f.growable() {
		add("add", "ctrl+n")
	}
	switch {
	case r.item >= 0 && r.val.IsSet():
		add("remove item", "ctrl+x")
		add("move item", "alt+up", "alt+down")
	case r.val.IsSet() && !r.child.Declared && r.ptr != "":
		add("remove key", "ctrl+x")
		add("rename key", "f2")
	case r.val.IsSet():
		add("unset", "ctrl+x")
	}
	if r.union != nil {
		add("another variant, null …", "ctrl+o")
	} else {
		add("null, empty, default …", "ctrl+o")
	}
	add("fill from the schema", "ctrl+l")
	add("open in $EDITOR", "ctrl+e")
	if r.kind == rowField && r.textual() && r.field.Shape() == schema.ShapeString {
		add("new line", "alt+enter")
	}
	if len(f.undos) > 0 {
		add("undo", "ctrl+z")
	}
	return out
}

// growable reports whether ctrl+n does something at the focus.
func (f *Form) growable() bool {
	for i := f.cur; ; i = f.rows[i].parent {
		field := f.sch.Root()
		if i >= 0 {
			if field = f.rows[i].field; f.rows[i].kind != rowGroup {
				continue
			}
		}
		switch field.Shape() {
		case schema.ShapeArray:
			return true
		case schema.ShapeObject:
			if _, explicit, ok := field.Extra(); ok && explicit {
				return true
			}
		}
		if i < 0 {
			return false
		}
	}
}
