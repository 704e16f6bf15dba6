package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// plain turns a value into what encoding/json would make of it with UseNumber, which is what the validator takes.
// Numbers are tamed, so that exact arithmetic on them stays cheap.
func plain(v *Value) any {
	switch v.Kind() {
	case Bool:
		return v.Bool()
	case Number:
		return json.Number(boundNumber(v.raw))
	case String:
		return v.Text()
	case Array:
		out := make([]any, len(v.kids))
		for i, m := range v.kids {
			out[i] = plain(m.Value)
		}
		return out
	case Object:
		out := make(map[string]any, len(v.kids))
		for _, m := range v.kids {
			out[m.Name] = plain(m.Value)
		}
		return out
	}
	return nil
}

// cleaner turns a schema into one that the validator compiles: what cannot
// be honoured is taken out and noted, so that the rest is still checked.
type cleaner struct {
	s       *Schema
	modern  bool     // 2020-12
	keepIDs bool     // build says when not
	nodes   int      // subschemas so far; beyond MaxCompileNodes err is set
	refs    bool     // the schema has references, so evaluations may multiply
	notes   []string // what is not checked, at most 50
	err     error    // why nothing is
}

func (c *cleaner) note(format string, args ...any) {
	if len(c.notes) < 50 {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

// schema is a subschema as the validator takes it; true, which accepts all, for what is none.
func (c *cleaner) schema(node *Value, base string, depth int) any {
	if c.nodes++; c.nodes > MaxCompileNodes || depth > MaxCompileDepth {
		c.err = fmt.Errorf("the schema has more than %d parts or %d levels", MaxCompileNodes, MaxCompileDepth)
		return true
	}
	if node.Kind() != Object {
		if node.Kind() == Bool {
			return node.Bool()
		}
		c.note("a subschema that is a JSON %s was left out", node.Kind())
		return true
	}
	base = rebase(node, base)
	out := make(map[string]any, node.Len())
	for _, m := range node.Members() {
		if v, keep := c.keyword(node, m, base, depth); keep {
			out[m.Name] = v
		}
	}
	c.respell(node, out)
	return out
}

// keyword is the value of a keyword as the validator takes it. keep is false for one that is left out, which the notes say where it
// would have asserted something.
func (c *cleaner) keyword(node *Value, m Member, base string, depth int) (v any, keep bool) {
	switch h := subschemas(m.Name); {
	case h == holdsOne, h == holdsAny && m.Value.Kind() != Array:
		return c.schema(m.Value, base, depth+1), true
	case h == holdsList && m.Value.Kind() == Array, h == holdsAny:
		out := make([]any, m.Value.Len())
		for i, k := range m.Value.Members() {
			out[i] = c.schema(k.Value, base, depth+1)
		}
		return out, len(out) > 0 || m.Name == "items"
	case h == holdsMap && m.Value.Kind() == Object:
		out := make(map[string]any, m.Value.Len())
		for _, k := range m.Value.Members() {
			if m.Name == "dependencies" && k.Value.Kind() == Array {
				out[k.Name] = plain(k.Value)
				continue
			}
			if m.Name == "patternProperties" {
				if _, err := compilePattern(k.Name); err != nil {
					c.note("keys matching %s are not checked: %v", text.Clip(k.Name, 120), err)
					out[""] = true // matches all keys, so that none counts as additional
					continue
				}
			}
			out[k.Name] = c.schema(k.Value, base, depth+1)
		}
		return out, true
	case h != 0:
		c.note("%s is a JSON %s and is not checked", m.Name, m.Value.Kind())
		return nil, false
	}
	switch m.Name {
	case "$ref", "$dynamicRef", "$recursiveRef":
		c.refs = true
		if metaSchema(m.Value.Text()) {
			return m.Value.Text(), true
		}
		if _, ok := c.s.resolve(base, m.Value.Text()); !ok {
			c.note("%s %s is not checked: it is not in this schema", m.Name, text.Clip(m.Value.Text(), 120))
			return nil, false
		}
	case "pattern":
		if m.Value.Kind() != String {
			break
		}
		if _, err := compilePattern(m.Value.Text()); err != nil {
			c.note("pattern %s is not checked: %v", text.Clip(m.Value.Text(), 120), err)
			return nil, false
		}
	case "$schema":
		return m.Value.Text(), m.Value.Kind() == String && metaSchema(m.Value.Text()) && depth == 0
	case "$id", "id":
		if m.Value.Kind() == String && !c.keepIDs {
			return nil, false
		}
	case "$vocabulary", "default", "examples", "title", "description", "$comment":
		return nil, false // nothing to check, and often malformed
	case "type":
		if set, ok := typeSet(m.Value); !ok {
			c.note("type %s is not checked: JSON Schema has no such type", text.Clip(m.Value.String(), 120))
			return nil, false
		} else if node.Get("nullable").Bool() && !set.Has(TypeNull) {
			return typeNamesOf(set | TypeNull), true
		} else if m.Value.Kind() == Array {
			return typeNamesOf(set), true // a type named twice is malformed, and common
		}
	}
	return plain(m.Value), true
}

// respell writes older spellings the way 2020-12 has them; many servers mix them without saying which draft they mean.
func (c *cleaner) respell(node *Value, out map[string]any) {
	if !c.modern {
		return
	}
	if items, ok := out["items"].([]any); ok {
		delete(out, "items")
		if rest, ok := out["additionalItems"]; ok {
			out["items"] = rest
		}
		delete(out, "additionalItems")
		if len(items) > 0 && out["prefixItems"] == nil {
			out["prefixItems"] = items
		}
	}
	for _, kw := range []string{"Minimum", "Maximum"} {
		ex, plain := "exclusive"+kw, strings.ToLower(kw)
		if on, ok := out[ex].(bool); ok {
			delete(out, ex)
			if limit, has := out[plain]; on && has {
				out[ex] = limit
				delete(out, plain)
			}
		}
	}
	if on, ok := out["required"].(bool); ok { // draft-03
		delete(out, "required")
		if on {
			c.note("a required that is true or false is not checked")
		}
	}
}

func typeNamesOf(set TypeSet) []any {
	var out []any
	for _, t := range set.split() {
		out = append(out, t.String())
	}
	return out
}

// metaSchema reports whether uri is a schema of JSON Schema itself, which the validator has built in.
func metaSchema(uri string) bool {
	uri = strings.TrimSuffix(uri, "#")
	for _, known := range []string{
		"http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema",
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema",
		"https://json-schema.org/draft/2020-12/schema",
	} {
		if uri == known {
			return true
		}
	}
	return false
}
