package schema

import "strings"

// TypeSet is a set of JSON Schema types.
type TypeSet uint8

// The types of JSON Schema. TypeNumber alone stands for numbers with a
// fraction; the keyword "number" means TypeNumber and TypeInteger.
const (
	TypeNull TypeSet = 1 << iota
	TypeBoolean
	TypeInteger
	TypeNumber
	TypeString
	TypeArray
	TypeObject

	TypeAny = TypeNull | TypeBoolean | TypeInteger | TypeNumber | TypeString | TypeArray | TypeObject
)

var typeNames = []struct {
	name string
	set  TypeSet
}{
	{"string", TypeString},
	{"number", TypeNumber | TypeInteger},
	{"integer", TypeInteger},
	{"boolean", TypeBoolean},
	{"object", TypeObject},
	{"array", TypeArray},
	{"null", TypeNull},
}

// Has reports whether t has a type in common with u.
func (t TypeSet) Has(u TypeSet) bool { return t&u != 0 }

// split returns the type keywords that t is made of.
func (t TypeSet) split() []TypeSet {
	var out []TypeSet
	for _, n := range typeNames {
		if t&n.set == n.set && n.set != 0 {
			out = append(out, n.set)
			t &^= n.set
		}
	}
	return out
}

// String lists the types, "any" for all of them.
func (t TypeSet) String() string {
	if t == TypeAny {
		return "any"
	}
	if t == 0 {
		return "nothing"
	}
	var names []string
	for _, s := range t.split() {
		for _, n := range typeNames {
			if n.set == s {
				names = append(names, n.name)
			}
		}
	}
	if len(names) == 0 {
		return "number"
	}
	return strings.Join(names, " | ")
}

// typeSet reads the value of a type keyword. ok is false when it holds a name that is not a JSON Schema type.
func typeSet(v *Value) (set TypeSet, ok bool) {
	names := []*Value{v}
	if v.Kind() == Array {
		names = names[:0]
		for _, m := range v.Members() {
			names = append(names, m.Value)
		}
	}
	ok = len(names) > 0
	for _, n := range names {
		known := false
		for _, t := range typeNames {
			if n.Kind() == String && n.Text() == t.name {
				set, known = set|t.set, true
			}
		}
		ok = ok && known
	}
	return set, ok
}

// typeOf returns the types that v has: 1 is an integer and a number.
func typeOf(v *Value) TypeSet {
	switch v.Kind() {
	case Null:
		return TypeNull
	case Bool:
		return TypeBoolean
	case Number:
		if isInteger(v.raw) {
			return TypeInteger
		}
		return TypeNumber
	case String:
		return TypeString
	case Array:
		return TypeArray
	case Object:
		return TypeObject
	}
	return 0
}

// Shape is how a field is filled in.
type Shape uint8

// The shapes of fields.
const (
	ShapeAny      Shape = iota // any JSON
	ShapeNull                  // only null
	ShapeBoolean               // true or false
	ShapeInteger               // a number without a fraction
	ShapeNumber                // a number
	ShapeString                // a string
	ShapeSelect                // one of Options
	ShapeConst                 // exactly Const
	ShapeObject                // fields by name, perhaps with free keys
	ShapeArray                 // items, or a tuple
	ShapeVariants              // one of Variants has to be picked first
	ShapeNever                 // no value is allowed (false)
)

// String names the shape in a word.
func (s Shape) String() string {
	return [...]string{
		"any", "null", "boolean", "integer", "number", "string", "select", "const",
		"object", "array", "variants", "never",
	}[s]
}
