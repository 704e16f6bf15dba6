package schema

import (
	"slices"
	"strconv"
)

func itoa(i int) string { return strconv.Itoa(i) }

// object compares what is asserted about objects.
func (c *comparer) object(x, y view, at place) {
	c.counts(x, y, at, "minProperties", "maxProperties")
	c.compareRequired(x, y, at)
	c.properties(x, y, at)
	c.compare(x.sub(x.get("propertyNames")), y.sub(y.get("propertyNames")), at.schema("propertyNames"))
	xp, yp := x.get("patternProperties"), y.get("patternProperties")
	if !c.same(xp, yp) {
		if !sameKeys(xp, yp) {
			c.addUnsure(at.schema("patternProperties"), "patternProperties", "the patterns of its keys changed")
		} else {
			for _, m := range yp.Members() {
				c.compare(x.sub(xp.Get(m.Name)), y.sub(m.Value), at.schema("patternProperties", m.Name))
			}
		}
	}
	if xa, ya := x.get("additionalProperties"), y.get("additionalProperties"); !c.same(xa, ya) {
		here := at.schema("additionalProperties")
		switch {
		case isClosed(xa) && isClosed(ya):
		case isClosed(ya):
			c.narrows(here, "additionalProperties", "refuses properties that it does not declare")
		case isClosed(xa):
			c.widens(here, "additionalProperties", "accepts properties that it does not declare")
		default:
			q := here
			q.path += ".*"
			c.compare(x.sub(xa), y.sub(ya), q)
		}
	}
}

// sameKeys reports whether two objects have the same keys.
func sameKeys(a, b *Value) bool {
	for _, m := range a.Members() {
		if !b.Get(m.Name).IsSet() {
			return false
		}
	}
	return a.Len() == b.Len()
}

func isClosed(additional *Value) bool { return additional.Kind() == Bool && !additional.Bool() }

func (c *comparer) compareRequired(x, y view, at place) {
	was, is := nameSet(x.get("required")), nameSet(y.get("required"))
	declared := y.get("properties")
	for _, name := range sortedNames(is) {
		if was[name] {
			continue
		}
		here := at.property(name)
		here.pointer = at.schema("required").pointer
		what := "became required"
		switch {
		case !declared.Get(name).IsSet():
			what = "became required, and is not declared"
		case !x.get("properties").Get(name).IsSet():
			what = "was added as required"
		}
		c.narrows(here, "required", "%s", what)
	}
	for _, name := range sortedNames(was) {
		if !is[name] {
			here := at.property(name)
			here.pointer = at.schema("required").pointer
			c.widens(here, "required", "is no longer required")
		}
	}
}

// properties compares declared properties by name. One that only one side declares is held against what the other says of
// additional ones; where patterns of keys are around, which of them match is not decided.
func (c *comparer) properties(x, y view, at place) {
	xp, yp := x.get("properties"), y.get("properties")
	patterns := x.get("patternProperties").Len() > 0 || y.get("patternProperties").Len() > 0
	index := xp.index()
	seen := make(map[string]bool, yp.Len())
	isRequired := nameSet(y.get("required"))
	for _, m := range yp.Members() {
		if seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		now := yp.Get(m.Name)
		was, there := index[m.Name]
		if there {
			c.compare(x.sub(was), y.sub(now), at.property(m.Name))
			continue
		}
		here := at.property(m.Name)
		additional := x.get("additionalProperties")
		switch {
		case patterns:
			c.add(here, PropertyAdded, "properties", Narrows|Widens, false, "was added, where patterns of keys count too")
		case isClosed(additional) || isClosed(x.get("unevaluatedProperties")):
			c.add(here, PropertyAdded, "properties", Widens, true, "was added")
		case !additional.IsSet():
			if !isRequired[m.Name] { // required says so
				c.add(here, PropertyAdded, "properties", 0, true, "was added")
			}
		default:
			found := c.try(func() { c.compare(x.sub(additional), y.sub(now), here) })
			c.add(here, PropertyAdded, "properties", effects(found), effects(found) == 0, "was added, where any property was accepted")
		}
	}
	for _, m := range xp.Members() {
		if seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		here := at.property(m.Name)
		additional := y.get("additionalProperties")
		switch {
		case patterns:
			c.add(here, PropertyRemoved, "properties", Narrows|Widens, false, "was removed, where patterns of keys count too")
		case isClosed(additional):
			c.add(here, PropertyRemoved, "properties", Narrows, true, "was removed, and is refused")
		case !additional.IsSet():
			c.add(here, PropertyRemoved, "properties", Narrows|Widens, true, "was removed")
		default:
			found := c.try(func() { c.compare(x.sub(m.Value), y.sub(additional), here) })
			c.add(here, PropertyRemoved, "properties", effects(found)|Widens, true, "was removed")
		}
	}
}

