package journal

import (
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	segmentSize = 64 << 20  // a segment is full at this size
	batchBytes  = 1 << 20   // bodies are written together up to about this size
	batchLen    = blockLen  // and up to this many
	directBytes = 256 << 10 // larger bodies are written alone, without a copy
)

// A segment is one temporary file of spilled bodies. Bodies go in by Seq and entries are dropped by Seq, so a whole
// segment becomes free at once and the disk space used stays bounded without any bookkeeping of holes.
type segment struct {
	mu   sync.RWMutex // held for writing only to close
	f    *os.File     // nil once it is closed; guarded by mu
	size int64        // bytes of it; changed by the writer goroutine with Journal.mu held, and read by it without
	last uint64       // Seq of its newest body; guarded by Journal.mu
	keep bool         // the file is not ours to remove
}

// newSegment creates the file with mode 0600. Where the system allows it (not on Windows) its name is removed at
// once, so that nothing stays behind even if the process is killed.
func newSegment(dir string) (*segment, error) {
	f, err := os.CreateTemp(dir, "mcphud-journal-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // on failure close removes it
	return &segment{f: f}, nil
}

// readAt reads a body, or a part of one; ErrNoBody where the segment was dropped since its number was looked up.
func (s *segment) readAt(p []byte, off int64) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.f == nil {
		return ErrNoBody
	}
	_, err := s.f.ReadAt(p, off)
	return err
}

func (s *segment) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		return
	}
	_ = s.f.Close()
	if !s.keep {
		_ = os.Remove(s.f.Name())
	}
	s.f = nil
}

// dropSegments removes the segments that no kept entry needs, and the oldest ones beyond Options.Disk.
func (j *Journal) dropSegments() {
	for len(j.segs) > 1 && (j.segs[0].last < j.store.first() || j.disk > j.opts.Disk) {
		s := j.segs[0]
		j.segs = j.segs[1:]
		j.disk -= s.size
		j.gone++
		j.dead = append(j.dead, s) // closed by the writer: closing waits for readers
	}
}

// segment finds a segment by its number; nil for none, or one that was dropped.
func (j *Journal) segment(n uint32) *segment {
	switch {
	case n == loaded:
		return &j.from.seg
	case n <= j.gone:
		return nil
	}
	return j.segs[n-j.gone-1]
}

