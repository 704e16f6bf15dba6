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
	// Title, Description and Comment ($comment) are the server's, as sent: whoever draws them makes them safe. "" for none.
	Title, Description, Comment string

	Types    TypeSet  // what the type keywords and the options leave
	Never    bool     // no value is valid
	Const    *Value   // unset if there is no const
	Options  []Option // what enum, or a oneOf of constants, allows; nil if there is none, empty if they exclude each other
	Default  *Value   // the nearest one; it need not be valid
	Examples []*Value // those of all parts, the nearest first; they need not be valid

	Format      string       // the nearest one, also one that nobody knows; "" for none
	Patterns    []string     // ECMA-262, all of which have to match; one that cannot be compiled here has a note
	Constraints []Constraint // every assertion in words, in wire order
	Unknown     []Member     // keywords that JSON Schema does not define
	Notes       []string     // what could not be honoured here
	Refs        []string     // names of the definitions that apply
	Header      string       // x-mcp-header: sent as Mcp-Param-<Header> too

	ReadOnly, WriteOnly, Deprecated bool // one part is enough to make it so

	// The tightest bounds of all parts.
	Minimum, Maximum     string // number literals, "" if none
	ExclusiveMin         bool   // Minimum itself is refused
	ExclusiveMax         bool   // Maximum itself is refused
	MultipleOf           string // a number literal, "" if none; of several the last, though all count
	MinLength, MaxLength int    // -1 if none; in characters
	MinItems, MaxItems   int    // -1 if none
	UniqueItems          bool

	// What the field is made of; none of it changes once newField has returned.
	s        *Schema
	parts    []part          // all subschemas that apply, the nearest first, each once
	resolved map[*Value]bool // groups and conditions that are decided already
	only     TypeSet         // restriction by a picked type

	typed    bool              // some part has a type keyword
	order    []string          // declared properties, in wire order
	props    map[string][]part // the subschemas that properties gives each of them
	required map[string]string // name -> why, "" for the required keyword
	needed   []string          // required, in wire order
	groups   []group           // of which a branch is to be picked; the first is what Variants offers
	conds    []cond            // what Active decides
	needs    []need            // what Active marks as required

	// Caches, filled on demand by the goroutine that the schema's fields belong to. A field that is asked for twice is the same one.
	kids     map[string]*Field // by property
	rank     map[string]int    // places in order
	extra    *Field            // see Extra
	active   map[string]*Field // by verdicts of conditions, at most maxActive
	items    map[int]*Field    // by index; all beyond the tuple are under its length
	variants []Variant
}

// Option is one value of an enum, or one const of a oneOf.
type Option struct {
	Value *Value
	// Title and Description are for people; "" for none.
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
	Keyword string // the first that led to it: minimum and maximum are one sentence
	Text    string // "at least 3 characters"
}

// group is a oneOf or anyOf whose branch is still to be picked.
type group struct {
	keyword  string
	node     *Value // the array; its identity marks it as decided
	base     string
	branches []part // without null and false; empty once settle has found nothing to pick
	null     bool   // one more branch is null
	disc     string // property named by the discriminator keyword
}

// cond is a condition on the value: if/then/else, or a property's presence.
type cond struct {
	id      *Value // identity
	test    part   // the if
	present string // or: the property that triggers it
	byName  bool   // present decides, not test
	yes, no *Value // what applies then and else; unset for nothing
	base    string // of yes and no
}

// need is one entry of dependentRequired.
type need struct {
	trigger string   // the property whose presence
	names   []string // requires these
}

// newField makes the field of a place from the subschemas that apply there. resolved are the groups and conditions that are decided
// already, so that they do not come up again; only restricts the types, 0 does not. Beyond MaxFields it takes any JSON.
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

// Schema returns the schema the field belongs to, whose Validate checks whole values: a field does not validate.
func (f *Field) Schema() *Schema { return f.s }

// Shape tells how the field is filled in. Null besides another type does not count: such a field is Nullable.
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
