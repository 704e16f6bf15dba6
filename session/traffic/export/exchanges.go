package export

import "github.com/mcphud/mcphud/session/wire/journal"

// exchanges knows what belongs to each request, in 8 bytes an entry: to search for it would take as long as the journal is, for
// each request.
type exchanges struct {
	j    *journal.Journal
	base uint64   // Seq of the first entry
	tail []uint32 // of a request: 1 + index of the last entry of its exchange; 0 for none
	next []uint32 // of an entry: 1 + index of the next one of its exchange, of the last one the first
}

func exchangesOf(j *journal.Journal) *exchanges {
	n := j.Len()
	x := &exchanges{j: j, base: j.First(), tail: make([]uint32, n), next: make([]uint32, n)}
	j.Each(0, func(e *journal.Entry) bool {
		i, root := e.Seq-x.base, e.Root-x.base
		if e.Root == 0 || e.Root < x.base || root >= uint64(n) || i >= uint64(n) {
			return i < uint64(n)
		}
		here := uint32(i + 1)
		if last := x.tail[root]; last == 0 {
			x.next[i] = here
		} else {
			x.next[i], x.next[last-1] = x.next[last-1], here
		}
		x.tail[root] = here
		return true
	})
	return x
}

// frames are the entries of an exchange, as [journal.Journal.Frames] has them.
func (x *exchanges) frames(root uint64) (out []journal.Entry) {
	i := root - x.base
	if root < x.base || i >= uint64(len(x.tail)) || x.tail[i] == 0 {
		return nil
	}
	last := x.tail[i]
	for at := x.next[last-1]; ; at = x.next[at-1] {
		if e, ok := x.j.Get(x.base + uint64(at-1)); ok {
			out = append(out, e)
		}
		if at == last {
			return out
		}
	}
}
