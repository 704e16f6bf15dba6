package widget

import "sort"

// run is a stretch of visible values without a folded one inside: entries from
// to to (inclusive) are the rows from row on.
type run struct {
	from, to uint32
	row      uint32
}

// folds says which values of an index are visible. A folded value is the last
// of its run; what it holds belongs to none.
type folds struct {
	ix     *Index
	folded []uint64 // bit per container
	runs   []run
}

func (f *folds) isFolded(c int) bool { return f.folded[c/64]>>(c%64)&1 == 1 }

func (f *folds) set(c int, on bool) {
	if on {
		f.folded[c/64] |= 1 << (c % 64)
	} else {
		f.folded[c/64] &^= 1 << (c % 64)
	}
}

// reset folds every container that is depth levels deep or deeper.
func (f *folds) reset(ix *Index, depth int) {
	f.ix = ix
	f.folded = make([]uint64, (ix.m+63)/64)
	for c := range ix.m {
		if ct := ix.cont(c); ct.depth() >= depth && ct.last > ct.node {
			f.set(c, true)
		}
	}
	f.runs = f.appendRuns(f.runs[:0], 0, ix.n-1)
	f.renumber(0)
}

// appendRuns appends the runs of the entries from..to, which lie in unfolded containers.
func (f *folds) appendRuns(dst []run, from, to int) []run {
	for c := f.ix.find(from-1) + 1; from <= to; {
		for c < f.ix.m && int(f.ix.cont(c).node) <= to && !f.isFolded(c) {
			c++
		}
		if c == f.ix.m || int(f.ix.cont(c).node) > to {
			return append(dst, run{from: uint32(from), to: uint32(to)})
		}
		ct := f.ix.cont(c)
		dst = append(dst, run{from: uint32(from), to: ct.node})
		from = int(ct.last) + 1
		c = f.ix.find(int(ct.last)) + 1
	}
	return dst
}

func (f *folds) renumber(k int) {
	row := uint32(0)
	if k > 0 {
		row = f.runs[k-1].row + f.runs[k-1].to - f.runs[k-1].from + 1
	}
	for ; k < len(f.runs); k++ {
		f.runs[k].row = row
		row += f.runs[k].to - f.runs[k].from + 1
	}
}

// len returns the number of visible values.
func (f *folds) len() int {
	if len(f.runs) == 0 {
		return 0
	}
	last := f.runs[len(f.runs)-1]
	return int(last.row + last.to - last.from + 1)
}

// node returns the value in a row.
func (f *folds) node(row int) int {
	k := sort.Search(len(f.runs), func(i int) bool { return int(f.runs[i].row) > row }) - 1
	return int(f.runs[k].from) + row - int(f.runs[k].row)
}

// row returns the row of a value, or of the folded one that hides it.
func (f *folds) row(node int) int {
	k := max(sort.Search(len(f.runs), func(i int) bool { return int(f.runs[i].from) > node })-1, 0)
	return int(f.runs[k].row) + min(node, int(f.runs[k].to)) - int(f.runs[k].from)
}

// toggle folds or unfolds a visible container.
func (f *folds) toggle(c int) {
	ct := f.ix.cont(c)
	if ct.last == ct.node {
		return
	}
	on := !f.isFolded(c)
	f.set(c, on)
	// The runs that hold the container and what is inside it are cut anew.
	k := sort.Search(len(f.runs), func(i int) bool { return f.runs[i].from > ct.node }) - 1
	end := k + 1
	for end < len(f.runs) && f.runs[end].from <= ct.last {
		end++
	}
	first, to := f.runs[k], f.runs[end-1].to
	var cut []run
	if on {
		cut = append(cut, run{from: first.from, to: ct.node})
		if to > ct.last {
			cut = append(cut, run{from: ct.last + 1, to: to})
		}
	} else {
		// Unfolding: the run ended at the container; its inside follows.
		cut = f.appendRuns(nil, int(ct.node)+1, int(ct.last))
		if cut[0].from == ct.node+1 {
			cut[0].from = first.from
		} else {
			cut = append([]run{{from: first.from, to: ct.node}}, cut...)
		}
	}
	f.splice(k, end, cut)
	f.renumber(k)
}

func (f *folds) splice(k, end int, cut []run) {
	grow := len(cut) - (end - k)
	if grow > 0 {
		f.runs = append(f.runs, make([]run, grow)...)
	}
	copy(f.runs[k+len(cut):], f.runs[end:len(f.runs)-max(grow, 0)])
	if grow < 0 {
		f.runs = f.runs[:len(f.runs)+grow]
	}
	copy(f.runs[k:], cut)
}

// reveal unfolds whatever hides a value.
func (f *folds) reveal(node int) {
	var way []int
	for p := f.ix.parent(node); p >= 0; p = int(f.ix.cont(p).parent) {
		if f.isFolded(p) {
			way = append(way, p)
		}
	}
	for i := len(way) - 1; i >= 0; i-- {
		f.toggle(way[i])
	}
}