// branches are the variants of a anyOf or oneOf.
func branches(v view, kw string) (out []part) {
	for _, m := range v.get(kw).Members() {
		out = append(out, v.sub(m.Value))
	}
	return out
}

// compareUnion compares a schema with one that has nothing but variants, of which it may be one. It reports whether it was that.
func (c *comparer) compareUnion(x, y view, at place) bool {
	kwx, kwy := unionOnly(x), unionOnly(y)
	switch {
	case kwx == kwy || x.never || y.never:
		return false
	case kwx != "" && kwy != "": // anyOf became oneOf, or the other way round
		c.union(branches(x, kwx), branches(y, kwy), true, at.schema(kwy))
	case kwy != "" && !hasUnion(x):
		c.union(splitTypes(x), branches(y, kwy), kwy == "oneOf", at.schema(kwy))
	case kwx != "" && !hasUnion(y):
		c.union(branches(x, kwx), splitTypes(y), kwx == "oneOf", at.schema(kwx))
	default:
		return false
	}
	return true
}

// unionOnly is the keyword of the variants of a view that has nothing else, "" for others.
func unionOnly(v view) (kw string) {
	for _, k := range v.order {
		switch {
		case isAnnotation(k):
		case (k == "anyOf" || k == "oneOf") && kw == "" && v.kw[k].Kind() == Array && v.kw[k].Len() > 0:
			kw = k
		default:
			return ""
		}
	}
	return kw
}

func hasUnion(v view) bool { return v.get("anyOf").IsSet() || v.get("oneOf").IsSet() }

// splitTypes is a view as variants, one for each of its types.
func splitTypes(v view) (out []part) {
	node := func(typ *Value) part {
		n := &Value{kind: Object}
		for _, k := range v.order {
			val := v.kw[k]
			if k == "type" && typ != nil {
				val = typ
			}
			if !isAnnotation(k) || k == "$schema" {
				n.kids = append(n.kids, Member{Name: k, Value: val})
			}
		}
		return part{node: n, base: v.base}
	}
	types := v.get("type")
	if types.Kind() != Array || v.get("nullable").IsSet() {
		return []part{node(nil)}
	}
	for _, m := range types.Members() {
		out = append(out, node(m.Value))
	}
	return out
}

