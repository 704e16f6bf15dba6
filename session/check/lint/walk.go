package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// Bounds on what of one schema is looked at. What is beyond them is a finding of lint/too-large, but for references, of which those beyond are
// not followed.
const (
	maxBytes = 4 << 20 // of a schema; a definition may have two
	maxNodes = 20_000  // subschemas
	maxDepth = 200     // of subschemas in each other
	maxRefs  = 2_000   // $ref
)

// node is one subschema on the way from the root. It is not changed once its children are looked at, who refer to it.
type node struct {
	v       *schema.Value
	parent  *node  // nil for the root
	keyword string // of the parent, below which it is
	name    string // in the keyword's value: the property, or the index; "" where the value itself is the subschema
	depth   int    // subschemas above it
	values  int    // how deep the value that it describes is nested
	partial bool   // it says only part of what holds for its value: a branch of a combination, or a condition
}

// pointer is the JSON pointer to it, which begins with at.
func (n *node) pointer(at string) string {
	var toks []string
	for ; n.parent != nil; n = n.parent {
		if n.name != "" || holds(n.keyword) == named { // "" is a name too, of a property, and as a pattern one of all
			toks = append(toks, n.name)
		}
		toks = append(toks, n.keyword)
	}
	var b strings.Builder
	b.WriteString(at)
	for i := len(toks) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(jsonrpc.EscapeToken(toks[i]))
	}
	return b.String()
}

// How a keyword has schemas.
const (
	one       = iota + 1 // its value is one
	list                 // an array of them
	named                // an object, whose members' values they are
	oneOrList            // one, or as of old an array of them
)

// holds says how the value of a keyword has schemas, 0 where it has none.
func holds(keyword string) int {
	switch keyword {
	case "not", "if", "then", "else", "additionalProperties", "additionalItems", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return one
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return list
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return named
	case "items":
		return oneOrList
	}
	return 0
}

// walker goes through one schema, each part once: references are looked at when all of it was seen, and not followed on the way.
type walker struct {
	e       *examiner
	at      string // pointer to the root
	root    *schema.Value
	input   bool                     // it is an inputSchema, which providers see
	nodes   int                      // visited so far
	stop    bool                     // it is too large, which was reported
	refs    []ref                    // at most maxRefs, in the order of the schema
	ids     map[string]bool          // $id, $anchor and $dynamicAnchor
	anchors map[string]*schema.Value // filled when the first is looked for
	strict  strictSize               // so far
}

// ref is a $ref: where it stands, and what it says.
type ref struct {
	n  *node
	to string
}

// walk examines a schema of the item at hand. at is the pointer to it; input says that it is an inputSchema, which providers and their strict modes
// read as well.
func (e *examiner) walk(raw []byte, at string, input bool) {
	w := &walker{e: e, at: at, input: input, ids: map[string]bool{}}
	if len(raw) > maxBytes {
		w.tooLarge(&node{}, fmt.Sprintf("the schema has %d bytes, more than the %d that are examined", len(raw), maxBytes))
		return
	}
	root, err := schema.ParseValue(raw)
	if err != nil {
		w.tooLarge(&node{}, "the schema cannot be read: "+err.Error())
		return
	}
	if root.Kind() != schema.Object {
		return // is a finding of its own
	}
	w.root = root
	n := &node{v: root}
	w.atRoot(n)
	w.visit(n)
	w.references()
	if input {
		w.strict.report(w)
	}
}

// tooLarge reports once that the rest of the schema is not examined.
func (w *walker) tooLarge(n *node, why string) {
	if !w.stop {
		w.stop = true
		w.e.add("lint/too-large", found{pointer: n.pointer(w.at), message: why})
	}
}

// visit examines n and what is below it.
func (w *walker) visit(n *node) {
	if w.stop {
		return
	}
	if w.nodes++; w.nodes > maxNodes {
		w.tooLarge(n, fmt.Sprintf("the schema has more than the %d parts that are examined", maxNodes))
		return
	}
	if n.depth > maxDepth {
		w.tooLarge(n, fmt.Sprintf("the schema is nested deeper than the %d levels that are examined", maxDepth))
		return
	}
	switch n.v.Kind() {
	case schema.Object:
	case schema.Bool:
		w.boolean(n)
		return
	default:
		w.add("lint/keyword-type", n, "", fmt.Sprintf("a schema has to be an object, not a JSON %s", n.v.Kind()))
		return
	}
	w.node(n)
	for _, m := range n.v.Members() {
		h := holds(m.Name)
		switch {
		case h == one || h == oneOrList && m.Value.Kind() != schema.Array:
			w.visit(w.child(n, m.Name, "", m.Value))
		case (h == list || h == oneOrList) && m.Value.Kind() == schema.Array:
			for i, k := range m.Value.Members() {
				w.visit(w.child(n, m.Name, strconv.Itoa(i), k.Value))
			}
		case h == named && m.Value.Kind() == schema.Object:
			for _, k := range m.Value.Members() {
				w.visit(w.child(n, m.Name, k.Name, k.Value))
			}
		}
	}
}

