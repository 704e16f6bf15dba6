package schema_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// maker makes schemas, mutations of them, and values.
type maker struct{ *rand.Rand }

type node = map[string]any

func (m maker) pick(of ...any) any { return of[m.IntN(len(of))] }

func (m maker) names() []string { return []string{"a", "b", "c"}[:1+m.IntN(3)] }

// schema is a random schema of some depth.
func (m maker) schema(depth int) any {
	n := node{}
	kinds := 9
	if depth <= 0 {
		kinds = 5
	}
	switch m.IntN(kinds) {
	case 0:
		n["type"] = m.pick("string", []any{"string", "null"}, []any{"string", "integer"})
		m.some(n, node{"minLength": m.IntN(3), "maxLength": 1 + m.IntN(4), "pattern": m.pick("^a", "b$", "^[ab]+$"), "format": m.pick("email", "date")})
	case 1:
		n["type"] = m.pick("integer", "number", []any{"integer", "null"})
		m.some(n, node{"minimum": m.IntN(4) - 2, "maximum": m.IntN(6), "exclusiveMinimum": m.IntN(3) - 2, "exclusiveMaximum": m.IntN(6), "multipleOf": m.pick(1, 2, 3, 0.5)})
	case 2:
		n["enum"] = []any{m.scalar(), m.scalar(), m.scalar()}
		m.some(n, node{"type": m.pick("string", "integer", "number")})
	case 3:
		n[m.pick("const", "description", "default").(string)] = m.scalar()
	case 4:
		return m.pick(true, false, node{}, node{"not": node{"type": "string"}}, node{"type": "boolean"}, node{"$ref": "#/$defs/d"})
	case 5, 6:
		n["type"] = "object"
		props := node{}
		for _, name := range m.names() {
			props[name] = m.schema(depth - 1)
		}
		n["properties"] = props
		m.some(n, node{
			"required": []any{m.pick("a", "b", "c")}, "additionalProperties": m.pick(false, true, m.schema(0)), "minProperties": m.IntN(3), "maxProperties": 1 + m.IntN(3),
			"patternProperties": node{"^b": m.schema(0)}, "propertyNames": m.pick(true, node{"maxLength": 1}), "unevaluatedProperties": false,
			"dependentRequired": node{"a": []any{"b"}},
		})
	case 7:
		n["type"] = "array"
		m.some(n, node{"items": m.schema(depth - 1), "minItems": m.IntN(3), "maxItems": 1 + m.IntN(3), "uniqueItems": true, "prefixItems": []any{m.schema(depth - 1)}, "contains": m.schema(0)})
	case 8:
		n[m.pick("anyOf", "oneOf", "allOf").(string)] = []any{m.schema(depth - 1), m.schema(depth - 1), m.schema(0)}[:1+m.IntN(3)]
		m.some(n, node{"type": m.pick("object", "string", "integer")})
	}
	return n
}

// some adds about a third of the members.
func (m maker) some(n, from node) {
	for _, k := range slices.Sorted(maps.Keys(from)) {
		if m.IntN(3) == 0 {
			n[k] = from[k]
		}
	}
}

func (m maker) scalar() any {
	return m.pick("a", "ab", "b", "", 0, 1, 2, 1.5, -1, nil, true, "x@y.example")
}

// mutated is a copy with one thing changed somewhere.
func (m maker) mutated(v any, depth int) any {
	n, ok := v.(node)
	if !ok || m.IntN(4) == 0 || len(n) == 0 {
		if list, ok := v.([]any); ok && len(list) > 0 {
			out := slices.Clone(list)
			switch i := m.IntN(len(out)); m.IntN(3) {
			case 0:
				return slices.Delete(out, i, i+1)
			case 1:
				return append(out, m.like(out[i], depth))
			default:
				out[i] = m.mutated(out[i], depth-1)
			}
			return out
		}
		return m.like(v, depth)
	}
	out := maps.Clone(n)
	k := slices.Sorted(maps.Keys(n))[m.IntN(len(n))]
	switch m.IntN(4) {
	case 0:
		delete(out, k)
	case 1:
		if other, ok := m.schema(depth).(node); ok {
			for k, v := range other {
				if _, there := out[k]; !there {
					out[k] = v
				}
			}
		}
	default:
		out[k] = m.mutated(out[k], depth-1)
	}
	return out
}

// like is something of the same kind.
func (m maker) like(v any, depth int) any {
	switch v := v.(type) {
	case int:
		return v + m.IntN(5) - 2
	case string:
		return m.pick("a", "b", "string", "integer", "number", "object", "^a", "^[ab]+$")
	case bool:
		return !v
	case node:
		return m.schema(depth)
	}
	return m.scalar()
}

