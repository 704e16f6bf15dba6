package widget

import (
	"bytes"
	"context"
	"fmt"
	"math"
)

// Index is a JSON text as a tree: one entry per value, in the order of the text, without a copy of it. A value costs
// four bytes and an object or array 20 more, in chunks, so that the index of what people send is a fraction of the
// text.
type Index struct {
	data  []byte
	nodes [][]uint32 // offset of the value, or of its key in an object
	n     int
	conts [][]cont
	m     int
	err   error // why the rest is not indexed
	stop  int   // offset at which indexing ended
}

// cont is an object or array.
type cont struct {
	node   uint32 // its entry in nodes
	parent int32  // its container, -1 for the root
	last   uint32 // last entry inside it, its own if it is empty; while it is open, its children so far
	ord    uint32 // which child of its parent it is
	shape  uint32 // depth in the tree times two, plus one for an object
}

func (c *cont) object() bool { return c.shape&1 == 1 }
func (c *cont) depth() int   { return int(c.shape >> 1) }

const (
	nodeChunk = 1 << 16
	contChunk = 1 << 13
)

func (ix *Index) off(node int) int { return int(ix.nodes[node/nodeChunk][node%nodeChunk]) }

func (ix *Index) cont(c int) *cont { return &ix.conts[c/contChunk][c%contChunk] }

func (ix *Index) addNode(off int) int {
	if ix.n%nodeChunk == 0 {
		size := nodeChunk
		if ix.n == 0 { // small texts get small indexes
			size = min(nodeChunk, max(len(ix.data)/4, 16))
		}
		ix.nodes = append(ix.nodes, make([]uint32, 0, size))
	}
	k := len(ix.nodes) - 1
	ix.nodes[k] = append(ix.nodes[k], uint32(off))
	ix.n++
	return ix.n - 1
}

func (ix *Index) addCont(c cont) int {
	if ix.m%contChunk == 0 {
		size := contChunk
		if ix.m == 0 {
			size = min(contChunk, max(len(ix.data)/32, 4))
		}
		ix.conts = append(ix.conts, make([]cont, 0, size))
	}
	k := len(ix.conts) - 1
	ix.conts[k] = append(ix.conts[k], c)
	ix.m++
	return ix.m - 1
}

// NewIndex scans a JSON text once, some 200 MB a second; call it beside the screen where the text may be long. Where
// the text is not JSON the index ends there and Err says why; so it does where the index would outgrow the text (many
// tiny values in tens of MB).
func NewIndex(ctx context.Context, data []byte) (*Index, error) {
	ix := &Index{data: data}
	if uint64(len(data)) > math.MaxUint32 {
		ix.err = fmt.Errorf("the text has %d bytes, the tree shows up to 4 GB", len(data))
		return ix, nil
	}
	return ix, ix.scan(ctx)
}

// Data returns the text.
func (ix *Index) Data() []byte { return ix.data }

// Len returns the number of values in the index.
func (ix *Index) Len() int { return ix.n }

// Err says why the index ends before the text, with the offset; nil if it does not.
func (ix *Index) Err() error { return ix.err }

// budget is how many bytes the index may take.
func (ix *Index) budget() int { return len(ix.data)/4*3 + 8<<20 }

// scan walks the text with a stack of containers, so that depth costs no goroutine stack.
func (ix *Index) scan(ctx context.Context) error {
	const ( // what may come next
		value    = iota
		first    // a value or key, or the closing bracket
		after    // a comma or the closing bracket
		finished // nothing
	)
	d, i, cur, want := ix.data, 0, -1, value
	budget := ix.budget()
	next := 1 << 20
	fail := func(format string, a ...any) error {
		ix.stop = i
		ix.err = fmt.Errorf(format+" at byte %d", append(a, i)...)
		for c := cur; c >= 0; c = int(ix.cont(c).parent) { // what is open ends here
			ix.cont(c).last = uint32(ix.n - 1)
		}
		return nil
	}
	for {
		for i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\t' || d[i] == '\r') {
			i++
		}
		if i >= next {
			next = i + 1<<20
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if i == len(d) {
			if want != finished {
				return fail("the text ends too early")
			}
			ix.stop = i
			return nil
		}
		c := d[i]
		switch {
		case want == finished:
			return fail("more text after the value")
		case (want == after || want == first) && (c == '}' || c == ']'):
			ct := ix.cont(cur)
			if ct.object() != (c == '}') {
				return fail("%q closes the wrong bracket", c)
			}
			i++
			ct.last = uint32(ix.n - 1)
			cur = int(ct.parent)
			want = after
			if cur < 0 {
				want = finished
			}
			continue
		case want == after:
			if c != ',' {
				return fail("%q instead of a comma", c)
			}
			i++
			want = value
			continue
		}
		if ix.n*4+ix.m*20 > budget {
			return fail("too many values to index")
		}
		start := i
		if cur >= 0 && ix.cont(cur).object() {
			if c != '"' {
				return fail("%q instead of a member name", c)
			}
			if i = jsonString(d, i); i < 0 {
				i = start
				return fail("a member name without end")
			}
			for i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\t' || d[i] == '\r') {
				i++
			}
			if i == len(d) || d[i] != ':' {
				return fail("no colon after the member name")
			}
			for i++; i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\t' || d[i] == '\r'); {
				i++
			}
			if i == len(d) {
				return fail("the text ends too early")
			}
			c = d[i]
		}
		ord := uint32(0)
		if cur >= 0 {
			ord = ix.cont(cur).last
		}
		if c == '{' || c == '[' {
			shape := uint32(0)
			if cur >= 0 {
				ix.cont(cur).last++
				shape = (ix.cont(cur).shape | 1) + 1
			}
			if c == '{' {
				shape |= 1
			}
			node := ix.addNode(start)
			cur = ix.addCont(cont{node: uint32(node), parent: int32(cur), ord: ord, shape: shape})
			i++
			want = first
			continue
		}
		end := jsonScalar(d, i)
		if end < 0 {
			return fail("%q begins no value", c)
		}
		i = end
		if cur >= 0 {
			ix.cont(cur).last++
			want = after
		} else {
			want = finished
		}
		ix.addNode(start)
	}
}

// jsonScalar returns the offset after the string, number or literal at i, -1 if there is none.
func jsonScalar(d []byte, i int) int {
	switch c := d[i]; {
	case c == '"':
		return jsonString(d, i)
	case c == '-' || c >= '0' && c <= '9':
		for i++; i < len(d) && isNumber(d[i]); {
			i++
		}
		return i
	}
	for _, lit := range []string{"true", "false", "null"} {
		if n := len(lit); len(d)-i >= n && string(d[i:i+n]) == lit {
			return i + n
		}
	}
	return -1
}

// jsonString returns the offset after the string that begins at i, -1 if it does not end.
func jsonString(d []byte, i int) int {
	for i++; ; {
		k := bytes.IndexByte(d[i:], '"')
		if k < 0 {
			return -1
		}
		i += k + 1
		slashes := 0
		for j := i - 2; d[j] == '\\'; j-- { // stops at the opening quote at the latest
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}
