// Package journal is the append-only record of everything that happens between mcphud and its servers: every frame in
// both directions as the bytes that were on the wire, HTTP exchanges, stderr lines, malformed output and state changes.
//
// Memory is bounded. Bodies beyond Options.Memory are moved to temporary files by a writer goroutine, and the
// metadata of the oldest entries is dropped beyond Options.Entries. Append costs about a microsecond and waits for
// the disk only when bodies arrive much faster than it can take them, and then for a bounded time.
//
// An entry is metadata ([Entry]) and a body. What belongs together is linked as it is appended: an answer with its request (Peer),
// and everything of one exchange with the request that began it (Root). Whoever shows a journal remembers the Seq that it has got to,
// and asks for more when Rev is another:
//
//	for _, e := range j.Snapshot(since, nil) {
//		body, err := j.Body(e.Seq) // ErrNoBody where it is not kept any more
//	}
//
// Options.File writes a journal to a file line by line, and [Open] shows such a file as a journal.
//
// Where is what: journal.go is what others call, link.go finds what belongs together, store.go keeps metadata, spill.go moves bodies to disk,
// file.go and line.go write and read lines, open.go reads files, annotate.go has what people say of entries.
package journal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Dir says which way something went.
type Dir uint8

// The directions. None is for what is not a message, such as state changes.
const (
	None Dir = iota
	Out      // client -> server
	In       // server -> client
)

// String returns "", "out" or "in".
func (d Dir) String() string {
	switch d {
	case Out:
		return "out"
	case In:
		return "in"
	}
	return ""
}

// Kind says what an entry records.
type Kind uint8

// The kinds of entries. Bad is output that is not a JSON-RPC message; HTTP is a request or status line with its
// headers; State is a change of the connection, or the end of a request that was not an answer (see Append); Span is a timed
// step of the work on a request, recorded by who did it.
const (
	Request Kind = iota + 1
	Response
	ErrorResponse
	Notification
	Stderr
	Bad
	HTTP
	State
	Span
)

var kindNames = [...]string{"", "request", "response", "error", "notification", "stderr", "bad", "http", "state", "span"}

// String returns the kind's name in lower case, as in the JSONL file.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// The values of Entry.Status.
const (
	OK        = "ok"
	Failed    = "error"
	Pending   = "pending"
	Cancelled = "cancelled"
)

// Entry is the metadata of one journal entry, a copy: to change it changes nothing. Method, ID, Tool and Note are clipped to 512
// bytes: they can come from a hostile server. The whole is in Body.
type Entry struct {
	Seq    uint64        // 1, 2, 3 … over the whole journal
	Time   time.Time     // when it happened; Append fills in the present where it is zero
	Server string        // name in the configs
	Conn   uint64        // which connection of that server; reconnects count up
	Dir    Dir           // None for State
	Kind   Kind          // never 0
	Method string        // of a request or notification; for a response that of its request; of an annotation
	ID     string        // id bytes exactly as on the wire, "" if there is none
	Tool   string        // name of the tool or prompt, or uri of the resource, that the request is about
	Size   int           // bytes of the body
	Peer   uint64        // Seq of the request for a response or cancellation; of the response for an answered request; 0 if none
	Took   time.Duration // on responses, and on requests once they are over: since the request
	Status string        // "", OK, Failed, Pending or Cancelled
	Note   string        // short text for people: "401 Unauthorized", "Connecting → Connected", why something is bad
	Root   uint64        // Seq of the request whose exchange it is a part of, its own for a request; 0 for what stands alone
	Mark   Mark          // what is odd about its place in the exchange
	Hop    string        // who recorded it: "" for this process's sessions, "router", "agent" or "server"
	Trace  string        // id of its trace, 32 hex digits, "" if it has none (https://www.w3.org/TR/trace-context)
}

// Mark is what is odd about the place of an entry in its exchange, as bits. A server that answers twice, or what it was not asked, breaks
// JSON-RPC (https://www.jsonrpc.org/specification#response_object); one that answers late may only not have heard yet.
type Mark uint8

// The marks.
const (
	Late      Mark = 1 << iota // an answer to a request that was cancelled, or given up
	Duplicate                  // a second answer, or a request with the id of one that still runs
	Unasked                    // an answer to no request
)

