package schema

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// builder gathers all subschemas that apply to one field.
type builder struct {
	f    *Field          // that is being made; nobody else has it yet
	seen map[*Value]bool // the nodes of f.parts once there are many; nil while a walk over them is cheaper
}

// hasNode reports whether node applies already.
func (b *builder) hasNode(node *Value) bool {
	if b.seen != nil {
		return b.seen[node]
	}
	return slices.ContainsFunc(b.f.parts, func(p part) bool { return p.node == node })
}

// isIgnored reports whether the assertions of a part do not count: siblings of a draft-07 $ref.
func isIgnored(s *Schema, p part) bool {
	return s.legacy && p.node.Get("$ref").Kind() == String
}

// note says of the field, and of the schema, what could not be honoured.
func (b *builder) note(format string, args ...any) {
	b.f.Notes = append(b.f.Notes, b.f.s.note(format, args...))
}

// add merges a subschema into the field: itself, what it refers to, and its allOf. The order is that of the document, the nearest
// first, which facets relies on. What applies already is left out, so that references to oneself end.
func (b *builder) add(p part) {
	f := b.f
	switch p.node.Kind() {
	case Unset:
		return
	case Bool:
		f.Never = f.Never || !p.node.Bool()
		return
	case Object:
	default:
		b.note("a subschema is a JSON %s, not an object or boolean, and was ignored", p.node.Kind())
		return
	}
	if b.hasNode(p.node) {
		return
	}
	if len(f.parts) >= MaxParts {
		b.note("more than %d subschemas apply to one field; the rest was ignored", MaxParts)
		return
	}
	p.base = rebase(p.node, p.base)
	f.parts = append(f.parts, p)
	if b.seen != nil {
		b.seen[p.node] = true
	} else if len(f.parts) == 16 {
		b.seen = make(map[*Value]bool, 64)
		for _, q := range f.parts {
			b.seen[q.node] = true
		}
	}
	refOnly := isIgnored(f.s, p)
	for _, m := range p.node.Members() {
		switch {
		case m.Name == "$ref", m.Name == "$dynamicRef", m.Name == "$recursiveRef":
			b.ref(p, m.Value)
		case refOnly:
		case m.Name == "allOf":
			for _, k := range m.Value.Members() {
				b.add(part{node: k.Value, base: p.base})
			}
		case m.Name == "properties":
			b.properties(m.Value, p.base)
		case m.Name == "required":
			b.requireNames(m.Value)
		case m.Name == "oneOf", m.Name == "anyOf":
			b.group(p, m)
		default:
			b.condition(p, m)
		}
	}
}

// ref merges what a reference leads to. One that leads nowhere accepts any value, and a note says so: the alternative, to refuse
// all, would make a tool unusable for an error of its author.
func (b *builder) ref(p part, v *Value) {
	if v.Kind() != String {
		b.note("a $ref is not a string and was ignored")
		return
	}
	ref := v.Text()
	target, ok := b.f.s.resolve(p.base, ref)
	if !ok {
		if strings.HasPrefix(ref, "#") {
			b.note("$ref %s leads nowhere in this schema; any value is accepted there", text.Clip(ref, 120))
		} else {
			b.note("$ref %s is outside this schema and is never fetched; any value is accepted there", text.Clip(ref, 120))
		}
		return
	}
	b.f.Refs = append(b.f.Refs, refName(ref))
	b.add(target)
}

// properties keeps the parts of each property; its field is made when somebody asks for it. Several schemas may declare the same.
func (b *builder) properties(v *Value, base string) {
	f := b.f
	if v.Kind() != Object {
		return
	}
	if f.props == nil {
		f.props = make(map[string][]part, v.Len())
	}
	for _, m := range v.Members() {
		if _, dup := f.props[m.Name]; !dup {
			f.order = append(f.order, m.Name)
		}
		f.props[m.Name] = append(f.props[m.Name], part{node: m.Value, base: base})
	}
}

func (b *builder) requireNames(v *Value) {
	for _, m := range v.Members() {
		if v.Kind() == Array && m.Value.Kind() == String {
			b.f.require(m.Value.Text(), "")
		}
	}
}

