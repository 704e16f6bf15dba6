package schema

import (
	"net/url"
	"strings"
)

// part is one subschema that applies at a place, with the base URI that its
// references are relative to ("" for the document itself).
type part struct {
	node   *Value // unset accepts everything
	base   string // outside the node: an $id of its own is resolved by rebase where it is read
	orNull bool   // its sibling branch is null
}

// refIndex finds the targets of references inside one document. Of an id or anchor that is there twice the first counts: the
// specification leaves it undefined (https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.1).
type refIndex struct {
	ids     map[string]part // absolute or relative $id -> resource
	anchors map[string]part // base + "#" + anchor
}

// How the value of a keyword holds subschemas.
type holder uint8

const (
	holdsOne  holder = iota + 1 // a schema
	holdsList                   // an array of schemas
	holdsMap                    // an object of schemas
	holdsAny                    // a schema or an array of schemas
)

// subschemas tells under which keywords a schema has schemas.
func subschemas(keyword string) holder {
	switch keyword {
	case "not", "if", "then", "else", "additionalProperties", "additionalItems", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return holdsOne
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return holdsList
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return holdsMap
	case "items":
		return holdsAny
	}
	return 0
}

// each calls fn for every direct subschema of node. What is in const, enum, default and examples is data, whatever it looks like.
func each(node *Value, fn func(*Value)) {
	for _, m := range node.Members() {
		switch h := subschemas(m.Name); {
		case h == holdsOne, h == holdsAny && m.Value.Kind() != Array:
			fn(m.Value)
		case h == holdsList && m.Value.Kind() == Array, h == holdsAny,
			h == holdsMap && m.Value.Kind() == Object:
			for _, k := range m.Value.Members() {
				fn(k.Value)
			}
		}
	}
}

// index is built once, when the first reference needs it.
func (s *Schema) index() *refIndex {
	s.refsOnce.Do(func() {
		s.refs = refIndex{ids: map[string]part{}, anchors: map[string]part{}}
		s.refs.collect(s.doc, "")
		s.refs.ids[""] = part{node: s.doc}
	})
	return &s.refs
}

// collect goes through the subschemas of node; base is that around it.
func (x *refIndex) collect(node *Value, base string) {
	if node.Kind() != Object {
		return
	}
	base = rebase(node, base)
	if _, dup := x.ids[base]; !dup {
		x.ids[base] = part{node: node, base: base}
	}
	for _, kw := range []string{"$anchor", "$dynamicAnchor"} {
		if a := node.Get(kw); a.Kind() == String {
			x.anchor(base+"#"+a.Text(), part{node: node, base: base})
		}
	}
	for _, kw := range []string{"$id", "id"} { // draft-07: {"$id": "#anchor"}
		if a := node.Get(kw); a.Kind() == String && strings.HasPrefix(a.Text(), "#") {
			x.anchor(base+a.Text(), part{node: node, base: base})
		}
	}
	each(node, func(sub *Value) { x.collect(sub, base) })
}

func (x *refIndex) anchor(key string, p part) {
	if _, dup := x.anchors[key]; !dup {
		x.anchors[key] = p
	}
}

// rebase returns the base URI inside node: that of its $id, resolved against base
// (https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.1). A fragment alone was draft-07's way to write an anchor.
func rebase(node *Value, base string) string {
	id := node.Get("$id")
	if id.Kind() != String {
		if id = node.Get("id"); id.Kind() != String || !strings.Contains(id.Text(), "://") {
			return base // "id" is draft-04's; elsewhere it is just a word
		}
	}
	ref, _, _ := strings.Cut(id.Text(), "#")
	if ref == "" {
		return base
	}
	return join(base, ref)
}

// join resolves ref against base, textually when either is not a URI.
func join(base, ref string) string {
	if ref == "" {
		return base
	}
	b, err := url.Parse(base)
	r, err2 := url.Parse(ref)
	if err != nil || err2 != nil || base == "" {
		return ref
	}
	return b.ResolveReference(r).String()
}

// resolve finds what ref leads to from a resource with the given base. It
// looks only inside the document: ok is false for anything else. A pointer may lead through keywords that nobody knows, as many
// schemas keep definitions under names of their own.
func (s *Schema) resolve(base, ref string) (p part, ok bool) {
	if ref == "#" && base == "" {
		return part{node: s.doc}, true
	}
	x := s.index()
	uri, frag, _ := strings.Cut(ref, "#")
	target := join(base, uri)
	if uri == "" {
		target = base
	}
	if frag != "" && frag[0] != '/' {
		p, ok = x.anchors[target+"#"+decodeFragment(frag)]
		return p, ok
	}
	p, ok = x.ids[target]
	if !ok {
		return part{}, false
	}
	if frag == "" {
		return p, true
	}
	path, ok := SplitPointer(decodeFragment(frag))
	if !ok {
		return part{}, false
	}
	for _, tok := range path {
		p.node = p.node.child(tok)
		switch p.node.Kind() {
		case Object:
			p.base = rebase(p.node, p.base)
		case Array, Bool:
		default:
			return part{}, false
		}
	}
	return p, p.node.Kind() != Array
}

// decodeFragment undoes percent-encoding; what is not encoded well is taken as it stands, since servers forget to encode.
func decodeFragment(f string) string {
	if d, err := url.PathUnescape(f); err == nil {
		return d
	}
	return f
}

// refName is how a person calls the target of a reference: the last step of its pointer, or its anchor.
func refName(ref string) string {
	if ref == "#" {
		return "the whole schema"
	}
	_, frag, _ := strings.Cut(ref, "#")
	if frag == "" {
		frag = ref
	}
	if path, ok := SplitPointer(decodeFragment(frag)); ok && len(path) > 0 {
		return path[len(path)-1]
	}
	return decodeFragment(frag[strings.LastIndexByte(frag, '/')+1:])
}
