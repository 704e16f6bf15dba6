package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// popup is a list under the focused row: the values of an enum, the variants,
// the states a value can have, or suggestions.
type popup struct {
	choices    []choice
	shown      []int
	at         int // in shown; -1 none
	top        int
	filter     *textInput
	filterable bool
	suggestion bool
	note       string // below the choices, safe
}

// choice is one line of a popup.
type choice struct {
	label, help string // as the server has them; drawing makes them safe
	do          func()
}

// popRows is how many choices are visible at a time.
const popRows = 8

func (f *Form) openPopup(p *popup, at int) {
	p.filter = newLine("")
	p.narrow()
	p.at = at
	f.pop = p
}

// narrow applies the filter: choices that contain all its words.
func (p *popup) narrow() {
	p.shown = p.shown[:0]
	words := strings.Fields(strings.ToLower(p.filter.String()))
next:
	for i, c := range p.choices {
		hay := strings.ToLower(c.label + " " + c.help)
		for _, w := range words {
			if !strings.Contains(hay, w) {
				continue next
			}
		}
		p.shown = append(p.shown, i)
	}
	p.at, p.top = 0, 0
	if len(p.shown) == 0 {
		p.at = -1
	}
}

// visible returns which of shown to draw.
func (p *popup) visible() []int {
	if p.at >= 0 {
		p.top = min(max(p.top, p.at-popRows+1), p.at)
	}
	p.top = min(max(p.top, 0), max(len(p.shown)-popRows, 0))
	return p.shown[p.top:min(p.top+popRows, len(p.shown))]
}

// popKey handles a key while a popup is open; false leaves it to the row.
func (f *Form) popKey(m tea.KeyPressMsg) bool {
	p := f.pop
	switch k := m.String(); k {
	case "esc":
		f.pop = nil
		return true
	case "down", "tab":
		if p.suggestion && k == "tab" {
			return f.accept() // false leaves it to the field
		}
		if p.suggestion && p.at == len(p.shown)-1 {
			f.pop = nil
			return false
		}
		p.at = min(p.at+1, len(p.shown)-1)
		return true
	case "up", "shift+tab":
		if p.suggestion && p.at <= 0 {
			if p.at < 0 || k == "shift+tab" {
				f.pop = nil
				return false
			}
			p.at = -1
			return true
		}
		p.at = max(p.at-1, 0)
		return true
	case "pgdown":
		p.at = min(p.at+popRows, len(p.shown)-1)
		return true
	case "pgup":
		p.at = max(p.at-popRows, 0)
		return true
	case "enter":
		return f.accept()
	case "space":
		if !p.filterable && !p.suggestion {
			return f.accept()
		}
	}
	if p.suggestion {
		return false // typing goes on in the field
	}
	if p.filterable {
		if handled, changed := p.filter.key(m); handled {
			if changed {
				p.narrow()
			}
			return true
		}
	}
	if m.String() == "ctrl+c" {
		return false
	}
	return m.Text != ""
}

// accept does the choice under the popup's cursor.
func (f *Form) accept() bool {
	p := f.pop
	f.pop = nil
	if p.at < 0 || p.at >= len(p.shown) {
		return !p.suggestion
	}
	p.choices[p.shown[p.at]].do()
	f.ready()
	return true
}

// openSelect lists the values of an enum or the variants.
func (f *Form) openSelect(filter string) {
	r := *f.row()
	p := &popup{filterable: true}
	at := 0
	if r.kind == rowVariant {
		for i, v := range r.field.Variants() {
			p.choices = append(p.choices, choice{v.Title, v.Description, func() { f.chooseAndEnter(i) }})
		}
		at = max(r.pick, 0)
		if r.field.Nullable() {
			p.choices = append(p.choices, choice{"null", "", func() { f.putNull() }})
		}
	} else {
		for i, o := range r.field.Options {
			label := optionLabel(o)
			p.choices = append(p.choices, choice{label, o.Description, func() { f.put(f.row(), o.Value, false) }})
			if schema.Equal(o.Value, r.val) {
				at = i
			}
		}
	}
	if !r.child.Required && r.item < 0 {
		p.choices = append(p.choices, choice{"unset", "leave it out", func() { f.unset(f.row()) }})
	}
	f.openPopup(p, at)
	if filter != "" {
		p.filter.insert(filter)
		p.narrow()
	}
}

// chooseAndEnter picks a variant and goes on to the first field of it that is to fill in.
func (f *Form) chooseAndEnter(pick int) {
	f.choose(f.row(), pick)
	first := -1
	for i := f.cur + 1; i < len(f.rows) && f.rows[i].depth > f.rows[f.cur].depth; i++ {
		r := &f.rows[i]
		if r.depth != f.rows[f.cur].depth+1 || r.field.Shape() == schema.ShapeConst || r.val.IsSet() && r.kind == rowField {
			continue
		}
		if first < 0 || r.child.Required && !f.rows[first].child.Required {
			first = i
		}
	}
	switch {
	case first < 0:
	case f.rows[first].kind == rowAdd && f.rows[first].name == addKey: // nothing else to do there
		f.addTo(first)
	default:
		f.setCur(first)
	}
}

