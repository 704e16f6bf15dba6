package rewrite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// yamlSyntax is YAML: of a file of several documents the first. Only the tree of goccy/go-yaml is used, for what it says and where its tokens begin. Where values
// end it does not say, nor whose a comment is: that is worked out here, by lines and their indents.
type yamlSyntax struct{}

// place is how a value of a block is held.
type place struct {
	colon  int  // behind the colon or the dash that leads to it; -1 for the document
	indent int  // of the line that has the colon or the dash
	end    int  // where the value's last line ends
	block  bool // not in brackets
}

// mostValues bounds what aliases may repeat in a file that is to be changed: nine lines can stand for a billion values.
const mostValues = 100_000

var (
	errComplex = errors.New("the file is too complex")
	errMixed   = errors.New("its lines end in different ways")
	errAnchors = errors.New("an anchor is there twice")
)

func (yamlSyntax) parse(b []byte) (root *Value, err error) {
	defer recoverFrom(&err)
	if bytes.IndexByte(b, '\r') >= 0 { // the parser counts them in ways of its own
		return nil, errMixed
	}
	root, r, err := readYAML(b, mostValues)
	switch {
	case err != nil:
		return nil, err
	case r.twice:
		return nil, errAnchors
	}
	if root.loadAll(); r.deep || r.spent > mostValues {
		return nil, errComplex
	}
	return root, nil
}

// recoverFrom makes a parser's panic on a strange file an error.
func recoverFrom(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the parser failed: %v", r)
	}
}

// YAML reads a YAML file whose size and nesting are bounded already: of several documents the first. most is how many values are read
// of it, each time that an alias or a merge repeats one counted.
func YAML(b []byte, most int) (root *Value, err error) {
	defer recoverFrom(&err)
	root, _, err = readYAML(b, most)
	return root, err
}

// Body is the syntax tree of the first document of a YAML file, nil if there is none. Keys may be there twice, as people have them; whoever reads the
// file says so.
func Body(b []byte) (body ast.Node, err error) {
	defer recoverFrom(&err)
	file, err := parser.ParseBytes(b, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		if _, comments := doc.Body.(*ast.CommentGroupNode); !comments {
			return doc.Body, nil
		}
	}
	return nil, nil
}