// makeRoom waits, for a bounded time, while far more is in memory than allowed, and then gives up the oldest bodies.
// Called and left with the lock held.
func (j *Journal) makeRoom() {
	hard := 2 * j.opts.Memory
	if j.mem <= hard || j.closed {
		return
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	for j.mem > hard && j.broken == nil && !j.closed {
		room := j.room
		j.mu.Unlock()
		expired := false
		select {
		case <-room:
		case <-timer.C:
			expired = true
		}
		j.mu.Lock()
		if expired {
			break
		}
	}
	for seq := j.toSpill + 1; j.mem > hard && seq <= j.store.last(); seq++ {
		b, i := j.store.at(seq)
		j.mem -= b.setBody(i, nil)
		j.toSpill = seq
	}
}

// startWriter starts the writer goroutine, or wakes it. A journal that never spills has none.
func (j *Journal) startWriter() {
	if j.done == nil {
		j.done = make(chan struct{})
		go j.writer(j.done)
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// spillThrough moves a large body and what is older to disk.
func (j *Journal) spillThrough(seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.broken != nil {
		return
	}
	j.large = max(j.large, seq)
	j.startWriter()
}

// writer writes File and moves bodies, from when it is first needed until Close. File comes first: its lines need the bodies.
func (j *Journal) writer(done chan struct{}) {
	defer close(done)
	w := &writer{j: j}
	for {
		select {
		case <-j.wake:
			before := j.Err()
			for w.file() || w.spill() {
			}
			if j.Err() != before {
				j.notifyChange() // whoever shows the journal shows that
			}
			j.closeDead()
		case <-j.stop:
			for w.file() { // what was appended before Close is in the file after it
			}
			return
		}
	}
}

// closeDead closes the segments that nothing needs any more.
func (j *Journal) closeDead() {
	j.mu.Lock()
	dead := j.dead
	j.dead = nil
	j.mu.Unlock()
	for _, s := range dead {
		s.close()
	}
}

// A writer holds the buffers of the writer goroutine.
type writer struct {
	j     *Journal
	batch []item
	lines []Entry // of batch, where they are written to File
	buf   []byte
}

// item is a body that leaves memory, or is written to File.
type item struct {
	seq  uint64
	body []byte
}

// spill moves one batch of bodies to disk and reports whether there may be more to do. Once Memory is crossed it goes on until an eighth of it
// is free, so that it does not run for each Append; and up to large, whatever there is. The disk is written without the lock, so an entry may be
// dropped meanwhile: its bytes stay in the segment as a hole.
func (w *writer) spill() bool {
	j := w.j
	w.batch = w.batch[:0]
	j.mu.Lock()
	if !j.spilling && j.toSpill >= j.large || j.broken != nil {
		j.mu.Unlock()
		return false
	}
	limit, total, seq := int64(0), int64(0), j.toSpill
	if j.spilling {
		limit = j.mem - j.opts.Memory/8*7
	}
	until := j.store.last()
	if j.file != nil {
		until = j.toFile // File has its turn while the body is in memory
	}
	for seq < until && (total < limit || seq < j.large) && total < batchBytes && len(w.batch) < batchLen {
		b, i := j.store.at(seq + 1)
		body := b.body(i)
		if total > 0 && len(body) >= directBytes {
			break // alone in the next batch
		}
		seq++
		if len(body) > 0 {
			w.batch = append(w.batch, item{seq: seq, body: body})
			total += int64(len(body))
		}
	}
	moved := seq > j.toSpill
	if len(w.batch) == 0 {
		j.toSpill = seq
		if !moved {
			j.spilling = j.mem > j.opts.Memory
		}
		j.mu.Unlock()
		return moved
	}
	var seg *segment
	if n := len(j.segs); n > 0 && j.segs[n-1].size < segmentSize {
		seg = j.segs[n-1]
	}
	j.mu.Unlock()

	var err error
	fresh := seg == nil
	if fresh {
		seg, err = newSegment(j.opts.Dir)
	}
	var off int64
	if err == nil {
		off = seg.size // only this goroutine changes it
		err = w.write(seg.f, off, total)
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	if fresh && seg != nil {
		j.segs = append(j.segs, seg)
	}
	number := j.gone + uint32(len(j.segs))
	if err != nil {
		j.broken = fmt.Errorf("cannot write journal bodies to a temporary file (set TMPDIR to a place with room): %w", err)
		j.fail(j.broken)
	} else {
		seg.size += total
		seg.last = seq
		j.disk += total
		j.toSpill = max(j.toSpill, seq)
	}
	for n := range w.batch {
		it := &w.batch[n]
		if b, i := j.store.at(it.seq); b != nil && err == nil {
			j.mem -= b.setBody(i, nil)
			b.recs[i].seg, b.recs[i].off = number, off
		}
		off += int64(len(it.body))
		it.body = nil
	}
	j.dropSegments()
	close(j.room)
	j.room = make(chan struct{})
	return err == nil
}

// write puts the bodies of the batch into f at off, as few large writes.
func (w *writer) write(f *os.File, off, total int64) error {
	b := w.batch[0].body
	if len(w.batch) > 1 || total < directBytes {
		w.buf = w.buf[:0]
		for _, it := range w.batch {
			w.buf = append(w.buf, it.body...)
		}
		b = w.buf
	}
	_, err := f.WriteAt(b, off)
	return err
}

// fail keeps an error for Err, the first one; the lock is held.
func (j *Journal) fail(err error) {
	if j.err == nil {
		j.err = err
	}
}