// child is the subschema v of n, below a keyword of it. A property or an element is a value of its own, of which all that holds is said there; a
// branch is about the same value as n; a definition is about one that nobody knows yet.
func (w *walker) child(n *node, keyword, name string, v *schema.Value) *node {
	c := &node{v: v, parent: n, keyword: keyword, name: name, depth: n.depth + 1, values: n.values, partial: n.partial}
	switch keyword {
	case "properties", "patternProperties", "additionalProperties", "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems", "unevaluatedProperties":
		c.values, c.partial = n.values+1, false
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas":
		c.partial = true
	case "$defs", "definitions", "propertyNames", "contentSchema":
		c.values, c.partial = 0, false
	}
	return c
}

// add reports a finding at n, or at the member of it that key names.
func (w *walker) add(id string, n *node, key, message string) { w.addAs(id, n, key, message, "") }

// addAs is add with how sure it is, "" being certain.
func (w *walker) addAs(id string, n *node, key, message string, sure check.Confidence) {
	w.report(id, n, key, found{message: message, sure: sure})
}

// report is add with what else f says; its place and evidence are filled in, and its clients where fewer read this schema than the rule names.
func (w *walker) report(id string, n *node, key string, f found) {
	p, ev := n.pointer(w.at), n.v
	if key != "" {
		p += "/" + jsonrpc.EscapeToken(key)
		ev = n.v.Get(key)
	}
	f.pointer, f.evidence = p, excerpt(ev)
	if !w.input {
		f.clients = w.readers(id)
	}
	if id == "lint/keyword-type" && isParsedBySDKs(n, key) {
		base := rules.Find("lint", id).Clients
		if !w.input {
			base = nil
		}
		f.clients = append(slices.Clone(base), "typescript-sdk")
	}
	w.e.add(id, f)
}

// isParsedBySDKs says whether the SDKs look at this part of a schema when they read a list: the properties of the root, of which a list
// counts as an object there, and what it requires.
func isParsedBySDKs(n *node, key string) bool {
	return n.parent == nil && (key == "properties" || key == "required") || n.keyword == "properties" && n.parent.parent == nil && key == "" && n.v.Kind() != schema.Array
}

// readers are the clients of a rule that read an outputSchema: providers never see one.
func (w *walker) readers(id string) []string {
	out := []string{}
	for _, c := range rules.Find("lint", id).Clients {
		if strings.HasSuffix(c, "-sdk") || c == "claude-code" {
			out = append(out, c)
		}
	}
	return out
}

// maxExcerpt is how much of a schema is shown as evidence, in bytes.
const maxExcerpt = 400

// excerpt is v as JSON, cut where it is long.
func excerpt(v *schema.Value) string {
	var b strings.Builder
	write(&b, v)
	if b.Len() > maxExcerpt {
		return strings.ToValidUTF8(b.String()[:maxExcerpt-3], "") + "…" // a character that was cut goes
	}
	return b.String()
}

// write appends v as JSON, and stops soon after maxExcerpt bytes: a schema may have millions of them.
func write(b *strings.Builder, v *schema.Value) {
	if b.Len() > maxExcerpt {
		return
	}
	open, shut := "[", "]"
	switch v.Kind() {
	case schema.Object:
		open, shut = "{", "}"
	case schema.Array:
	default:
		l := v.Literal()
		b.WriteString(l[:min(len(l), maxExcerpt+1)])
		return
	}
	b.WriteString(open)
	for i, m := range v.Members() {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.Kind() == schema.Object {
			b.WriteString(schema.StringValue(m.Name[:min(len(m.Name), maxExcerpt)]).Literal() + ":")
		}
		if write(b, m.Value); b.Len() > maxExcerpt {
			return
		}
	}
	b.WriteString(shut)
}
