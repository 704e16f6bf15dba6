package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mcphud/mcphud/session/base/text"
)

// problemWriter turns the validator's error tree into problems that name the field a person has to change.
type problemWriter struct {
	problems []Problem        // at most maxProblems
	err      error            // why the whole value counts as unchecked
	chosen   map[string][]int // see ValidateChosen
}

func (w *problemWriter) add(loc []string, keyword, format string, args ...any) {
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, Problem{Pointer(loc...), keyword, fmt.Sprintf(format, args...)})
	}
}

// take adds what was found in a branch.
func (w *problemWriter) take(found []Problem) {
	w.problems = append(w.problems, found[:min(len(found), maxProblems-len(w.problems))]...)
}

// walk words an error and those below it. Errors that only say where others are (schema, reference, allOf) leave no trace.
func (w *problemWriter) walk(e *jsonschema.ValidationError) {
	loc := e.InstanceLocation
	at := func(name string) []string { return append(slices.Clone(loc), name) }
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		w.branches(e, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			w.add(loc, "oneOf", "fits alternatives %d and %d; it must fit exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1)
			return
		}
		w.branches(e, "oneOf")
	case *kind.Required:
		for _, name := range k.Missing {
			w.add(at(name), "required", "is required")
		}
	case *kind.DependentRequired:
		for _, name := range k.Missing {
			w.add(at(name), "dependentRequired", "is required because %s is given", text.Clip(k.Prop, 60))
		}
	case *kind.Dependency:
		for _, name := range k.Missing {
			w.add(at(name), "dependencies", "is required because %s is given", text.Clip(k.Prop, 60))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			w.add(at(name), "additionalProperties", "is not a property the schema allows")
		}
	case *kind.PropertyNames:
		inner := problemWriter{}
		for _, c := range e.Causes {
			inner.walk(c)
		}
		w.err = cmp.Or(w.err, inner.err)
		msg := "is not a key the schema allows"
		if len(inner.problems) > 0 {
			msg = "the key " + inner.problems[0].Message
		}
		w.add(at(k.Property), "propertyNames", "%s", msg)
	case *kind.Contains:
		w.add(loc, "contains", "must have an item that the schema describes in contains")
	case *kind.RefCycle:
		w.err = errors.New("the schema refers to itself without end, so the value was not checked")
	default:
		if len(e.Causes) == 0 {
			w.leaf(e)
			return
		}
		for _, c := range e.Causes {
			w.walk(c)
		}
	}
}

// branches reports a value that fits no alternative: the problems of the one
// it was plainly meant to be, or a line about all of them.
func (w *problemWriter) branches(e *jsonschema.ValidationError, keyword string) {
	here := Pointer(e.InstanceLocation...)
	if path := w.chosen[here]; len(path) > 0 {
		suffix := "/" + keyword + "/" + strconv.Itoa(path[0])
		if i := slices.IndexFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return strings.HasSuffix(c.SchemaURL, suffix) }); i >= 0 {
			b := problemWriter{chosen: maps.Clone(w.chosen)}
			b.chosen[here] = path[1:]
			b.walk(e.Causes[i])
			w.err = cmp.Or(w.err, b.err)
			w.take(b.problems)
			return
		}
	}
	var near [][]Problem
	var types []string
	onlyTypes := true
	for _, c := range e.Causes {
		b := problemWriter{chosen: w.chosen}
		b.walk(c)
		w.err = cmp.Or(w.err, b.err)
		far := false
		for _, p := range b.problems {
			if p.Pointer == here && p.Keyword == "type" {
				far = true
				types = append(types, strings.TrimPrefix(p.Message, "must be "))
			} else {
				onlyTypes = false
			}
			tagged := strings.Count(p.Pointer, "/") == strings.Count(here, "/")+1
			far = far || p.Keyword == "const" || (p.Keyword == "enum" && tagged)
		}
		if !far && len(b.problems) > 0 {
			near = append(near, b.problems)
		}
	}
	switch {
	case len(near) == 1:
		w.take(near[0])
	case onlyTypes && len(types) > 0:
		w.add(e.InstanceLocation, keyword, "must be %s", strings.Join(slices.Compact(types), " or "))
	default:
		w.add(e.InstanceLocation, keyword, "fits none of the %d alternatives%s", len(e.Causes), hint(near))
	}
}

// hint says what is wrong with the first of the alternatives that a value comes near to.
func hint(near [][]Problem) string {
	if len(near) == 0 {
		return ""
	}
	var out []string
	for _, ps := range near[:min(len(near), 3)] {
		out = append(out, text.Clip(strings.TrimPrefix(ps[0].String(), "/"), 100))
	}
	return " (" + strings.Join(out, "; or ") + ")"
}

