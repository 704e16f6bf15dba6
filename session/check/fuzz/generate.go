package fuzz

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// Bounds of what is generated for one schema.
const (
	maxValues     = 24      // of one field
	maxNodes      = 4_000   // fields that are looked at, however the schema branches
	maxProperties = 200     // that are optional, of an object that has all
	maxDepth      = 5       // of them; what is deeper is as plain as possible
	maxMany       = 100     // elements of an array that is meant to be long
	maxText       = 1 << 17 // characters of a string that is meant to be long
)

// Value is a value for a field, and how it came to be.
type Value struct {
	*schema.Value
	What string
	// Extreme is a value that few would take, though the schema allows it: refusing it is fine.
	Extreme bool
}

// Generator makes values that a schema allows. What it makes must be validated all the same: not every keyword is looked at.
type Generator struct {
	rng  *rand.Rand
	left int   // fields that may still be looked at
	pool *Pool // of values that were seen, nil for none
}

// NewGenerator returns one that draws from rng, and takes values of p as well, which may be nil.
func NewGenerator(rng *rand.Rand, p *Pool) *Generator {
	return &Generator{rng: rng, left: maxNodes, pool: p}
}

// Share leaves it a part of what it may look at: that of one of n fields.
func (g *Generator) Share(n int) *Generator {
	g.left = maxNodes/max(n, 1) + 20
	return g
}

// Values are some for a field, the plainest first. name is that of the property, "" for none.
func (g *Generator) Values(f *schema.Field, name string, depth int) []Value {
	if g.left--; g.left < 0 || depth > maxDepth {
		return plainest(f)
	}
	var out []Value
	add := func(v *schema.Value, what string) {
		if v.IsSet() && !slices.ContainsFunc(out, func(o Value) bool { return schema.Same(o.Value, v) }) {
			out = append(out, Value{Value: v, What: what})
		}
	}
	add(f.Default, "its default")
	for _, e := range f.Examples[:min(len(f.Examples), 3)] {
		add(e, "its example")
	}
	switch f.Shape() {
	case schema.ShapeConst:
		add(f.Const, "its constant")
	case schema.ShapeSelect:
		for _, o := range Sample(g.rng, f.Options, maxValues/2) {
			add(o.Value, "one of its enum")
		}
	case schema.ShapeNull:
		add(schema.NullValue(), "null")
	case schema.ShapeBoolean:
		add(schema.BoolValue(true), "true")
		add(schema.BoolValue(false), "false")
	case schema.ShapeInteger, schema.ShapeNumber:
		for _, n := range numbers(f) {
			add(n.Value, n.What)
		}
	case schema.ShapeString:
		for _, s := range g.texts(f) {
			add(s.Value, s.What)
		}
	case schema.ShapeArray:
		for _, a := range g.arrays(f, depth) {
			add(a.Value, a.What)
		}
	case schema.ShapeObject:
		for _, o := range g.objects(f, depth) {
			add(o.Value, o.What)
		}
	case schema.ShapeVariants:
		for _, v := range Sample(g.rng, f.Variants(), maxValues/2) {
			for _, o := range First(g.Values(v.Field(), name, depth+1), 4) {
				add(o.Value, strings.TrimSpace("branch "+v.Title+": "+o.What))
			}
		}
	case schema.ShapeAny:
		for _, raw := range []string{`"text"`, `1`, `true`, `{}`, `[]`, `null`} {
			add(parse(raw), "any JSON")
		}
	case schema.ShapeNever:
		return nil
	}
	if f.Nullable() {
		add(schema.NullValue(), "null")
	}
	for _, v := range g.pool.of(name) {
		add(v, "seen in a result")
	}
	if len(out) > maxValues {
		out = append(out[:maxValues/2:maxValues/2], Sample(g.rng, out[maxValues/2:], maxValues/2)...)
	}
	return out
}

// plainest is what there is for a field without looking further.
func plainest(f *schema.Field) []Value {
	if v := f.Skeleton(); v.IsSet() {
		return []Value{{Value: v, What: "as plain as possible"}}
	}
	return nil
}

