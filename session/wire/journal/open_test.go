package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// write makes a journal file of a session, and returns the journal that wrote it.
func write(t *testing.T, name string, say func(j *Journal)) *Journal {
	t.Helper()
	j := New(Options{File: name, Dir: t.TempDir()})
	say(j)
	require.NoError(t, j.Close())
	return j
}

// session is a call over HTTP with progress, one that is cancelled and answered late, a second answer, and what stands alone.
func session(j *Journal) {
	s := Entry{Server: "s", Conn: 1}
	say := func(d Dir, k Kind, id, method, body string) uint64 {
		e := s
		e.Dir, e.Kind, e.ID, e.Method = d, k, id, method
		return j.Append(e, []byte(body))
	}
	say(Out, Request, "1", "tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":"p1","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}`)
	head := say(Out, HTTP, "1", "tools/call", "POST http://h/mcp HTTP/1.1\nAccept: a\n")
	in := s
	in.Dir, in.Kind, in.ID, in.Method, in.Peer, in.Took, in.Note = In, HTTP, "1", "tools/call", head, 3*time.Millisecond, "200 OK"
	j.Append(in, []byte("HTTP/1.1 200 OK\nContent-Type: application/json\n"))
	say(In, Notification, "", "notifications/progress", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":1}}`)
	say(In, Response, "1", "", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	say(In, Notification, "", "notifications/progress", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":2}}`)
	say(In, Response, "1", "", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	say(Out, Request, "2", "ping", `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	say(Out, Notification, "", "notifications/cancelled", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	say(In, Response, "2", "", `{"jsonrpc":"2.0","id":2,"result":{}}`)
	say(In, Response, "77", "", `{"jsonrpc":"2.0","id":77,"result":{}}`)
	say(In, Stderr, "", "", "a \"line\"\n")
	say(In, Bad, "", "", "\xff\xfe")
}

func TestEntriesOfAnExchangeHaveItsRoot(t *testing.T) {
	j := newTest(t, Options{})
	session(j)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for i, want := range []struct {
		root  uint64
		mark  Mark
		trace string
	}{
		{1, 0, trace},
		{1, 0, trace},
		{1, 0, trace},
		{1, 0, trace},
		{1, 0, trace},
		{1, 0, trace},
		{1, Duplicate, trace},
		{8, 0, ""},
		{8, 0, ""},
		{8, Late, ""},
		{0, Unasked, ""},
		{0, 0, ""},
		{0, 0, ""},
	} {
		e := get(t, j, uint64(i+1))
		if e.Root != want.root || e.Mark != want.mark || e.Trace != want.trace {
			t.Errorf("entry %d (%s %s): root %d, %q, trace %q; want %d, %q, %q", e.Seq, e.Kind, e.Method, e.Root, e.Mark, e.Trace, want.root, want.mark, want.trace)
		}
	}
	if got := j.Frames(1); len(got) != 7 || got[3].Method != "notifications/progress" {
		t.Errorf("the exchange has %d frames", len(got))
	}
	n := 0
	j.Each(3, func(e *Entry) bool { n++; return e.Seq < 6 })
	assert.Equalf(t, n, 3, "Each went on after false")
}

// Peers write a string with escapes of their own: an id and a progress token are what they mean.
func TestIDsInOtherSpellings(t *testing.T) {
	j := newTest(t, Options{})
	ask := func(id string) uint64 {
		return j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: Request, Method: "tools/call", ID: id},
			[]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"_meta":{"progressToken":`+id+`}}}`))
	}
	asked := ask(`"ü/1"`)
	progress := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Notification, Method: "notifications/progress"},
		[]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\u00fc\/1","progress":1}}`))
	answered := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Response, ID: `"\u00fc\/1"`}, []byte(`{"jsonrpc":"2.0","id":"\u00fc\/1","result":{}}`))
	if e := get(t, j, asked); e.Peer != answered || e.Status == Pending {
		t.Errorf("the request is not answered: %+v", e)
	}
	if e := get(t, j, answered); e.Root != asked || e.Mark != 0 || e.ID != `"\u00fc\/1"` {
		t.Errorf("the answer: %+v", e)
	}
	if e := get(t, j, progress); e.Root != asked {
		t.Errorf("the progress: %+v", e)
	}
	left := ask(`"\u00fc"`)
	j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: Notification, Method: "notifications/cancelled"}, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ü"}}`))
	if e := get(t, j, left); e.Status != Cancelled {
		t.Errorf("it is not cancelled: %+v", e)
	}
}

