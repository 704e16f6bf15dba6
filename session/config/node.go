package config

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/tailscale/hujson"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

type kind string

const (
	null   kind = "null"
	scalar kind = "a number or boolean"
	str    kind = "a string"
	object kind = "an object"
	array  kind = "a list"
)

// maxMembers bounds the members and elements read from one file, counted each time an alias or merge repeats them.
const maxMembers = 100_000

// node is a value of a JSON, YAML or TOML file with its position. Nothing is
// expanded before it is asked for, so a YAML alias costs what is read of it.
type node struct {
	doc *document
	j   *hujson.Value
	y   ast.Node
	t   *rewrite.Value

	path []string // the members and indices that lead here, where it was reached by them
}

type member struct {
	key       string
	line, col int
	value     node
}

// resolve strips YAML's anchors and tags and follows aliases.
func (n node) resolve() node {
	for range 100 {
		switch y := n.y.(type) {
		case *ast.AnchorNode:
			n.y = y.Value
		case *ast.TagNode:
			n.y = y.Value
		case *ast.MappingKeyNode:
			n.y = y.Value
		case *ast.AliasNode:
			t, ok := n.doc.anchors[name(y.Value)]
			if !ok {
				n.doc.warn(y, "alias *%s has no anchor", name(y.Value))
			}
			n.y = t // nil is null
		default:
			return n
		}
	}
	n.doc.warn(n.y, "alias refers to itself")
	return node{doc: n.doc}
}

func (n node) kind() kind {
	if n.t != nil {
		return kind(n.t.Kind())
	}
	n = n.resolve()
	if n.j != nil {
		switch n.j.Value.Kind() {
		case 'n':
			return null
		case '"':
			return str
		case '{':
			return object
		case '[':
			return array
		}
		return scalar
	}
	switch n.y.(type) {
	case nil, *ast.NullNode:
		return null
	case *ast.MappingNode, *ast.MappingValueNode:
		return object
	case *ast.SequenceNode:
		return array
	case *ast.StringNode, *ast.LiteralNode:
		return str
	}
	return scalar
}

// text is a scalar as it is written; of a string, what it stands for.
func (n node) text() string {
	if n.t != nil {
		return n.t.Text()
	}
	n = n.resolve()
	if n.j != nil {
		if l, ok := n.j.Value.(hujson.Literal); ok {
			return l.String()
		}
		return ""
	}
	switch y := n.y.(type) {
	case *ast.StringNode:
		return y.Value
	case *ast.LiteralNode:
		if y.Value != nil {
			return y.Value.Value
		}
	case ast.ScalarNode:
		if t := y.GetToken(); t != nil {
			return t.Value
		}
	}
	return ""
}

// pos is where n itself stands (an alias, not what it refers to).
func (n node) pos() (line, col int) {
	switch {
	case n.j != nil:
		return n.doc.position(n.j.StartOffset)
	case n.t != nil:
		return n.doc.position(n.t.Offset())
	}
	return yamlPos(n.y)
}

func yamlPos(y ast.Node) (line, col int) {
	if y == nil {
		return 0, 0
	}
	if m, ok := y.(*ast.MappingValueNode); ok && m.Key != nil {
		y = m.Key
	}
	return tokenPos(y.GetToken())
}

