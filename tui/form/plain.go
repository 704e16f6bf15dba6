package form

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/safe"
)

var keySpace = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}

// Item is one field for linear mode, where a form is a numbered list.
type Item struct {
	Pointer string
	Label   string // safe, one line: name, value, type, what is wrong
	Value   string // the text it is edited as
	Secret  bool   // not to be shown while it is typed
	Folds   bool   // it is not a field: [Form.Unfold] shows further ones, or folds them
}

// Items lists the fields that can be set by text, in order.
func (f *Form) Items() []Item {
	f.settleInput()
	f.ready()
	d := drawer{f: f, t: f.theme, w: 100}
	var out []Item
	for i := range f.rows {
		r := &f.rows[i]
		if r.kind == rowRest {
			what := "show "
			if r.open {
				what = "fold "
			}
			out = append(out, Item{Label: what + r.restLabel() + r.restNames(), Folds: true})
		}
		if r.bare() {
			continue
		}
		label := strings.Repeat("  ", min(r.depth, 10)) + safe.Line(r.name, 200)
		if r.child.Required {
			label += " (required)"
		}
		label += " = " + f.plainValue(r) + " [" + d.summary(r) + "]"
		if r.field.Description != "" {
			label += " " + safe.Line(r.field.Description, 400)
		}
		for _, p := range f.problems {
			if p.Pointer == r.ptr && !f.toFill(p) {
				label += " ERROR: " + safe.Line(p.Message, 400)
				break
			}
		}
		out = append(out, Item{Pointer: r.ptr, Label: label, Value: shown(r.field, r.val), Secret: holdsSecret(r.field, r.val, 0)})
	}
	return out
}

func (f *Form) plainValue(r *row) string {
	switch {
	case r.kind == rowVariant && r.pick >= 0:
		return "variant " + safe.Line(r.field.Variants()[r.pick].Title, 100)
	case !r.val.IsSet():
		return "unset"
	case holdsSecret(r.field, r.val, 0):
		return "hidden"
	}
	return safe.Line(brief(r.val), 300)
}

// holdsSecret is whether a value that is drawn hidden is in a value, which must then be drawn as little.
func holdsSecret(f *schema.Field, v *schema.Value, depth int) bool {
	const deepest, most = 6, 200
	if f.Format == "password" {
		return true
	}
	if k := v.Kind(); depth == deepest || k != schema.Object && k != schema.Array {
		return false
	}
	for i, child := range f.Children(v) {
		if i == most {
			break
		}
		if holdsSecret(child.Field(), v.At(child.Name), depth+1) {
			return true
		}
	}
	return false
}

// SetText sets a field from text as the schema has it; a variant by its
// title. An empty text unsets what is not a string.
func (f *Form) SetText(pointer, text string) error {
	if !f.Focus(pointer) {
		return fmt.Errorf("the form has no field %s; list the fields again", pointer)
	}
	r := f.row()
	if u := r.choices(); u != nil {
		for i, v := range u.Variants() {
			if i != r.pick && strings.EqualFold(strings.TrimSuffix(v.Title, " …"), strings.TrimSuffix(text, " …")) {
				f.choose(r, i)
				return nil
			}
		}
	}
	var v *schema.Value
	if text != "" || r.field.Shape() == schema.ShapeString {
		var err error
		if v, err = r.field.Coerce(text); err != nil {
			return err
		}
	}
	if !v.IsSet() {
		f.unset(r)
	} else {
		f.put(r, v, false)
	}
	f.input, f.stale = nil, true
	f.build()
	return nil
}

// Plain writes the form as text without escapes, one field a line.
func (f *Form) Plain(w io.Writer) {
	if f.raw != nil {
		fmt.Fprintln(w, safe.Text(f.raw.text.String()))
		if f.raw.err != nil {
			fmt.Fprintln(w, "error: "+safe.Line(f.raw.err.Error(), 1000))
		}
		return
	}
	for i, it := range f.Items() {
		fmt.Fprintf(w, "%d. %s\n", i+1, it.Label)
	}
	if n := f.notice(); n != "" {
		fmt.Fprintln(w, "note: "+safe.Line(n, 1000))
	}
}
