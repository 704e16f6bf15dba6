package mask

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Rule says what is secret in the values of one schema. The zero value goes by names and looks alone. A Rule does not change once it is
// made: After and With return another one.
type Rule struct {
	names map[string]bool // of members that the schema marks
	whole bool            // it marks something that no member's name leads to
	sent  []string        // texts that are secret wherever they are
}

// shortest is how many bytes a text has to have to be looked for elsewhere: what is shorter, such as "true" or a year, comes by chance.
// Under its own name it is hidden all the same.
const shortest = 6

// After is the rule for what comes back after values were sent: what is secret in these is secret wherever it is repeated.
func (r Rule) After(values ...[]byte) Rule {
	r.sent = slices.Clone(r.sent)
	for _, v := range values {
		r.sent = append(r.sent, r.secrets(v, r.whole, 0)...)
	}
	slices.SortFunc(r.sent, func(a, b string) int { return len(b) - len(a) }) // one that has another in it first
	return r
}

// maxSent is how many texts are looked for elsewhere: each of them costs a pass over what comes back.
const maxSent = 1000

// With is a rule that also takes for secret what another does. Of more than maxSent texts those of the other one are kept: they are the newer ones.
func (r Rule) With(other Rule) Rule {
	if len(other.sent)+len(other.names) == 0 && !other.whole {
		return r
	}
	names := maps.Clone(r.names)
	if names == nil {
		names = map[string]bool{}
	}
	maps.Copy(names, other.names)
	newer := other.sent[:min(len(other.sent), maxSent)]
	sent := slices.Concat(newer, r.sent[:min(len(r.sent), maxSent-len(newer))])
	slices.SortFunc(sent, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return Rule{names: names, whole: r.whole || other.whole, sent: slices.Compact(sent)}
}

// maxDepth is how deep schemas and values are looked into. What is below goes as a whole.
const maxDepth = 200

// RuleOf is the rule for the values of a JSON Schema, which may be nil. A property is secret by "format": "password", by
// "writeOnly", or by being called so, also where it is that only through a $ref or within a variant: what has its name is
// secret wherever it is in the value.
func RuleOf(schema []byte) Rule {
	r := Rule{names: map[string]bool{}}
	// A schema with neither word marks nothing, which is known without reading it.
	if !bytes.Contains(schema, []byte(`password`)) && !bytes.Contains(schema, []byte(`writeOnly`)) {
		return r
	}
	w := walk{rule: &r, root: schema}
	if w.collectMarked(schema, 0) || w.over {
		r.whole = true
	}
	return r
}

// walk looks at a schema. refs are those that are being followed; schemas bounds the work.
type walk struct {
	rule    *Rule
	root    []byte
	refs    []string
	schemas int
	over    bool // there was more than is looked at
}

// maxSchemas bounds how many subschemas of one schema are looked at: with $ref a small one can stand for a huge one.
const maxSchemas = 20_000

// collectMarked reports whether a schema says of its own value, not of a property in it, that it is secret. Properties that it says so of
// are added to the rule.
func (w *walk) collectMarked(schema []byte, depth int) (secret bool) {
	if w.schemas++; depth > maxDepth || w.schemas > maxSchemas {
		w.over = true
		return false
	}
	each := func(value []byte) {
		if w.collectMarked(value, depth+1) {
			secret = true
		}
	}
	_ = jsonrpc.Members(schema, func(key string, value []byte) bool {
		switch key {
		case "format":
			s, _ := jsonrpc.String(value)
			secret = secret || s == "password"
		case "writeOnly":
			secret = secret || string(value) == "true"
		case "properties", "patternProperties", "dependentSchemas", "dependencies": // the last is that of draft-07, where it may list names instead
			_ = jsonrpc.Members(value, func(name string, property []byte) bool {
				if w.collectMarked(property, depth+1) {
					switch key {
					case "properties":
						w.rule.names[name] = true
					default: // names are not known
						w.rule.whole = true
					}
				}
				return true
			})
		case "$defs", "definitions": // looked at where something refers to them
		case "allOf", "anyOf", "oneOf", "prefixItems":
			_ = jsonrpc.Elements(value, func(item []byte) bool { each(item); return true })
		case "items", "additionalItems", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "if", "then", "else":
			if len(value) > 0 && value[0] == '[' {
				_ = jsonrpc.Elements(value, func(item []byte) bool { each(item); return true })
			} else if len(value) > 0 && value[0] == '{' {
				each(value)
			}
		case "$ref", "$dynamicRef":
			if ref, ok := jsonrpc.String(value); ok {
				secret = w.refers(ref, depth) || secret
			}
		}
		return true
	})
	return secret
}

// refers is collectMarked for what a $ref within the schema leads to.
func (w *walk) refers(ref string, depth int) bool {
	// A schema may refer to itself: what is being followed already adds nothing.
	for _, r := range w.refs {
		if r == ref {
			return false
		}
	}
	target := resolveRef(w.root, ref)
	if target == nil { // an $anchor, or another document: better too much than too little
		return true
	}
	w.refs = append(w.refs, ref)
	defer func() { w.refs = w.refs[:len(w.refs)-1] }()
	return w.collectMarked(target, depth+1)
}

// resolveRef is what a reference such as #/$defs/key leads to, nil if that is nothing.
func resolveRef(root []byte, ref string) []byte {
	if ref == "#" {
		return root
	}
	rest, ok := bytes.CutPrefix([]byte(ref), []byte("#/"))
	if !ok {
		return nil
	}
	at := root
	for part := range bytes.SplitSeq(rest, []byte("/")) {
		part = bytes.ReplaceAll(bytes.ReplaceAll(part, []byte("~1"), []byte("/")), []byte("~0"), []byte("~"))
		if at = jsonrpc.Get(at, string(part)); at == nil {
			return nil
		}
	}
	return at
}

// isSecretName reports whether what has that name is secret.
func (r Rule) isSecretName(name string) bool { return r.names[name] || Secret(name) }

// member matches the name of a member in text that need not be JSON, or has JSON in a string of it, whose quotes are escaped.
var member = regexp.MustCompile(`([\w.-]{1,200})\\*["']?\s*[:=]`)

// Text reports whether a text, such as JSON that is not complete, has a secret in it, by its form or by the name before it.
func (r Rule) Text(s string) bool {
	if s != "" && r.whole || Text(s) != s {
		return true
	}
	for _, m := range member.FindAllStringSubmatch(s, -1) {
		if r.isSecretName(m[1]) {
			return true
		}
	}
	return false
}

// Names are the names of members that the schema marks; whole says that it marks something that no name leads to.
func (r Rule) Names() (names []string, whole bool) {
	return slices.Sorted(maps.Keys(r.names)), r.whole
}

// secrets are the texts in a value that are secret by the name of a member; all is set within one.
func (r Rule) secrets(value []byte, all bool, depth int) (out []string) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || depth > maxDepth {
		return nil
	}
	switch value[0] {
	case '{':
		_ = jsonrpc.Members(value, func(name string, member []byte) bool {
			out = append(out, r.secrets(member, all || r.isSecretName(name), depth+1)...)
			return true
		})
	case '[':
		_ = jsonrpc.Elements(value, func(item []byte) bool {
			out = append(out, r.secrets(item, all, depth+1)...)
			return true
		})
	default:
		s, ok := jsonrpc.String(value)
		if !ok {
			s = string(value)
		}
		if all && len(s) >= shortest {
			out = append(out, s)
		}
	}
	return out
}

// Clean is a text without what is secret in it.
func (r Rule) Clean(s string) string {
	// What Text would hide a part of goes first: of the rest nothing would be found any more. What it would leave goes after it: that may be a
	// part of a token by chance, of which Text would not find the rest.
	for _, v := range r.sent {
		if strings.Contains(s, v) && Text(v) != v {
			s = strings.ReplaceAll(s, v, Hidden)
		}
	}
	clean := Text(s)
	for _, v := range r.sent {
		clean = strings.ReplaceAll(clean, v, Hidden)
	}
	return clean
}
