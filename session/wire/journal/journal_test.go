package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newTest(t *testing.T, o Options) *Journal {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	j := New(o)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return j
}

func request(id, method string) (Entry, []byte) {
	return Entry{Server: "s", Conn: 1, Dir: Out, Kind: Request, ID: id, Method: method},
		fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q}`, id, method)
}

func get(t *testing.T, j *Journal, seq uint64) Entry {
	t.Helper()
	e, ok := j.Get(seq)
	if !ok {
		t.Fatalf("entry %d is not there", seq)
	}
	return e
}

func TestLinksAnswerWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newTest(t, Options{})
		q := j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: Request, ID: "7", Method: "tools/call"},
			[]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"name":"no"},"name":"écho\u0021"}}`))
		if e := get(t, j, q); e.Status != Pending || e.Tool != "écho!" || e.Seq != 1 || e.Size == 0 || e.Time.IsZero() {
			t.Errorf("request: %+v", e)
		}
		other := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Request, ID: "7", Method: "ping"}, nil) // the server's own id 7
		elsewhere := j.Append(Entry{Server: "s", Conn: 2, Dir: Out, Kind: Request, ID: "7", Method: "ping"}, nil)
		time.Sleep(time.Second)
		a := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Response, ID: "7"}, []byte(`{}`))
		if e := get(t, j, a); e.Peer != q || e.Took != time.Second || e.Status != OK || e.Method != "tools/call" || e.Tool != "écho!" {
			t.Errorf("response: %+v", e)
		}
		if e := get(t, j, q); e.Peer != a || e.Status != OK || e.Took != time.Second {
			t.Errorf("request after the response: %+v", e)
		}
		for _, seq := range []uint64{other, elsewhere} {
			if e := get(t, j, seq); e.Status != Pending || e.Peer != 0 {
				t.Errorf("another request with the same id: %+v", e)
			}
		}
		dup := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Response, ID: "7"}, nil)
		if e := get(t, j, dup); e.Peer != 0 {
			t.Errorf("a second answer must not link: %+v", e)
		}
		bad := j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: ErrorResponse, ID: "7"}, nil)
		if e := get(t, j, other); e.Status != Failed || e.Peer != bad {
			t.Errorf("the server's request: %+v", e)
		}
	})
}

