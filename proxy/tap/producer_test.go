package tap

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestTapSocketIsPrivate(t *testing.T) {
	p := open(t, Options{Name: "files", Kind: Wrapped})
	for path, want := range map[string]os.FileMode{p.Path(): 0o600 | os.ModeSocket, filepath.Dir(p.Path()): 0o700 | os.ModeDir} {
		if fi, err := os.Lstat(path); err != nil || fi.Mode() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v; want %v", path, fi.Mode(), err, want)
		}
	}
	files, err := os.ReadDir(filepath.Dir(p.Path()))
	if err != nil || len(files) != 1 {
		t.Errorf("in the folder: %v %v", files, err)
	}
	require.NoError(t, p.Close())
	if _, err := os.Lstat(p.Path()); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
	frame(p, "{}") // a closed one takes it and drops it
}

func TestTapFolderOfOthersIsRefused(t *testing.T) {
	dir := socketDir(t)
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.Chmod(dir, 0o777))
	open(t, Options{Dir: dir})
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("a folder that was open to others: %v %v", fi.Mode(), err)
	}
	link := filepath.Join(filepath.Dir(dir), "link")
	require.NoError(t, os.Symlink(dir, link))
	if p, err := Open(Options{Dir: link}); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("through a link: %v, %v", p, err)
	}
	if os.Getuid() == 0 {
		other := filepath.Join(filepath.Dir(dir), "other")
		require.NoError(t, os.Mkdir(other, 0o700))
		if err := os.Chown(other, 65534, 65534); err != nil {
			t.Skip(err)
		}
		if p, err := Open(Options{Dir: other}); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("another user's folder: %v, %v", p, err)
		}
	}
}

func TestTapPathsThatAreTooLong(t *testing.T) {
	base := t.TempDir()
	long := filepath.Join(base, strings.Repeat("x", 120))
	require.NoError(t, os.Mkdir(long, 0o700))
	if _, err := Open(Options{Dir: filepath.Join(long, "mcphud")}); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("%v", err)
	}
	// Without a folder by name the next one is taken.
	t.Setenv("MCPHUD_TAP_DIR", "")
	t.Setenv("XDG_RUNTIME_DIR", long)
	t.Setenv("TMPDIR", filepath.Dir(socketDir(t)))
	p, err := Open(Options{})
	require.NoError(t, err)
	defer p.Close()
	if strings.HasPrefix(p.Path(), long) {
		t.Error(p.Path())
	}
}

func TestTapRemovesStaleSockets(t *testing.T) {
	first := open(t, Options{})
	dir := filepath.Dir(first.Path())
	stale := filepath.Join(dir, "tap-999999999-abcdef.sock")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	require.NoError(t, err)
	ln.SetUnlinkOnClose(false)
	_ = ln.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note"), nil, 0o600))
	open(t, Options{Dir: dir})
	if _, err := os.Lstat(stale); !os.IsNotExist(err) {
		t.Errorf("a stale socket is still there: %v", err)
	}
	for _, path := range []string{first.Path(), filepath.Join(dir, "note")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("it should have been left alone: %v", err)
		}
	}
}

func TestTapStream(t *testing.T) {
	p := open(t, Options{Name: "files", Kind: Wrapped, Argv: []string{"npx", "server", "--token", "hunter2"}})
	frame(p, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)
	p.Append(journal.Entry{Dir: journal.In, Kind: journal.Stderr}, []byte("with Bearer hunter2hunter2"))
	d := dial(t, p)
	h := d.next().hello
	if h.Version != Version || h.Name != "files" || h.Kind != Wrapped || h.PID != os.Getpid() || strings.Join(h.Argv, " ") != "npx server --token ***" {
		t.Errorf("hello: %+v", h)
	}
	if m := d.next(); m.head.Kind != "request" || m.head.Method != "tools/call" || m.head.ID != "1" || m.head.Dir != "out" || m.head.Seq != 1 || !strings.HasPrefix(m.body, `{"jsonrpc"`) {
		t.Errorf("replayed: %+v", m)
	}
	if m := d.next(); m.head.Kind != "stderr" || strings.Contains(m.body, "hunter2") {
		t.Errorf("replayed: %+v", m)
	}
	if m := d.next(); m.kind != msgLive {
		t.Errorf("after the replay: %+v", m)
	}
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a","result":{}}`:      "response a",
		`{"jsonrpc":"2.0","method":"n"}`:              "notification ",
		"log line":                                    "bad ",
		`{"jsonrpc":"2.0","id":null,"error":{"a":1}}`: "error null",
	} {
		frame(p, body)
		if m := d.next(); m.head.Kind+" "+strings.Trim(m.head.ID, `"`) != want || m.body != body {
			t.Errorf("%s: %+v", body, m)
		}
	}
	frame(p, `[{"jsonrpc":"2.0","id":1,"result":{}}, {"jsonrpc":"2.0","method":"n"}]`)
	if a, b := d.next(), d.next(); a.head.Kind != "response" || b.head.Kind != "notification" || a.head.Seq != b.head.Seq {
		t.Errorf("a batch: %+v %+v", a, b)
	}
}

