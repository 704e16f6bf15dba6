package form

import (
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/paint"
)

// boolean is one of the choices of a boolean: its words, and the value that it stands for, nil for unset.
type boolean struct {
	label string
	value *schema.Value
}

// isBoolean is whether a row is drawn as the choices of a boolean.
func (r *row) isBoolean() bool {
	return r.kind == rowField && r.field.Shape() == schema.ShapeBoolean && (!r.val.IsSet() || r.val.Kind() == schema.Bool)
}

// boolChoices are the choices of a row in the order in which its keys step through them.
func (r *row) boolChoices() []boolean {
	out := []boolean{{"true", schema.BoolValue(true)}, {"false", schema.BoolValue(false)}}
	if r.needsBoolean() && r.val.IsSet() {
		return out
	}
	unset := "unset"
	if d := r.field.Default; d.IsSet() {
		unset += " (" + brief(d) + ")"
	}
	return append([]boolean{{unset, nil}}, out...)
}

// needsBoolean is whether true and false are all that the keys choose from.
func (r *row) needsBoolean() bool { return r.child.Required || r.item >= 0 || !r.child.Declared }

// booleanGap is between two choices.
const booleanGap = "   "

// choicesWidth is the cells of all choices.
func (r *row) choicesWidth() int {
	n := -len(booleanGap)
	for _, c := range r.boolChoices() {
		n += paint.Width("○ "+c.label) + len(booleanGap)
	}
	return n
}

// boolean draws the choices, and where they do not fit the one that is taken.
func (d *drawer) boolean(r *row, w int) string {
	var all []string
	taken := ""
	for _, c := range r.boolChoices() {
		s := d.t.Muted.S("○ " + c.label)
		if c.value == nil && !r.val.IsSet() || c.value != nil && schema.Equal(c.value, r.val) {
			s = d.t.Bool.S("● " + c.label)
			taken = s
		}
		all = append(all, s)
	}
	if r.choicesWidth() > w {
		return taken
	}
	return strings.Join(all, booleanGap)
}

// clickBoolean takes the choice at a cell of the value, or the next one where there is room for one only.
func (f *Form) clickBoolean(r *row, x, w int) bool {
	if r.choicesWidth() > w {
		return f.boolKey(r, "space")
	}
	for _, c := range r.boolChoices() {
		n := paint.Width("○ " + c.label)
		if x >= 0 && x < n {
			f.put(r, c.value, false)
			f.ready()
			return true
		}
		x -= n + len(booleanGap)
	}
	return true
}
