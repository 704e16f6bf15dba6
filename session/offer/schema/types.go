package schema

import "strings"

// TypeSet is a set of JSON Schema types, as bits; the zero set has none, which no value satisfies
// (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1.1).
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

// typeNames are the words of the type keyword in the order in which people read them. number comes before integer, so that split
// takes the wider one where both are in a set.
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

// split returns the type keywords that t is made of, as sets; TypeNumber alone has none, as no schema can ask for it.
func (t TypeSet) split() []TypeSet {
	var out []TypeSet
	for _, n := range typeNames {
		if t&n.set == n.set {
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

// typeOf returns the one type that v has, 0 for the unset value. 1.0 is an integer: which it is depends on its value, not on how it
// is written (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.3). Both words of a type keyword have that bit.
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

// Shape is how a field is filled in, which a form and a coercion go by. It is derived by [Field.Shape], never kept.
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