// require makes a property required, for the first reason given: the keyword itself before any condition.
func (f *Field) require(name, why string) {
	if _, dup := f.required[name]; dup {
		return
	}
	if f.required == nil {
		f.required = map[string]string{}
	}
	f.required[name] = why
	f.needed = append(f.needed, name)
}

// group remembers a oneOf or anyOf for settle. The discriminator beside it is OpenAPI's, an object or in older schemas a name
// (https://spec.openapis.org/oas/v3.1.0#discriminator-object).
func (b *builder) group(p part, m Member) {
	if b.f.resolved[m.Value] || m.Value.Kind() != Array || m.Value.Len() == 0 {
		return
	}
	g := group{keyword: m.Name, node: m.Value, base: p.base}
	for _, k := range m.Value.Members() {
		g.branches = append(g.branches, part{node: k.Value, base: p.base})
	}
	if d := p.node.Get("discriminator"); d.Kind() == Object {
		g.disc = d.Get("propertyName").Text()
	} else if d.Kind() == String {
		g.disc = d.Text()
	}
	b.f.groups = append(b.f.groups, g)
}

// condition remembers what applies only to some values, for [Field.Active]. draft-07's dependencies is dependentRequired and
// dependentSchemas in one (https://json-schema.org/draft/2019-09/release-notes#keyword-changes).
func (b *builder) condition(p part, m Member) {
	f := b.f
	switch m.Name {
	case "if":
		yes, no := p.node.Get("then"), p.node.Get("else")
		if !f.resolved[m.Value] && (yes.IsSet() || no.IsSet()) {
			f.conds = append(f.conds, cond{id: m.Value, test: part{node: m.Value, base: p.base}, yes: yes, no: no, base: p.base})
		}
	case "dependentSchemas", "dependencies":
		if m.Value.Kind() != Object {
			return
		}
		for _, d := range m.Value.Members() {
			switch {
			case d.Value.Kind() == Array:
				b.addNeed(d)
			case !f.resolved[d.Value]:
				f.conds = append(f.conds, cond{id: d.Value, present: d.Name, byName: true, yes: d.Value, base: p.base})
			}
		}
	case "dependentRequired":
		for _, d := range m.Value.Members() {
			b.addNeed(d)
		}
	}
}

func (b *builder) addNeed(d Member) {
	n := need{trigger: d.Name}
	for _, k := range d.Value.Members() {
		if k.Value.Kind() == String {
			n.names = append(n.names, k.Value.Text())
		}
	}
	b.f.needs = append(b.f.needs, n)
}

// settle simplifies group i where there is nothing to pick: a null branch makes the field nullable, branches that are
// all constants become options, a single branch is merged in, branches that only assert become a constraint.
func (b *builder) settle(i int) {
	f, g := b.f, b.f.groups[i]
	var rest []part
	null := false
	for _, p := range g.branches {
		if n := f.s.peek(p); isNullSchema(n.node) {
			null = true
		} else if n.node.Kind() != Bool || n.node.Bool() {
			rest = append(rest, p)
		}
	}
	switch {
	case len(rest) == 0 && null:
		f.groups[i].branches = nil
		f.Types, f.typed = f.Types&TypeNull, true
		return
	case len(rest) == 0:
		f.groups[i].branches = nil
		f.Never = true
		return
	case len(rest) == 1:
		f.groups[i].branches = nil
		if opts, ok := f.s.options(rest, true); null && ok {
			f.Options = intersect(f.Options, opts)
			return
		}
		if null {
			b.addNullable(rest[0])
			return
		}
		b.add(rest[0])
		return
	}
	if opts, ok := f.s.options(rest, null); ok {
		f.groups[i].branches = nil
		f.Options = intersect(f.Options, opts)
		return
	}
	if !null && !slices.ContainsFunc(rest, func(p part) bool { return structural(f.s.peek(p).node) }) {
		f.groups[i].branches = nil // the assertion still shows as a constraint
		return
	}
	if len(rest) > MaxVariants {
		b.note("%s has %d branches; %d are offered", g.keyword, len(rest), MaxVariants)
		rest = rest[:MaxVariants]
	}
	f.groups[i].branches, f.groups[i].null = rest, null
}

