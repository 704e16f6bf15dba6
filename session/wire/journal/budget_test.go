package journal_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestBudgetMillionFrames(t *testing.T) {
	budget.Skip(t)
	const frames = 1_000_000
	name := sessiontest.JournalFile(t, frames)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var j *journal.Journal
	var err error
	budget.Ceiling(t, "a file of 1,000,000 frames (1.5 GB) opened, first entries", budget.Time(func() { j, err = journal.Open(name, journal.Options{}) }), 200*time.Millisecond)
	require.NoError(t, err)
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
			j.Each(0, func(e *journal.Entry) bool {
				if e.Tool == "tool7" {
					n++
				}
				return true
			})
			assert.Equalf(t, n, frames/50, "entries of a tool")
		})
	}), time.Second)
	budget.Ceiling(t, "1,000,000 bodies read", budget.Time(func() {
		j.Each(0, func(e *journal.Entry) bool {
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
		j := journal.New(journal.Options{Dir: t.TempDir()})
		defer func() { _ = j.Close() }()
		return budget.Time(func() {
			for i := range n / 2 {
				id := fmt.Sprint(i)
				j.Append(journal.Entry{Server: "s", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: id, Method: "tools/call"}, body)
				j.Append(journal.Entry{Server: "s", Conn: 1, Dir: journal.In, Kind: journal.Response, ID: id}, body)
			}
		}) / n
	})
	budget.Ceiling(t, "a frame appended to the journal", each, 5*time.Microsecond)
}
