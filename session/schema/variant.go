package schema

import (
	"slices"
	"strconv"

	"github.com/mcphud/mcphud/session/text"
)

// Variant is one branch of a oneOf or anyOf, or one type of several.
type Variant struct {
	Title, Description string

	make func() *Field
	base *Field
	part part
	only TypeSet
}

// Field returns the field with the branch merged in.
func (v Variant) Field() *Field { return v.make() }

// Variants lists what can be picked at a field of ShapeVariants, nil at others. When a schema has several oneOf or
// anyOf, the field of a variant may have Variants again.
func (f *Field) Variants() []Variant {
	if f.variants == nil && f.Shape() == ShapeVariants {
		if len(f.groups) > 0 {
			f.variants = f.branches(f.groups[0])
		} else {
			f.variants = f.byType()
		}
	}
	return f.variants
}

// VariantKeyword names what the variants come from: oneOf, anyOf or type.
func (f *Field) VariantKeyword() string {
	if len(f.groups) > 0 {
		return f.groups[0].keyword
	}
	return "type"
}

func (f *Field) branches(g group) []Variant {
	disc := f.Discriminator()
	out := make([]Variant, len(g.branches))
	seen := map[string]int{}
	for i, p := range g.branches {
		n := f.s.peek(p).node
		v := Variant{base: f, part: p, Description: n.Get("description").Text()}
		if t := p.node.Get("title"); t.Kind() == String {
			v.Title = t.Text()
		} else {
			v.Title = n.Get("title").Text()
		}
		if c := f.s.constOf(p, disc); disc != "" && c.IsSet() && v.Title == "" {
			v.Title = c.Text()
		}
		if ref := p.node.Get("$ref"); v.Title == "" && ref.Kind() == String {
			v.Title = refName(ref.Text())
		}
		if v.Title == "" {
			v.Title = f.s.guessTitle(p, i)
		}
		if seen[v.Title]++; seen[v.Title] > 1 {
			v.Title += " (" + strconv.Itoa(seen[v.Title]) + ")"
		}
		var made *Field
		v.make = func() *Field {
			if made == nil {
				made = f.merge([]part{p}, f.resolvedWith(g.node))
			}
			return made
		}
		out[i] = v
	}
	return out
}

func (f *Field) byType() []Variant {
	var out []Variant
	for _, t := range f.Types.split() {
		if t == TypeNull {
			continue // null is offered apart, as at every nullable field
		}
		var made *Field
		out = append(out, Variant{Title: t.String(), base: f, only: t, make: func() *Field {
			if made == nil {
				made = f.s.newField(f.parts, f.resolved, t)
			}
			return made
		}})
	}
	return out
}

// guessTitle names a branch that says nothing about itself.
func (s *Schema) guessTitle(p part, i int) string {
	n := s.peek(p).node
	if c := n.Get("const"); c.IsSet() {
		return text.Clip(c.Text(), 60)
	}
	if props := n.Get("properties"); props.Len() > 0 {
		var keys []string
		for _, m := range props.Members() {
			if c := s.peek(part{node: m.Value, base: p.base}).node.Get("const"); c.IsSet() {
				return text.Clip(m.Name+" "+c.Text(), 60)
			}
			keys = append(keys, m.Name)
		}
		return text.Clip("with "+keys[0], 60)
	}
	if t, ok := typeSet(n.Get("type")); ok {
		switch item := n.Get("items").Get("type"); {
		case t == TypeArray && item.Kind() == String:
			return "array of " + text.Clip(item.Text(), 40)
		case n.Get("format").Kind() == String:
			return text.Clip(n.Get("format").Text(), 40) + " " + t.String()
		}
		return t.String()
	}
	if r := n.Get("required"); r.Len() > 0 {
		return "with " + names(r)
	}
	return "option " + strconv.Itoa(i+1)
}

// Discriminator returns the property that tells the variants apart: the one the discriminator keyword names, else one
// that is a different constant in every branch; "" if there is none.
func (f *Field) Discriminator() string {
	if len(f.groups) == 0 {
		return ""
	}
	g := f.groups[0]
	if g.disc != "" {
		return g.disc
	}
	props := f.s.peek(g.branches[0]).node.Get("properties")
	for _, m := range props.Members() {
		var seen []*Value
		for _, p := range g.branches {
			c := f.s.constOf(p, m.Name)
			if !c.IsSet() || slices.ContainsFunc(seen, func(o *Value) bool { return Equal(o, c) }) {
				break
			}
			seen = append(seen, c)
		}
		if len(seen) == len(g.branches) {
			return m.Name
		}
	}
	return ""
}

// constOf returns the constant that branch p wants of a property.
func (s *Schema) constOf(p part, name string) *Value {
	if name == "" {
		return nil
	}
	q := s.peek(p)
	if prop := q.node.Get("properties").Get(name); prop.IsSet() {
		n := s.peek(part{node: prop, base: q.base}).node
		if c := n.Get("const"); c.IsSet() {
			return c
		}
		if e := n.Get("enum"); e.Kind() == Array && e.Len() == 1 {
			return e.Elem(0)
		}
		return nil
	}
	for i, m := range q.node.Get("allOf").Members() {
		if i == 16 {
			break
		}
		n := s.peek(part{node: m.Value, base: q.base})
		if n.node.Get("properties").Get(name).Get("const").IsSet() {
			return n.node.Get("properties").Get(name).Get("const")
		}
	}
	return nil
}

// Pick returns the variant that v is of, -1 if v is unset, null, or fits none. The discriminator decides first, then
// which branch v satisfies, then which comes nearest.
func (f *Field) Pick(v *Value) int {
	vs := f.Variants()
	if !v.IsSet() || len(vs) == 0 {
		return -1
	}
	if vs[0].only != 0 {
		return slices.IndexFunc(vs, func(x Variant) bool { return x.only.Has(typeOf(v)) })
	}
	if disc := f.Discriminator(); disc != "" {
		if tag := v.Get(disc); tag.IsSet() {
			for i, x := range vs {
				if Equal(f.s.constOf(x.part, disc), tag) {
					return i
				}
			}
		}
	}
	best, bestScore := -1, 0
	for i, x := range vs {
		if f.s.matches(x.part, v) {
			return i
		}
		if score := f.s.nearness(x.part, v); score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// nearness counts what a value has in common with a branch it violates.
func (s *Schema) nearness(p part, v *Value) int {
	n := s.peek(p).node
	score := 0
	if t, ok := typeSet(n.Get("type")); ok {
		if !t.Has(typeOf(v)) {
			return 0
		}
		score = 1
	}
	props := n.Get("properties")
	if v.Kind() == Object && props.IsSet() {
		score = max(score, 1)
	}
	for i, m := range v.Members() {
		if i == 200 {
			break
		}
		if props.Get(m.Name).IsSet() {
			score += 2
		}
	}
	return score
}
