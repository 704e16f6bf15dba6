package lint

import (
	"fmt"
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// maxVerdicts is how many verdicts are kept: the tools of one server share many of their parameters, and compiling is what costs.
const maxVerdicts = 5_000

// maxExamples is how many examples of one schema are validated.
const maxExamples = 20

// values validates the default, the examples and, where keywords narrow it, the enum of a schema by the schema itself. What is costly is done
// once for all tools that have the same.
func (w *walker) values(n *node) {
	def, ex, enum := n.v.Get("default"), n.v.Get("examples"), n.v.Get("enum")
	if !def.IsSet() && ex.Kind() != schema.Array && enum.Kind() != schema.Array {
		return
	}
	var s *schema.Schema
	problem := func(v *schema.Value) string {
		if done, why := quick(n.v, v); done {
			return why
		}
		if s == nil { // compiled at most once for all values of a schema
			s = schema.Parse(w.withDefinitions(n.v).JSON())
		}
		key := string(s.Raw()) + "\x00" + string(v.JSON())
		if why, known := w.e.verdicts[key]; known {
			return why
		}
		why := ""
		if ps := s.Validate(v); len(ps) > 0 {
			why = ps[0].Sentence()
		}
		if len(w.e.verdicts) < maxVerdicts && len(key) < 4<<10 { // a long key is one that no other tool has, as a rule
			w.e.verdicts[key] = why
		}
		return why
	}
	if def.IsSet() {
		if why := problem(def); why != "" {
			w.add("lint/default-invalid", n, "default", fmt.Sprintf("%s: %s", text.Clip(string(def.JSON()), 60), text.Clip(why, 200)))
		}
	}
	if enum.Kind() == schema.Array {
		w.checkEnum(n, enum, problem)
	}
	if ex.Kind() == schema.Array {
		for i, m := range ex.Members()[:min(ex.Len(), maxExamples)] {
			if why := problem(m.Value); why != "" {
				w.addAs("lint/example-invalid", n, "examples", fmt.Sprintf("example %d, %s: %s", i, text.Clip(string(m.Value.JSON()), 60), text.Clip(why, 200)), check.Certain)
			}
		}
	}
}

// checkEnum finds values of enum that keywords beside type exclude; problem says why.
func (w *walker) checkEnum(n *node, enum *schema.Value, problem func(*schema.Value) string) {
	narrow := false
	for _, k := range []string{"pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const"} {
		narrow = narrow || n.v.Get(k).IsSet()
	}
	if !narrow {
		return
	}
	types := typesMeant(n.v)
	for _, m := range enum.Members()[:min(enum.Len(), maxExamples)] {
		if !ofTypes(m.Value, types) {
			continue // another rule's
		}
		if why := problem(m.Value); why != "" {
			w.add("lint/enum-excluded", n, "enum", fmt.Sprintf("%s: %s", text.Clip(string(m.Value.JSON()), 60), text.Clip(why, 200)))
			return
		}
	}
}

// withDefinitions returns a schema with the definitions that its references need: those of the root, as they are.
func (w *walker) withDefinitions(v *schema.Value) *schema.Value {
	if v == w.root {
		return v
	}
	ms := append([]schema.Member{}, v.Members()...)
	for _, k := range []string{"$defs", "definitions"} {
		if d := w.root.Get(k); d.Kind() == schema.Object && !v.Get(k).IsSet() {
			ms = append(ms, schema.Member{Name: k, Value: d})
		}
	}
	return schema.ObjectValue(ms...)
}

// quick decides by type, enum and numeric bounds where a schema has nothing else; done says that it could. Most schemas with a default are
// of this kind, and compiling each costs far more.
func quick(s, v *schema.Value) (done bool, why string) {
	for _, m := range s.Members() {
		switch m.Name {
		case "type", "enum", "description", "title", "default", "examples", "minimum", "maximum", "$comment", "deprecated":
		case "items", "minItems", "uniqueItems", "properties", "required", "additionalProperties":
			if v.Len() > 0 || m.Name == "minItems" || m.Name == "required" || v.Kind() != schema.Array && v.Kind() != schema.Object {
				return false, ""
			}
		default:
			return false, ""
		}
	}
	types := typesOf(s)
	if !ofTypes(v, types) {
		return true, fmt.Sprintf("is not of type %v", types)
	}
	if e := s.Get("enum"); e.Kind() == schema.Array && !slices.ContainsFunc(e.Members(), func(m schema.Member) bool { return schema.Equal(m.Value, v) }) {
		return true, "is not in enum"
	}
	if f, ok := number(v); ok {
		if lo, ok := number(s.Get("minimum")); ok && f < lo {
			return true, "is less than " + s.Get("minimum").Literal()
		}
		if hi, ok := number(s.Get("maximum")); ok && f > hi {
			return true, "is more than " + s.Get("maximum").Literal()
		}
	}
	return true, ""
}
