package schema

import (
	"slices"
	"strconv"
)

// Child is one field inside an object or array field.
type Child struct {
	Name     string // property name, or an element's index in digits
	Required bool
	Why      string // what makes it required, "" for the required keyword itself
	Declared bool   // named by properties or prefixItems; false for keys and items that only the value has
	Allowed  bool   // false for a key or item that the schema does not allow

	parent *Field // as Active returned it, if that was asked
}

// Field returns what the schema says about the child. It is made on the
// first call, so that listing thousands of children costs little.
func (c Child) Field() *Field {
	if i, ok := arrayIndex(c.Name); ok && c.parent.listShape() {
		return c.parent.Item(i)
	}
	return c.parent.Property(c.Name)
}

// listShape tells digits that are an index from those that are a key: {"0": 1} is an object.
func (f *Field) listShape() bool {
	return f.Shape() == ShapeArray
}

// Children lists the fields inside f when its value is v: of an object the declared properties in wire order, then
// required ones that nothing declares, then the keys that only v has; of an array its elements and the missing ones of
// a tuple. A value of the other kind is listed as what it is. Call it on what [Field.Active] returns to take conditions
// into account.
func (f *Field) Children(v *Value) []Child {
	switch {
	case v.Kind() == Array, v.Kind() != Object && f.Shape() == ShapeArray:
		return f.elements(v)
	case v.Kind() == Object, f.Shape() == ShapeObject:
		return f.members(v)
	}
	return nil
}

// members lists the properties of an object, each once, however many sources name it.
func (f *Field) members(v *Value) []Child {
	out := make([]Child, 0, len(f.order)+v.Len())
	listed := make(map[string]bool, len(f.order)+v.Len())
	add := func(name string, declared bool) {
		if listed[name] {
			return
		}
		listed[name] = true
		why, req := f.required[name]
		out = append(out, Child{
			Name: name, Required: req, Why: why, Declared: declared,
			Allowed: declared || f.allows(name), parent: f,
		})
	}
	for _, name := range f.order {
		add(name, true)
	}
	for _, name := range f.needed {
		add(name, false)
	}
	for _, m := range v.Members() {
		add(m.Name, false)
	}
	return out
}

func (f *Field) elements(v *Value) []Child {
	n := max(v.Len(), f.TupleLen())
	out := make([]Child, n)
	for i := range out {
		out[i] = Child{
			Name: strconv.Itoa(i), Required: i < f.MinItems, Declared: i < f.TupleLen(),
			Allowed: i < f.maxLen(), parent: f,
		}
	}
	return out
}

// Declares reports whether properties names the property.
func (f *Field) Declares(name string) bool {
	_, ok := f.props[name]
	return ok
}

// Rank returns the place of a declared property in wire order; undeclared ones come after all others.
func (f *Field) Rank(name string) int {
	if f.rank == nil {
		f.rank = make(map[string]int, len(f.order))
		for i, n := range f.order {
			f.rank[n] = i
		}
	}
	if i, ok := f.rank[name]; ok {
		return i
	}
	return len(f.order)
}

// Property returns the field of the property called name, declared or not: properties, every pattern that matches, and where none of
// these knows it additionalProperties, each beside the others of its own subschema only
// (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.2.3). It is never nil, and the same one each time.
func (f *Field) Property(name string) *Field {
	if k := f.kids[name]; k != nil {
		return k
	}
	parts := slices.Clone(f.props[name])
	for p := range f.asserting {
		matched := false
		if pats := p.node.Get("patternProperties"); pats.Kind() == Object {
			for _, m := range pats.Members() {
				if re, err := f.s.pattern(m.Name); err == nil && re.MatchString(name) {
					parts, matched = append(parts, part{node: m.Value, base: p.base}), true
				}
			}
		}
		if extra := p.node.Get("additionalProperties"); !matched && extra.Kind() == Object && !p.node.Get("properties").Get(name).IsSet() {
			parts = append(parts, part{node: extra, base: p.base})
		}
	}
	if extra := f.unevaluatedPart(); len(parts) == 0 && extra.node.Kind() == Object {
		parts = append(parts, extra)
	}
	k := f.s.newField(parts, nil, 0)
	if f.kids == nil || len(f.kids) > 50_000 { // a value may have any number of keys of its own
		f.kids = map[string]*Field{}
	}
	f.kids[name] = k
	return k
}

