package live

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// talk plays a conversation of n frames with 1.2 kB each way to a Checker: calls of 50 tools, whose answers are validated by the
// schema of the revision and, with schemas, by those of the tools; no two are equal.
func talk(t *testing.T, ck *Checker, n int, schemas bool) {
	t.Helper()
	var tools strings.Builder
	for i := range 50 {
		more := ""
		if schemas {
			more = `,'outputSchema':{'type':'object','properties':{'n':{'type':'integer','minimum':0},'text':{'type':'string'}},'required':['n']}`
		}
		fmt.Fprintf(&tools, `,{'name':'tool%d','inputSchema':{'type':'object','properties':{'n':{'type':'integer'},'text':{'type':'string'}}}%s}`, i, more)
	}
	play(t, ck, "@ hello 2025-06-18 {'tools':{}}\n"+listed(tools.String()[1:]))
	pad := strings.Repeat("abcdefghij ", 100)
	var q, a []byte
	e := journal.Entry{Seq: 100, Server: "srv", Conn: 1}
	for i := range n / 2 {
		q = fmt.Appendf(q[:0], `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool%d","arguments":{"n":%d,"text":"%s"},"_meta":{"progressToken":%d}}}`, i, i%50, i, pad, i)
		e.Seq, e.Dir, e.Kind, e.ID, e.Method, e.Tool, e.Size = e.Seq+1, journal.Out, journal.Request, fmt.Sprint(i), "tools/call", fmt.Sprint("tool", i%50), len(q)
		ck.Add(&e, q)
		structured := ""
		if schemas {
			structured = fmt.Sprintf(`,"structuredContent":{"n":%d,"text":"x"}`, i)
		}
		a = fmt.Appendf(a[:0], `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]%s}}`, i, pad, structured)
		e.Seq, e.Dir, e.Kind, e.Size = e.Seq+1, journal.In, journal.Response, len(a)
		ck.Add(&e, a)
	}
}

func TestBudgetMillionFrames(t *testing.T) {
	budget.Skip(t)
	const frames = 1_000_000
	for _, x := range []struct {
		what    string
		schemas bool
		ceiling time.Duration
	}{
		{"1,000,000 frames (1.2 GB) checked by the rules and the schema of the revision", false, 15 * time.Second},
		{"1,000,000 frames checked, each by the schemas of a tool as well", true, 30 * time.Second},
	} {
		found := 0
		ck := NewChecker(func(f Finding) {
			if found++; found < 5 {
				t.Errorf("%s: %s", f.Rule.ID, f.Evidence)
			}
		})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		budget.Ceiling(t, x.what, budget.Time(func() { talk(t, ck, frames, x.schemas) }), x.ceiling)
		runtime.GC()
		runtime.ReadMemStats(&after)
		budget.Size(t, x.what+", memory", int64(after.HeapAlloc)-int64(before.HeapAlloc), 50_000_000, 1)
		if ck.Frames != frames+5 || ck.Unchecked != 0 {
			t.Errorf("%d frames, %d not validated", ck.Frames, ck.Unchecked)
		}
	}
}
