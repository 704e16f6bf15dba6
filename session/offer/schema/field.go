package schema

import (
	"maps"
	"slices"
)

// Field describes one place where a value goes: all subschemas that apply there, through $ref and allOf, merged. It
// does not know its place in the document, so all elements of an array share one. What depends on the value
// (if/then/else, dependentSchemas) comes with [Field.Active], a choice between oneOf or anyOf branches with
// [Field.Variants].
type Field struct {
	Title, Description, Comment string

	Types    TypeSet // what type, enum and const leave
	Never    bool    // no value is valid
	Const    *Value  // unset if there is no const
	Options  []Option
	Default  *Value
	Examples []*Value

	Format      string
	Patterns    []string
	Constraints []Constraint // every assertion in words, in wire order
	Unknown     []Member     // keywords that JSON Schema does not define
	Notes       []string     // what could not be honoured here
	Refs        []string     // names of the definitions that apply
	Header      string       // x-mcp-header: sent as Mcp-Param-<Header> too

	ReadOnly, WriteOnly, Deprecated bool

	Minimum, Maximum     string // number literals, "" if none
	ExclusiveMin         bool
	ExclusiveMax         bool
	MultipleOf           string
	MinLength, MaxLength int // -1 if none; in characters
	MinItems, MaxItems   int // -1 if none
	UniqueItems          bool

	s        *Schema
	parts    []part
	resolved map[*Value]bool // groups and conditions that are decided already
	only     TypeSet         // restriction by a picked type

	typed    bool // some part has a type keyword
	order    []string
	props    map[string][]part
	required map[string]string // name -> why, "" for the required keyword
	needed   []string          // required, in wire order
	groups   []group
	conds    []cond
	needs    []need

	kids     map[string]*Field
	rank     map[string]int
	extra    *Field
	active   map[string]*Field
	items    map[int]*Field
	variants []Variant
}

// Option is one value of an enum, or one const of a oneOf.
type Option struct {
	Value              *Value
	Title, Description string
}

// Label returns what to show for the option: its title or its value.
func (o Option) Label() string {
	if o.Title != "" {
		return o.Title
	}
	return o.Value.Text()
}

// Constraint is one assertion in words.
type Constraint struct {
	Keyword string
	Text    string // "at least 3 characters"
}

// group is a oneOf or anyOf whose branch is still to be picked.
type group struct {
	keyword  string
	node     *Value // the array
	base     string
	branches []part
	null     bool   // one more branch is null
	disc     string // property named by the discriminator keyword
}

// cond is a condition on the value: if/then/else, or a property's presence.
type cond struct {
	id      *Value // identity
	test    part   // the if
	present string // or: the property that triggers it
	byName  bool
	yes, no *Value
	base    string
}

// need is one entry of dependentRequired.
type need struct {
	trigger string
	names   []string
}

func (s *Schema) newField(parts []part, resolved map[*Value]bool, only TypeSet) *Field {
	f := &Field{
		s: s, resolved: resolved, only: only, Types: TypeAny,
		MinLength: -1, MaxLength: -1, MinItems: -1, MaxItems: -1,
	}
	if s.fields++; s.fields > MaxFields {
		f.Notes = append(f.Notes, s.note("the schema expands into more than %d fields; the rest is raw JSON", MaxFields))
		return f
	}
	b := builder{f: f}
	for _, p := range parts {
		b.add(p)
	}
	for i := 0; i < len(f.groups); i++ { // settle may find more groups
		b.settle(i)
	}
	f.groups = slices.DeleteFunc(f.groups, func(g group) bool { return len(g.branches) == 0 })
	b.facets()
	return f
}

// Schema returns the schema the field belongs to.
func (f *Field) Schema() *Schema { return f.s }

// Shape tells how the field is filled in.
func (f *Field) Shape() Shape {
	switch {
	case f.Never || f.Types == 0:
		return ShapeNever
	case f.Const.IsSet():
		return ShapeConst
	case f.Options != nil:
		return ShapeSelect
	case len(f.groups) > 0:
		return ShapeVariants
	}
	t := f.Types
	if t != TypeNull {
		t &^= TypeNull
	}
	switch t {
	case TypeNull:
		return ShapeNull
	case TypeBoolean:
		return ShapeBoolean
	case TypeInteger:
		return ShapeInteger
	case TypeNumber, TypeNumber | TypeInteger:
		return ShapeNumber
	case TypeString:
		return ShapeString
	case TypeArray:
		return ShapeArray
	case TypeObject:
		return ShapeObject
	}
	if f.typed {
		return ShapeVariants
	}
	return f.guessShape()
}

// guessShape guesses the shape of a schema without a type from its keywords,
// which is what its author had in mind though other types are valid too.
func (f *Field) guessShape() Shape {
	has := func(kws ...string) bool {
		for p := range f.asserting {
			if slices.ContainsFunc(kws, func(k string) bool { return p.node.Get(k).IsSet() }) {
				return true
			}
		}
		return false
	}
	switch {
	case has("properties", "required", "patternProperties", "additionalProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"):
		return ShapeObject
	case has("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"):
		return ShapeArray
	case has("pattern", "minLength", "maxLength", "format"):
		return ShapeString
	case has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
		return ShapeNumber
	}
	return ShapeAny
}

// asserting yields the parts whose assertions count: all but those beside a draft-07 $ref.
func (f *Field) asserting(yield func(part) bool) {
	for _, p := range f.parts {
		if !isIgnored(f.s, p) && !yield(p) {
			return
		}
	}
}

// Nullable reports whether null is a valid value besides others.
func (f *Field) Nullable() bool {
	isNull := func(o Option) bool { return o.Value.Kind() == Null }
	switch {
	case f.Const.IsSet(), f.Never, !f.Types.Has(TypeNull):
		return false
	case f.Options != nil:
		return slices.ContainsFunc(f.Options, isNull)
	case len(f.groups) > 0:
		return !slices.ContainsFunc(f.groups, func(g group) bool { return !g.null })
	}
	return f.typed || f.Shape() == ShapeAny
}

// resolvedWith returns the decided groups and conditions plus one more.
func (f *Field) resolvedWith(node *Value) map[*Value]bool {
	m := maps.Clone(f.resolved)
	if m == nil {
		m = map[*Value]bool{}
	}
	m[node] = true
	return m
}

// merge returns f with more subschemas applied to the same place.
func (f *Field) merge(extra []part, resolved map[*Value]bool) *Field {
	return f.s.newField(append(slices.Clip(slices.Clone(f.parts)), extra...), resolved, f.only)
}
