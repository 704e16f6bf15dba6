package bulk

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/check/checktest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

func call(t *testing.T, args string) (*mcp.CallToolResult, error) {
	t.Helper()
	return checktest.Call(t, Source{}.Tools()[0], args)
}

func fetch(t *testing.T, uri string) (mcp.BlobResourceContents, []byte) {
	t.Helper()
	c, err := read(uri)
	require.NoError(t, err)
	raw, err := base64.StdEncoding.DecodeString(c.Blob)
	require.NoError(t, err)
	return c, raw
}

func TestSmallResultsAreInline(t *testing.T) {
	for _, n := range []int{0, 1, 7, 1000, Inline} {
		res, err := call(t, fmt.Sprintf(`{"n":%d,"seed":7}`, n))
		if err != nil || len(res.Content) != 2 {
			t.Fatalf("%d: %v", n, err)
		}
		blob := res.Content[1].(mcp.EmbeddedResource).Resource.(mcp.BlobResourceContents)
		raw, err := base64.StdEncoding.DecodeString(blob.Blob)
		if err != nil || len(raw) != n {
			t.Fatalf("%d: %d bytes, %v", n, len(raw), err)
		}
		if _, again := fetch(t, blob.URI); !bytes.Equal(raw, again) {
			t.Errorf("%d: the resource has other bytes", n)
		}
	}
}

// The pages of a link, whatever their length, are the same bytes, and no call and no page holds many of them.
func TestLargeResultsAreALink(t *testing.T) {
	res, err := call(t, `{"n":52428800,"seed":9007199254740991}`)
	require.NoError(t, err)
	link := res.Content[1].(mcp.ResourceLink)
	if *link.Size != MaxBytes || link.URI != "bytes://9007199254740991/52428800" {
		t.Fatalf("%+v", link)
	}
	uri := "bytes://5/300001"
	var whole []byte
	for next := uri; next != ""; {
		c, page := fetch(t, next)
		if len(page) == 0 || len(page) > Inline {
			t.Fatalf("%s: %d bytes", next, len(page))
		}
		whole = append(whole, page...)
		next, _ = c.Meta["next"].(string)
	}
	if len(whole) != 300001 {
		t.Fatalf("%d bytes", len(whole))
	}
	if _, part := fetch(t, uri+"?offset=65535&length=131"); !bytes.Equal(part, whole[65535:65666]) {
		t.Error("a part from the middle differs from the whole")
	}
	if _, big := fetch(t, link.URI+"?length=52428800"); len(big) != MaxPage {
		t.Errorf("a page of %d bytes", len(big))
	}
	// What comes before a page is not made again: the last byte takes less than a page of the largest size.
	read := func(query string) func() time.Duration {
		return func() time.Duration { return budget.Time(func() { fetch(t, link.URI+query) }) }
	}
	if last, page := budget.Pair(read("?offset=52428799"), read("?length=52428800")); last > page {
		t.Errorf("the last byte takes %v, a page %v", last, page)
	}
	if _, last := fetch(t, link.URI+"?offset=52428799"); len(last) != 1 {
		t.Errorf("the last page has %d bytes", len(last))
	}
}

func TestNothingIsKept(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 20 {
		if _, err := call(t, `{"n":52428800}`); err != nil {
			t.Fatal(err)
		}
		fetch(t, fmt.Sprintf("bytes://%d/52428800?length=1048576", i))
	}
	after := heap()
	for range 100 { // what pools keep goes with the second collection, what has a finalizer later
		if after <= before+4<<20 {
			return
		}
		time.Sleep(10 * time.Millisecond)
		after = heap()
	}
	t.Errorf("the heap grew from %d to %d bytes", before, after)
}

func TestEachCallHasItsOwnSeed(t *testing.T) {
	a, _ := call(t, `{"n":64}`)
	b, _ := call(t, `{"n":64}`)
	if a.Content[1].(mcp.EmbeddedResource).Resource.(mcp.BlobResourceContents).Blob == b.Content[1].(mcp.EmbeddedResource).Resource.(mcp.BlobResourceContents).Blob {
		t.Error("two calls made the same bytes")
	}
}

func TestOutOfRange(t *testing.T) {
	for args, field := range map[string]string{
		`{}`: "n", `{"n":-1}`: "n", `{"n":52428801}`: "n", `{"n":1.5}`: "n", `{"n":1e300}`: "n", `{"n":1,"seed":-1}`: "seed", `{"n":1,"seed":1e17}`: "seed",
	} {
		_, err := call(t, args)
		if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindInvalidParams || f.Data["field"] != field {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, uri := range []string{
		"bytes://", "bytes://1", "bytes://1/", "bytes://x/1", "bytes://1/52428801", "bytes://1/10?offset=11", "bytes://1/10?offset=-1", "bytes://1/10?length=0",
		"bytes://1/10?length=x", "bytes://-1/10", "bytes://1/10/20", "file://1/10", "bytes://%zz/1", "bytes://1/" + strings.Repeat("1", 300), "bytes://99999999999999999999/1",
	} {
		_, err := read(uri)
		if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindResourceNotFound {
			t.Errorf("%.60s: %v", uri, err)
		}
	}
}