// addNullable merges the only branch besides null: its type, if it has one, widened by null.
func (b *builder) addNullable(p part) {
	before := len(b.f.parts)
	b.add(p)
	for i := before; i < len(b.f.parts); i++ {
		b.f.parts[i].orNull = true
	}
}

// peek follows references to the schema that says what p is, to name it or to look at its constants. It stops at one that has
// assertions beside its $ref, and after maxRefHops. The base is that around the node: an $id of the node itself is not in it.
func (s *Schema) peek(p part) part {
	for range maxRefHops {
		ref := p.node.Get("$ref")
		if ref.Kind() != String {
			return p
		}
		next, ok := s.resolve(rebase(p.node, p.base), ref.Text())
		if !ok {
			return p
		}
		if n := p.node.Len(); n > 1 && !s.legacy && next.node.Len() > 0 && n > annotations(p.node)+1 {
			return p // assertions beside the $ref: it is a schema of its own
		}
		p = next
	}
	return p
}

// annotations counts the keywords of node that assert nothing.
func annotations(node *Value) int {
	n := 0
	for _, m := range node.Members() {
		switch m.Name {
		case "title", "description", "$comment", "default", "examples":
			n++
		}
	}
	return n
}

// isNullSchema reports whether a branch accepts null alone, in any of the ways in which generators write that.
func isNullSchema(node *Value) bool {
	switch t := node.Get("type"); {
	case t.Kind() == String:
		return t.Text() == "null"
	case t.Kind() == Array && t.Len() == 1:
		return t.Elem(0).Text() == "null" && t.Elem(0).Kind() == String
	}
	if e := node.Get("enum"); e.Kind() == Array {
		return e.Len() == 1 && e.Elem(0).Kind() == Null
	}
	return node.Get("const").Kind() == Null
}

// structural reports whether a branch says what a value is made of, rather than only restricting it.
func structural(node *Value) bool {
	return slices.ContainsFunc(node.Members(), func(m Member) bool {
		switch m.Name {
		case "type", "properties", "patternProperties", "additionalProperties", "items", "prefixItems",
			"const", "enum", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "title":
			return true
		}
		return false
	})
}

// options reads branches that are all constants, the way of MCP's elicitation to give a choice its titles
// (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema); ok is false when one is not. What
// stands beside a $ref names an option before its target does. null adds an option for null.
func (s *Schema) options(branches []part, null bool) ([]Option, bool) {
	var opts []Option
	for _, p := range branches {
		n := s.peek(p).node
		title, desc := n.Get("title").Text(), n.Get("description").Text()
		if t := p.node.Get("title"); t.Kind() == String {
			title = t.Text()
		}
		if d := p.node.Get("description"); d.Kind() == String {
			desc = d.Text()
		}
		c, e := n.Get("const"), n.Get("enum")
		switch {
		case n.Get("properties").IsSet(), n.Get("items").IsSet():
			return nil, false
		case c.IsSet():
			opts = append(opts, Option{c, title, desc})
		case e.Kind() == Array && e.Len() > 0:
			for _, m := range e.Members() {
				opts = append(opts, Option{Value: m.Value, Description: desc})
			}
		default:
			return nil, false
		}
	}
	if null {
		opts = append(opts, Option{Value: nullValue})
	}
	return opts, len(opts) > 0
}

// intersect keeps the options that two enums share, in the order of the first; a nil list has no say, an empty one allows nothing.
func intersect(a, b []Option) []Option {
	if a == nil {
		return b
	}
	out := []Option{}
	for _, o := range a {
		i := slices.IndexFunc(b, func(p Option) bool { return Equal(o.Value, p.Value) })
		if i < 0 {
			continue
		}
		if o.Title == "" {
			o.Title = b[i].Title
		}
		if o.Description == "" {
			o.Description = b[i].Description
		}
		out = append(out, o)
	}
	return out
}