func TestCancellation(t *testing.T) {
	j := newTest(t, Options{})
	for _, id := range []string{`"a\u0062"`, `12`, `13`, `14`} {
		e, b := request(id, "tools/call")
		j.Append(e, b)
	}
	cancel := Entry{Server: "s", Conn: 1, Dir: Out, Kind: Notification, Method: "notifications/cancelled"}
	n := j.Append(cancel, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"x","requestId":"a\u0062"}}`))
	j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: State, ID: "12", Status: Cancelled, Note: "response stream closed"}, nil)
	j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: State, ID: "13", Status: Failed, Note: "timed out"}, nil)
	j.Append(cancel, []byte(`{"params":{"requestId":99}}`))
	j.Append(cancel, []byte(`[1,`))
	for i, want := range []string{Cancelled, Cancelled, Failed, Pending} {
		if e := get(t, j, uint64(i+1)); e.Status != want {
			t.Errorf("request %d is %q, want %q", i+1, e.Status, want)
		}
	}
	if e := get(t, j, n); e.Peer != 1 {
		t.Errorf("the cancellation names %d, want 1", e.Peer)
	}
	// A late answer is linked and does not undo the cancellation.
	late := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Response, ID: `12`}, []byte(`{}`))
	if e := get(t, j, 2); e.Status != Cancelled || e.Peer != late {
		t.Errorf("after a late answer: %+v", e)
	}
}

func TestSpilledBodiesReadBack(t *testing.T) {
	dir := t.TempDir()
	j := newTest(t, Options{Memory: 64 << 10, Dir: dir})
	rnd := rand.New(rand.NewPCG(1, 2))
	var want [][]byte
	for i := range 2000 {
		n := rnd.IntN(3000)
		if i%500 == 7 {
			n = directBytes + rnd.IntN(1000)
		}
		b := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, n/2)
		want = append(want, b)
		j.Append(Entry{Kind: Stderr}, b)
	}
	waitFor(t, j, func() bool { return j.mem <= j.opts.Memory })
	j.mu.Lock()
	if len(j.segs) == 0 || j.toSpill == 0 {
		t.Error("nothing was spilled")
	}
	for _, s := range j.segs {
		if fi, err := s.f.Stat(); err != nil || fi.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("temporary file: %v, %v", fi.Mode(), err)
		}
	}
	j.mu.Unlock()
	for i, w := range want {
		b, err := j.Body(uint64(i + 1))
		if err != nil || !bytes.Equal(b, w) {
			t.Fatalf("body %d: %d bytes, %v, want %d bytes", i+1, len(b), err, len(w))
		}
	}
	assert.NoError(t, j.Close())
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := j.Body(1); !errors.Is(err, ErrNoBody) {
		t.Errorf("a spilled body after Close: %v", err)
	}
	assert.Equalf(t, j.Append(Entry{}, nil), 0, "Append after Close recorded something")
}

// One body of a good part of the share leaves memory soon: it would else stay there until much more came.
func TestLargeBodiesAreNotKeptInMemory(t *testing.T) {
	j := newTest(t, Options{Memory: 1 << 20, Dir: t.TempDir()})
	large := bytes.Repeat([]byte("large "), 60_000)
	small := []byte("small")
	for _, b := range [][]byte{small, large, small} {
		j.Append(Entry{Kind: Stderr}, b)
	}
	waitFor(t, j, func() bool { return j.mem <= int64(2*len(small)) })
	for i, want := range [][]byte{small, large, small} {
		if b, err := j.Body(uint64(i + 1)); err != nil || !bytes.Equal(b, want) {
			t.Errorf("body %d: %d bytes, %v, want %d", i+1, len(b), err, len(want))
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.spilling {
		t.Error("the journal spills although nearly nothing is in memory")
	}
}

// waitFor waits until cond, called with the lock held, is true.
func waitFor(t *testing.T, j *Journal, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		j.mu.Lock()
		ok := cond()
		j.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the writer does not get there")
		}
	}
}

func TestMillionEntriesStayBounded(t *testing.T) {
	n := uint64(1_000_000)
	if testing.Short() {
		n = 300_000
	}
	j := newTest(t, Options{Memory: 8 << 20, Entries: 50_000})
	body := bytes.Repeat([]byte("x"), 200)
	for i := range n {
		id := fmt.Sprint(i)
		j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: Request, ID: id, Method: "tools/list"}, body) // never answered
	}
	if got := j.Len(); got > 50_000+2*blockLen || got < 50_000-blockLen {
		t.Errorf("%d entries kept", got)
	}
	first := j.First()
	if first+uint64(j.Len()) != n+1 {
		t.Errorf("First %d + Len %d does not end at %d", first, j.Len(), n)
	}
	if _, ok := j.Get(first - 1); ok {
		t.Error("an entry before First is there")
	}
	if _, err := j.Body(first - 1); !errors.Is(err, ErrNoEntry) {
		t.Errorf("body before First: %v", err)
	}
	all := j.Snapshot(0, nil)
	if len(all) != j.Len() || all[0].Seq != first || all[len(all)-1].Seq != n {
		t.Errorf("snapshot of %d entries", len(all))
	}
	if tail := j.Snapshot(n-10, nil); len(tail) != 10 || tail[0].Seq != n-9 {
		t.Errorf("tail of %d", len(tail))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.links.pending) != j.lenLocked() {
		t.Errorf("%d pending requests for %d entries", len(j.links.pending), j.lenLocked())
	}
	if j.mem > 2*j.opts.Memory+int64(len(body)) {
		t.Errorf("%d bytes of bodies in memory", j.mem)
	}
}

func (j *Journal) lenLocked() int { return int(j.store.last() - j.store.first() + 1) }

func TestOldSegmentsAreRemoved(t *testing.T) {
	j := newTest(t, Options{Memory: 1 << 20, Disk: 100 << 20})
	body := make([]byte, 4<<20)
	for range 60 { // 240 MB
		j.Append(Entry{Kind: Stderr}, body)
		waitFor(t, j, func() bool { return j.mem <= j.opts.Memory })
	}
	j.mu.Lock()
	disk, segs := j.disk, len(j.segs)
	j.mu.Unlock()
	if disk > 100<<20+segmentSize+int64(len(body)) || segs < 1 {
		t.Errorf("%d bytes in %d segments on disk", disk, segs)
	}
	if _, err := j.Body(1); !errors.Is(err, ErrNoBody) {
		t.Errorf("the oldest body: %v", err)
	}
	if b, err := j.Body(60); err != nil || len(b) != len(body) {
		t.Errorf("the newest body: %d bytes, %v", len(b), err)
	}
}

func TestHostileMetadataIsClipped(t *testing.T) {
	j := newTest(t, Options{})
	long := strings.Repeat("é", 1<<20)
	q := j.Append(Entry{Dir: In, Kind: Request, Method: long, ID: long, Note: long}, nil)
	e := get(t, j, q)
	if len(e.Method) > maxMeta+8 || len(e.ID) > maxMeta+8 || len(e.Note) > maxMeta+8 {
		t.Errorf("kept %d, %d, %d bytes", len(e.Method), len(e.ID), len(e.Note))
	}
	assert.Equalf(t, get(t, j, j.Append(Entry{Dir: Out, Kind: Response, ID: long}, nil)).Peer, q, "a clipped id does not link")
}

func TestDiskFailureKeepsTheJournalGoing(t *testing.T) {
	j := New(Options{Memory: 1 << 10, Dir: filepath.Join(t.TempDir(), "missing")})
	start := time.Now()
	for range 1000 {
		j.Append(Entry{Kind: Stderr}, make([]byte, 100))
	}
	if d := time.Since(start); d > 60*maxWait { // far from a wait for each
		t.Errorf("1000 appends without a disk took %v", d)
	}
	waitFor(t, j, func() bool { return j.broken != nil })
	if _, err := j.Body(1); !errors.Is(err, ErrNoBody) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("the oldest body: %v", err)
	}
	if _, err := j.Body(1000); err != nil {
		t.Errorf("the newest body: %v", err)
	}
	if j.mem > 2<<10+100 {
		t.Errorf("%d bytes in memory", j.mem)
	}
	assert.ErrorContains(t, j.Close(), "TMPDIR")
}

func TestConcurrentUse(t *testing.T) {
	j := newTest(t, Options{Memory: 32 << 10, Entries: 4000, File: filepath.Join(t.TempDir(), "j.jsonl")})
	var changes atomic.Int64
	j.OnChange(func() { changes.Add(1); j.Rev() })
	const workers, each = 8, 1000
	var work, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			var seen uint64
			var buf []Entry
			for {
				select {
				case <-stop:
					return
				default:
				}
				buf = j.Snapshot(seen, buf[:0])
				for _, e := range buf {
					if e.Seq <= seen {
						t.Errorf("entry %d after %d", e.Seq, seen)
					}
					seen = e.Seq
				}
				if len(buf) > 0 {
					b, err := j.Body(seen)
					if err == nil && len(b) != buf[len(buf)-1].Size {
						t.Errorf("body of %d has %d bytes", seen, len(b))
					}
				}
			}
		})
	}
	for w := range workers {
		work.Go(func() {
			for i := range each {
				e, b := request(fmt.Sprint(i), "ping")
				e.Conn = uint64(w)
				q := j.Append(e, b)
				e.Dir, e.Kind = In, Response
				a, ok := j.Get(j.Append(e, b))
				dropped := j.First() > q // by the other workers
				if ok && !dropped && (a.Peer != q || a.Status != OK) {
					t.Errorf("answer %d of %d: %+v", i, w, a)
				}
			}
		})
	}
	work.Wait()
	close(stop)
	readers.Wait()
	if got := changes.Load(); got != 2*workers*each || j.Rev() != 2*workers*each {
		t.Errorf("%d changes, revision %d", got, j.Rev())
	}
}

// A snapshot whose entries are all dropped while it is taken comes to its end.
func TestSnapshotOfWhatIsDropped(t *testing.T) {
	j := newTest(t, Options{Entries: 1})
	for range 10_000 {
		j.Append(request("1", "ping"))
	}
	taken := []Entry{{Seq: 7}}
	if got, since := j.block(7, 20, taken); j.First() <= 20 || len(got) != 1 || since < 20 {
		t.Errorf("%d entries, on from %d; the first that is kept is %d", len(got), since, j.First())
	}
}

func BenchmarkAppend(b *testing.B) {
	j := New(Options{Dir: b.TempDir()})
	defer func() { _ = j.Close() }()
	body := []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":17}}`)
	e := Entry{Server: "s", Conn: 1, Dir: In, Kind: Notification, Method: "notifications/progress"}
	b.ReportAllocs()
	for b.Loop() {
		j.Append(e, body)
	}
}

func BenchmarkAppendRequestAndAnswer(b *testing.B) {
	j := New(Options{Dir: b.TempDir()})
	defer func() { _ = j.Close() }()
	e, body := request("1", "tools/list")
	a := e
	a.Dir, a.Kind = In, Response
	b.ReportAllocs()
	for b.Loop() {
		j.Append(e, body)
		j.Append(a, body)
	}
}

func BenchmarkSnapshotTail(b *testing.B) {
	j := New(Options{Dir: b.TempDir()})
	defer func() { _ = j.Close() }()
	for range 200_000 {
		j.Append(Entry{Kind: Stderr}, nil)
	}
	var buf []Entry
	for b.Loop() {
		buf = j.Snapshot(200_000-60, buf[:0])
	}
}