var markNames = [...]string{"late", "duplicate", "unasked"}

// String names the bits, separated by blanks; "" for none.
func (m Mark) String() string {
	var out []string
	for i, name := range markNames {
		if m&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// Options configures a Journal. The zero value is usable.
type Options struct {
	Memory  int64  // bytes of bodies kept in memory; 0 means 64 MiB; a body of more than a quarter of it is not kept there
	Entries int    // entries whose metadata is kept; 0 means 1,000,000; rounded up to a block of 512
	Disk    int64  // bytes of spilled bodies kept on disk; 0 means 2 GiB
	Dir     string // where temporary files go; "" means os.TempDir()
	File    string // also append every entry to this file as JSONL, mode 0600; see AppendLine for what is hidden there
	// Keep changes what goes to File, such as to take secrets out of messages; nil leaves it. It is called for one entry after the other, on a
	// goroutine of the journal, and must not modify the body.
	Keep func(Entry, []byte) (Entry, []byte)
}

const (
	defaultMemory  = 64 << 20
	defaultEntries = 1_000_000
	defaultDisk    = 2 << 30
	maxMetaStrings = 64 << 20               // bytes of strings in kept metadata
	largeShare     = 4                      // a body of more than this part of Memory goes to disk soon
	largeWait      = time.Second            // delayed, since whoever waits for it needs the processor now
	maxWait        = 250 * time.Millisecond // the longest that one Append waits for the disk
)

// ErrNoEntry is returned by Body for an entry that never was or that was dropped because the journal keeps a bounded
// number of entries.
var ErrNoEntry = errors.New("no such journal entry (the oldest entries are dropped)")

// ErrNoBody is returned by Body when the entry is known but its body is not kept any more: the disk was too slow or
// full, or the journal was closed.
var ErrNoBody = errors.New("the body of this journal entry is no longer kept")

// Journal is safe for concurrent use. Only Append, Close, and Body and Head of what is on disk wait for anything.
//
// A body is in one of four places: in memory (block.bodies), in a segment, in the file that the journal was opened from, or nowhere any more.
// It goes from memory to a segment in the order of Seq, so that toSpill says of all of them which left. Nothing is read or written with mu
// held, and segments have locks of their own: whoever reads one while it is dropped gets ErrNoBody.
type Journal struct {
	opts     Options                  // completed; set once
	rev      atomic.Uint64            // see Rev
	onChange atomic.Pointer[[]func()] // replaced as a whole; nil before the first

	mu       sync.Mutex // guards what follows, up to wake
	store    store
	links    links
	notes    map[uint64]Note // by the entry that they are about; nil before the first. At most maxNotes
	mem      int64           // bytes of bodies in memory
	room     chan struct{}   // closed and replaced whenever mem shrank
	spilling bool            // between crossing Memory and reaching the low-water mark
	large    uint64          // newest body too large for memory; it and what is older goes to disk
	toSpill  uint64          // every body up to here left memory or is empty
	toFile   uint64          // every entry up to here is in File
	missed   uint64          // entries that were dropped before they could be written to File
	segs     []*segment      // oldest first; the last one is written to
	gone     uint32          // segments that were dropped before segs[0]
	from     *loader         // reads the file that the journal is opened from; nil for a live one. Set before anybody has the journal
	dead     []*segment      // dropped, and to be closed without mu, since closing waits for who reads
	disk     int64           // bytes in segs
	broken   error           // why spilling stopped, for good: more stays in memory then, and the oldest bodies are given up
	err      error           // first error of spill or File
	closed   bool            // nothing is appended any more

	file *os.File      // Options.File; nil without one, and after an error
	done chan struct{} // closed when the writer ended; nil until it runs

	wake chan struct{} // cap 1: the writer has something to do
	stop chan struct{} // closed by Close
}

// New returns an empty journal. If Options.File cannot be opened the journal works without it and Err says why.
func New(o Options) *Journal {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Entries <= 0 {
		o.Entries = defaultEntries
	}
	if o.Disk <= 0 {
		o.Disk = defaultDisk
	}
	j := &Journal{
		opts: o, links: newLinks(), room: make(chan struct{}),
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	j.store.start = time.Now()
	if o.File != "" {
		j.file, j.err = openFile(o.File)
	}
	return j
}

// Append records e with its body and returns its Seq. Seq, Size and a Time that is zero are filled in; the body is kept
// without copying, so the caller must not modify it, and should not pass a small part of a large buffer.
//
// Requests become Pending. A response is linked to the request with the same (Server, Conn, ID) in the other
// direction: both get Peer, Took and Status, and the response gets Method and Tool. A notifications/cancelled marks
// the request that it names as Cancelled; so does a State entry with an ID and a Status (Cancelled or Failed) for the
// request with that ID in the same direction, which is how an end without an answer is recorded (a closed response
// stream, a timeout). An answer that comes later is still linked.
//
// An HTTP entry is linked with the request whose ID it has, also where that comes after it, or by the caller: Peer names the entry with the
// other half of its exchange.
//
// Append after Close does nothing and returns 0.
func (j *Journal) Append(e Entry, body []byte) uint64 {
	e.Size = len(body)
	f := prepare(&e, body)
	j.mu.Lock()
	j.makeRoom()
	if j.closed {
		j.mu.Unlock()
		return 0
	}
	j.add(&e, f, body)
	if j.mem > j.opts.Memory {
		j.spilling = true
	}
	if seq := e.Seq; int64(len(body)) > j.opts.Memory/largeShare {
		time.AfterFunc(largeWait, func() { j.spillThrough(seq) })
	}
	if j.file != nil || j.spilling && j.broken == nil || len(j.dead) > 0 {
		j.startWriter()
	}
	j.mu.Unlock()
	j.notifyChange()
	return e.Seq
}

// add links and stores an entry, with the lock held.
func (j *Journal) add(e *Entry, f facts, body []byte) *record {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Seq = j.store.last() + 1
	j.link(e, f)
	j.annotate(e)
	b, i := j.store.push(e, body)
	j.mem += int64(len(body))
	j.trim()
	j.rev.Add(1)
	return &b.recs[i]
}

// notifyChange calls what OnChange was given.
func (j *Journal) notifyChange() {
	if fs := j.onChange.Load(); fs != nil {
		for _, f := range *fs {
			f()
		}
	}
}

// Len returns the number of entries kept.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return int(j.store.last() - j.store.first() + 1)
}

// First returns the Seq of the oldest entry kept; for an empty journal that of the entry to come.
func (j *Journal) First() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.store.first()
}

// Snapshot appends to dst the entries with Seq > since, oldest first, and returns it. Appending goes on while a long
// snapshot is taken. Links change earlier entries: a response or cancellation in the snapshot names in Peer the one
// that changed.
func (j *Journal) Snapshot(since uint64, dst []Entry) []Entry {
	j.mu.Lock()
	end := j.store.last()
	if n := int(end - max(since, j.store.first()-1)); since < end && cap(dst)-len(dst) < n {
		grown := make([]Entry, len(dst), len(dst)+n)
		copy(grown, dst)
		dst = grown
	}
	j.mu.Unlock()
	// Block by block, so that a snapshot of everything blocks no Append for long.
	for since < end {
		dst, since = j.block(since, end, dst)
	}
	return dst
}

// block appends the next entries after since, up to end at most, and returns after which the ones that follow begin: at or past end where none
// do, for all up to there may have been dropped meanwhile.
func (j *Journal) block(since, end uint64, dst []Entry) ([]Entry, uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	since = max(since, j.store.first()-1)
	n := len(dst)
	if dst = j.store.entries(since+1, end, dst); len(dst) > n {
		since = dst[len(dst)-1].Seq
	}
	return dst, since
}

// Each calls f for the entries with Seq > since that are there when it is called, oldest first, until f returns false. The
// entry is reused: a copy of it may be kept, its address may not.
func (j *Journal) Each(since uint64, f func(*Entry) bool) {
	j.mu.Lock()
	end := j.store.last()
	j.mu.Unlock()
	var buf [blockLen]Entry
	for since < end {
		var got []Entry
		got, since = j.block(since, end, buf[:0])
		for i := range got {
			if !f(&got[i]) {
				return
			}
		}
	}
}

// Frames returns the entries of one exchange, oldest first: the request, and all whose Root it is. Entries of other exchanges
// lie between them; the search ends with what was appended when it is called, or 20,000 entries after the answer.
func (j *Journal) Frames(root uint64) (out []Entry) {
	from := root
	if e, ok := j.Get(root); ok && e.Kind == Request {
		from -= min(from, headsBefore) // HTTP heads can come before the frame that they carry
	}
	until := uint64(math.MaxUint64)
	j.Each(from-min(from, 1), func(e *Entry) bool {
		if e.Root == root || e.Seq == root {
			out = append(out, *e)
			if e.Kind == Response || e.Kind == ErrorResponse {
				until = e.Seq + framesAfter
			}
		}
		return e.Seq < until
	})
	return out
}

// How far an HTTP entry may be before the request in its body, and a late frame of an exchange after the answer.
const (
	headsBefore = 64
	framesAfter = 20_000
)

// Get returns the entry with this Seq; false if there is none any more.
func (j *Journal) Get(seq uint64) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b, i := j.store.at(seq)
	if b == nil {
		return Entry{}, false
	}
	var e Entry
	b.entry(i, seq, &e)
	return e, true
}

