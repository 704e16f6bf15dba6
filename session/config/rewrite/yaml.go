package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// yamlSyntax is YAML: of a file of several documents the first.
type yamlSyntax struct{}

// place is how a value of a block is held.
type place struct {
	colon  int  // behind the colon or the dash that leads to it; -1 for the document
	indent int  // of the line that has the colon or the dash
	end    int  // where the value's last line ends
	block  bool // not in brackets
}

// mostValues bounds what aliases may repeat.
const mostValues = 100_000

var (
	errComplex = errors.New("the file is too complex")
	errMixed   = errors.New("its lines end in different ways")
	errAnchors = errors.New("an anchor is there twice")
)

func (yamlSyntax) parse(b []byte) (root *Value, err error) {
	defer func() { // a parser's panic on a strange file must not be ours
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	if bytes.IndexByte(b, '\r') >= 0 { // the parser counts them in ways of its own
		return nil, errMixed
	}
	file, err := parser.ParseBytes(b, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	r := &yamlReader{b: b, anchors: map[string]ast.Node{}}
	r.lines = append(r.lines, 0)
	for i, c := range b {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		if _, comments := doc.Body.(*ast.CommentGroupNode); comments {
			continue
		}
		if ast.Walk(r, doc.Body); r.twice {
			return nil, errAnchors
		}
		root = r.value(doc.Body, place{colon: -1, end: r.document(doc.Body), block: true}, 0)
		break
	}
	if root == nil {
		root = &Value{kind: null, from: len(b), to: len(b), in: place{colon: -1, end: len(b), block: true}}
	}
	if r.spent > mostValues {
		return nil, errComplex
	}
	return root, nil
}

type yamlReader struct {
	b       []byte
	lines   []int
	anchors map[string]ast.Node
	twice   bool // an anchor
	spent   int
}

// Visit notes what anchors stand for.
func (r *yamlReader) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		name := a.Name.GetToken().Value
		r.twice = r.twice || r.anchors[name] != nil // what an alias stands for depends on where it is
		r.anchors[name] = a.Value
	}
	return r
}

// offset is where a token stands: its column counts characters.
func (r *yamlReader) offset(t *token.Token) int {
	if t == nil || t.Position == nil || t.Position.Line < 1 || t.Position.Line > len(r.lines) {
		return len(r.b)
	}
	at := r.lines[t.Position.Line-1]
	for n := t.Position.Column - 1; n > 0 && at < len(r.b) && r.b[at] != '\n'; n-- {
		_, size := utf8.DecodeRune(r.b[at:])
		at += size
	}
	return at
}

// document is where the document ends that n is the body of.
func (r *yamlReader) document(n ast.Node) int {
	line := 1
	if t := n.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	for _, at := range r.lines[min(line, len(r.lines)):] {
		if bytes.HasPrefix(r.b[at:], []byte("---")) || bytes.HasPrefix(r.b[at:], []byte("...")) {
			return at
		}
	}
	return len(r.b)
}

// extent is where the last line ends, before bound, of what begins at from in a line of that indent. Comments that are not
// further in belong to what follows.
func (r *yamlReader) extent(from, bound, indent int) int {
	end := from
	for at := bytes.LastIndexByte(r.b[:from], '\n') + 1; at < bound; {
		next := bytes.IndexByte(r.b[at:bound], '\n')
		if next < 0 {
			next = bound
		} else {
			next += at
		}
		line := r.b[at:next]
		text := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(text)) > 0 && (at <= from || text[0] != '#' || len(line)-len(text) > indent) {
			end = next
		}
		at = next + 1
	}
	return end
}

func (r *yamlReader) value(n ast.Node, p place, depth int) *Value {
	if r.spent++; depth > 200 || r.spent > mostValues {
		r.spent = mostValues + 1
		return &Value{kind: null, shared: true}
	}
	v := &Value{kind: scalar, in: p}
	switch n := n.(type) {
	case *ast.AnchorNode:
		return r.value(n.Value, p, depth+1)
	case *ast.TagNode:
		v = r.value(n.Value, p, depth+1)
		v.shared = true // what the tag says belongs to the value
		return v
	case *ast.AliasNode:
		to := r.anchors[n.Value.GetToken().Value]
		if to == nil {
			v.kind, v.text, v.shared = str, "*"+n.Value.GetToken().Value, true
			return v
		}
		v = r.value(to, p, depth+1)
		v.share()
		return v
	case *ast.MappingNode:
		r.mapping(v, n.Values, n.IsFlowStyle, n.Start, n.End, depth)
	case *ast.MappingValueNode:
		r.mapping(v, []*ast.MappingValueNode{n}, n.IsFlowStyle, n.Start, nil, depth)
	case *ast.SequenceNode:
		r.sequence(v, n, depth)
	default:
		r.scalar(v, n)
	}
	return v
}

// share marks a value, with all that is in it, as one that stands elsewhere.
func (v *Value) share() {
	v.shared = true
	for _, it := range v.items {
		it.value.share()
	}
}

