package schema

import (
	"maps"
	"slices"
)

// view is the keywords that apply at a place together.
type view struct {
	s     *Schema
	base  string            // of the subschemas in kw
	kw    map[string]*Value // by keyword, nil for one that says nothing
	order []string          // of the keywords, as they are written
	never bool              // false: accepts nothing
}

// get is a keyword's value, unset where there is none.
func (v view) get(name string) *Value { return v.kw[name] }

// sub is a subschema of the view; a missing one accepts everything.
func (v view) sub(node *Value) part { return part{node: node, base: v.base} }

// isAnnotation reports whether a keyword says nothing about which values are accepted.
func isAnnotation(kw string) bool {
	switch kw {
	case "title", "description", "examples", "example", "default", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$id", "id", "$defs", "definitions",
		"$anchor", "$dynamicAnchor", "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema":
		return true
	}
	return false
}

// needsOthers reports whether the meaning of a keyword depends on others beside it, so that it cannot be joined with those of another schema.
func needsOthers(kw string) bool {
	switch kw {
	case "additionalProperties", "patternProperties", "additionalItems", "items", "prefixItems", "unevaluatedProperties", "unevaluatedItems", "if", "then", "else",
		"contains", "minContains", "maxContains", "exclusiveMinimum", "exclusiveMaximum", "nullable":
		return true
	}
	return false
}

// conjuncts are the views that all have to be satisfied at a part: one, where they can be joined. ok is false where a reference cannot be
// followed.
func conjuncts(s *Schema, p part) (views []view, ok bool) {
	ok = true
	var seen []*Value
	var walk func(p part)
	walk = func(p part) {
		switch {
		case p.node.Kind() != Object:
			if p.node.Kind() == Bool && !p.node.Bool() {
				views = append(views, view{s: s, never: true})
			}
			return
		case slices.Contains(seen, p.node) || len(seen) >= maxConjuncts: // a reference to itself, which means nothing
			ok = false
			return
		}
		seen = append(seen, p.node)
		p.base = rebase(p.node, p.base)
		v := view{s: s, base: p.base, kw: map[string]*Value{}}
		only := isIgnored(s, p)
		var below []part
		for _, m := range p.node.Members() {
			switch {
			case m.Name == "$ref":
				t, found := s.resolve(p.base, m.Value.Text())
				if !found {
					ok = false
				}
				below = append(below, t)
			case only && !isAnnotation(m.Name):
			case m.Name == "$dynamicRef" || m.Name == "$recursiveRef":
				ok = false
			case m.Name == "allOf" && m.Value.Kind() == Array:
				for _, k := range m.Value.Members() {
					below = append(below, part{node: k.Value, base: p.base})
				}
			default:
				if _, there := v.kw[m.Name]; !there {
					v.order = append(v.order, m.Name)
				}
				v.kw[m.Name] = m.Value
			}
		}
		views = append(views, v)
		for _, b := range below {
			walk(b)
		}
	}
	walk(p)
	if len(views) == 0 {
		return []view{{s: s}}, ok
	}
	return joinViews(views), ok
}

// asserts reports whether a view says anything about values.
func (v view) asserts() bool {
	return v.never || slices.ContainsFunc(v.order, func(k string) bool { return !isAnnotation(k) })
}

// joinViews makes one view of several where that means the same.
func joinViews(views []view) []view {
	if slices.ContainsFunc(views, func(v view) bool { return v.never }) {
		return []view{{s: views[0].s, never: true}}
	}
	base, asserting := views[0].base, 0
	for _, v := range views {
		if v.asserts() {
			asserting++
			base = v.base
		}
	}
	out := view{s: views[0].s, base: base, kw: map[string]*Value{}}
	for _, v := range views {
		if asserting > 1 && v.asserts() && (v.base != base || slices.ContainsFunc(v.order, needsOthers)) {
			return views
		}
		for _, k := range v.order {
			had, there := out.kw[k]
			switch {
			case !there:
				out.kw[k] = v.kw[k]
				out.order = append(out.order, k)
			case isAnnotation(k) || Equal(had, v.kw[k]):
			case k == "required" && had.Kind() == Array && v.kw[k].Kind() == Array:
				out.kw[k] = &Value{kind: Array, kids: append(slices.Clip(had.kids), v.kw[k].kids...)}
			case k == "properties" && noSharedMember(had, v.kw[k]):
				out.kw[k] = &Value{kind: Object, kids: append(slices.Clip(had.kids), v.kw[k].kids...)}
			default:
				return views
			}
		}
	}
	return []view{out}
}

// noSharedMember reports whether two objects have no member in common.
func noSharedMember(a, b *Value) bool {
	if a.Kind() != Object || b.Kind() != Object {
		return false
	}
	names := make(map[string]bool, a.Len())
	for _, m := range a.Members() {
		names[m.Name] = true
	}
	return !slices.ContainsFunc(b.Members(), func(m Member) bool { return names[m.Name] })
}

// types are the types that the view accepts by its type, enum and const. ok is false where one of these is malformed.
func (v view) types() (set TypeSet, ok bool) {
	set, ok = TypeAny, true
	if v.never {
		return 0, true
	}
	if t, there := v.kw["type"]; there {
		if set, ok = typeSet(t); !ok {
			return TypeAny, false
		}
		if v.get("nullable").Bool() {
			set |= TypeNull
		}
	}
	if vals, finite := v.values(); finite {
		var of TypeSet
		for _, val := range vals {
			of |= typeOf(val)
		}
		set &= of
	}
	return set, ok
}

// values are those that enum and const leave; finite is false where there is neither.
func (v view) values() (vals []*Value, finite bool) {
	if e := v.get("enum"); e.Kind() == Array {
		finite = true
		for _, m := range e.Members() {
			vals = append(vals, m.Value)
		}
	}
	if k := v.get("const"); k.IsSet() {
		if finite && !slices.ContainsFunc(vals, func(e *Value) bool { return Equal(e, k) }) {
			return nil, true
		}
		return []*Value{k}, true
	}
	return vals, finite
}

// nameSet are the strings of an array.
func nameSet(v *Value) map[string]bool {
	out := map[string]bool{}
	for _, m := range v.Members() {
		if m.Value.Kind() == String {
			out[m.Value.Text()] = true
		}
	}
	return out
}

// sortedNames are the keys of a set in order.
func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