// Body returns the body of an entry exactly as it was appended, from memory or from the temporary file. The caller
// must not modify it. Errors wrap ErrNoEntry or ErrNoBody, or are those of reading the file.
func (j *Journal) Body(seq uint64) ([]byte, error) { return j.Head(seq, -1) }

// Head is Body of which at most n bytes are read, for lists that show how a body begins.
func (j *Journal) Head(seq uint64, n int) ([]byte, error) {
	j.mu.Lock()
	b, i := j.store.at(seq)
	if b == nil {
		j.mu.Unlock()
		return nil, fmt.Errorf("journal entry %d: %w", seq, ErrNoEntry)
	}
	body, r, why := b.body(i), b.recs[i], j.broken
	seg := j.segment(r.seg)
	j.mu.Unlock()
	size := int(r.size)
	if n >= 0 {
		size = min(size, n)
		body = body[:min(len(body), n)]
	}
	switch {
	case body != nil || size == 0:
		return body, nil
	case seg == nil && why != nil:
		return nil, fmt.Errorf("journal entry %d: %w: %w", seq, ErrNoBody, why)
	case seg == nil:
		return nil, fmt.Errorf("journal entry %d: %w", seq, ErrNoBody)
	}
	stored := size
	if r.enc != plain {
		stored = int(r.stored)
	}
	body = make([]byte, stored)
	if err := seg.readAt(body, r.off); err != nil {
		return nil, fmt.Errorf("journal entry %d: %w", seq, err)
	}
	body, err := r.enc.decode(body)
	if err != nil {
		return nil, fmt.Errorf("journal entry %d: %w", seq, err)
	}
	return body[:min(len(body), size)], nil
}

