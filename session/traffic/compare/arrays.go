package compare

import (
	"bytes"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

func elementsOf(arr []byte) (out [][]byte) {
	_ = jsonrpc.Elements(arr, func(v []byte) bool { out = append(out, v); return true }) // it is valid
	return out
}

// arrays compares two arrays: by the name of their elements where these have one, else by the longest sequence that they share.
func (w *walk) arrays(at, there string, a, b []byte, depth int) {
	x, y := elementsOf(a), elementsOf(b)
	if by := elementKey(x, y); by != nil {
		w.byKey(at, there, x, y, by, depth)
		return
	}
	start := 0
	for start < len(x) && start < len(y) && bytes.Equal(x[start], y[start]) {
		start++
	}
	endX, endY := len(x), len(y)
	for endX > start && endY > start && bytes.Equal(x[endX-1], y[endY-1]) {
		endX--
		endY--
	}
	for _, g := range hunks(x[start:endX], y[start:endY]) {
		w.compareHunk(at, there, x, y, hunk{g.x + start, g.endX + start, g.y + start, g.endY + start}, depth)
	}
}

// hunk is a range of each array that has nothing in common.
type hunk struct{ x, endX, y, endY int }

// compareHunk compares what is between two equal elements: pair by pair, then what is in one array only.
func (w *walk) compareHunk(at, there string, x, y [][]byte, g hunk, depth int) {
	for g.x < g.endX && g.y < g.endY {
		w.value(at+indexPointer(g.x), there+indexPointer(g.y), x[g.x], y[g.y], depth)
		g.x++
		g.y++
	}
	for ; g.x < g.endX; g.x++ {
		w.addDifference(Removed, at+indexPointer(g.x), there+indexPointer(g.y), true, x[g.x], nil)
	}
	for ; g.y < g.endY; g.y++ {
		w.addDifference(Added, at+indexPointer(g.x), there+indexPointer(g.y), true, nil, y[g.y])
	}
}

func indexPointer(i int) string { return "/" + strconv.Itoa(i) }

// hunks returns the ranges between the elements of a longest common subsequence. Arrays for which that takes too much are one hunk.
func hunks(x, y [][]byte) []hunk {
	n, m := len(x), len(y)
	if n == 0 && m == 0 {
		return nil
	}
	if n == 0 || m == 0 || n > maxCells/m {
		return []hunk{{0, n, 0, m}}
	}
	ids := map[string]uint32{} // equal elements have one number
	count := func(list [][]byte) []uint32 {
		out := make([]uint32, len(list))
		for i, v := range list {
			id, ok := ids[string(v)]
			if !ok {
				id = uint32(len(ids))
				ids[string(v)] = id
			}
			out[i] = id
		}
		return out
	}
	p, q := count(x), count(y)
	table := make([]uint16, (n+1)*(m+1)) // the shorter one has at most 2048
	at := func(i, j int) *uint16 { return &table[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if p[i] == q[j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	var out []hunk
	g := hunk{}
	for i, j := 0, 0; ; {
		switch {
		case i < n && j < m && p[i] == q[j]:
			if i > g.x || j > g.y {
				g.endX, g.endY = i, j
				out = append(out, g)
			}
			i++
			j++
			g = hunk{x: i, y: j}
		case i < n && (j == m || *at(i+1, j) >= *at(i, j+1)):
			i++
		case j < m:
			j++
		default:
			if i > g.x || j > g.y {
				g.endX, g.endY = i, j
				out = append(out, g)
			}
			return out
		}
	}
}

// names are the members by which elements are known, the best first. The first three are names whatever their values are; the others
// may also be made anew in each run.
var names = [...]string{"name", "uri", "uriTemplate", "key", "id"}

// stableNames is how many of names identify an element also where the other array has none of the same.
const stableNames = 3

// elementKey returns a function that gives the key of an element, where all elements of both arrays are objects with one, no two of an array have the same, and
// enough of them are in both arrays; else nil.
func elementKey(x, y [][]byte) func(v []byte) string {
	if len(x) == 0 || len(y) == 0 || x[0][0] != '{' || y[0][0] != '{' {
		return nil
	}
	for i, name := range names {
		of := func(v []byte) string { return string(jsonrpc.Get(v, name)) }
		keys := func(list [][]byte) map[string]bool {
			seen := make(map[string]bool, len(list))
			for _, v := range list {
				k := of(v)
				if k == "" || k[0] == '{' || k[0] == '[' || k == "null" || seen[k] {
					return nil
				}
				seen[k] = true
			}
			return seen
		}
		inX := keys(x)
		if inX == nil {
			continue
		}
		common := 0
		inY := keys(y)
		for k := range inY {
			if inX[k] {
				common++
			}
		}
		few := min(len(inX), len(inY))
		if common > 0 && 2*common >= few || inY != nil && i < stableNames && few > 1 {
			return of
		}
	}
	return nil
}

// byKey compares elements that have the same key.
func (w *walk) byKey(at, there string, x, y [][]byte, key func([]byte) string, depth int) {
	where := map[string]int{}
	for j, v := range y {
		where[key(v)] = j
	}
	last, moved := -1, false
	for i, v := range x {
		j, ok := where[key(v)]
		if !ok {
			w.addDifference(Removed, at+indexPointer(i), there+indexPointer(i), true, v, nil)
			continue
		}
		moved = moved || j < last
		last = j
		delete(where, key(v))
		w.value(at+indexPointer(i), there+indexPointer(j), v, y[j], depth)
	}
	for j, v := range y {
		if _, left := where[key(v)]; left {
			w.addDifference(Added, at+indexPointer(j), there+indexPointer(j), true, nil, v)
		}
	}
	if moved {
		w.addDifference(Reordered, at, there, false, order(x, key), order(y, key))
	}
}

// order is the keys of an array as an array.
func order(list [][]byte, key func([]byte) string) []byte {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, key(v)...)
	}
	return append(out, ']')
}