// value is a value for a schema: often one that it accepts, without members that an object says nothing of.
func (m maker) value(v any, defs node, depth int) any {
	n, ok := v.(node)
	if !ok || depth < 0 || m.IntN(12) == 0 {
		return m.scalar()
	}
	if ref, ok := n["$ref"]; ok && ref != nil {
		return m.value(defs["d"], defs, depth-1)
	}
	for _, kw := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := n[kw].([]any); ok && len(list) > 0 && m.IntN(3) > 0 {
			return m.value(list[m.IntN(len(list))], defs, depth-1)
		}
	}
	if e, ok := n["enum"].([]any); ok && len(e) > 0 {
		return e[m.IntN(len(e))]
	}
	if c, ok := n["const"]; ok {
		return c
	}
	typ := n["type"]
	if list, ok := typ.([]any); ok && len(list) > 0 {
		typ = list[m.IntN(len(list))]
	}
	props, isObject := n["properties"].(node)
	switch {
	case typ == "object" || isObject:
		out := node{}
		for name, p := range props {
			if m.IntN(3) > 0 {
				out[name] = m.value(p, defs, depth-1)
			}
		}
		if ap, ok := n["additionalProperties"]; ok && m.IntN(2) == 0 {
			out[m.pick("a", "b", "c", "bb").(string)] = m.value(ap, defs, depth-1)
		}
		return out
	case typ == "array":
		out := []any{}
		for i := range m.IntN(4) {
			if first, ok := n["prefixItems"].([]any); ok && i < len(first) {
				out = append(out, m.value(first[i], defs, depth-1))
			} else {
				out = append(out, m.value(n["items"], defs, depth-1))
			}
		}
		return out
	case typ == "string":
		return m.pick("", "a", "b", "ab", "ba", "aab", "x@y.example", "2026-01-02")
	case typ == "integer":
		return m.IntN(9) - 3
	case typ == "number":
		return float64(m.IntN(18)-6) / 2
	}
	return m.scalar()
}

func parsed(v any, defs node) *schema.Schema {
	if n, ok := v.(node); ok {
		v = maps.Clone(n)
		v.(node)["$defs"] = defs
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return schema.Parse(raw)
}

// allowed reports whether a change may be one of values that are refused now, or accepted now.
func allowed(changes []schema.Change, e schema.Effect) bool {
	return slices.ContainsFunc(changes, func(c schema.Change) bool { return c.Effect&e != 0 || c.Kind == schema.PropertyRemoved })
}

// undeclared reports whether a value may have members that an object says nothing of, which is the exception that Changes makes.
func undeclared(changes []schema.Change) bool {
	return slices.ContainsFunc(changes, func(c schema.Change) bool { return c.Kind == schema.PropertyAdded && c.Effect == 0 })
}

// Where Changes says that nothing is narrowed, no value that the earlier schema accepts is refused by the later one; and the other way round.
func TestChangesAreCautious(t *testing.T) {
	n := 1_500
	if budget.All() {
		n = 12_000
	}
	if budget.Race() {
		n /= 4
	}
	narrowed, widened, silent := 0, 0, 0
	for seed := range uint64(n) {
		m := maker{rand.New(rand.NewPCG(seed, 16))}
		defs, was := node{"d": m.schema(1)}, m.schema(3)
		is, isDefs := was, defs
		for range 1 + m.IntN(2) {
			if m.IntN(6) == 0 {
				isDefs = node{"d": m.mutated(isDefs["d"], 1)}
			} else {
				is = m.mutated(is, 2)
			}
		}
		before, after := parsed(was, defs), parsed(is, isDefs)
		changes := schema.Changes(before, after)
		narrows, widens, exception := allowed(changes, schema.Narrows), allowed(changes, schema.Widens), undeclared(changes)
		if !narrows && !widens {
			silent++
		}
		for range 25 {
			from, fromDefs := was, defs
			if m.IntN(2) == 0 {
				from, fromDefs = is, isDefs
			}
			raw, err := json.Marshal(m.value(from, fromDefs, 4))
			require.NoError(t, err)
			old, skipped := before.ValidateJSON(raw)
			now, skipped2 := after.ValidateJSON(raw)
			switch {
			case skipped != "" || skipped2 != "": // a reference that leads to itself: nobody knows
			case old == nil && now != nil:
				narrowed++
				if !narrows && !exception {
					t.Fatalf("seed %d: %s is refused now (%v)\n%s\n→ %s\n%s", seed, raw, now, before.Raw(), after.Raw(), what(changes))
				}
			case old != nil && now == nil:
				widened++
				if !widens {
					t.Fatalf("seed %d: %s is accepted now (%v before)\n%s\n→ %s\n%s", seed, raw, old, before.Raw(), after.Raw(), what(changes))
				}
			}
		}
	}
	if narrowed < n/10 || widened < n/10 || silent < n/50 {
		t.Errorf("of %d pairs: %d values narrowed, %d widened, %d without an effect; the test says little", n, narrowed, widened, silent)
	}
}
