package journal

import (
	"math"
	"strings"
	"time"
)

// A record is an entry without pointers, so that a million of them are small and cost the collector nothing. Its strings
// are indices into those of its block, and its body is in the block, in a segment, or nowhere any more.
type record struct {
	wall   int64 // when it happened, nanoseconds since 1970
	mono   int64 // the same since the journal began, by a clock that does not jump where there was one
	took   int64 // nanoseconds
	conn   uint64
	peer   uint64
	root   uint64
	off    int64     // of the body in its segment
	size   uint32    // of the body
	stored uint32    // bytes of it in the segment, which differ if it is encoded
	seg    uint32    // number of the segment, from 1 on; 0 for none
	strs   [7]uint16 // by strServer and so on; a block has at most 7 times 512 strings, and those that are joined later
	dir    Dir
	kind   Kind
	status uint8 // index into statuses
	mark   Mark
	enc    encoding
}

// The strings of a record.
const (
	strServer = iota
	strMethod
	strID
	strTool
	strNote
	strHop
	strTrace
)

var statuses = [...]string{"", OK, Failed, Pending, Cancelled}

// statusOf is the index of a status; an unknown one is none.
func statusOf(s string) uint8 {
	for i, have := range statuses {
		if have == s {
			return uint8(i)
		}
	}
	return 0
}

// blockLen is how many records a block has. They are dropped together, so that the oldest entries go 512 at a time.
const blockLen = 512

// A block has a fixed array so that records never move: growing copies nothing, and dropping is one pointer.
type block struct {
	recs    [blockLen]record
	n       int
	bodies  *[blockLen][]byte // nil while none is in memory
	held    int               // bodies in memory
	strs    []string          // each once; the first is ""
	index   map[string]uint16 // of strs; nil once the block is full
	strings int               // bytes of strs
}

// newBlock makes the block after b, which is full, or nil.
func newBlock(b *block) *block {
	if b == nil {
		return &block{strs: []string{""}, index: map[string]uint16{}}
	}
	next := &block{strs: make([]string, 1, len(b.strs)), index: b.index}
	clear(next.index)
	b.index = nil
	return next
}

// str is the index of a string, which is copied if it is new: it can be a part of a large buffer.
func (b *block) str(s string) uint16 {
	if s == "" {
		return 0
	}
	if b.index != nil {
		if i, ok := b.index[s]; ok {
			return i
		}
	}
	s = strings.Clone(s)
	b.strs = append(b.strs, s)
	b.strings += len(s)
	i := uint16(len(b.strs) - 1)
	if b.index != nil {
		b.index[s] = i
	}
	return i
}

// body is that of the i-th record, nil if it is not in memory.
func (b *block) body(i int) []byte {
	if b.bodies == nil {
		return nil
	}
	return b.bodies[i]
}

// setBody keeps a body in memory, or with nil frees it, and returns the bytes that were freed.
func (b *block) setBody(i int, body []byte) (freed int64) {
	if old := b.body(i); old != nil {
		freed = int64(len(old))
		b.bodies[i] = nil
		b.held--
	}
	switch {
	case body != nil:
		if b.bodies == nil {
			b.bodies = new([blockLen][]byte)
		}
		b.bodies[i] = body
		b.held++
	case b.held == 0:
		b.bodies = nil
	}
	return freed
}

// A store keeps records by Seq in blocks. Seq s is at (s-1)%blockLen of block number (s-1)/blockLen. Guarded by Journal.mu.
type store struct {
	start   time.Time // what mono counts from
	blocks  []*block  // oldest first; only the last one has room
	base    uint64    // number of blocks[0], and so how many were dropped
	n       uint64    // Seq of the newest record
	strings int       // bytes of strings in all blocks
}

func (s *store) first() uint64 { return s.base*blockLen + 1 }
func (s *store) last() uint64  { return s.n }

// push stores e, whose Seq is that of the next record, with its body.
func (s *store) push(e *Entry, body []byte) (*block, int) {
	if s.n%blockLen == 0 {
		var full *block
		if n := len(s.blocks); n > 0 {
			full = s.blocks[n-1]
		}
		s.blocks = append(s.blocks, newBlock(full))
	}
	s.n++
	b := s.blocks[len(s.blocks)-1]
	i := b.n
	b.n++
	before := b.strings
	b.recs[i] = record{
		wall: e.Time.UnixNano(), mono: int64(e.Time.Sub(s.start)), took: int64(e.Took), conn: e.Conn, peer: e.Peer, root: e.Root,
		size: uint32(min(e.Size, math.MaxUint32)), dir: e.Dir, kind: e.Kind, status: statusOf(e.Status), mark: e.Mark,
		strs: [...]uint16{
			b.str(e.Server), b.str(e.Method), b.str(e.ID), b.str(e.Tool), b.str(e.Note), b.str(e.Hop), b.str(e.Trace),
		},
	}
	s.strings += b.strings - before
	if len(body) > 0 {
		b.setBody(i, body)
	}
	return b, i
}

// at finds a record; nil if it is not kept.
func (s *store) at(seq uint64) (*block, int) {
	if seq < s.first() || seq > s.n {
		return nil, 0
	}
	return s.blocks[(seq-1)/blockLen-s.base], int((seq - 1) % blockLen)
}

// rec is the record with a Seq, nil if it is not kept.
func (s *store) rec(seq uint64) *record {
	b, i := s.at(seq)
	if b == nil {
		return nil
	}
	return &b.recs[i]
}

// entry makes the entry of a record.
func (b *block) entry(i int, seq uint64, e *Entry) {
	r := &b.recs[i]
	*e = Entry{
		Seq: seq, Time: time.Unix(0, r.wall), Server: b.strs[r.strs[strServer]], Conn: r.conn, Dir: r.dir, Kind: r.kind,
		Method: b.strs[r.strs[strMethod]], ID: b.strs[r.strs[strID]], Tool: b.strs[r.strs[strTool]], Size: int(r.size),
		Peer: r.peer, Took: time.Duration(r.took), Status: statuses[r.status], Note: b.strs[r.strs[strNote]],
		Root: r.root, Mark: r.mark, Hop: b.strs[r.strs[strHop]], Trace: b.strs[r.strs[strTrace]],
	}
}

// entries appends to dst those from Seq from (which must be kept, or beyond to) up to to, as far as they are in one block.
func (s *store) entries(from, to uint64, dst []Entry) []Entry {
	to = min(to, s.n)
	if from > to {
		return dst
	}
	b, i := s.at(from)
	for ; i < b.n && from <= to; i, from = i+1, from+1 {
		dst = append(dst, Entry{})
		b.entry(i, from, &dst[len(dst)-1])
	}
	return dst
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
	for len(j.store.blocks) > 1 && (j.store.last()-j.store.first()+1 > limit || j.store.strings > j.opts.strings()) {
		seq := j.store.first()
		b := j.store.drop()
		for i := range b.n {
			j.mem -= int64(len(b.body(i)))
			j.forget(b, i, seq+uint64(i))
		}
		if first := j.store.first(); j.file != nil && j.toFile < first-1 {
			j.missed += first - 1 - j.toFile
			j.toFile = first - 1
		}
		j.toSpill = max(j.toSpill, j.store.first()-1)
		j.dropSegments()
	}
}

// strings is how many bytes of strings are kept.
func (o *Options) strings() int { return max(maxMetaStrings, o.Entries*100) }
