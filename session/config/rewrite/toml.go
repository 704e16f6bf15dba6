package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/mcphud/mcphud/session/base/text"
)

// tomlSyntax is TOML. Tables are put together from the expressions that write them: headers and pairs. The parser is the unstable one of
// go-toml: the stable one says nothing of where values are. What TOML forbids beyond its grammar, such as a key that is given twice, is found here.
type tomlSyntax struct{}

// maxDepth is how many parts a key has, and how many levels YAML nests.
const maxDepth = 200

// table is what belongs to a value that has no bytes of its own: a table, or an array of them. Its path is put together when it is asked for: to
// keep one for each table would take the square of what a hostile file has.
type table struct {
	up    *table // nil for the document
	key   string // in up: a name, or the index in a list of tables
	depth int
	file  *tomlFile
}

// within is a table in t.
func (t *table) within(key string) *table { return &table{t, key, t.depth + 1, t.file} }

// path is the names that lead to a table, and the indices of lists of tables.
func (t *table) path() []string {
	path := make([]string, t.depth)
	for ; t.up != nil; t = t.up {
		path[t.depth-1] = t.key
	}
	return path
}

// tomlFile is what all tables of a file share.
type tomlFile struct {
	all   []expression    // in the order of the file
	begun map[*Value]bool // the tables that a [header] of their own began
}

// expression is a header or a pair of a TOML file.
type expression struct {
	header   bool
	what     *table // what it defines, indices of [[lists]] in its path
	parts    []item // what of the path is written here: the last ones
	from, to int    // with the comment behind it
}

// SyntaxError is what is wrong in a TOML file.
type SyntaxError struct {
	Offset  int // in bytes
	Message string
}

func (e *SyntaxError) Error() string { return e.Message }

// wrongSyntax is an error about a key; format has one %q for it.
func wrongSyntax(at item, format string) error {
	return &SyntaxError{at.from, fmt.Sprintf(format, text.Clip(at.key, 80))}
}

// TOML reads a TOML file whose nesting is bounded already. The error is a [*SyntaxError] where its place is known; what TOML forbids, a second
// value for one key, is one.
func TOML(b []byte) (*Value, error) { return tomlSyntax{}.parse(b) }

func (tomlSyntax) parse(b []byte) (root *Value, err error) {
	defer func() { // as for YAML
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	var p unstable.Parser
	p.Reset(b)
	f := &tomlFile{begun: map[*Value]bool{}}
	root = &Value{kind: object, in: &table{file: f}}
	at := root
	for p.NextExpression() {
		e := p.Expression()
		parts, err := tomlKey(e)
		if err != nil {
			return nil, err
		}
		x := expression{header: e.Kind != unstable.KeyValue, parts: parts}
		last := len(x.parts) - 1
		key, end := x.parts[last], x.parts[last].keyTo
		x.from = x.parts[0].from
		start := root
		if !x.header {
			start = at
		}
		in, err := start.descend(x.parts[:last])
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case unstable.KeyValue:
			v, err := in.assign(b, key, e.Value())
			if err != nil {
				return nil, err
			}
			end = v.to
			x.what = in.in.(*table).within(key.key)
		case unstable.ArrayTable:
			i := in.index(key.key)
			if i < 0 {
				i = in.add(key, in.newTable(key, array))
			}
			list := in.items[i].value
			t, tables := list.in.(*table)
			if !tables || list.kind != array {
				return nil, wrongSyntax(key, "%q has a value already and cannot be a list of tables")
			}
			x.what = t.within(strconv.Itoa(len(list.items)))
			at = &Value{kind: object, from: key.from, in: x.what}
			list.items = append(list.items, item{value: at})
		default:
			if at, err = in.descend(x.parts[last:]); err != nil {
				return nil, err
			}
			if f.begun[at] { // [a] behind [a.b] begins it the first time: that a was there as the way to b only
				return nil, wrongSyntax(key, "table %q is given twice")
			}
			x.what, f.begun[at] = at.in.(*table), true
		}
		// No two expressions share a line in TOML: what is around it there, indent and comment, goes with it.
		for x.from > 0 && b[x.from-1] != '\n' {
			x.from--
		}
		x.to = end
		for x.to < len(b) && b[x.to] != '\n' {
			x.to++
		}
		f.all = append(f.all, x)
	}
	var bad *unstable.ParserError
	if errors.As(p.Error(), &bad) {
		return nil, &SyntaxError{offsetOf(&p, bad.Highlight), strings.TrimPrefix(bad.Message, "toml: ")}
	}
	return root, p.Error()
}

// offsetOf is where part begins in what p reads; 0 where it is not a part of it.
func offsetOf(p *unstable.Parser, part []byte) (at int) {
	defer func() { _ = recover() }() // Range panics for other bytes than its own
	return int(p.Range(part).Offset)
}

// tomlKey is the key of an expression, a part for each of its dots.
func tomlKey(e *unstable.Node) (key []item, err error) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if len(key) == maxDepth {
			return nil, wrongSyntax(key[0], fmt.Sprintf("the key of %%q has more than %d parts", maxDepth))
		}
		key = append(key, item{key: string(n.Data), from: int(n.Raw.Offset), keyTo: int(n.Raw.Offset + n.Raw.Length)})
	}
	return key, nil
}