// leaf words an error that has no causes. The texts are ours; what of the schema is in them is clipped, not made safe.
func (w *problemWriter) leaf(e *jsonschema.ValidationError) {
	loc := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		w.add(loc, "type", "must be %s", typePhrase(k.Want))
	case *kind.Enum:
		w.add(loc, "enum", "must be one of %s", list(k.Want))
	case *kind.Const:
		w.add(loc, "const", "must be %s", jsonText(k.Want))
	case *kind.Format:
		example := formatExamples[k.Want]
		if example != "" {
			example = ", for example " + example
		}
		w.add(loc, "format", "is not a valid %s%s", text.Clip(k.Want, 60), example)
	case *kind.Pattern:
		w.add(loc, "pattern", "must match %s", text.Clip(k.Want, 200))
	case *kind.MinLength:
		w.add(loc, "minLength", "must have %s, has %d", countRange(k.Want, -1, "character", "characters"), k.Got)
	case *kind.MaxLength:
		w.add(loc, "maxLength", "must have %s, has %d", countRange(-1, k.Want, "character", "characters"), k.Got)
	case *kind.MinItems:
		w.add(loc, "minItems", "must have %s, has %d", countRange(k.Want, -1, "item", "items"), k.Got)
	case *kind.MaxItems:
		w.add(loc, "maxItems", "must have %s, has %d", countRange(-1, k.Want, "item", "items"), k.Got)
	case *kind.MinProperties:
		w.add(loc, "minProperties", "must have %s, has %d", countRange(k.Want, -1, "property", "properties"), k.Got)
	case *kind.MaxProperties:
		w.add(loc, "maxProperties", "must have %s, has %d", countRange(-1, k.Want, "property", "properties"), k.Got)
	case *kind.UniqueItems:
		w.add(append(slices.Clone(loc), strconv.Itoa(k.Duplicates[1])), "uniqueItems", "is the same as item %d; all must differ", k.Duplicates[0])
	case *kind.AdditionalItems:
		w.add(loc, "items", "has %d items too many", k.Count)
	case *kind.MinContains:
		w.add(loc, "minContains", "must have %s as contains describes, has %d", countRange(k.Want, -1, "item", "items"), len(k.Got))
	case *kind.MaxContains:
		w.add(loc, "maxContains", "must have %s as contains describes, has %d", countRange(-1, k.Want, "item", "items"), len(k.Got))
	case *kind.Minimum:
		w.add(loc, "minimum", "must be at least %s", ratText(k.Want))
	case *kind.Maximum:
		w.add(loc, "maximum", "must be at most %s", ratText(k.Want))
	case *kind.ExclusiveMinimum:
		w.add(loc, "exclusiveMinimum", "must be more than %s", ratText(k.Want))
	case *kind.ExclusiveMaximum:
		w.add(loc, "exclusiveMaximum", "must be less than %s", ratText(k.Want))
	case *kind.MultipleOf:
		w.add(loc, "multipleOf", "must be a multiple of %s", ratText(k.Want))
	case *kind.Not:
		w.add(loc, "not", "is one of the values that the schema excludes (not)")
	case *kind.FalseSchema:
		w.add(loc, "false", "is not allowed here")
	default:
		path := e.ErrorKind.KeywordPath()
		kw := "schema"
		if len(path) > 0 {
			kw = path[0]
		}
		w.add(loc, kw, "violates %s", kw)
	}
}

func typePhrase(want []string) string {
	var out []string
	last := slices.Index(want, "null") // reads better at the end
	if last >= 0 {
		want = append(slices.Delete(slices.Clone(want), last, last+1), "null")
	}
	for _, t := range want {
		switch t {
		case "integer":
			t = "a whole number"
		case "number", "string":
			t = "a " + t
		case "boolean":
			t = "true or false"
		case "array":
			t = "an array"
		case "object":
			t = "an object"
		}
		out = append(out, t)
	}
	return strings.Join(out, " or ")
}

// formatExamples are what the commoner formats look like.
var formatExamples = map[string]string{
	"date":      "2026-11-21",
	"time":      "13:45:00Z",
	"date-time": "2026-11-21T13:45:00Z",
	"duration":  "P1DT2H",
	"email":     "name@example.com",
	"uri":       "https://example.com/",
	"uuid":      "123e4567-e89b-12d3-a456-426614174000",
	"ipv4":      "192.0.2.1",
	"ipv6":      "2001:db8::1",
	"hostname":  "host.example.com",
}

func list(vs []any) string {
	var out []string
	for i, v := range vs {
		if i == 12 {
			out = append(out, fmt.Sprintf("… (%d in all)", len(vs)))
			break
		}
		out = append(out, jsonText(v))
	}
	return strings.Join(out, ", ")
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text.Clip(string(b), 80)
}

func ratText(r *big.Rat) string {
	if r.IsInt() {
		return text.Clip(r.Num().String(), 60)
	}
	f, exact := r.Float64()
	if s := strconv.FormatFloat(f, 'g', -1, 64); exact || len(s) < 17 {
		return s
	}
	return strings.TrimRight(r.FloatString(12), "0")
}