// TestAnHTTPHeadBeforeItsMessage: a router records the head first.
func TestAnHTTPHeadBeforeItsMessage(t *testing.T) {
	j := newTest(t, Options{})
	j.Append(Entry{Conn: 1, Dir: Out, Kind: HTTP, ID: "5"}, []byte("POST /mcp HTTP/1.1\nTraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n"))
	j.Append(Entry{Conn: 1, Dir: Out, Kind: Request, ID: "5", Method: "tools/list"}, []byte(`{}`))
	j.Append(Entry{Conn: 1, Dir: In, Kind: HTTP, ID: "5"}, []byte("200 OK\n"))
	for seq := uint64(1); seq <= 3; seq++ {
		if e := get(t, j, seq); e.Root != 2 || e.Trace == "" {
			t.Errorf("entry %d has root %d, trace %q", seq, e.Root, e.Trace)
		}
	}
	if got := j.Frames(2); len(got) != 3 {
		t.Errorf("%d frames", len(got))
	}
}

// loadedAll waits until a file is read.
func loadedAll(t *testing.T, j *Journal) Loading {
	t.Helper()
	require.Eventually(t, "the file to be read", func() bool { return j.Loaded().Done })
	return j.Loaded()
}

func opened(t *testing.T, name string) *Journal {
	t.Helper()
	j, err := Open(name, Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, j.Close()) })
	return j
}

func TestOpenShowsWhatWasWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j.jsonl")
	was := write(t, name, session)
	write(t, name, session) // another run appends, with the same connection and ids
	j := opened(t, name)
	if l := loadedAll(t, j); l.Err != nil || l.Broken != 0 || l.Read != l.Total {
		t.Fatalf("%+v", l)
	}
	if j.Len() != 2*was.Len() {
		t.Fatalf("%d entries, want %d", j.Len(), 2*was.Len())
	}
	for _, e := range was.Snapshot(0, nil) {
		for _, run := range []uint64{0, 1} {
			shift := run * uint64(was.Len())
			got := get(t, j, e.Seq+shift)
			want := e
			want.Seq += shift
			want.Conn |= run << 48
			want.Time, got.Time = want.Time.UTC().Round(0), got.Time.UTC()
			if want.Peer != 0 {
				want.Peer += shift
			}
			if want.Root != 0 {
				want.Root += shift
			}
			if run == 1 {
				want.Time, want.Took = got.Time, got.Took
			} else if d := want.Took - got.Took; d.Abs() < time.Millisecond { // one by a steady clock, the other by the times in the file
				want.Took = got.Took
			}
			if e.Conn == 0 && e.ID == "" {
				want.Conn = 0
			}
			if got != want {
				t.Errorf("entry %d of run %d:\n got %+v\nwant %+v", e.Seq, run, got, want)
			}
			body, err := j.Body(got.Seq)
			before, _ := was.Body(e.Seq)
			if err != nil || !bytes.Equal(body, bytes.TrimRight(before, "\n")) && e.Kind == Stderr || e.Kind != Stderr && !bytes.Equal(body, before) {
				t.Errorf("body of %d: %q, %v; want %q", got.Seq, body, err, before)
			}
			if head, err := j.Head(got.Seq, 5); err != nil || !bytes.HasPrefix(body, head) || len(head) > 5 {
				t.Errorf("head of %d: %q, %v", got.Seq, head, err)
			}
		}
	}
	assert.Equalf(t, j.Append(Entry{Kind: State, Note: "looked at"}, nil), uint64(j.Len()), "nothing can be appended")
}