// union compares lists of variants. one says that a value must not fit two of them. Variants that are equal are each other's; of the
// rest each goes to the first that accepts all that it did, else to the nearest that is free.
func (c *comparer) union(xs, ys []part, one bool, at place) {
	if len(xs) > maxBranches || len(ys) > maxBranches {
		c.addUnsure(at, "anyOf", "has too many variants to be compared")
		return
	}
	taken := make([]bool, len(ys))
	left := make([]int, 0, len(xs))
	for i, x := range xs {
		if j := slices.IndexFunc(ys, func(y part) bool { return c.same(x.node, y.node) && x.base == y.base }); j >= 0 {
			taken[j] = true
		} else {
			left = append(left, i)
		}
	}
	changed := len(xs) != len(ys) || len(left) > 0 || slices.Contains(taken, false)
	for _, i := range left {
		best, bestAt := []Change(nil), -1
		covered := false
		for j, y := range ys {
			found := c.try(func() { c.compare(xs[i], y, at.schema(itoa(j))) })
			if effects(found)&Narrows == 0 {
				if !taken[j] || !covered {
					best, bestAt, covered = found, j, true
				}
				if !taken[j] {
					break
				}
				continue
			}
			if !covered && !taken[j] && c.canMatch(xs[i], y) && (bestAt < 0 || len(found) < len(best)) {
				best, bestAt = found, j
			}
		}
		switch {
		case covered && taken[bestAt]: // another one is what it became
		case bestAt >= 0:
			taken[bestAt] = true
			c.out = append(c.out, best...)
		default:
			c.narrows(at, "anyOf", "lost a variant: %s", c.variant(c.a, xs[i]))
		}
	}
	for j, y := range ys {
		if taken[j] {
			continue
		}
		covered := slices.ContainsFunc(xs, func(x part) bool {
			return effects(c.try(func() { c.compare(x, y, at) }))&Widens == 0
		})
		if !covered {
			c.widens(at, "anyOf", "got a variant: %s", c.variant(c.b, y))
		}
	}
	if one && changed && (!c.disjoint(c.a, xs) || !c.disjoint(c.b, ys)) {
		c.addUnsure(at, "oneOf", "its variants changed, and a value must not fit two of them")
	}
}

// variant names a variant for people.
func (c *comparer) variant(s *Schema, p part) string {
	views, _ := conjuncts(s, p)
	v := views[0]
	if t := v.get("title"); t.Kind() == String {
		return clip(t)
	}
	if vals, finite := v.values(); finite {
		return listValues(vals)
	}
	set, _ := v.types()
	return set.String()
}

// canMatch reports whether one variant may be what became of the other.
func (c *comparer) canMatch(x, y part) bool {
	xs, _ := conjuncts(c.a, x)
	ys, _ := conjuncts(c.b, y)
	tx, _ := xs[0].types()
	ty, _ := ys[0].types()
	return tx.Has(ty) && !exclusive(xs[0], ys[0])
}

// disjoint reports that no value fits two of the parts.
func (c *comparer) disjoint(s *Schema, parts []part) bool {
	views := make([]view, len(parts))
	for i, p := range parts {
		vs, ok := conjuncts(s, p)
		if !ok {
			return false
		}
		views[i] = vs[0] // the others only make it narrower
	}
	for i := range views {
		for j := range i {
			if !exclusive(views[i], views[j]) {
				return false
			}
		}
	}
	return true
}

// exclusive reports that no value fits both views, by their types, their values, or those of a property that both require.
func exclusive(a, b view) bool {
	ta, oka := a.types()
	tb, okb := b.types()
	if oka && okb && !ta.Has(tb) {
		return true
	}
	va, fa := a.values()
	vb, fb := b.values()
	if fa && fb && len(subtractValues(va, vb)) == len(va) {
		return true
	}
	if ta != TypeObject || tb != TypeObject {
		return false
	}
	both := nameSet(b.get("required"))
	for name := range nameSet(a.get("required")) {
		if !both[name] {
			continue
		}
		pa, pb := a.get("properties").Get(name), b.get("properties").Get(name)
		if pa.Kind() != Object || pb.Kind() != Object {
			continue
		}
		va, fa := view{kw: scalars(pa)}.values()
		vb, fb := view{kw: scalars(pb)}.values()
		if fa && fb && len(subtractValues(va, vb)) == len(va) {
			return true
		}
	}
	return false
}

// scalars are enum and const of a subschema.
func scalars(node *Value) map[string]*Value {
	out := map[string]*Value{}
	for _, kw := range []string{"enum", "const"} {
		if v := node.Get(kw); v.IsSet() {
			out[kw] = v
		}
	}
	return out
}