// readYAML reads the first document; the reader says what was found on the way, also later, when aliases are expanded.
func readYAML(b []byte, most int) (*Value, *yamlReader, error) {
	body, err := Body(b)
	r := &yamlReader{b: b, anchors: map[string]ast.Node{}, most: most, lines: []int{0}}
	if err != nil || body == nil {
		return &Value{kind: null, from: len(b), to: len(b), in: place{colon: -1, end: len(b), block: true}}, r, err
	}
	for i, c := range b {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	ast.Walk(r, body)
	return r.value(body, place{colon: -1, end: r.document(body), block: true}, 0), r, nil
}

type yamlReader struct {
	b       []byte
	lines   []int                          // where each begins
	anchors map[string]ast.Node            // by name; of one that is there twice the last
	twice   bool                           // an anchor is
	deep    bool                           // something nests too deep, which only an alias in itself can
	spent   int                            // values that were made, those of aliases each time
	most    int                            // of spent
	last    struct{ line, column, at int } // what offset found last, column in characters: what follows in the line goes on from there
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

// offset is where a token stands: its column counts characters. That of the parser (Position.Offset) is not in bytes, and wrong behind some comments.
func (r *yamlReader) offset(t *token.Token) int {
	if t == nil || t.Position == nil || t.Position.Line < 1 || t.Position.Line > len(r.lines) {
		return len(r.b)
	}
	at, n := r.lines[t.Position.Line-1], t.Position.Column-1
	if l := r.last; l.line == t.Position.Line && l.column <= n {
		at, n = l.at, n-l.column
	}
	for ; n > 0 && at < len(r.b) && r.b[at] != '\n'; n-- {
		_, size := utf8.DecodeRune(r.b[at:])
		at += size
	}
	r.last.line, r.last.column, r.last.at = t.Position.Line, t.Position.Column-1-n, at
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

// value is what a node says, held as p says. depth is that of the value, aliases included.
func (r *yamlReader) value(n ast.Node, p place, depth int) *Value {
	r.deep = r.deep || depth > maxDepth
	if r.spent++; depth > maxDepth || r.spent > r.most {
		return &Value{kind: null, shared: true, problem: "is repeated too often, or in itself"}
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
		v.kind, v.shared, v.from = null, true, r.offset(n.GetToken())
		v.load = func(v *Value) { r.alias(v, n.Value.GetToken().Value, p, depth) }
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

// alias finds what an alias stands for.
func (r *yamlReader) alias(v *Value, name string, p place, depth int) {
	defer func() { // as for the parser
		if e := recover(); e != nil {
			v.problem = fmt.Sprintf("the parser failed: %v", e)
		}
	}()
	to := r.anchors[name]
	if to == nil {
		v.problem = fmt.Sprintf("alias *%s has no anchor", name)
		return
	}
	one := r.value(to, p, depth+1).expanded()
	one.share()
	v.kind, v.text, v.items, v.merged, v.problem = one.kind, one.text, one.items, one.merged, one.problem
}

// share marks a value, with all that is in it, as one that stands elsewhere: it is not changed there, since nobody would expect that at its other
// places.
func (v *Value) share() {
	v.shared = true
	for _, it := range v.items {
		it.value.share()
	}
}

// mapping reads the members of a mapping; start and end are its brackets, where it is in such. A member's value reaches to the line of the next key.
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
		if key.keyTo < 0 { // a name that is an alias, or has an anchor, a tag or a ? before it: its member is left as it is
			one.share()
		}
		v.items = append(v.items, key)
	}
	if len(merged) > 0 {
		v.load = func(v *Value) {
			have := map[string]bool{}
			for _, it := range v.items {
				have[it.key] = true
			}
			for _, one := range merged {
				v.merge(one.expanded(), have)
			}
		}
	}
}

// merge adds what << brings, below the members that are there: have are their names, and those of earlier merges, which win.
func (v *Value) merge(from *Value, have map[string]bool) {
	if v.problem = cmp.Or(v.problem, from.problem); from.kind == array {
		for _, it := range from.items {
			v.merge(it.value.expanded(), have)
		}
		return
	}
	for _, it := range slices.Concat(from.items, from.merged) {
		if !have[it.key] {
			have[it.key] = true
			v.merged = append(v.merged, it)
		}
	}
}

// key is what a key says and where it ends; -1 for one that is not plain or in quotes.
func (r *yamlReader) key(n ast.MapKeyNode, from, colon int) (string, int) {
	said := r.resolve(n)
	if said == nil {
		return "", -1
	}
	kind, text := scalarText(said)
	if kind == null {
		text = said.GetToken().Value
	}
	if said != ast.Node(n) || from >= colon {
		return text, -1
	}
	return text, from + len(bytes.TrimRight(r.b[from:colon], " \t"))
}

// resolve strips anchors and tags and follows aliases; nil for nothing.
func (r *yamlReader) resolve(n ast.Node) ast.Node {
	for range 100 { // aliases can go round in a circle
		switch y := n.(type) {
		case *ast.AnchorNode:
			n = y.Value
		case *ast.TagNode:
			n = y.Value
		case *ast.MappingKeyNode:
			n = y.Value
		case *ast.AliasNode:
			n = r.anchors[y.Value.GetToken().Value]
		default:
			return n
		}
	}
	return nil
}

// scalarText is what a scalar says. A number is as it is written: nobody wants 0x10 back as 16.
func scalarText(n ast.Node) (kind, string) {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return null, ""
	case *ast.StringNode:
		return str, n.Value
	case *ast.LiteralNode:
		if n.Value == nil {
			return str, ""
		}
		return str, n.Value.Value
	}
	return scalar, n.GetToken().Value
}

// sequence reads the elements of a list. One whose dashes the parser does not name is taken for one that stands elsewhere: it is not changed.
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

// scalar reads a text, a number, a boolean, or null; also one that is not written, which begins and ends behind its colon.
func (r *yamlReader) scalar(v *Value, n ast.Node) {
	p := v.in.(place)
	v.kind, v.text = scalarText(n)
	if n == nil {
		return
	}
	v.from = r.offset(n.GetToken())
	switch n.(type) {
	case *ast.LiteralNode:
		v.to = p.end
		return
	case *ast.NullNode:
		if rest := r.b[min(v.from, len(r.b)):]; !bytes.HasPrefix(rest, []byte("null")) && !bytes.HasPrefix(rest, []byte("~")) && !bytes.HasPrefix(rest, []byte("N")) || p.colon > v.from {
			v.from = max(p.colon, 0)
			v.to = v.from
			return
		}
	}
	v.to = r.scalarEnd(v.from, p)
}

// scalarEnd is where a scalar ends that begins at from: at its quote, else before a comment, in brackets before what separates items, and in a block
// where the value's last line ends, since a plain text may go on below.
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
