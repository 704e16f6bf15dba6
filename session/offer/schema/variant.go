package schema

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mcphud/mcphud/session/base/text"
)

// Variant is one branch of a oneOf or anyOf, or one type of several. Branches that only choose again are not variants: what
// they choose between is.
type Variant struct {
	// Title is its author's or a guess, with a number where another variant has the same; Description may be "".
	Title, Description string
	// Path is the indices of the branch in its oneOf or anyOf and in those around it, outermost first; nil for a type.
	Path []int

	make  func() *Field // makes the field once, however often the variant was copied
	parts []part        // outermost first; nil for a type
	only  TypeSet       // the type, 0 for a branch
	named bool          // by its author
}

// Field returns the field with the branch merged in, the same one each time. It is made on the first call: hundreds of branches
// may be listed, and one be picked.
func (v Variant) Field() *Field { return v.make() }

// Variants lists what can be picked at a field of ShapeVariants, nil at others. When a schema has several oneOf or
// anyOf, the field of a variant may have Variants again.
func (f *Field) Variants() []Variant {
	if f.variants == nil && f.Shape() == ShapeVariants {
		if len(f.groups) > 0 {
			unions := maxUnions
			f.variants = f.s.distinct(f.branches(f.groups[0], 0, &unions))
		} else {
			f.variants = f.byType()
		}
	}
	return f.variants
}

// branches lists the branches of a group, and in place of one that only chooses again what it chooses between; that of so many
// unions at most.
func (f *Field) branches(g group, depth int, unions *int) []Variant {
	disc := f.Discriminator()
	var out []Variant
	for _, p := range g.branches {
		n := f.s.peek(p).node
		v := Variant{parts: []part{p}, Description: n.Get("description").Text()}
		if i := slices.IndexFunc(g.node.Members(), func(m Member) bool { return m.Value == p.node }); i >= 0 {
			v.Path = []int{i}
		}
		var made *Field
		v.make = func() *Field {
			if made == nil {
				made = f.merge([]part{p}, f.resolvedWith(g.node))
			}
			return made
		}
		if inner := v.inner(n, depth, unions); inner != nil && len(out)+len(inner) <= MaxVariants {
			out = append(out, inner...)
			continue
		}
		if v.Title = cmp.Or(p.node.Get("title").Text(), n.Get("title").Text()); v.Title != "" {
			v.named = true
		} else if c := f.s.constOf(p, disc); disc != "" && c.IsSet() {
			v.Title, v.named = c.Text(), true
		}
		if len(out) < MaxVariants {
			out = append(out, v)
		}
	}
	return out
}

// inner lists what a branch chooses between, nil where it is something itself.
func (v Variant) inner(n *Value, depth int, unions *int) []Variant {
	if depth == maxUnionDepth || *unions == 0 || n.Get("oneOf").Len()+n.Get("anyOf").Len() == 0 {
		return nil
	}
	*unions--
	mid := v.make()
	if mid.Shape() != ShapeVariants || len(mid.groups) != 1 {
		return nil
	}
	out := mid.branches(mid.groups[0], depth+1, unions)
	for i := range out {
		out[i].Path = append(slices.Clone(v.Path), out[i].Path...)
		out[i].parts = append(slices.Clone(v.parts), out[i].parts...)
	}
	return out
}

// distinct names variants by what tells them apart where their authors did not, and leaves out repeated ones.
func (s *Schema) distinct(vs []Variant) []Variant {
	declared := map[string]int{} // in how many variants
	for _, v := range vs {
		for _, m := range s.peek(v.leaf()).node.Get("properties").Members() {
			declared[m.Name]++
		}
	}
	out := vs[:0:0]
	seen := map[string]int{}
	for i, v := range vs {
		if slices.ContainsFunc(out, func(o Variant) bool { return sameBranch(s.peek(o.leaf()).node, s.peek(v.leaf()).node) }) {
			continue
		}
		if !v.named {
			v.Title = s.guessTitle(v.leaf(), i, declared)
		}
		if seen[v.Title]++; seen[v.Title] > 1 {
			v.Title += " (" + strconv.Itoa(seen[v.Title]) + ")"
		}
		out = append(out, v)
	}
	return out
}

// sameBranch reports whether two branches are the same small schema, such as {"type":"string"}.
func sameBranch(a, b *Value) bool { return a.Len() <= 2 && a.Len() == b.Len() && Equal(a, b) }

// leaf is the innermost part of a variant.
func (v Variant) leaf() part { return v.parts[len(v.parts)-1] }

// byType lists the types of a field that has several, null aside.
func (f *Field) byType() []Variant {
	var out []Variant
	for _, t := range f.Types.split() {
		if t == TypeNull {
			continue // null is offered apart, as at every nullable field
		}
		var made *Field
		out = append(out, Variant{Title: t.String(), only: t, make: func() *Field {
			if made == nil {
				made = f.s.newField(f.parts, f.resolved, t)
			}
			return made
		}})
	}
	return out
}

// guessTitle names a branch that says nothing about itself: by the properties that no other variant has, by its constant, by
// its definition, by its type.
func (s *Schema) guessTitle(p part, i int, declared map[string]int) string {
	n := s.peek(p).node
	if c := n.Get("const"); c.IsSet() {
		return text.Clip(c.Text(), 60)
	}
	props := n.Get("properties")
	if own := s.ownProperty(n, declared); own != "" {
		return text.Clip(own, 60) + " …"
	}
	for _, m := range props.Members() {
		if c := s.peek(part{node: m.Value, base: p.base}).node.Get("const"); c.IsSet() {
			return text.Clip(c.Text(), 60)
		}
	}
	if ref := p.node.Get("$ref"); ref.Kind() == String {
		return refName(ref.Text())
	}
	if props.Len() > 0 {
		return text.Clip("with "+props.Members()[0].Name, 60)
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

// ownProperty is a property that no other variant declares, a required one before others.
func (s *Schema) ownProperty(n *Value, declared map[string]int) string {
	only := func(name string) bool { return declared[name] == 1 }
	for _, r := range n.Get("required").Members() {
		if r.Value.Kind() == String && only(r.Value.Text()) {
			return r.Value.Text()
		}
	}
	for _, m := range n.Get("properties").Members() {
		if only(m.Name) {
			return m.Name
		}
	}
	return ""
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
				if slices.ContainsFunc(x.parts, func(p part) bool { return Equal(f.s.constOf(p, disc), tag) }) {
					return i
				}
			}
		}
	}
	best, bestScore := -1, 0
	for i, x := range vs {
		if f.s.fits(x, v) {
			return i
		}
		if score := f.s.matchScore(x.leaf(), v); score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// fits reports whether a value satisfies a branch and those around it.
func (s *Schema) fits(x Variant, v *Value) bool {
	return !slices.ContainsFunc(x.parts, func(p part) bool { return !s.matches(p, v) })
}

// matchScore counts what a value has in common with a branch it violates: nothing where its type is another, else one for its type
// and two for each property that the branch declares. The first 200 members tell enough.
func (s *Schema) matchScore(p part, v *Value) int {
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
