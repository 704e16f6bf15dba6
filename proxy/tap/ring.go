package tap

import (
	"time"

	"github.com/mcphud/mcphud/session/journal"
)

// MaxBody is how many bytes of one frame are kept while somebody reads; the rest is only counted.
const MaxBody = 1 << 20

// While nobody reads, the newest records are kept for who comes next, and little of each, in buffers that are used again.
const (
	idleRecords = 256
	idleBody    = 4 << 10
	idleBytes   = idleRecords * idleBody
)

// While somebody reads, this much may wait for the slowest reader.
const (
	liveRecords = 4096
	liveBytes   = 16 << 20
)

// A record is what the producer was given. What it means is found out when it is sent, off the path of the traffic.
type record struct {
	time   time.Time
	entry  journal.Entry // Kind 0: body is a frame to be looked at
	body   []byte        // the ring's own copy, clipped
	size   int           // bytes that there were; push fills it in where it has all of them
	sse    bool          // body is a server-sent event
	failed bool          // body came with an HTTP status that says why there is no other answer
	answer string        // id of the request that a frame without a known id answers
}

// ring keeps the newest records, by number from 1 on. The records from first to next-1 are kept.
type ring struct {
	recs  []record // a power of two
	first uint64
	next  uint64
	bytes int
	spare []byte // a buffer that nobody reads any more
}

func (r *ring) at(seq uint64) *record { return &r.recs[seq&uint64(len(r.recs)-1)] }

// push keeps a copy of rec with its body. While readers exist they may hold bodies that were dropped from the ring, so
// buffers are used again only when live is false.
func (r *ring) push(rec record, body []byte, live bool) {
	keep := MaxBody
	if !live {
		keep = idleBody
	}
	rec.size = max(rec.size, len(body))
	body = body[:min(len(body), keep)]
	r.room(1, len(body), live)
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

// room forgets old records until more can be kept.
func (r *ring) room(records, bytes int, live bool) {
	most, mostBytes := liveRecords, liveBytes
	if !live {
		most, mostBytes = idleRecords, idleBytes
	}
	for r.next > r.first && (int(r.next-r.first)+records > most || r.bytes+bytes > mostBytes) {
		r.drop(live)
	}
}

// drop forgets the oldest record.
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

// take appends to dst the records from number from on, up to a batch, and says how many before them are gone.
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

// A reader holds at most one batch beside the ring.
const (
	batchRecords = 64
	batchBytes   = 1 << 20
)
