package sessiontest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// JournalFile writes a journal file of n frames: calls of 50 tools with 1.5 kB each way, in 1.5 GB for a million.
func JournalFile(t testing.TB, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "million.jsonl")
	f, err := os.Create(name)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	pad := strings.Repeat("abcdefghij ", 110)
	at := time.Now()
	var line []byte
	for i := range n / 2 {
		q := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool%d","arguments":{"n":%d,"text":"%s"},"_meta":{"progressToken":%d}}}`, i, i%50, i, pad, i)
		a := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`, i, pad)
		e := journal.Entry{
			Seq: uint64(2*i + 1), Time: at, Server: "server", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: fmt.Sprint(i), Method: "tools/call",
			Tool: fmt.Sprint("tool", i%50), Size: len(q), Status: journal.Pending,
		}
		line = journal.AppendLine(line[:0], e, q)
		at = at.Add(time.Millisecond)
		e.Seq, e.Dir, e.Kind, e.Time, e.Peer, e.Took, e.Status, e.Size = e.Seq+1, journal.In, journal.Response, at, e.Seq, time.Millisecond, journal.OK, len(a)
		line = journal.AppendLine(line, e, a)
		_, _ = w.Write(line) // a bufio.Writer keeps its first error
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return name
}