// Rev is a counter that grows with every Append, and so also with every link.
func (j *Journal) Rev() uint64 { return j.rev.Load() }

// OnChange adds a function that is called after every Append, on the goroutine that appended and without locks held; and on one of the
// journal's own when a file was read on, or could not be written. There is no way to take it away. It must be cheap and must not call Append.
func (j *Journal) OnChange(f func()) {
	for {
		old := j.onChange.Load()
		var fs []func()
		if old != nil {
			fs = append(fs, *old...)
		}
		fs = append(fs, f)
		if j.onChange.CompareAndSwap(old, &fs) {
			return
		}
	}
}

// Err returns the first error of Options.File or of the temporary files, or nil. After one the journal goes on in
// memory.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes what is left to Options.File, ends the writer and removes the temporary files. Metadata and bodies in
// memory stay readable; of all other bodies reading gives ErrNoBody. It returns Err, the second time as well.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return j.Err()
	}
	j.closed = true
	done := j.done
	close(j.stop)
	j.mu.Unlock()
	if done != nil {
		<-done
	}
	if j.from != nil {
		j.from.close()
	}
	j.closeDead()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segs {
		s.close()
	}
	if j.file != nil {
		if err := j.file.Close(); err != nil && j.err == nil {
			j.err = err
		}
		j.file = nil
	}
	return j.err
}
