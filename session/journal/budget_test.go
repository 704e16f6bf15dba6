package journal

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/budget"
)

// million writes a journal file of n frames: calls of 50 tools with 1.5 kB each way, in 1.5 GB for a million.
func million(t *testing.T, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "million.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	pad := strings.Repeat("abcdefghij ", 110)
	at := time.Now()
	var line []byte
	for i := range n / 2 {
		q := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool%d","arguments":{"n":%d,"text":"%s"},"_meta":{"progressToken":%d}}}`, i, i%50, i, pad, i)
		a := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`, i, pad)
		e := Entry{
			Seq: uint64(2*i + 1), Time: at, Server: "server", Conn: 1, Dir: Out, Kind: Request, ID: fmt.Sprint(i), Method: "tools/call",
			Tool: fmt.Sprint("tool", i%50), Size: len(q), Status: Pending,
		}
		line = AppendLine(line[:0], e, q)
		at = at.Add(time.Millisecond)
		e.Seq, e.Dir, e.Kind, e.Time, e.Peer, e.Took, e.Status, e.Size = e.Seq+1, In, Response, at, e.Seq, time.Millisecond, OK, len(a)
		line = AppendLine(line, e, a)
		_, _ = w.Write(line) // a bufio.Writer keeps its first error
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBudgetMillionFrames(t *testing.T) {
	budget.Skip(t)
	const frames = 1_000_000
	name := million(t, frames)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var j *Journal
	var err error
	budget.Ceiling(t, "a file of 1,000,000 frames (1.5 GB) opened, first entries", budget.Time(func() { j, err = Open(name, Options{}) }), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	budget.Ceiling(t, "a file of 1,000,000 frames (1.5 GB) indexed", budget.Time(func() {
		for !j.Loaded().Done {
			time.Sleep(time.Millisecond)
		}
	}), 5*time.Second)
	if j.Len() != frames {
		t.Fatalf("%d entries", j.Len())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	budget.Size(t, "a file of 1,000,000 frames (1.5 GB), memory of its index", int64(after.HeapAlloc-before.HeapAlloc), 150_000_000, 1)
	budget.Ceiling(t, "1,000,000 entries scanned", budget.Best(func() time.Duration {
		return budget.Time(func() {
			n := 0
			j.Each(0, func(e *Entry) bool {
				if e.Tool == "tool7" {
					n++
				}
				return true
			})
			if n != frames/50 {
				t.Errorf("%d entries of a tool", n)
			}
		})
	}), time.Second)
	budget.Ceiling(t, "1,000,000 bodies read", budget.Time(func() {
		j.Each(0, func(e *Entry) bool {
			if b, err := j.Body(e.Seq); err != nil || len(b) != e.Size {
				t.Fatalf("body of %d: %d bytes, %v", e.Seq, len(b), err)
			}
			return true
		})
	}), 5*time.Second)
}

func TestBudgetAppend(t *testing.T) {
	budget.Skip(t)
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"progressToken":1}}}`)
	const n = 200_000
	each := budget.Best(func() time.Duration {
		j := New(Options{Dir: t.TempDir()})
		defer func() { _ = j.Close() }()
		return budget.Time(func() {
			for i := range n / 2 {
				id := fmt.Sprint(i)
				j.Append(Entry{Server: "s", Conn: 1, Dir: Out, Kind: Request, ID: id, Method: "tools/call"}, body)
				j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Response, ID: id}, body)
			}
		}) / n
	})
	budget.Ceiling(t, "a frame appended to the journal", each, 5*time.Microsecond)
}
