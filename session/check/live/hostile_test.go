package live

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Whatever a journal holds, what is remembered of it stays bounded. It measures memory: no other test runs beside it.
func TestHostileJournalStaysBounded(t *testing.T) {
	const frames = 60_000
	big := strings.Repeat("x", 3000)
	found := 0
	ck := NewChecker(func(Finding) { found++ })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	e := journal.Entry{Dir: journal.Out}
	add := func(k journal.Kind, d journal.Dir, method, id, body string) {
		e.Seq, e.Kind, e.Dir, e.Method, e.ID, e.Size = e.Seq+1, k, d, method, id, len(body)
		ck.Add(&e, []byte(body))
	}
	for i := range frames / 6 {
		e.Server, e.Conn = fmt.Sprint("server", i%3000), uint64(i%9000)
		method := fmt.Sprint("m", i, "/list")
		add(journal.Request, journal.Out, method, fmt.Sprint(i), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"cursor":"%s","_meta":{"progressToken":"%s%d","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a%d":"%s"},"io.modelcontextprotocol/logLevel":"%s"}}}`, i, method, big, big, i, i, big, big))
		add(journal.Request, journal.Out, "tools/list", fmt.Sprint(-i), fmt.Sprintf(`{"jsonrpc":"2.0","id":-%d,"method":"tools/list"}`, i))
		add(journal.Response, journal.In, "", fmt.Sprint(-i), fmt.Sprintf(`{"jsonrpc":"2.0","id":-%d,"result":{"requestState":"%s%d","nextCursor":"%s%d","tools":[{"name":"t%d","inputSchema":{"type":"object","description":"%s"}}]}}`, i, big, i, big, i, i, big))
		add(journal.Notification, journal.In, "notifications/progress", "", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%d","progress":1}}`, i))
		add(journal.HTTP, journal.Out, "", "", "POST /mcp?"+big+" HTTP/1.1\n"+strings.Repeat("mcp-param-"+fmt.Sprint(i)+": "+big+"\n", 3))
		add(journal.Bad, journal.In, "", "", fmt.Sprint("noise", i, big))
	}
	ck.Finish()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 300_000_000 {
		t.Errorf("%d MB after %d frames", grown>>20, frames)
	}
	t.Logf("%d MB", int64(after.HeapAlloc-before.HeapAlloc)>>20)
	if found == 0 || len(ck.conns) > maxConns || len(ck.servers) > maxServers || ck.schemas > maxAll {
		t.Errorf("%d findings, %d connections, %d servers, %d bytes of schemas", found, len(ck.conns), len(ck.servers), ck.schemas)
	}
	runtime.KeepAlive(ck)
}

// A line of a file that is not a journal's is nobody's message.
func TestUnreadableLines(t *testing.T) {
	t.Parallel()
	ck := NewChecker(func(f Finding) { t.Errorf("%s: %s", f.Rule.ID, f.Evidence) })
	ck.Add(&journal.Entry{Seq: 1, Kind: journal.Bad, Size: 9}, []byte("{\"seq\":1}"))
	assert.Equalf(t, ck.Frames, 0, "frames")
}