// optionLabel shows an option's title and, where it differs, its value.
func optionLabel(o schema.Option) string {
	v := o.Value.String()
	if o.Value.Kind() == schema.String && o.Title == "" {
		return o.Value.Text()
	}
	if o.Title == "" {
		return v
	}
	return o.Title + "  " + v
}

func (f *Form) putNull() {
	r := f.row()
	delete(f.picks, r.pickKey())
	f.input = nil
	f.put(r, schema.NullValue(), false)
	f.stale = true
	f.build()
}

// openStates offers every state a field can have: unset, null, empty, its default and its examples.
func (f *Form) openStates() {
	r := f.row()
	if r == nil || r.bare() {
		return
	}
	put := func(v *schema.Value) func() {
		return func() {
			f.input = nil
			f.put(f.row(), v, false)
			f.stale = true
			f.build()
		}
	}
	p := &popup{}
	unset := "leave it out"
	if r.child.Required {
		unset += " (it is required)"
	}
	p.choices = append(p.choices, choice{"unset", unset, func() { f.unset(f.row()) }})
	null := ""
	if !r.field.Nullable() {
		null = "the schema does not allow it"
	}
	p.choices = append(p.choices, choice{"null", null, f.putNull})
	field := r.field
	if r.kind == rowVariant {
		field = f.effective(r)
	}
	if u := r.choices(); u != nil {
		for i, v := range u.Variants() {
			p.choices = append(p.choices, choice{v.Title, cmp.Or(v.Description, "another variant"), func() { f.chooseAndEnter(i) }})
		}
	}
	switch field.Shape() {
	case schema.ShapeString, schema.ShapeAny:
		p.choices = append(p.choices, choice{`""`, "the empty string", put(schema.StringValue(""))})
	case schema.ShapeArray:
		p.choices = append(p.choices, choice{"[]", "the empty array", put(schema.ArrayValue())})
	case schema.ShapeObject:
		p.choices = append(p.choices, choice{"{}", "the empty object", put(schema.ObjectValue())})
	}
	if field.Shape() == schema.ShapeAny {
		p.choices = append(p.choices,
			choice{"[]", "an array to fill", put(schema.ArrayValue())},
			choice{"{}", "an object to fill", put(schema.ObjectValue())})
	}
	if r.field.Default.IsSet() {
		p.choices = append(p.choices, choice{brief(r.field.Default), "the default", put(r.field.Default)})
	}
	if skel := field.Skeleton(); field.Shape() == schema.ShapeObject && skel.Len() > 0 {
		p.choices = append(p.choices, choice{brief(skel), "all required fields and defaults", put(skel)})
	}
	for i, e := range r.field.Examples {
		if i == 20 {
			break
		}
		p.choices = append(p.choices, choice{brief(e), "an example", put(e)})
	}
	f.openPopup(p, 0)
}

// brief is a value's JSON, cut where nobody reads on.
func brief(v *schema.Value) string {
	return text.Clip(v.String(), 200)
}

// Suggestions are the answer to a completion.
type Suggestions struct {
	Values []string
	Total  int    // how many values there are, 0 if that is not known
	More   bool   // there are more than Values
	Err    string // why there are none, "" for no reason
}

// note says how many values there are where these are not all.
func (s Suggestions) note() string {
	switch n := len(s.Values); {
	case s.Total > n:
		return fmt.Sprintf("%d of %d values; type to narrow", n, s.Total)
	case s.More:
		return fmt.Sprintf("%d values and more; type to narrow", n)
	}
	return ""
}

// Suggest shows completions for a field, if it is still the focused one and
// its text is still what they were asked for. No values closes the list; what is wrong stands at the field until the next answer.
func (f *Form) Suggest(pointer, forText string, s Suggestions) {
	t := f.edit()
	r := f.row()
	if t == nil || r.ptr != pointer || t.String() != forText || f.raw != nil || f.rename != nil {
		return
	}
	f.fresh = false
	f.refused = refusal{}
	if s.Err != "" {
		f.refused = refusal{pointer, s.Err}
	}
	values := s.Values
	if len(values) == 0 || len(values) == 1 && values[0] == forText {
		if f.pop != nil && f.pop.suggestion {
			f.pop = nil
		}
		return
	}
	p := &popup{suggestion: true, note: s.note()}
	for _, v := range values[:min(len(values), 200)] {
		p.choices = append(p.choices, choice{v, "", func() {
			f.input, f.accepted = newField(v), v
			f.undoAt = ""
			f.typed()
		}})
	}
	at := 0
	if slices.Contains(values, forText) || forText == "" && !r.child.Required || forText != "" && forText == f.accepted {
		at = -1 // nothing is to be completed, or left out as likely
	}
	f.openPopup(p, at)
}

// Ask asks for completions of the focused field.
func (f *Form) Ask() {
	if t := f.edit(); t != nil && f.Complete != nil && f.raw == nil && f.pop == nil {
		if cmd := f.Complete(f.row().ptr, t.String()); cmd != nil {
			f.cmds = append(f.cmds, cmd)
		}
	}
}
