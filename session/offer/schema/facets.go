package schema

import (
	"cmp"
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
)

// facets reads the keywords of all parts that say something about the value itself. The part nearest to the place comes
// first and wins where only one can (title, default); assertions add up.
func (b *builder) facets() {
	f := b.f
	for _, p := range f.parts {
		only := isIgnored(f.s, p)
		for _, m := range p.node.Members() {
			if !only || annotation(m.Name) {
				b.facet(p, m)
			}
		}
	}
	if f.only != 0 {
		f.Types, f.typed = f.Types&f.only, true
	}
	if f.Options != nil {
		b.fitOptions()
	}
	if f.typed && f.Types == 0 && !f.Never {
		b.note("the schemas that apply here contradict each other: no type satisfies them all")
	}
	b.bounds()
}

// annotation keywords count beside a draft-07 $ref too.
func annotation(name string) bool {
	switch name {
	case "title", "description", "$comment", "default", "examples", "example", "readOnly", "writeOnly", "deprecated", "x-mcp-header":
		return true
	}
	return false
}

// facet reads one keyword of one part.
func (b *builder) facet(p part, m Member) {
	f, v := b.f, m.Value
	str := func(dst *string) {
		if *dst == "" && v.Kind() == String {
			*dst = v.Text()
		}
	}
	flag := func(dst *bool) { *dst = *dst || v.Bool() }
	switch m.Name {
	case "title":
		str(&f.Title)
	case "description":
		str(&f.Description)
	case "$comment":
		str(&f.Comment)
	case "format":
		str(&f.Format)
	case "x-mcp-header":
		str(&f.Header)
	case "readOnly":
		flag(&f.ReadOnly)
	case "writeOnly":
		flag(&f.WriteOnly)
	case "deprecated":
		flag(&f.Deprecated)
	case "uniqueItems":
		flag(&f.UniqueItems)
	case "default":
		if !f.Default.IsSet() {
			f.Default = v
		}
	case "examples":
		if v.Kind() == Array {
			for _, e := range v.Members() {
				f.Examples = append(f.Examples, e.Value)
			}
		}
	case "example":
		f.Examples = append(f.Examples, v)
	case "type":
		b.types(p, v)
	case "const":
		if f.Const.IsSet() && !Equal(f.Const, v) {
			f.Never = true
			b.note("two different constants are required of the same value")
		}
		f.Const = v
	case "enum":
		b.enum(p, v)
	case "pattern":
		if v.Kind() == String {
			f.Patterns = append(f.Patterns, v.Text())
			if _, err := compilePattern(v.Text()); err != nil {
				b.note("pattern %s is not checked: %v", text.Clip(v.Text(), 120), err)
			}
		}
	default:
		b.number(p, m)
		if !isKnownKeyword(m.Name) {
			f.Unknown = append(f.Unknown, m)
		}
	}
}

// types narrows the types. nullable is OpenAPI 3.0's way to add null, which the type keyword beside it does not know of.
func (b *builder) types(p part, v *Value) {
	set, ok := typeSet(v)
	if !ok {
		b.note("type %s is not a JSON Schema type; any value is accepted there", text.Clip(v.String(), 120))
		return
	}
	if p.orNull || p.node.Get("nullable").Bool() {
		set |= TypeNull
	}
	b.f.Types, b.f.typed = b.f.Types&set, true
}

// enum narrows the options, with the titles that stand beside them by index.
func (b *builder) enum(p part, v *Value) {
	if v.Kind() != Array {
		b.note("enum is a JSON %s, not an array, and was ignored", v.Kind())
		return
	}
	names := p.node.Get("enumNames") // MCP elicitation, and older form builders
	if names.Kind() != Array {
		names = p.node.Get("x-enumNames")
	}
	descs := p.node.Get("x-enumDescriptions")
	opts := make([]Option, 0, v.Len())
	for i, m := range v.Members() {
		opts = append(opts, Option{Value: m.Value, Title: names.Elem(i).Text(), Description: descs.Elem(i).Text()})
	}
	if p.orNull || p.node.Get("nullable").Bool() {
		if !slices.ContainsFunc(opts, func(o Option) bool { return o.Value.Kind() == Null }) {
			opts = append(opts, Option{Value: nullValue})
		}
	}
	b.f.Options = intersect(b.f.Options, opts)
}

// fitOptions drops options of a type that is not allowed, and turns types that no option has off.
func (b *builder) fitOptions() {
	f := b.f
	var have TypeSet
	f.Options = slices.DeleteFunc(f.Options, func(o Option) bool {
		t := typeOf(o.Value)
		have |= t & f.Types
		return !f.Types.Has(t)
	})
	f.Types &= have
	if len(f.Options) == 0 {
		f.Never = true
		b.note("no value satisfies all enums and types that apply here")
	}
}

// number reads a keyword whose value is a number; the tightest wins. That true beside a minimum makes it exclusive is draft-04's
// (https://json-schema.org/draft-04/draft-fge-json-schema-validation-00#rfc.section.5.1.3), which many generators still write.
func (b *builder) number(p part, m Member) {
	f, lit := b.f, m.Value.Literal()
	if m.Value.Kind() != Number {
		return
	}
	limit := func(dst *int, larger bool) {
		if n := count(m.Value); n >= 0 && (*dst < 0 || (n > *dst) == larger) {
			*dst = n
		}
	}
	bound := func(dst *string, open *bool, exclusive string, sign int) {
		isOpen := m.Name == exclusive || p.node.Get(exclusive).Bool()
		switch d := compare(lit, cmp.Or(*dst, lit)) * sign; {
		case *dst == "", d > 0:
			*dst, *open = lit, isOpen
		case d == 0:
			*open = *open || isOpen
		}
	}
	switch m.Name {
	case "minimum", "exclusiveMinimum":
		bound(&f.Minimum, &f.ExclusiveMin, "exclusiveMinimum", 1)
	case "maximum", "exclusiveMaximum":
		bound(&f.Maximum, &f.ExclusiveMax, "exclusiveMaximum", -1)
	case "multipleOf":
		f.MultipleOf = lit
	case "minLength":
		limit(&f.MinLength, true)
	case "maxLength":
		limit(&f.MaxLength, false)
	case "minItems":
		limit(&f.MinItems, true)
	case "maxItems":
		limit(&f.MaxItems, false)
	}
}

// isKnownKeyword reports whether JSON Schema (draft-04 to 2020-12) defines a keyword that is not a facet, or this package understands it.
func isKnownKeyword(name string) bool {
	if subschemas(name) != 0 {
		return true
	}
	switch name {
	case "$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef",
		"$recursiveAnchor", "$vocabulary", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
		"minItems", "maxItems", "minContains", "maxContains", "minProperties",
		"maxProperties", "required", "dependentRequired", "contentEncoding", "contentMediaType",
		"nullable", "discriminator", "enumNames", "x-enumNames", "x-enumDescriptions":
		return true
	}
	return false
}