// What was said before anybody looked is bounded, in number and in length.
func TestTapReplayIsBounded(t *testing.T) {
	p := open(t, Options{})
	long := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 100_000) + `"}}`
	for range 3 * idleRecords {
		frame(p, long)
	}
	if p.ring.bytes > idleBytes || len(p.ring.recs) > 2*idleRecords {
		t.Errorf("%d bytes, room for %d records", p.ring.bytes, len(p.ring.recs))
	}
	d := dial(t, p)
	d.next()
	for i := range idleRecords {
		m := d.next()
		if m.head.Kind != "request" || m.head.ID != "7" || len(m.body) != idleBody || !strings.Contains(m.head.Note, fmt.Sprintf("4096 of %d bytes", len(long))) || m.head.Seq != uint64(2*idleRecords+i+1) {
			t.Fatalf("%d: %+v", i, m.head)
		}
	}
	if m := d.next(); m.kind != msgLive {
		t.Errorf("%+v", m.head)
	}
	big := `{"jsonrpc":"2.0","id":8,"result":"` + strings.Repeat("x", 2*MaxBody) + `"}`
	frame(p, big)
	if m := d.next(); m.head.Kind != "response" || m.head.ID != "8" || len(m.body) != MaxBody || !strings.Contains(m.head.Note, fmt.Sprint(len(big))) {
		t.Errorf("%+v, %d bytes", m.head, len(m.body))
	}
	_ = d.c.Close()
	require.Eventually(t, "the reader to be gone", func() bool { return !p.Watched() })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ring.bytes > idleBytes {
		t.Errorf("%d bytes are kept with nobody there", p.ring.bytes)
	}
}

// A reader that does not read costs whoever appends nothing, and learns what it missed.
func TestTapSlowReader(t *testing.T) {
	t.Parallel()
	p := open(t, Options{})
	slow, quick := dial(t, p), dial(t, p)
	require.Eventually(t, "both readers", func() bool { return p.watched.Load() == 2 })
	body := `{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 32<<10) + `"}`
	const n = 3 * liveBytes / (32 << 10)
	var sum atomic.Uint64
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			m, err := quick.try()
			if err != nil {
				return
			}
			if m.kind == msgEntry {
				sum.Add(1)
			}
			sum.Add(m.dropped)
		}
	}()
	var worst time.Duration
	for range n {
		start := time.Now()
		frame(p, body)
		worst = max(worst, time.Since(start))
	}
	if worst > 10*time.Second {
		t.Errorf("one Append took %v", worst)
	}
	p.mu.Lock()
	if p.ring.bytes > liveBytes {
		t.Errorf("%d bytes", p.ring.bytes)
	}
	p.mu.Unlock()
	var entries, lost uint64
	last := uint64(0)
	for entries+lost < n {
		m := slow.next()
		switch m.kind {
		case msgEntry:
			if m.head.Seq != last+1 {
				t.Fatalf("entry %d after %d", m.head.Seq, last)
			}
			entries, last = entries+1, m.head.Seq
		case msgDropped:
			lost, last = lost+m.dropped, last+m.dropped
		}
	}
	if lost == 0 || last != n {
		t.Errorf("%d entries, %d lost, up to %d of %d", entries, lost, last, n)
	}
	require.Eventually(t, "all is accounted for", func() bool { return sum.Load() == n }) // before Close, which does not wait for long
	_ = p.Close()
	if <-over; sum.Load() != n {
		t.Errorf("the other reader accounts for %d of %d", sum.Load(), n)
	}
}

func TestTapCloseSendsWhatIsLeft(t *testing.T) {
	p := open(t, Options{})
	d := dial(t, p)
	require.Eventually(t, "the reader", p.Watched)
	for i := range 1000 {
		frame(p, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
	}
	_ = p.Close()
	n := 0
	for _, m := range d.rest() {
		if m.kind == msgEntry {
			n++
		}
	}
	assert.Equalf(t, n, 1000, "entries")
}

func TestTapNilProducer(t *testing.T) {
	var p *Producer
	frame(p, "{}")
	x := p.Exchange("a", "")
	x.Request(nil, nil, nil)
	x.Response(200, nil)
	x.Body([]byte("x"))
	x.Close(nil)
	if p.Watched() || p.Path() != "" || p.Close() != nil || p.RecordResponses(nil) != nil || p.RecordRequests(nil) != nil {
		t.Error("a nil producer does something")
	}
}

func BenchmarkAppendNobodyReads(b *testing.B) {
	p := open(b, Options{})
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`)
	e := journal.Entry{Server: "a", Conn: 1, Dir: journal.Out}
	b.ReportAllocs()
	for b.Loop() {
		p.Append(e, body)
	}
}

func BenchmarkAppendNilProducer(b *testing.B) {
	var p *Producer
	body := []byte(`{}`)
	for b.Loop() {
		p.Append(journal.Entry{Server: "a"}, body)
	}
}

func BenchmarkAppendOneReader(b *testing.B) {
	p := open(b, Options{})
	d := dial(b, p)
	go func() {
		for {
			if _, _, _, err := read(d.r); err != nil {
				return
			}
		}
	}()
	defer d.c.Close()
	require.Eventually(b, "the reader", p.Watched)
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`)
	e := journal.Entry{Server: "a", Conn: 1, Dir: journal.Out}
	b.ReportAllocs()
	for b.Loop() {
		p.Append(e, body)
	}
}

// Names, ids and methods are made up by callers and servers, and are beside the bytes that are counted.
func TestTapKeepsShortWordsOnly(t *testing.T) {
	p := open(t, Options{})
	long := strings.Repeat("x", 1<<20)
	x := p.Exchange(long, "")
	x.Request(httptest.NewRequest(http.MethodPost, "/", nil), []byte(long), []byte("{}"))
	x.Close(errors.New(long))
	p.AppendPart(journal.Entry{ID: long, Method: long, Kind: journal.Request}, nil, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq := p.ring.first; seq < p.ring.next; seq++ {
		rec := p.ring.at(seq)
		for _, s := range []string{rec.answer, rec.entry.Server, rec.entry.ID, rec.entry.Method, rec.entry.Note} {
			if len(s) > 2<<10 {
				t.Errorf("%d: %d bytes are kept", seq, len(s))
			}
		}
	}
}
