package schema

import (
	"slices"
	"unicode/utf8"
)

// matcher decides cheaply whether a value satisfies a subschema, for the conditions and variants of a form, on every
// key press and without compiling anything but patterns. What it does not know (format, patternProperties, propertyNames,
// uniqueItems, maxContains, unevaluated keywords) it takes as satisfied, and what is refused only where that holds as well;
// the verdict that counts is Validate's. Its steps are bounded, and when they run out the rest counts as satisfied too.
type matcher struct {
	s      *Schema
	steps  int     // that are left; below 0 everything counts as satisfied
	stack  []visit // in-place references being followed, to stop loops
	unsure int     // what was taken as satisfied so far
}

// guess is a verdict that is taken for lack of a better one.
func (m *matcher) guess() bool {
	m.unsure++
	return true
}

// visit is a subschema at a value, both by identity: the same pair within itself is a loop.
type visit struct {
	node  *Value
	value *Value
}

func (s *Schema) matches(p part, v *Value) bool {
	m := matcher{s: s, steps: matchBudget}
	return m.ok(p, v)
}

func (m *matcher) ok(p part, v *Value) bool {
	if m.steps--; m.steps < 0 || len(m.stack) > 500 {
		return m.guess()
	}
	switch p.node.Kind() {
	case Bool:
		return p.node.Bool()
	case Object:
	default:
		return true
	}
	at := visit{p.node, v}
	if slices.Contains(m.stack, at) {
		return m.guess()
	}
	m.stack = append(m.stack, at)
	defer func() { m.stack = m.stack[:len(m.stack)-1] }()
	p.base = rebase(p.node, p.base)
	refOnly := isIgnored(m.s, p)
	for _, k := range p.node.Members() {
		if refOnly && k.Name != "$ref" {
			continue
		}
		if !m.keyword(p, k.Name, k.Value, v) {
			return false
		}
	}
	return true
}

func (m *matcher) sub(p part, node, v *Value) bool {
	return m.ok(part{node: node, base: p.base}, v)
}

func (m *matcher) keyword(p part, name string, kw, v *Value) bool {
	switch name {
	case "$ref", "$dynamicRef", "$recursiveRef":
		target, ok := m.s.resolve(p.base, kw.Text())
		return !ok && m.guess() || ok && m.ok(target, v)
	case "type":
		set, ok := typeSet(kw)
		return !ok || set.Has(typeOf(v)) || v.Kind() == Null && p.node.Get("nullable").Bool()
	case "const":
		return Equal(kw, v)
	case "enum":
		return kw.Kind() != Array || slices.ContainsFunc(kw.Members(), func(e Member) bool { return Equal(e.Value, v) })
	case "allOf":
		return !slices.ContainsFunc(kw.Members(), func(e Member) bool { return !m.sub(p, e.Value, v) })
	case "anyOf":
		return kw.Len() == 0 || slices.ContainsFunc(kw.Members(), func(e Member) bool { return m.sub(p, e.Value, v) })
	case "oneOf":
		n, before := 0, m.unsure
		for _, e := range kw.Members() {
			if m.sub(p, e.Value, v) {
				n++
			}
		}
		return n == 1 || kw.Len() == 0 || n > 1 && m.unsure > before
	case "not":
		before := m.unsure
		return !m.sub(p, kw, v) || m.unsure > before
	case "if":
		branch := p.node.Get("else")
		if m.sub(p, kw, v) {
			branch = p.node.Get("then")
		}
		return !branch.IsSet() || m.sub(p, branch, v)
	}
	switch v.Kind() {
	case Object:
		return m.object(p, name, kw, v)
	case Array:
		return m.array(p, name, kw, v)
	case String:
		return m.text(name, kw, v)
	case Number:
		return number(p, name, kw, v)
	}
	return true
}

func (m *matcher) object(p part, name string, kw, v *Value) bool {
	switch name {
	case "required":
		return !slices.ContainsFunc(kw.Members(), func(e Member) bool {
			return e.Value.Kind() == String && !v.Get(e.Value.Text()).IsSet()
		})
	case "properties":
		for _, k := range v.Members() {
			if sub := kw.Get(k.Name); sub.IsSet() && !m.sub(p, sub, k.Value) {
				return false
			}
		}
	case "patternProperties", "propertyNames", "unevaluatedProperties":
		return m.guess()
	case "additionalProperties":
		if p.node.Get("patternProperties").IsSet() {
			return m.guess()
		}
		props := p.node.Get("properties")
		for _, k := range v.Members() {
			if !props.Get(k.Name).IsSet() && !m.sub(p, kw, k.Value) {
				return false
			}
		}
	case "minProperties", "maxProperties":
		return fitsSize(v.Len(), kw, name == "minProperties")
	case "dependentRequired", "dependencies", "dependentSchemas":
		for _, d := range kw.Members() {
			if !v.Get(d.Name).IsSet() {
				continue
			}
			if d.Value.Kind() == Array {
				if !m.object(p, "required", d.Value, v) {
					return false
				}
			} else if !m.sub(p, d.Value, v) {
				return false
			}
		}
	}
	return true
}

func (m *matcher) array(p part, name string, kw, v *Value) bool {
	switch name {
	case "minItems", "maxItems":
		return fitsSize(v.Len(), kw, name == "minItems")
	case "uniqueItems", "maxContains", "unevaluatedItems":
		return m.guess()
	case "contains":
		return p.node.Get("minContains").IsSet() && m.guess() ||
			slices.ContainsFunc(v.Members(), func(e Member) bool { return m.sub(p, kw, e.Value) })
	case "items", "prefixItems":
		tuple, rest := prefix(p.node)
		for i, e := range v.Members() {
			sub := rest
			if i < len(tuple) {
				sub = tuple[i].Value
			}
			if sub.IsSet() && !m.sub(p, sub, e.Value) {
				return false
			}
		}
	}
	return true
}

func (m *matcher) text(name string, kw, v *Value) bool {
	switch name {
	case "minLength", "maxLength":
		return fitsSize(utf8.RuneCountInString(v.Text()), kw, name == "minLength")
	case "pattern":
		m.steps -= len(kw.raw) / 4 // compiling costs too
		re, err := m.s.pattern(kw.Text())
		return err != nil && m.guess() || err == nil && re.MatchString(v.Text())
	case "format":
		return m.guess()
	}
	return true
}

func number(p part, name string, kw, v *Value) bool {
	if kw.Kind() != Number {
		return true
	}
	switch name {
	case "minimum":
		c := compare(v.raw, kw.raw)
		return c > 0 || c == 0 && !p.node.Get("exclusiveMinimum").Bool()
	case "maximum":
		c := compare(v.raw, kw.raw)
		return c < 0 || c == 0 && !p.node.Get("exclusiveMaximum").Bool()
	case "exclusiveMinimum":
		return compare(v.raw, kw.raw) > 0
	case "exclusiveMaximum":
		return compare(v.raw, kw.raw) < 0
	case "multipleOf":
		d := ratOf(kw.raw)
		return d.Sign() == 0 || d.Quo(ratOf(v.raw), d).IsInt()
	}
	return true
}

// fitsSize compares a size with a keyword that bounds it; a malformed keyword bounds nothing.
func fitsSize(n int, kw *Value, atLeast bool) bool {
	limit := count(kw)
	return limit < 0 || n == limit || (n > limit) == atLeast
}
