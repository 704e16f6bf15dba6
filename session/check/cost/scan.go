package cost

import (
	"hash/maphash"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
)

const (
	maxDepth = 40      // levels of a schema that are looked at
	maxNodes = 100_000 // schemas of one tool that are looked at
	maxPlace = 100_000 // descriptions of a list that are remembered
	maxParts = 8       // levels down to which schemas are compared and counted as parts
	leastRaw = 100     // bytes of a schema that may be worth a part of its own
)

// Part is a piece of a definition, and what could be saved at it.
type Part struct {
	Place  check.Place `json:"place"`
	What   string      `json:"what"` // "tool", "description", "parameter" or "definitions"
	Tokens int         `json:"tokens"`
	Saves  int         `json:"saves"` // tokens
}

// schemaNode is one schema within a tool's input schema.
type schemaNode struct {
	pointer     string
	depth       int
	property    string // it is the schema of this property, "" for others
	raw         []byte
	description string
	title       string
	enum        []byte
	values      int // of enum
	examples    []byte
	idle        int // bytes of keywords that say nothing to a model
}

// scanner goes through a tool's input schema once.
type scanner struct {
	w     *jsonrpc.Walker
	visit func(*schemaNode)
	left  int
	owner string // definition at the root that is read, "" outside them
	definitions
}

// definitions are those at the root of a schema, and who refers to them.
type definitions struct {
	raw     map[string][]byte
	order   []string
	refs    map[string][]string // by definition, "" for what is outside
	unclear bool                // there are references of which it is not known where they lead
}

// unused are the definitions that nothing refers to, not even by way of others.
func (d *definitions) unused() (out []string) {
	if d.unclear {
		return nil
	}
	used := map[string]bool{}
	for next := []string{""}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, to := range d.refs[at] {
			if !used[to] {
				used[to] = true
				next = append(next, to)
			}
		}
	}
	for _, name := range d.order {
		if !used[name] {
			out = append(out, name)
		}
	}
	return out
}

// refer notes a reference.
func (d *definitions) refer(from, to string) {
	step, found := strings.CutPrefix(to, "#/$defs/")
	if !found {
		step, found = strings.CutPrefix(to, "#/definitions/")
	}
	if !found {
		d.unclear = d.unclear || to != "#"
		return
	}
	step, _, _ = strings.Cut(step, "/")
	if plain, err := url.PathUnescape(step); err == nil {
		step = plain
	}
	d.refs[from] = append(d.refs[from], jsonrpc.UnescapeToken(step))
}

// scan calls visit for each schema in a tool's input schema, inner ones first, as far as its limits go.
func scan(it offer.Item, visit func(*schemaNode)) definitions {
	s := scanner{w: jsonrpc.Walk(it.InputSchema), visit: visit, left: maxNodes, definitions: definitions{raw: map[string][]byte{}, refs: map[string][]string{}}}
	s.schema("/inputSchema", "", 0)
	return s.definitions
}

// schema reads the schema at the walker.
func (s *scanner) schema(pointer, property string, depth int) {
	if s.left--; s.left < 0 || depth > maxDepth {
		s.w.Raw()
		s.unclear = true // there may be references
		return
	}
	n := schemaNode{pointer: pointer, depth: depth, property: property}
	below := func(key, property string) { s.schema(pointer+"/"+escape(key), property, depth+1) }
	raw, ok := s.w.Object(func(key string) {
		switch key {
		case "description":
			n.description, _ = s.w.Str()
		case "title":
			n.title, _ = s.w.Str()
		case "enum":
			n.enum, _ = s.w.Array(func() { n.values++ })
		case "examples":
			n.examples = s.w.Raw()
		case "$schema", "$id", "$comment":
			n.idle += len(key) + 4 + len(s.w.Raw())
		case "$dynamicRef", "$recursiveRef":
			s.unclear = true
		case "$ref":
			to, _ := s.w.Str()
			s.refer(s.owner, to)
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			s.w.Object(func(name string) {
				of := ""
				if key == "properties" {
					of = name
				}
				if depth > 0 || key != "$defs" && key != "definitions" {
					below(key+"\x00"+name, of)
					return
				}
				s.owner = name
				s.order = append(s.order, name)
				below(key+"\x00"+name, "")
				s.owner = ""
			})
		case "allOf", "anyOf", "oneOf", "prefixItems":
			i := 0
			s.w.Array(func() {
				below(key+"\x00"+strconv.Itoa(i), "")
				i++
			})
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			if s.w.Peek() == '{' {
				below(key, "")
			}
		}
	})
	if ok {
		if n.raw = raw; depth == 1 && s.owner != "" {
			s.raw[s.owner] = raw
		}
		s.visit(&n)
	}
}

var pointers = strings.NewReplacer("~", "~0", "/", "~1", "\x00", "/")

// escape makes a JSON pointer of a key, in which NUL stands between its steps.
func escape(key string) string { return pointers.Replace(key) }

// idle says no more than the name of a property.
func idle(title, property string) bool {
	if title == "" || property == "" || len(title) > 2*len(property)+8 {
		return false
	}
	return letters(title) == letters(property)
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// repeats finds texts that are there more than once.
type repeats struct {
	seed maphash.Seed
	at   map[uint64]*repeat
	all  []*repeat // in the order in which they were seen
}

// repeat is one of them.
type repeat struct {
	text   []byte
	places []check.Place // the first of them
	n      int
}

func newRepeats() *repeats {
	return &repeats{seed: maphash.MakeSeed(), at: map[uint64]*repeat{}}
}

// add notes a text, which must not change afterwards; beyond the limit only those that were seen are counted.
func (r *repeats) add(text []byte, place check.Place) {
	key := maphash.Bytes(r.seed, text)
	x := r.at[key]
	if x == nil {
		if len(r.all) == maxPlace {
			return
		}
		x = &repeat{text: text}
		r.at[key] = x
		r.all = append(r.all, x)
	}
	if x.n++; len(x.places) < 10 {
		x.places = append(x.places, place)
	}
}

// evidence is where a repeat is, a line each.
func (x *repeat) evidence() string {
	var b strings.Builder
	for _, p := range x.places {
		b.WriteString(p.String() + "\n")
	}
	if more := x.n - len(x.places); more > 0 {
		b.WriteString("and " + strconv.Itoa(more) + " more\n")
	}
	return b.String() + "\n" + string(x.text)
}
