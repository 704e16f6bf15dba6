package schema

import (
	"cmp"
	"slices"
)

// Initial returns the value a form opens with: what is required and can have only one sensible value (constants,
// defaults, objects that hold required fields), nothing else. Unset stays unset, so that a server sees exactly what a
// person chose. A scalar without a constant or default is unset itself; an object or array is at least empty.
func (f *Field) Initial() *Value {
	g := generator{left: MaxSkeletonNodes}
	return g.value(f, 0)
}

// Skeleton returns a whole value to start from: every required field with its default, constant, only option, or an
// empty value of its type, and all optional fields that have a default. It satisfies types, minItems and constants;
// lengths and patterns are the user's to fill.
func (f *Field) Skeleton() *Value {
	g := generator{left: MaxSkeletonNodes, placeholders: true}
	return g.value(f, 0)
}

// Example returns a value that shows what can be given: every field, required or not, with its first example, its default, its
// constant, its first option, or what its format looks like. It is bounded, so that a schema that contains itself, or an
// example that is huge, still gives something to start from.
func (f *Field) Example() *Value {
	g := generator{left: maxExampleNodes, placeholders: true, all: true}
	v := g.value(f, 0)
	if g.left >= 0 || v.Kind() != Object {
		return v
	}
	for _, m := range f.Skeleton().Members() { // there was no room for all: what is required must be there
		if !v.Get(m.Name).IsSet() {
			v = v.Set([]string{m.Name}, m.Value)
		}
	}
	return v
}

// Under returns v with the members that it lacks, at any depth, taken from below. It is below where v is unset.
func Under(v, below *Value) *Value {
	if !v.IsSet() || v.Kind() != Object || below.Kind() != Object {
		return cmp.Or(v, below)
	}
	kids := slices.Clone(v.kids)
	for _, m := range below.kids {
		if i := v.find(m.Name); i >= 0 {
			kids[i].Value = Under(kids[i].Value, m.Value)
		} else {
			kids = append(kids, m)
		}
	}
	return &Value{kind: Object, kids: kids}
}

// Empty returns the empty value of the field's shape: "", [], {}, 0, false, the first option, the constant; null where
// nothing else is known. Objects come with what [Field.Initial] gives.
func (f *Field) Empty() *Value {
	g := generator{left: MaxSkeletonNodes}
	if v := g.value(f, 0); v.IsSet() {
		return v
	}
	return empty(f)
}

// empty is the empty value of a shape.
func empty(f *Field) *Value {
	switch f.Shape() {
	case ShapeConst:
		return f.Const
	case ShapeSelect:
		if len(f.Options) > 0 {
			return f.Options[0].Value
		}
	case ShapeBoolean:
		return falseValue
	case ShapeInteger, ShapeNumber:
		return leastNumber(f)
	case ShapeString:
		return StringValue("")
	case ShapeObject:
		return emptyObject
	case ShapeArray:
		return emptyArray
	}
	return nullValue
}

// leastNumber is 0, or the bound nearest to it when 0 is out of bounds.
func leastNumber(f *Field) *Value {
	lit := "0"
	if f.Minimum != "" && !f.ExclusiveMin && compare(f.Minimum, "0") > 0 {
		lit = f.Minimum
	}
	if f.Maximum != "" && !f.ExclusiveMax && compare(f.Maximum, "0") < 0 {
		lit = f.Maximum
	}
	return &Value{kind: Number, raw: lit}
}

// generator makes one value. What it makes beyond its bounds is unset, so that it always ends with something.
type generator struct {
	left         int  // values that may still be made
	placeholders bool // empty values where nothing better is known, and optional fields that have a default
	all          bool // optional fields too, and examples before all else
}

// value generates for a field that is required.
func (g *generator) value(f *Field, depth int) *Value {
	if g.left--; g.left < 0 || depth > MaxSkeletonDepth {
		return nil
	}
	if g.all {
		if depth > maxExampleDepth {
			return nil
		}
		if v := g.exampleOf(f); v.IsSet() {
			return v
		}
	}
	switch {
	case f.Default.IsSet():
		return f.Default
	case f.Const.IsSet():
		return f.Const
	case len(f.Options) == 1:
		return f.Options[0].Value
	}
	switch f.Shape() {
	case ShapeNull:
		return nullValue
	case ShapeObject:
		return g.object(f, depth)
	case ShapeArray:
		return g.array(f, depth)
	case ShapeVariants:
		if g.placeholders {
			if f.Nullable() && !g.all {
				return nullValue
			}
			return g.value(f.Variants()[0].Field(), depth+1)
		}
		return nil
	}
	if g.placeholders {
		return empty(f)
	}
	return nil
}

// exampleOf is the first example of a field, or what its format looks like.
func (g *generator) exampleOf(f *Field) *Value {
	for _, e := range f.Examples {
		if e.size(maxExampleBytes) <= maxExampleBytes {
			return e
		}
	}
	if like := formatExamples[f.Format]; like != "" && f.Shape() == ShapeString && !f.Default.IsSet() {
		return StringValue(like)
	}
	return nil
}

// object makes an object with what is required of it as it grows: its conditions are looked at again after each round.
func (g *generator) object(f *Field, depth int) *Value {
	v := emptyObject
	for range 4 { // what was made may meet conditions that require more
		before := v.Len()
		var kids []Member
		act := f.Active(v)
		for _, c := range act.Children(nil) {
			if v.Get(c.Name).IsSet() || !c.Required && !g.placeholders {
				continue
			}
			k := c.Field()
			var kid *Value
			switch {
			case c.Required || g.all:
				kid = g.value(k, depth+1)
			case k.Default.IsSet() && g.left > 0:
				g.left--
				kid = k.Default
			}
			if kid.IsSet() {
				kids = append(kids, Member{Name: c.Name, Value: kid})
			}
		}
		if len(kids) > 0 {
			v = &Value{kind: Object, kids: append(slices.Clip(v.kids), kids...)}
		}
		if v.Len() == before || !f.Conditional() {
			break
		}
	}
	return v
}

// array makes the elements that minItems asks for, and those of a tuple where there are placeholders for them.
func (g *generator) array(f *Field, depth int) *Value {
	var kids []*Value
	n := max(f.MinItems, 0)
	if g.placeholders {
		n = max(n, min(f.TupleLen(), f.maxLen()))
	}
	if g.all {
		n = max(n, min(1, f.maxLen()))
	}
	for i := 0; i < n && g.left > 0; i++ {
		k := f.Item(i)
		v := g.value(k, depth+1)
		if !v.IsSet() && !g.placeholders {
			break // the elements before an unset one would be guesses
		}
		if !v.IsSet() {
			v = nullValue
		}
		kids = append(kids, v)
	}
	return ArrayValue(kids...)
}