func tokenPos(t *token.Token) (line, col int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

// members are those of an object in file order. Of several with one name the last counts, as in the programs that these
// files are written for; each repetition is reported.
func (n node) members() []member {
	n = n.resolve()
	var ms []member
	if n.t != nil {
		n.t.Each(func(key string, offset int, v *rewrite.Value) {
			line, col := n.doc.position(offset)
			ms = append(ms, member{key, line, col, node{doc: n.doc, t: v}})
		})
	} else if n.j != nil {
		if o, ok := n.j.Value.(*hujson.Object); ok {
			for i := range o.Members {
				m := &o.Members[i]
				var key string
				if l, ok := m.Name.Value.(hujson.Literal); ok {
					_ = json.Unmarshal(l, &key) // hujson has checked it
				}
				line, col := n.doc.position(m.Name.StartOffset)
				ms = append(ms, member{key, line, col, node{doc: n.doc, j: &m.Value}})
			}
		}
	} else {
		ms = n.yamlMembers(0)
	}
	if !n.doc.spend(len(ms)) {
		return nil
	}
	for i := range ms {
		ms[i].value.path = append(slices.Clip(n.path), ms[i].key)
	}
	return n.unique(ms)
}

func (n node) unique(ms []member) []member {
	at := make(map[string]int, len(ms))
	out := ms[:0]
	for _, m := range ms {
		if i, ok := at[m.key]; ok {
			n.doc.warnAt(m.line, m.col, "%q is given twice, first on line %d; this one counts", clip(m.key), out[i].line)
			out[i] = m
			continue
		}
		at[m.key] = len(out)
		out = append(out, m)
	}
	return out
}

// yamlMembers also merges what `<<` refers to, below the mapping's own keys.
func (n node) yamlMembers(depth int) []member {
	var values []*ast.MappingValueNode
	switch y := n.y.(type) {
	case *ast.MappingNode:
		values = y.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{y}
	}
	if depth > 20 || !n.doc.spend(len(values)) {
		return nil
	}
	var own []member
	var merged []node
	for _, v := range values {
		if v == nil || v.Key == nil {
			continue
		}
		value := node{doc: n.doc, y: v.Value}
		if v.Key.IsMergeKey() {
			if value = value.resolve(); value.kind() == array {
				merged = append(merged, value.elems()...)
			} else {
				merged = append(merged, value)
			}
			continue
		}
		line, col := yamlPos(v.Key)
		own = append(own, member{node{doc: n.doc, y: v.Key}.text(), line, col, value})
	}
	if len(merged) == 0 {
		return own
	}
	have := map[string]bool{}
	for _, m := range own {
		have[m.key] = true
	}
	for _, from := range merged {
		for _, m := range from.resolve().yamlMembers(depth + 1) {
			if !have[m.key] {
				have[m.key] = true
				own = append(own, m)
			}
		}
	}
	return own
}

// elems are those of a list.
func (n node) elems() []node {
	n = n.resolve()
	var out []node
	if n.t != nil {
		n.t.Each(func(_ string, _ int, v *rewrite.Value) { out = append(out, node{doc: n.doc, t: v}) })
	} else if n.j != nil {
		if a, ok := n.j.Value.(*hujson.Array); ok {
			for i := range a.Elements {
				out = append(out, node{doc: n.doc, j: &a.Elements[i]})
			}
		}
	} else if s, ok := n.y.(*ast.SequenceNode); ok {
		for _, v := range s.Values {
			out = append(out, node{doc: n.doc, y: v})
		}
	}
	if !n.doc.spend(len(out)) {
		return nil
	}
	for i := range out {
		out[i].path = append(slices.Clip(n.path), strconv.Itoa(i))
	}
	return out
}

// get is the member of that name, or a node of kind null.
func (n node) get(key string) (node, bool) {
	for _, m := range n.members() {
		if m.key == key {
			return m.value, true
		}
	}
	return node{doc: n.doc}, false
}

// has reports whether an object has a member of one of these names.
func (n node) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, ok := n.get(key)
		return ok
	})
}

// strings are the texts of a list that is a member.
func (n node) strings(key string) (out []string) {
	list, _ := n.get(key)
	for _, el := range list.elems() {
		out = append(out, el.text())
	}
	return out
}

// name is the text of an anchor's or alias' name.
func name(y ast.Node) string {
	if y == nil || y.GetToken() == nil {
		return ""
	}
	return y.GetToken().Value
}

// anchors walks the document once and notes what each anchor stands for.
func anchors(y ast.Node) map[string]ast.Node {
	found := map[string]ast.Node{}
	if y == nil {
		return found
	}
	ast.Walk(visitor(func(n ast.Node) {
		if a, ok := n.(*ast.AnchorNode); ok {
			found[name(a.Name)] = a.Value
		}
	}), y)
	return found
}

type visitor func(ast.Node)

func (v visitor) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}

// lines finds line and column of byte offsets.
type lines []int

func newLines(b []byte) lines {
	ls := lines{0}
	for i, c := range b {
		if c == '\n' {
			ls = append(ls, i+1)
		}
	}
	return ls
}

func (ls lines) at(offset int) (line, col int) {
	i := sort.SearchInts(ls, offset+1) - 1
	return i + 1, offset - ls[i] + 1
}

// clip shortens a name from a file for a message.
func clip(s string) string { return text.Clip(s, 80) }
