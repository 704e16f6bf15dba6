package tap

import (
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// MaxBody is how many bytes of a frame are kept while there are readers; the rest is only counted.
const MaxBody = 1 << 20

// Without readers, a little of the newest records is kept as history, in buffers that are reused.
const (
	idleRecords = 256
	idleBody    = 4 << 10
	idleBytes   = idleRecords * idleBody
)

// With readers, this much is kept for the slowest one.
const (
	liveRecords = 4096
	liveBytes   = 16 << 20
)

// record is what Append was given. It is classified when it is sent, off the path of the traffic.
type record struct {
	time   time.Time
	entry  journal.Entry // Kind 0: body is a frame to be classified
	body   []byte        // the ring's own copy, truncated
	size   int           // before truncation; 0 is set by push
	sse    bool          // body is a server-sent event
	failed string        // status of the HTTP error that body belongs to, "" for none
	answer string        // see Classify
	spans  spanner       // of the exchange that the record is the last of, or all that there is; nil for none
}

// ring keeps the newest records, by number from 1 on. The records from first to next-1 are kept.
type ring struct {
	recs  []record // a power of two
	first uint64
	next  uint64
	bytes int
	spare []byte // a buffer for reuse
}

func (r *ring) at(seq uint64) *record { return &r.recs[seq&uint64(len(r.recs)-1)] }

// push adds a copy of rec with body. live says that there are readers: they may hold bodies that were dropped from the ring,
// so buffers are reused only without.
func (r *ring) push(rec record, body []byte, live bool) {
	keep := MaxBody
	if !live {
		keep = idleBody
	}
	rec.size = max(rec.size, len(body))
	body = body[:min(len(body), keep)]
	r.makeRoom(1, len(body), live)
	if n := uint64(len(r.recs)); r.next-r.first == n {
		r.grow(max(2*n, 64))
	}
	if len(body) > 0 {
		var to []byte
		if !live {
			to, r.spare = r.spare, nil
		}
		rec.body = append(to[:0], body...)
	}
	*r.at(r.next) = rec
	r.next++
	r.bytes += len(rec.body)
}

// makeRoom drops old records until that many more fit.
func (r *ring) makeRoom(records, bytes int, live bool) {
	most, mostBytes := liveRecords, liveBytes
	if !live {
		most, mostBytes = idleRecords, idleBytes
	}
	for r.next > r.first && (int(r.next-r.first)+records > most || r.bytes+bytes > mostBytes) {
		r.drop(live)
	}
}

// drop drops the oldest record.
func (r *ring) drop(live bool) {
	old := r.at(r.first)
	r.bytes -= len(old.body)
	if !live && cap(old.body) <= 2*idleBody && cap(old.body) > cap(r.spare) {
		r.spare = old.body
	}
	*old = record{}
	r.first++
}

func (r *ring) grow(n uint64) {
	old := *r
	r.recs = make([]record, n)
	for seq := old.first; seq < old.next; seq++ {
		*r.at(seq) = *old.at(seq)
	}
}

// take appends to dst up to a batch of records from number from on; lost is how many of them were dropped.
func (r *ring) take(from uint64, dst []record) (_ []record, lost uint64) {
	if from < r.first {
		lost, from = r.first-from, r.first
	}
	for seq, bytes := from, 0; seq < r.next && len(dst) < batchRecords && bytes < batchBytes; seq++ {
		rec := r.at(seq)
		bytes += len(rec.body)
		dst = append(dst, *rec)
	}
	return dst, lost
}

// Limits of a batch. A reader holds one beside the ring.
const (
	batchRecords = 64
	batchBytes   = 1 << 20
)