func (r *yamlReader) mapping(v *Value, members []*ast.MappingValueNode, flow bool, start, end *token.Token, depth int) {
	v.kind, v.flow = object, flow
	p := v.in.(place)
	if flow {
		v.from, v.to, v.open = r.offset(start), r.offset(end)+1, p.block
	}
	var merged []*Value
	for i, m := range members {
		if m == nil || m.Key == nil {
			continue
		}
		key := item{from: r.offset(m.Key.GetToken())}
		if i == 0 && !flow {
			v.from = key.from
		}
		colon := r.offset(m.Start) + 1
		at := place{colon: colon, indent: p.indent}
		if !flow {
			bound := p.end
			if i+1 < len(members) && members[i+1] != nil && members[i+1].Key != nil {
				next := r.offset(members[i+1].Key.GetToken())
				bound = bytes.LastIndexByte(r.b[:next], '\n') + 1
			}
			at.indent = key.from - bytes.LastIndexByte(r.b[:key.from], '\n') - 1
			at.block, at.end = true, r.extent(key.from, bound, at.indent)
			v.to = at.end
		}
		one := r.value(m.Value, at, depth+1)
		if m.Key.IsMergeKey() {
			one.share()
			merged = append(merged, one)
			continue
		}
		key.value = one
		key.key, key.keyTo = r.key(m.Key, key.from, colon-1)
		if key.keyTo < 0 {
			one.share()
		}
		v.items = append(v.items, key)
	}
	for _, one := range merged {
		r.merge(v, one)
	}
}

// merge adds what << brings, below the members that are there.
func (r *yamlReader) merge(v, from *Value) {
	if from.kind == array {
		for _, it := range from.items {
			r.merge(v, it.value)
		}
		return
	}
	for _, it := range from.items {
		if v.index(it.key) < 0 {
			v.merged = append(v.merged, it)
		}
	}
}

// key is what a key says and where it ends; -1 for one that is not plain or in quotes.
func (r *yamlReader) key(n ast.MapKeyNode, from, colon int) (string, int) {
	t := n.GetToken()
	if complex, ok := n.(*ast.MappingKeyNode); ok {
		if complex.Value == nil {
			return "", -1
		}
		return complex.Value.GetToken().Value, -1
	}
	if from >= colon {
		return t.Value, -1
	}
	text := bytes.TrimRight(r.b[from:colon], " \t")
	return t.Value, from + len(text)
}

func (r *yamlReader) sequence(v *Value, n *ast.SequenceNode, depth int) {
	v.kind, v.flow = array, n.IsFlowStyle
	p := v.in.(place)
	if n.IsFlowStyle {
		v.from, v.to, v.open = r.offset(n.Start), r.offset(n.End)+1, p.block
		for _, e := range n.Values {
			one := r.value(e, place{indent: p.indent}, depth+1)
			v.items = append(v.items, item{from: one.from, value: one})
		}
		return
	}
	v.from = r.offset(n.Start)
	for i, e := range n.Values {
		if i >= len(n.Entries) || n.Entries[i].Start == nil {
			v.shared = true
			return
		}
		dash := r.offset(n.Entries[i].Start)
		bound := p.end
		if i+1 < len(n.Entries) && n.Entries[i+1].Start != nil {
			bound = bytes.LastIndexByte(r.b[:r.offset(n.Entries[i+1].Start)], '\n') + 1
		}
		at := place{colon: dash + 1, indent: dash - bytes.LastIndexByte(r.b[:dash], '\n') - 1, block: true}
		at.end = r.extent(dash, bound, at.indent)
		v.to = at.end
		v.items = append(v.items, item{from: dash, value: r.value(e, at, depth+1)})
	}
}

func (r *yamlReader) scalar(v *Value, n ast.Node) {
	p := v.in.(place)
	t := n.GetToken()
	v.from = r.offset(t)
	switch n := n.(type) {
	case *ast.StringNode:
		v.kind, v.text = str, n.Value
	case *ast.LiteralNode:
		v.kind = str
		if n.Value != nil {
			v.text = n.Value.Value
		}
		v.to = p.end
		return
	case *ast.NullNode:
		v.kind = null
		if rest := r.b[min(v.from, len(r.b)):]; !bytes.HasPrefix(rest, []byte("null")) && !bytes.HasPrefix(rest, []byte("~")) && !bytes.HasPrefix(rest, []byte("N")) || p.colon > v.from {
			v.from = max(p.colon, 0)
			v.to = v.from
			return
		}
	default:
		v.text = t.Value
	}
	v.to = r.scalarEnd(v.from, p)
}

// scalarEnd is where a scalar ends that begins at from.
func (r *yamlReader) scalarEnd(from int, p place) int {
	b := r.b
	if from >= len(b) {
		return len(b)
	}
	switch q := b[from]; q {
	case '"', '\'':
		for i := from + 1; i < len(b); i++ {
			switch {
			case b[i] == '\\' && q == '"':
				i++
			case b[i] == q && q == '\'' && i+1 < len(b) && b[i+1] == q:
				i++
			case b[i] == q:
				return i + 1
			}
		}
		return len(b)
	}
	end := from
	for end < len(b) && b[end] != '\n' {
		if b[end] == '#' && end > from && (b[end-1] == ' ' || b[end-1] == '\t') || !p.block && strings.IndexByte(",]}", b[end]) >= 0 {
			break
		}
		end++
	}
	if p.block && end < p.end && end < len(b) && b[end] == '\n' { // further lines
		end = p.end
	}
	return from + len(bytes.TrimRight(b[from:end], " \t\r"))
}

func (yamlSyntax) comment(b []byte) int {
	if len(b) == 0 || b[0] != '#' {
		return 0
	}
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}
