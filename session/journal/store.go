package journal

// A record is an entry with the place of its body: in memory, in a segment, or (both nil) nowhere any more.
type record struct {
	Entry
	body []byte
	seg  *segment
	off  int64
}

const blockLen = 512

// A block has a fixed array so that records never move: growing copies nothing, and dropping is one pointer.
type block struct {
	recs    [blockLen]record
	n       int
	strings int // bytes of strings in the entries
}

// A store keeps records by Seq in blocks. Seq s is at (s-1)%blockLen of block number (s-1)/blockLen.
type store struct {
	blocks  []*block
	base    uint64 // number of blocks[0]
	n       uint64 // Seq of the newest record
	strings int
}

func (s *store) first() uint64 { return s.base*blockLen + 1 }
func (s *store) last() uint64  { return s.n }

// push gives e the next Seq.
func (s *store) push(e Entry) *record {
	if s.n%blockLen == 0 {
		s.blocks = append(s.blocks, new(block))
	}
	s.n++
	e.Seq = s.n
	b := s.blocks[len(s.blocks)-1]
	r := &b.recs[b.n]
	r.Entry = e
	b.n++
	n := len(e.Method) + len(e.ID) + len(e.Tool) + len(e.Note)
	b.strings += n
	s.strings += n
	return r
}

func (s *store) at(seq uint64) *record {
	if seq < s.first() || seq > s.n {
		return nil
	}
	return &s.blocks[(seq-1)/blockLen-s.base].recs[(seq-1)%blockLen]
}

// block returns the records from Seq from (which must be kept, or beyond to) up to to, as far as they are in one block.
func (s *store) block(from, to uint64) []record {
	if from > min(to, s.n) {
		return nil
	}
	b := s.blocks[(from-1)/blockLen-s.base]
	i := int((from - 1) % blockLen)
	return b.recs[i:min(b.n, i+int(to-from)+1)]
}

// drop removes the oldest block and returns it.
func (s *store) drop() *block {
	b := s.blocks[0]
	s.blocks[0] = nil
	s.blocks = s.blocks[1:]
	s.base++
	s.strings -= b.strings
	return b
}

// trim drops the oldest entries until the metadata is within its bounds. The newest block always stays.
func (j *Journal) trim() {
	limit := uint64((j.opts.Entries + blockLen - 1) / blockLen * blockLen)
	for len(j.store.blocks) > 1 && (j.store.last()-j.store.first()+1 > limit || j.store.strings > maxMetaStrings) {
		b := j.store.drop()
		for i := range b.recs {
			r := &b.recs[i]
			j.mem -= int64(len(r.body))
			if r.Kind == Request && r.ID != "" {
				if k := keyOf(r.Entry, r.Dir); j.pending[k] == r.Seq {
					delete(j.pending, k)
				}
			}
		}
		if first := j.store.first(); j.file != nil && j.toFile < first-1 {
			j.missed += first - 1 - j.toFile
			j.toFile = first - 1
		}
		j.toSpill = max(j.toSpill, j.store.first()-1)
		j.dropSegments()
	}
}
