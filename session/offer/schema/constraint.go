package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// bounds words every assertion of the field, in the order of the schema.
func (b *builder) bounds() {
	f := b.f
	done := map[string]bool{}
	for p := range f.asserting {
		for _, m := range p.node.Members() {
			keyword, text := f.constraintText(p, m)
			if text != "" && !done[text] {
				done[text] = true
				f.Constraints = append(f.Constraints, Constraint{keyword, text})
			}
		}
	}
}

// constraintText words one keyword, "" for what is not an assertion or shows elsewhere. Both bounds of a range give the same text, which
// bounds writes once.
func (f *Field) constraintText(p part, m Member) (keyword, wording string) {
	v := m.Value
	lit := text.Clip(v.Literal(), 40)
	switch keyword = m.Name; keyword {
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum":
		wording = f.rangeText(f.Minimum, f.Maximum, f.ExclusiveMin, f.ExclusiveMax)
	case "multipleOf":
		wording = "a multiple of " + lit
	case "minLength", "maxLength":
		wording = countRange(f.MinLength, f.MaxLength, "character", "characters")
	case "minItems", "maxItems":
		wording = countRange(f.MinItems, f.MaxItems, "item", "items")
	case "minProperties", "maxProperties":
		wording = countRange(count(p.node.Get("minProperties")), count(p.node.Get("maxProperties")), "property", "properties")
	case "uniqueItems":
		if v.Bool() {
			wording = "no two items the same"
		}
	case "pattern":
		wording = "matches " + text.Clip(v.Text(), 200)
	case "format":
		wording = "format " + text.Clip(v.Text(), 80)
	case "contains":
		lo, hi := count(p.node.Get("minContains")), count(p.node.Get("maxContains"))
		if lo < 0 {
			lo = 1
		}
		wording = countRange(lo, hi, "item", "items") + " matching " + briefText(v)
	case "propertyNames":
		wording = "keys: " + briefText(v)
	case "not":
		wording = "not " + briefText(v)
	case "contentEncoding", "contentMediaType":
		wording = keyword + " " + text.Clip(v.Text(), 80)
	case "dependentRequired", "dependencies":
		var deps []string
		for _, d := range v.Members() {
			if d.Value.Kind() == Array {
				deps = append(deps, fmt.Sprintf("%s needs %s", text.Clip(d.Name, 60), names(d.Value)))
			}
		}
		wording = strings.Join(deps, "; ")
	case "additionalProperties", "unevaluatedProperties":
		if v.Kind() == Bool && !v.Bool() {
			wording = "no other properties"
		}
	case "additionalItems", "unevaluatedItems":
		if v.Kind() == Bool && !v.Bool() {
			wording = "no further items"
		}
	case "oneOf", "anyOf":
		wording = f.branchRule(m)
	}
	return keyword, wording
}

// branchRule words a group whose branches only restrict, such as "one of these properties is required".
func (f *Field) branchRule(m Member) string {
	var alts []string
	for _, k := range m.Value.Members() {
		n := f.s.peek(part{node: k.Value}).node
		if structural(n) {
			return ""
		}
		if r := n.Get("required"); r.Kind() == Array {
			alts = append(alts, names(r))
		} else {
			alts = append(alts, briefText(n))
		}
		if len(alts) == 8 {
			alts = append(alts, "…")
			break
		}
	}
	if len(alts) < 2 {
		return ""
	}
	how := "at least one of: "
	if m.Name == "oneOf" {
		how = "exactly one of: "
	}
	return how + strings.Join(alts, "; or ")
}

func (f *Field) rangeText(lo, hi string, exLo, exHi bool) string {
	lo, hi = text.Clip(lo, 40), text.Clip(hi, 40)
	switch {
	case lo != "" && hi != "" && !exLo && !exHi:
		return lo + " to " + hi
	case lo != "" && hi != "":
		return side(lo, exLo, "more than ", "at least ") + ", " + side(hi, exHi, "less than ", "at most ")
	case lo != "":
		return side(lo, exLo, "more than ", "at least ")
	case hi != "":
		return side(hi, exHi, "less than ", "at most ")
	}
	return ""
}

func side(lit string, exclusive bool, ex, in string) string {
	if exclusive {
		return ex + lit
	}
	return in + lit
}

// countRange words bounds of a number of things; -1 for one that is not there. At least 0 says nothing.
func countRange(lo, hi int, one, many string) string {
	unit := func(n int) string { return text.Count(n, one, many) }
	switch {
	case lo >= 0 && lo == hi:
		return "exactly " + unit(lo)
	case lo > 0 && hi >= 0:
		return strconv.Itoa(lo) + " to " + unit(hi)
	case hi >= 0:
		return "at most " + unit(hi)
	case lo > 0:
		return "at least " + unit(lo)
	}
	return ""
}

// count is the value of a keyword that counts something, 1.0 and 1e1 included, which are whole numbers as well
// (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.3); -1 for what is none. More than a billion
// of anything is no limit that a value could meet, and counts as none.
func count(v *Value) int {
	if v.Kind() != Number || !isInteger(v.raw) || compare(v.raw, "0") < 0 || compare(v.raw, "1000000000") > 0 {
		return -1
	}
	return int(ratOf(v.raw).Num().Int64())
}

// names lists the strings of an array for people, eight at most.
func names(v *Value) string {
	var out []string
	for i, m := range v.Members() {
		if i == 8 {
			out = append(out, "…")
			break
		}
		out = append(out, text.Clip(m.Value.Text(), 60))
	}
	return strings.Join(out, ", ")
}

// briefText shows a subschema in a few words or as short JSON.
func briefText(v *Value) string {
	switch {
	case v.Kind() == Bool && v.Bool():
		return "anything"
	case v.Kind() == Bool:
		return "nothing"
	case v.Len() == 1:
		m := v.Members()[0]
		switch {
		case m.Name == "const":
			return text.Clip(shortJSON(m.Value), 120)
		case m.Name == "required":
			return "with " + names(m.Value)
		case m.Name == "type" && m.Value.Kind() == String:
			return "a value of type " + text.Clip(m.Value.Text(), 40)
		case m.Name == "pattern":
			return "matching " + text.Clip(m.Value.Text(), 120)
		case m.Name == "format":
			return "format " + text.Clip(m.Value.Text(), 80)
		}
	}
	return shortJSON(v)
}

// shortJSON is v's JSON cut at 160 bytes, without writing all of a large one.
func shortJSON(v *Value) string {
	if v.size(1000) > 1000 {
		return "a large " + v.Kind().String()
	}
	return text.Clip(v.String(), 160)
}