// unevaluatedPart is the nearest unevaluatedProperties, a part without a node for none. It is taken to see all that the field knows,
// which is less exact than the specification, and never refuses what that would accept in the usual case of one at the top.
func (f *Field) unevaluatedPart() part {
	for p := range f.asserting {
		if u := p.node.Get("unevaluatedProperties"); u.IsSet() {
			return part{node: u, base: p.base}
		}
	}
	return part{}
}

// allows reports whether an undeclared key may be there. A pattern that cannot be compiled may match it: it is not called wrong.
func (f *Field) allows(name string) bool {
	for p := range f.asserting {
		extra := p.node.Get("additionalProperties")
		if extra.Kind() != Bool || extra.Bool() || p.node.Get("properties").Get(name).IsSet() {
			continue
		}
		matched := false
		for _, m := range p.node.Get("patternProperties").Members() {
			re, err := f.s.pattern(m.Name)
			matched = matched || err != nil || re.MatchString(name)
		}
		if !matched {
			return false
		}
	}
	if u := f.unevaluatedPart().node; u.Kind() == Bool && !u.Bool() {
		return f.Declares(name)
	}
	return true
}

// Extra reports whether keys of the user's own can be added to the object, and what field such a key gets when no pattern
// says more. Explicit is false when the schema merely does not forbid them.
func (f *Field) Extra() (extra *Field, explicit, ok bool) {
	var parts []part
	for p := range f.asserting {
		pats, add := p.node.Get("patternProperties"), p.node.Get("additionalProperties")
		if add.Kind() == Object || add.Bool() {
			explicit = true
			parts = append(parts, part{node: add, base: p.base})
		}
		if pats.Len() > 0 {
			explicit = true
			if add.Kind() != Object {
				parts = append(parts, part{node: pats.Members()[0].Value, base: p.base})
			}
		} else if add.Kind() == Bool && !add.Bool() {
			return nil, false, false
		}
	}
	if u := f.unevaluatedPart(); u.node.Kind() == Bool && !u.node.Bool() && !explicit {
		return nil, false, false
	}
	if f.extra == nil {
		f.extra = f.s.newField(parts, nil, 0)
	}
	return f.extra, explicit, true
}

// prefix returns the tuple part of an array schema (prefixItems, or draft-07
// items as an array) and what its further items are.
func prefix(node *Value) (tuple []Member, rest *Value) {
	if p := node.Get("prefixItems"); p.Kind() == Array {
		return p.Members(), node.Get("items")
	}
	if it := node.Get("items"); it.Kind() == Array {
		return it.Members(), node.Get("additionalItems")
	}
	return nil, node.Get("items")
}

// TupleLen returns how many leading elements have a schema of their own.
func (f *Field) TupleLen() int {
	n := 0
	for p := range f.asserting {
		tuple, _ := prefix(p.node)
		n = max(n, len(tuple))
	}
	return n
}

// maxLen returns how many elements the array may have.
func (f *Field) maxLen() int {
	n := int(^uint(0) >> 1)
	if f.MaxItems >= 0 {
		n = f.MaxItems
	}
	for p := range f.asserting {
		if tuple, rest := prefix(p.node); rest.Kind() == Bool && !rest.Bool() {
			n = min(n, len(tuple))
		}
	}
	return n
}

// CanAdd reports whether the array may grow when it has n elements.
func (f *Field) CanAdd(n int) bool { return n < f.maxLen() }

// Item returns the field of element i.
func (f *Field) Item(i int) *Field {
	key := min(i, f.TupleLen())
	if k := f.items[key]; k != nil {
		return k
	}
	var parts []part
	for p := range f.asserting {
		tuple, rest := prefix(p.node)
		switch {
		case i < len(tuple):
			parts = append(parts, part{node: tuple[i].Value, base: p.base})
		case rest.IsSet():
			parts = append(parts, part{node: rest, base: p.base})
		default:
			if u := p.node.Get("unevaluatedItems"); u.IsSet() {
				parts = append(parts, part{node: u, base: p.base})
			}
		}
	}
	if f.items == nil {
		f.items = map[int]*Field{}
	}
	f.items[key] = f.s.newField(parts, nil, 0)
	return f.items[key]
}
