package widget

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// find returns the last container whose entry is node or before it, -1 if none.
func (ix *Index) find(node int) int {
	return sort.Search(ix.m, func(c int) bool { return int(ix.cont(c).node) > node }) - 1
}

// parent returns the container that a value is in, -1 for the root.
func (ix *Index) parent(node int) int {
	c := ix.find(node)
	if c < 0 {
		return -1
	}
	if int(ix.cont(c).node) == node {
		return int(ix.cont(c).parent)
	}
	for c >= 0 && int(ix.cont(c).last) < node {
		c = int(ix.cont(c).parent)
	}
	return c
}

// Parent returns the value that holds a value, -1 for the root.
func (ix *Index) Parent(node int) int {
	if c := ix.parent(node); c >= 0 {
		return int(ix.cont(c).node)
	}
	return -1
}

// Last returns the last value inside a value, itself if it holds none.
func (ix *Index) Last(node int) int {
	if c := ix.find(node); c >= 0 && int(ix.cont(c).node) == node {
		return int(ix.cont(c).last)
	}
	return node
}

// Depth returns how many containers hold a value.
func (ix *Index) Depth(node int) int {
	if c := ix.parent(node); c >= 0 {
		return ix.cont(c).depth() + 1
	}
	return 0
}

// ordinal returns which child of container p a value is.
func (ix *Index) ordinal(node, p int) int {
	c := ix.find(node)
	if int(ix.cont(c).node) == node {
		return int(ix.cont(c).ord)
	}
	for c != p && int(ix.cont(c).parent) != p {
		c = int(ix.cont(c).parent)
	}
	if c == p { // only scalars before it
		return node - int(ix.cont(p).node) - 1
	}
	return int(ix.cont(c).ord) + node - int(ix.cont(c).last)
}

// count returns how many children a container has.
func (ix *Index) count(c int) int {
	ct := ix.cont(c)
	if ct.last == ct.node {
		return 0
	}
	// Forwards over the first few, which ends at once where few children are deep; else up from the last value inside.
	child := int(ct.node) + 1
	for n := 1; n <= 64; n++ {
		if child = ix.Last(child) + 1; child > int(ct.last) {
			return n
		}
	}
	child = int(ct.last)
	if p := ix.parent(child); p != c {
		for int(ix.cont(p).parent) != c {
			p = int(ix.cont(p).parent)
		}
		child = int(ix.cont(p).node)
	}
	return ix.ordinal(child, c) + 1
}

// end returns the offset after a container's closing bracket, or the end of the text where that never came.
func (ix *Index) end(c int) int {
	d, last := ix.data, int(ix.cont(c).last)
	in, at := ix.find(last), ix.start(last)
	if int(ix.cont(in).node) == last { // empty itself
		at++
	} else {
		in, at = ix.parent(last), jsonScalar(d, at)
	}
	for range ix.cont(in).depth() - ix.cont(c).depth() + 1 {
		for at < len(d) && (d[at] == ' ' || d[at] == '\n' || d[at] == '\t' || d[at] == '\r') {
			at++
		}
		if at == len(d) || d[at] != ']' && d[at] != '}' {
			return len(d)
		}
		at++
	}
	return at
}

// Key returns the member name of a value as it was sent, quotes and escapes included; nil in an array and for the root.
func (ix *Index) Key(node int) []byte {
	p := ix.parent(node)
	if p < 0 || !ix.cont(p).object() {
		return nil
	}
	off := ix.off(node)
	return ix.data[off:jsonString(ix.data, off)]
}

// start returns the offset of a value, behind its key.
func (ix *Index) start(node int) int {
	off := ix.off(node)
	key := ix.Key(node)
	if key == nil {
		return off
	}
	for off += len(key); ; off++ {
		switch ix.data[off] {
		case ' ', '\t', '\r', '\n', ':':
		default:
			return off
		}
	}
}

// Value returns a value as it was sent.
func (ix *Index) Value(node int) []byte {
	if node < 0 || node >= ix.n {
		return nil
	}
	start := ix.start(node)
	if c := ix.find(node); c >= 0 && int(ix.cont(c).node) == node {
		return ix.data[start:ix.end(c)]
	}
	return ix.data[start:jsonScalar(ix.data, start)]
}

// At returns the value whose text, or whose key's, holds an offset of the text.
func (ix *Index) At(off int) int {
	return max(sort.Search(ix.n, func(i int) bool { return ix.off(i) > off })-1, 0)
}

// steps returns the way from the root to a value.
func (ix *Index) steps(node int) []int {
	var way []int
	for p := ix.parent(node); p >= 0; p = ix.parent(node) {
		way = append(way, node)
		node = int(ix.cont(p).node)
	}
	return way
}

// maxPath is how long a path may get: 50,000 levels are nothing to read.
const maxPath = 1 << 16

// Path returns the place of a value for jq: .content[0].text, .["odd name"].
func (ix *Index) Path(node int) string {
	var b strings.Builder
	way := ix.steps(node)
	for i := len(way) - 1; i >= 0 && b.Len() < maxPath; i-- {
		p := ix.parent(way[i])
		if !ix.cont(p).object() {
			if b.Len() == 0 {
				b.WriteByte('.')
			}
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(ix.ordinal(way[i], p)))
			b.WriteByte(']')
			continue
		}
		key := ix.Key(way[i])
		if name := key[1 : len(key)-1]; identifier(name) {
			b.WriteByte('.')
			b.Write(name)
		} else {
			if b.Len() == 0 {
				b.WriteByte('.')
			}
			b.WriteByte('[')
			b.Write(key)
			b.WriteByte(']')
		}
	}
	if b.Len() == 0 {
		return "."
	}
	return b.String()
}

func identifier(b []byte) bool {
	for i, c := range b {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0
}

// Pointer returns the place of a value as a JSON pointer (RFC 6901).
func (ix *Index) Pointer(node int) string {
	var b strings.Builder
	way := ix.steps(node)
	for i := len(way) - 1; i >= 0 && b.Len() < maxPath; i-- {
		b.WriteByte('/')
		p := ix.parent(way[i])
		if !ix.cont(p).object() {
			b.WriteString(strconv.Itoa(ix.ordinal(way[i], p)))
			continue
		}
		b.WriteString(jsonrpc.EscapeToken(Unquote(ix.Key(way[i]))))
	}
	return b.String()
}

// Unquote returns what a JSON string says. What is not a JSON string is returned as it is.
func Unquote(raw []byte) string {
	out, err := json.AppendUnquote(make([]byte, 0, len(raw)), raw)
	if err != nil && (len(out) == 0 || !utf8.Valid(out)) {
		return string(raw)
	}
	return string(out)
}