// add puts a member behind the others.
func (v *Value) add(key item, one *Value) int {
	if v.names == nil {
		v.names = map[string]int{}
	}
	key.value, v.names[key.key] = one, len(v.items)
	v.items = append(v.items, key)
	return len(v.items) - 1
}

// newTable is a member of v that has no bytes of its own; what a dotted key makes in brackets cannot be changed.
func (v *Value) newTable(key item, k kind) *Value {
	one := &Value{kind: k, from: key.from}
	if t, ok := v.in.(*table); ok {
		one.in = t.within(key.key)
	} else {
		one.shared = true
	}
	return one
}

// descend is the table that a key leads to, made where it is missing; of a list of tables the last.
func (v *Value) descend(parts []item) (*Value, error) {
	for _, part := range parts {
		i := v.index(part.key)
		if i < 0 {
			i = v.add(part, v.newTable(part, object))
		}
		one := v.items[i].value
		if _, tables := one.in.(*table); tables && one.kind == array { // it has one: only a [[header]] makes such a list
			one = one.items[len(one.items)-1].value
		}
		if one.kind != object || one.flow { // what stands in brackets is whole
			return nil, wrongSyntax(part, "%q has a value already and cannot be a table")
		}
		v = one
	}
	return v, nil
}

// assign is key = value, in brackets or not.
func (v *Value) assign(b []byte, key item, n *unstable.Node) (*Value, error) {
	if v.index(key.key) >= 0 {
		return nil, wrongSyntax(key, "%q is given twice")
	}
	one, err := ofTOML(b, n, skipTOML(b, key.keyTo+bytes.IndexByte(b[key.keyTo:], '=')+1))
	if err != nil {
		return nil, err
	}
	one.shared = v.shared
	v.add(key, one)
	return one, nil
}

// ofTOML is a value that begins at from.
func ofTOML(b []byte, n *unstable.Node, from int) (*Value, error) {
	v := &Value{kind: scalar, from: from, flow: true, text: string(n.Data)}
	at := from + 1
	switch n.Kind {
	case unstable.String:
		v.kind, v.to = str, endOfString(b, from)
		return v, nil
	case unstable.Array:
		v.kind = array
		for it := n.Children(); it.Next(); {
			at = skipTOML(b, at)
			one, err := ofTOML(b, it.Node(), at)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item{from: at, value: one})
			at = one.to
		}
	case unstable.InlineTable:
		v.kind = object
		for it := n.Children(); it.Next(); {
			key, err := tomlKey(it.Node())
			if err != nil {
				return nil, err
			}
			last := len(key) - 1
			in, err := v.descend(key[:last])
			if err != nil {
				return nil, err
			}
			one, err := in.assign(b, key[last], it.Node().Value())
			if err != nil {
				return nil, err
			}
			at = one.to
		}
	default:
		v.to = from
		for v.to < len(b) && bytes.IndexByte([]byte(",]}#\n"), b[v.to]) < 0 {
			v.to++
		}
		v.to = from + len(bytes.TrimRight(b[from:v.to], " \t\r"))
		return v, nil
	}
	v.text, v.to = "", skipTOML(b, at)+1 // behind the closing bracket
	return v, nil
}

// skipTOML passes over white space, commas and comments: what can stand between two items. The parser has checked that the commas are right.
func skipTOML(b []byte, i int) int {
	for i < len(b) {
		switch {
		case bytes.IndexByte([]byte(" \t\r\n,"), b[i]) >= 0:
			i++
		case b[i] == '#':
			for i < len(b) && b[i] != '\n' {
				i++
			}
		default:
			return i
		}
	}
	return i
}

// endOfString is where a string ends whose first quote is at i.
func endOfString(b []byte, i int) int {
	quote := b[i : i+1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(b[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(b); i++ {
		switch {
		case b[i] == '\\' && quote[0] == '"': // between single quotes it is a backslash and no more
			i++
		case bytes.HasPrefix(b[i:], quote):
			i += len(quote)
			for len(quote) == 3 && i < len(b) && b[i] == quote[0] { // quotes that the string ends with
				i++
			}
			return i
		}
	}
	return len(b)
}

func (tomlSyntax) comment(b []byte) int { return yamlSyntax{}.comment(b) }

func (tomlSyntax) scalar(v any) string {
	if s, ok := v.(string); ok {
		return strings.ReplaceAll(jsonString(s), "\x7f", `\u007f`) // which JSON leaves as it is, and TOML forbids: https://toml.io/en/v1.0.0#string
	}
	return fmt.Sprint(v)
}

// bareKey is a key that needs no quotes; a dot would make two of it. https://toml.io/en/v1.0.0#keys
var bareKey = lazyPattern(`^[A-Za-z0-9_-]+$`)

func (s tomlSyntax) key(k string) string {
	if bareKey().MatchString(k) {
		return k
	}
	return s.scalar(k)
}

func (s tomlSyntax) keys(path []string) string {
	parts := make([]string, len(path))
	for i, k := range path {
		parts[i] = s.key(k)
	}
	return strings.Join(parts, ".")
}

func (tomlSyntax) colon() string { return " = " }
