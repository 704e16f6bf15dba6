package form

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// Key applies a key and reports whether it meant anything here. Tab on the
// last field and shift+tab on the first are left to the caller.
func (f *Form) Key(m tea.KeyPressMsg) bool {
	f.ready()
	f.fresh = false
	k := m.String()
	switch {
	case k == "ctrl+r":
		f.ToggleRaw()
		return true
	case f.raw != nil:
		return f.rawKey(m)
	case f.rename != nil:
		return f.renameKey(m)
	case f.pop != nil:
		if f.popKey(m) {
			return true
		}
	}
	if f.navigate(k) {
		return true
	}
	if len(f.rows) == 0 {
		return false
	}
	r := f.row()
	switch k {
	case "ctrl+l":
		return f.Fill()
	case "ctrl+n":
		f.settleInput()
		return f.addTo(f.cur)
	case "ctrl+x":
		f.deferred = false
		f.unset(r)
		return true
	case "ctrl+o":
		f.settleInput()
		f.openStates()
		return true
	case "ctrl+z":
		return f.Undo()
	case "alt+up", "ctrl+up":
		return f.move(-1)
	case "alt+down", "ctrl+down":
		return f.move(1)
	case "f2":
		return f.renameRow()
	}
	if r.textual() {
		return f.textKey(m)
	}
	return f.act(r, k, m)
}

// navigate moves the focus.
func (f *Form) navigate(k string) bool {
	if t := f.input; t != nil && (k == "up" || k == "down") && t.count() > 1 {
		by := 1
		if k == "up" {
			by = -1
		}
		if t.vertical(by) {
			return true
		}
	}
	page := max(f.h/2, 1)
	switch k {
	case "up":
		f.step(-1)
	case "down":
		f.step(1)
	case "tab":
		return f.stepField(1)
	case "shift+tab":
		return f.stepField(-1)
	case "enter":
		r := f.row()
		if r == nil || !r.textual() {
			return false
		}
		f.stepField(1)
	case "pgdown":
		f.step(page)
	case "pgup":
		f.step(-page)
	case "ctrl+home":
		f.step(-len(f.rows))
	case "ctrl+end":
		f.step(len(f.rows))
	default:
		return false
	}
	return true
}

// step moves the focus by rows; false when it is at the edge already.
func (f *Form) step(by int) bool {
	f.settleInput()
	f.ready()
	f.leave()
	to := min(max(f.cur+by, 0), max(len(f.rows)-1, 0))
	if to == f.cur {
		return false
	}
	f.undoAt = ""
	f.setCur(to)
	f.Ask()
	return true
}

// stepField moves the focus to the next field. What adds to a container that holds something already is not one.
func (f *Form) stepField(by int) bool {
	f.leave()
	f.settleInput()
	f.ready()
	for to := f.cur + by; to >= 0 && to < len(f.rows); to += by {
		if r := &f.rows[to]; r.kind == rowAdd && to > 0 && r.parent != to-1 {
			continue
		}
		return f.step(to - f.cur)
	}
	return false
}

// act handles keys on rows that are not edited as text.
func (f *Form) act(r *row, k string, m tea.KeyPressMsg) bool {
	switch {
	case r.kind == rowAdd:
		if k == "enter" || k == "space" {
			return f.addTo(f.cur)
		}
	case r.kind == rowMore:
		if k == "enter" || k == "space" {
			f.ToggleRaw()
			return true
		}
	case r.kind == rowGroup || r.kind == rowRest:
		switch k {
		case "enter", "space":
			f.fold(f.cur, !r.open)
			return true
		case "right":
			f.fold(f.cur, true)
			return true
		case "left":
			f.fold(f.cur, false)
			return true
		}
	case r.selectable():
		return f.selectKey(r, k, m)
	case r.field.Shape() == schema.ShapeBoolean:
		return f.boolKey(r, k)
	case k == "space" || k == "enter": // null and const: there or not
		if r.val.IsSet() {
			f.unset(r)
		} else if r.field.Shape() != schema.ShapeNever {
			f.put(r, r.field.Empty(), false)
			f.build()
		}
		return true
	}
	return false
}

// boolKey steps an optional boolean through true, false and unset, a required one through true and false.
func (f *Form) boolKey(r *row, k string) bool {
	var v *schema.Value
	switch k {
	case "space", "enter", "right":
		switch {
		case !r.val.IsSet() || r.val.Kind() != schema.Bool:
			v = schema.BoolValue(true)
		case r.val.Bool():
			v = schema.BoolValue(false)
		case r.needsBoolean():
			v = schema.BoolValue(true)
		}
	default:
		return false
	}
	f.put(r, v, false)
	f.ready()
	return true
}

// selectKey opens a list of values, or steps through it in place.
func (f *Form) selectKey(r *row, k string, m tea.KeyPressMsg) bool {
	switch k {
	case "enter", "space":
		f.openSelect("")
		return true
	case "left", "right":
		by := 1
		if k == "left" {
			by = -1
		}
		f.cycle(r, by)
		return true
	}
	if m.Text != "" && m.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		f.openSelect(m.Text)
		return true
	}
	return false
}

func (f *Form) cycle(r *row, by int) {
	if r.kind == rowVariant {
		n := len(r.field.Variants())
		f.choose(r, ((max(r.pick, -1)+by)%n+n)%n)
		return
	}
	n := len(r.field.Options)
	at := -1
	for i, o := range r.field.Options {
		if schema.Equal(o.Value, r.val) {
			at = i
		}
	}
	if at < 0 && by < 0 {
		at = 0
	}
	f.put(r, r.field.Options[((at+by)%n+n)%n].Value, false)
	f.ready()
}