func TestOpenFollowsAFileThatGrows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j.jsonl")
	line := func(seq int) []byte {
		return AppendLine(nil, Entry{Seq: uint64(seq), Time: time.Now(), Server: "s", Kind: Stderr, Dir: In}, fmt.Appendf(nil, "line %d", seq))
	}
	half := line(3)
	require.NoError(t, os.WriteFile(name, append(append(line(1), line(2)...), half[:20]...), 0o600))
	j := opened(t, name)
	if l := loadedAll(t, j); l.Err != nil || l.Broken != 0 || j.Len() != 2 {
		t.Fatalf("%+v with %d entries", l, j.Len())
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	if _, err := f.Write(append(half[20:], line(4)...)); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "the fourth entry", func() bool { return j.Len() >= 4 })
	if b, err := j.Body(4); err != nil || string(b) != "line 4" {
		t.Fatalf("%q, %v", b, err)
	}
	if b, err := j.Body(3); err != nil || string(b) != "line 3" {
		t.Fatalf("%q, %v", b, err)
	}
}

func TestOpenOfWhatIsNoJournal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"text":    strings.Repeat("hello\n", 30),
		"short":   "hello",
		"json":    `{"jsonrpc":"2.0","id":1}` + "\n",
		"array":   "[1,2,3]\n",
		"numbers": strings.Repeat(`{"seq":"x","kind":"bad"}`+"\n", 25),
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if j, err := Open(path, Options{}); !errors.Is(err, ErrNotAJournal) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				_ = j.Close()
			}
		}
	}
	if _, err := Open(filepath.Join(dir, "missing"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("a folder was opened")
	}
}

func TestOpenKeepsBrokenLinesAndReadsOn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j.jsonl")
	huge := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":9,"result":{"text":"%s"}}`, strings.Repeat("x", loadBuffer+100))
	var b []byte
	b = AppendLine(b, Entry{Seq: 1, Server: "s", Kind: Stderr}, []byte("first"))
	b = append(b, "{\"seq\":2,\"kind\":\n\n"...)
	b = append(b, "{\"missing\":12}\n"...)
	b = append(b, `{ "frame": {"jsonrpc":"2.0","id":4,"method":"ping"}, "kind":"request", "dir":"out", "id":"4", "method":"ping", "seq": 4, "time": "2026-01-02T03:04:05Z", "new":{"a":[1]} }`+"\r\n"...)
	b = AppendLine(b, Entry{Seq: 5, Server: "s", Dir: In, Kind: Response, ID: "9"}, huge)
	b = AppendLine(b, Entry{Seq: 6, Server: "s", Kind: Stderr}, []byte("last"))
	require.NoError(t, os.WriteFile(name, b, 0o600))
	j := opened(t, name)
	if l := loadedAll(t, j); l.Broken != 1 || l.Err != nil {
		t.Errorf("%+v", l)
	}
	var kinds []string
	for _, e := range j.Snapshot(0, nil) {
		kinds = append(kinds, e.Kind.String())
	}
	if got := strings.Join(kinds, " "); got != "stderr bad state request response stderr" {
		t.Fatal(got)
	}
	if body, err := j.Body(5); err != nil || !bytes.Equal(body, huge) {
		t.Errorf("%d bytes of %d, %v", len(body), len(huge), err)
	}
	if body, err := j.Body(4); err != nil || string(body) != `{"jsonrpc":"2.0","id":4,"method":"ping"}` {
		t.Errorf("%s, %v", body, err)
	}
	if body, err := j.Body(2); err != nil || string(body) != `{"seq":2,"kind":` {
		t.Errorf("%s, %v", body, err)
	}
}

// Lines that another program wrote anew, with blanks, are read as well.
func TestParseLineWithBlanks(t *testing.T) {
	l, err := ParseLine([]byte(`{"seq": 6, "time": "2026-01-02T03:04:05Z", "conn": 1 , "took_ms": 1.5, "kind": "response", "size": 2, "frame": {"id": 1} }`))
	body, _ := l.Body()
	if err != nil || l.Seq != 6 || l.Conn != 1 || l.Took != 1500*time.Microsecond || l.Kind != Response || string(body) != `{"id": 1}` {
		t.Errorf("%+v, body %s, %v", l, body, err)
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"seq":1,"time":"2026-01-02T03:04:05Z","server":"a\u0062","kind":"request","frame":{}}`))
	f.Add([]byte(`{"missing":3}`))
	f.Add([]byte(`{"kind":"bad","base64":"//4="}`))
	f.Add([]byte(`{"kind":"bad","text":"\ud800"`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		l, err := ParseLine(b)
		if err == nil {
			_, _ = l.Body()
		}
	})
}