// objects are an object with what is required, with everything, and with one thing after the other changed.
func (g *Generator) objects(f *schema.Field, depth int) (out []Value) {
	base, full := g.Object(f, depth, false), g.Object(f, depth, true)
	if base == nil {
		return plainest(f)
	}
	out = append(out, Value{Value: base, What: "what is required"})
	if full.Len() > base.Len() {
		out = append(out, Value{Value: full, What: "everything"})
	}
	for _, c := range Sample(g.rng, f.Active(full).Children(full), maxProperties) {
		if c.Allowed && !c.Required && full.Get(c.Name).IsSet() && !base.Get(c.Name).IsSet() {
			out = append(out, Value{Value: base.Set([]string{c.Name}, full.Get(c.Name)), What: "with " + c.Name})
		}
	}
	if extra, explicit, ok := f.Extra(); ok && explicit && extra != nil {
		for _, v := range First(g.Values(extra, "", depth+1), 2) {
			out = append(out, Value{Value: base.Set([]string{"x-extra"}, v.Value), What: "with a key of its own"})
		}
	}
	return out
}

// Object is one with the plainest value of each property. It is nil where one that is required has none.
func (g *Generator) Object(f *schema.Field, depth int, all bool) *schema.Value {
	v, has := schema.ObjectValue(), map[string]bool{}
	for range 4 { // what is set may require more
		members := slices.Clip(v.Members())
		for _, c := range f.Active(v).Children(v) {
			if !c.Allowed || has[c.Name] || !c.Required && (!all || len(members) >= maxProperties) {
				continue
			}
			of := g.Values(c.Field(), c.Name, depth+1)
			switch {
			case len(of) > 0:
				members, has[c.Name] = append(members, schema.Member{Name: c.Name, Value: of[0].Value}), true
			case c.Required:
				return nil
			}
		}
		if len(members) == v.Len() {
			break
		}
		v = schema.ObjectValue(members...)
	}
	return v
}

// arrays are some that are as short, and as long, as the schema allows, up to maxMany. Elements that must differ are taken in turn, and may repeat
// where there are too few.
func (g *Generator) arrays(f *schema.Field, depth int) (out []Value) {
	least := max(f.MinItems, f.TupleLen(), 0)
	if f.MaxItems >= 0 {
		least = min(least, f.MaxItems)
	}
	fill := func(n int, from []Value) *schema.Value {
		var items []*schema.Value
		for i := range n {
			of := from
			if i < f.TupleLen() || of == nil {
				of = g.Values(f.Item(i), "", depth+1)
			}
			if len(of) == 0 {
				return nil
			}
			k := 0
			if f.UniqueItems {
				k = i % len(of)
			}
			items = append(items, of[k].Value)
		}
		return schema.ArrayValue(items...)
	}
	one := g.Values(f.Item(f.TupleLen()), "", depth+1)
	add := func(v *schema.Value, what string) {
		if v != nil {
			out = append(out, Value{Value: v, What: what})
		}
	}
	if least == 0 && (f.MaxItems != 0) {
		add(fill(1, one), "one element")
	}
	add(fill(min(least, maxMany), one), "as few elements as allowed")
	for _, v := range First(one, maxValues/3) {
		if f.MinItems <= 1 && f.MaxItems != 0 && f.TupleLen() == 0 {
			add(schema.ArrayValue(v.Value), "an element: "+v.What)
		}
	}
	most := maxMany
	if f.MaxItems >= 0 {
		most = min(f.MaxItems, maxMany)
	}
	if most > 1 {
		add(fill(most, one), "many elements")
	}
	return out
}

// parse is a value of ours as JSON.
func parse(raw string) *schema.Value {
	v, err := schema.ParseValue([]byte(raw))
	if err != nil {
		panic(err) // it is a constant of this package, or a number that was looked at
	}
	return v
}

// First returns the first n elements, or all where there are fewer.
func First[T any](all []T, n int) []T { return all[:min(len(all), n)] }

// Sample returns at most n elements in their order: the first, the last, and random ones between them.
func Sample[T any](rng *rand.Rand, all []T, n int) []T {
	if len(all) <= n || n < 2 {
		return First(all, max(n, 0))
	}
	at := rng.Perm(len(all) - 2)[:n-2]
	for i := range at {
		at[i]++
	}
	at = append(at, 0, len(all)-1)
	slices.Sort(at)
	out := make([]T, 0, n)
	for _, i := range at {
		out = append(out, all[i])
	}
	return out
}
