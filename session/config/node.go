package config

import (
	"slices"
	"sort"
	"strconv"

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

// node is a value of a JSON, YAML or TOML file with its position; the zero value is null.
type node struct {
	doc *document
	v   *rewrite.Value

	path []string // the members and indices that lead here, where it was reached by them
}

type member struct {
	key       string
	line, col int
	value     node
}

func (n node) kind() kind {
	if problem := n.v.Problem(); problem != "" {
		line, col := n.pos()
		n.doc.warnAt(line, col, "%s", problem)
	}
	return kind(n.v.Kind())
}

// text is a scalar as it is written; of a string, what it stands for.
func (n node) text() string { return n.v.Text() }

// pos is where n itself stands (an alias, not what it refers to).
func (n node) pos() (line, col int) {
	if n.v == nil {
		return 0, 0
	}
	return n.doc.position(n.v.Offset())
}

// each calls f with the members or elements, in file order.
func (n node) each(f func(key string, offset int, one node)) {
	var all int
	n.v.Each(func(string, int, *rewrite.Value) { all++ })
	if n.doc.spend(all) {
		n.v.Each(func(key string, offset int, v *rewrite.Value) { f(key, offset, node{doc: n.doc, v: v}) })
	}
}

// members are those of an object in file order. Of several with one name the last counts, as in the programs that these
// files are written for; each repetition is reported.
func (n node) members() []member {
	if n.kind() != object {
		return nil
	}
	var ms []member
	n.each(func(key string, offset int, one node) {
		line, col := n.doc.position(offset)
		one.path = append(slices.Clip(n.path), key)
		ms = append(ms, member{key, line, col, one})
	})
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

// elems are those of a list.
func (n node) elems() (out []node) {
	if n.kind() != array {
		return nil
	}
	n.each(func(_ string, _ int, one node) {
		one.path = append(slices.Clip(n.path), strconv.Itoa(len(out)))
		out = append(out, one)
	})
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
