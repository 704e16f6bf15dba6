package fuzz

import (
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// maxBroken bounds the wrong values of one schema.
const maxBroken = 400

// breaker makes values that have one thing wrong, of one that has nothing wrong. What comes of it may be allowed all the same (a pattern that takes
// "", an enum that has the word): plan asks the validator.
type breaker struct {
	root *schema.Value // never changed: each value is a copy
	out  []Value
}

// Broken are copies of v, an object that f allows, with one thing wrong each.
func Broken(f *schema.Field, v *schema.Value) []Value {
	b := breaker{root: v}
	b.field(f, v, nil, 0)
	return b.out
}

// put adds root with v at path; v may be unset, for numbers that cannot be made.
func (b *breaker) put(path []string, v *schema.Value, what string) {
	if !v.IsSet() || len(b.out) >= maxBroken {
		return
	}
	changed := v
	if len(path) > 0 {
		changed = b.root.Set(path, v)
	}
	b.out = append(b.out, Value{Value: changed, What: strings.TrimSpace(schema.Pointer(path...) + " " + what)})
}

func (b *breaker) text(path []string, s, what string) { b.put(path, schema.StringValue(s), what) }

// field breaks the value at path, and what is in it.
func (b *breaker) field(f *schema.Field, v *schema.Value, path []string, depth int) {
	if depth > maxDepth || len(b.out) >= maxBroken {
		return
	}
	f = f.Active(v)
	if f.Shape() == schema.ShapeVariants {
		if i := f.Pick(v); i >= 0 && i < len(f.Variants()) {
			b.types(f, path)
			b.field(f.Variants()[i].Field(), v, path, depth+1)
			return
		}
	}
	b.types(f, path)
	switch v.Kind() {
	case schema.Number:
		b.number(f, path)
	case schema.String:
		b.string(f, v, path)
	case schema.Array:
		b.array(f, v, path, depth)
	case schema.Object:
		b.object(f, v, path, depth)
	}
}

// types puts a value of each type there that the field does not have. The root is an object in any case.
func (b *breaker) types(f *schema.Field, path []string) {
	if len(path) == 0 {
		return
	}
	for _, t := range []struct {
		is  schema.TypeSet
		raw string
	}{
		{schema.TypeString, `"1"`},
		{schema.TypeNull, `null`},
		{schema.TypeInteger, `1`},
		{schema.TypeNumber, `1.5`},
		{schema.TypeBoolean, `true`},
		{schema.TypeArray, `[]`},
		{schema.TypeObject, `{}`},
	} {
		if !f.Types.Has(t.is) {
			b.put(path, parse(t.raw), "is "+t.is.String())
		}
	}
}

// number steps over the bounds of a number, which are literals, since a float holds not all of them.
func (b *breaker) number(f *schema.Field, path []string) {
	for _, bound := range []struct{ at, step, what string }{{f.Minimum, "-1", "is below its minimum"}, {f.Maximum, "1", "is above its maximum"}} {
		if bound.at != "" {
			b.put(path, number(plus(bound.at, bound.step)), bound.what)
		}
	}
	if f.ExclusiveMin {
		b.put(path, number(f.Minimum), "is its exclusive minimum")
	}
	if f.ExclusiveMax {
		b.put(path, number(f.Maximum), "is its exclusive maximum")
	}
	if f.MultipleOf != "" {
		b.put(path, number(plus(f.MultipleOf, "0.001")), "is no multiple")
	}
	b.choice(f, path)
}

// choice leaves the enum or the constant.
func (b *breaker) choice(f *schema.Field, path []string) {
	if f.Options == nil && !f.Const.IsSet() {
		return
	}
	b.text(path, "none of these", "is not in its enum")
	if len(f.Options) > 0 {
		if s := f.Options[0].Value; s.Kind() == schema.String {
			b.text(path, strings.ToUpper(s.Text())+" ", "is in its enum but for the spelling")
		}
	}
}

func (b *breaker) string(f *schema.Field, v *schema.Value, path []string) {
	b.choice(f, path)
	if f.MinLength > 0 && f.MinLength <= maxText {
		b.text(path, strings.Repeat("a", f.MinLength-1), "is too short")
	}
	if f.MaxLength >= 0 && f.MaxLength < maxText {
		b.text(path, strings.Repeat("a", f.MaxLength+1), "is too long")
	}
	for range f.Patterns {
		b.text(path, "", "does not match its pattern")
		b.text(path, "\x00 !", "does not match its pattern")
		b.text(path, v.Text()+"\n!", "does not match its pattern at the end")
	}
	if f.Format != "" {
		b.text(path, "no "+f.Format, "has another format")
	}
}

// array breaks the length, and the first element: the others have the same schema but for a tuple's.
func (b *breaker) array(f *schema.Field, v *schema.Value, path []string, depth int) {
	if f.MinItems > 0 && f.MinItems <= maxMany && v.Len() >= f.MinItems {
		few := make([]*schema.Value, f.MinItems-1)
		for i := range few {
			few[i] = v.Elem(i)
		}
		b.put(path, schema.ArrayValue(few...), "has too few elements")
	}
	if v.Len() > 0 {
		repeat := func(n int) *schema.Value {
			many := make([]*schema.Value, n)
			for i := range many {
				many[i] = v.Elem(i % v.Len())
			}
			return schema.ArrayValue(many...)
		}
		if f.MaxItems >= 0 && f.MaxItems < maxMany {
			b.put(path, repeat(f.MaxItems+1), "has too many elements")
		}
		if f.UniqueItems {
			b.put(path, repeat(v.Len()+1), "has an element twice")
		}
		b.field(f.Item(0), v.Elem(0), append(path[:len(path):len(path)], "0"), depth+1)
	}
}

// object leaves out what is required, adds what is not declared where that is forbidden, and breaks each member.
func (b *breaker) object(f *schema.Field, v *schema.Value, path []string, depth int) {
	for _, c := range f.Children(v) {
		at := append(path[:len(path):len(path)], c.Name)
		if c.Required && v.Get(c.Name).IsSet() && len(b.out) < maxBroken {
			b.out = append(b.out, Value{Value: b.root.Delete(at...), What: schema.Pointer(at...) + " is missing"})
		}
	}
	if _, _, open := f.Extra(); !open {
		b.put(append(path[:len(path):len(path)], "unknownProperty"), parse(`1`), "is not declared")
	}
	for _, c := range f.Children(v) {
		if kid := v.Get(c.Name); kid.IsSet() && c.Allowed {
			b.field(c.Field(), kid, append(path[:len(path):len(path)], c.Name), depth+1)
		}
	}
}

// Extremes are copies of v with a value that few expect: whether it is allowed or not, the server has to answer.
func Extremes(f *schema.Field, v *schema.Value) (out []Value) {
	deep := parse(strings.Repeat("[", 500) + strings.Repeat("]", 500))
	put := func(name string, x *schema.Value, what string) {
		out = append(out, Value{Value: v.Set([]string{name}, x), What: schema.Pointer(name) + " " + what, Extreme: true})
	}
	texts := 0
	for _, c := range f.Active(v).Children(v) {
		if !c.Allowed || len(out) > 60 {
			continue
		}
		switch t := c.Field().Types; {
		case t.Has(schema.TypeString):
			put(c.Name, parse(`"\ud800"`), "is half of a character")
			put(c.Name, schema.StringValue("a\x00b"), "has a zero byte")
			if texts++; texts <= 2 {
				put(c.Name, schema.StringValue(strings.Repeat("long ", maxText/5)), "is "+strconv.Itoa(maxText)+" characters long")
			}
		case t.Has(schema.TypeInteger | schema.TypeNumber):
			put(c.Name, number("12345678901234567890123"), "is a huge number")
			put(c.Name, number("1e400"), "is a number that no float holds")
			put(c.Name, number("-9223372036854775809"), "is below the least integer")
		}
		put(c.Name, deep, "is nested 500 deep")
	}
	return out
}
