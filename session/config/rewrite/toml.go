package rewrite

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlSyntax is TOML. Tables are put together from the expressions that write them: headers and pairs.
type tomlSyntax struct{}

// table is what belongs to a value that has no bytes of its own.
type table struct {
	path []string
	file *tomlFile
}

type tomlFile struct{ all []expression }

// expression is a header or a pair of a TOML file.
type expression struct {
	header   bool
	path     []string // of what it defines, indices of [[lists]] among it
	parts    []item   // what of the path is written here: the last ones
	from, to int      // with the comment behind it
}

func (tomlSyntax) parse(b []byte) (root *value, err error) {
	defer func() { // as for YAML
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	var p unstable.Parser
	p.Reset(b)
	f := &tomlFile{}
	root = &value{kind: object, in: table{file: f}}
	at := root
	for p.NextExpression() {
		e := p.Expression()
		x := expression{header: e.Kind != unstable.KeyValue}
		for it := e.Key(); it.Next(); {
			n := it.Node()
			x.parts = append(x.parts, item{key: string(n.Data), from: int(n.Raw.Offset), keyTo: int(n.Raw.Offset + n.Raw.Length)})
		}
		last := len(x.parts) - 1
		end := x.parts[last].keyTo
		x.from = x.parts[0].from
		start := root
		if !x.header {
			start = at
		}
		in := start.descend(f, x.parts[:last])
		key := x.parts[last].key
		switch e.Kind {
		case unstable.KeyValue:
			from := skipTOML(b, end+bytes.IndexByte(b[end:], '=')+1)
			v := ofTOML(b, e.Value(), from)
			end = v.to
			in.items = append(in.items, item{key, x.from, x.parts[last].keyTo, v})
			x.path = append(slices.Clone(in.in.(table).path), key)
		case unstable.ArrayTable:
			i := in.index(key)
			if i < 0 {
				i = len(in.items)
				in.items = append(in.items, item{key: key, value: &value{kind: array, in: table{append(slices.Clone(in.in.(table).path), key), f}}})
			}
			list := in.items[i].value
			x.path = append(slices.Clone(list.in.(table).path), strconv.Itoa(len(list.items)))
			at = &value{kind: object, in: table{x.path, f}}
			list.items = append(list.items, item{value: at})
		default:
			at = in.descend(f, x.parts[last:])
			x.path = at.in.(table).path
		}
		for x.from > 0 && b[x.from-1] != '\n' {
			x.from--
		}
		x.to = end
		for x.to < len(b) && b[x.to] != '\n' {
			x.to++
		}
		f.all = append(f.all, x)
	}
	return root, p.Error()
}

// descend is the table that a key leads to, made where it is missing; of a list of tables the last.
func (v *value) descend(f *tomlFile, parts []item) *value {
	for _, part := range parts {
		i := v.index(part.key)
		if i < 0 {
			path := append(slices.Clone(v.in.(table).path), part.key)
			i = len(v.items)
			v.items = append(v.items, item{key: part.key, value: &value{kind: object, in: table{path, f}}})
		}
		if v = v.items[i].value; v.kind == array && len(v.items) > 0 {
			v = v.items[len(v.items)-1].value
		}
	}
	return v
}

// ofTOML is a value that begins at from.
func ofTOML(b []byte, n *unstable.Node, from int) *value {
	v := &value{kind: scalar, from: from, to: endTOML(b, from), flow: true, text: string(n.Data)}
	switch n.Kind {
	case unstable.String:
		v.kind = str
	case unstable.Array:
		v.kind, v.text = array, ""
		at := from + 1
		for it := n.Children(); it.Next(); {
			at = skipTOML(b, at)
			one := ofTOML(b, it.Node(), at)
			v.items = append(v.items, item{from: at, value: one})
			at = one.to
		}
	case unstable.InlineTable:
		v.kind, v.text = object, ""
		at := from + 1
		for it := n.Children(); it.Next(); {
			e := it.Node()
			at = skipTOML(b, at)
			m := item{from: at}
			in := v
			for k := e.Key(); k.Next(); {
				if m.key != "" || m.keyTo > 0 { // a dotted key
					one := &value{kind: object, shared: true}
					in.items = append(in.items, item{key: m.key, from: m.from, value: one})
					in = one
				}
				m.key, m.keyTo = string(k.Node().Data), int(k.Node().Raw.Offset+k.Node().Raw.Length)
			}
			m.value = ofTOML(b, e.Value(), skipTOML(b, m.keyTo+bytes.IndexByte(b[m.keyTo:], '=')+1))
			m.value.shared = in != v
			in.items = append(in.items, m)
			at = m.value.to
		}
	}
	return v
}

// skipTOML passes over white space, commas and comments.
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

// endTOML is where a value ends that begins at from.
func endTOML(b []byte, from int) int {
	depth := 0
	for i := from; i < len(b); {
		switch c := b[i]; {
		case c == '"' || c == '\'':
			i = endOfString(b, i)
		case c == '[' || c == '{':
			depth++
			i++
			continue
		case c == ']' || c == '}':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case depth > 0 && skipTOML(b, i) > i:
			i = skipTOML(b, i)
			continue
		case depth == 0:
			for i < len(b) && bytes.IndexByte([]byte(",]}#\n"), b[i]) < 0 {
				i++
			}
			return from + len(bytes.TrimRight(b[from:i], " \t\r"))
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

// endOfString is where a string ends whose first quote is at i.
func endOfString(b []byte, i int) int {
	quote := b[i : i+1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(b[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(b); i++ {
		switch {
		case b[i] == '\\' && quote[0] == '"':
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
		return strings.ReplaceAll(jsonString(s), "\x7f", `\u007f`)
	}
	return fmt.Sprint(v)
}

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
