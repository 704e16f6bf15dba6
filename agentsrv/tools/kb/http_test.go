package kb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/tools/bulk"
	"github.com/mcphud/mcphud/agentsrv/tools/kb"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// agent serves the knowledge base and bulk over HTTP.
func agent(t *testing.T, o kb.Options) string {
	t.Helper()
	k, err := kb.New(o)
	require.NoError(t, err)
	e := server.NewMCPServer("kb", "1", append(front.EngineOptions(), server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))...)
	l := kb.NewLibrary(k, nil)
	e.AddTools(append(l.Tools(), bulk.Source{}.Tools()...)...)
	e.AddResourceTemplates(append(l.Templates(), bulk.Source{}.Templates()...)...)
	f := front.New(front.Options{Engine: e})
	s := httptest.NewServer(f.Handler())
	t.Cleanup(func() {
		assert.NoError(t, f.Close(context.Background()))
		s.Close()
		http.DefaultClient.CloseIdleConnections()
		assert.NoError(t, k.Close())
	})
	return s.URL + front.Path
}

// reply is a response of any kind.
type reply struct {
	Result struct {
		StructuredContent struct {
			Status  string
			Count   int
			URI     string
			Results []struct {
				Content, Source string
				Score           float64
			}
		}
		Contents []struct {
			URI, Text, Blob string
			Meta            struct{ Next string } `json:"_meta"`
		}
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

// post sends one request without a session, in the modern era if modern is set.
func post(t *testing.T, url, method, params string, modern bool) (r reply) {
	t.Helper()
	head := map[string]string{}
	if modern {
		params = strings.TrimSuffix(params, "}") + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
		head = map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
		var p struct{ Name, URI string }
		require.NoError(t, json.Unmarshal([]byte(params), &p))
		head["Mcp-Name"] = p.Name + p.URI
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for k, v := range head {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%s: %.300s: %v", res.Status, body, err)
	}
	return r
}

func eras(t *testing.T, f func(t *testing.T, modern bool)) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern=%v", modern), func(t *testing.T) { f(t, modern) })
	}
}

func TestT3_SearchOverHTTP(t *testing.T) {
	url := agent(t, kb.Options{})
	eras(t, func(t *testing.T, modern bool) {
		r := post(t, url, "tools/call", `{"name":"search_knowledge_base","arguments":{"query":"how is a sesion closed","tenant_id":"t","limit":20,"knowledge_base":"documents"}}`, modern)
		got := r.Result.StructuredContent
		if r.Error != nil || got.Status != "success" || got.Count != 20 || len(got.Results) != 20 {
			t.Fatalf("%+v", r)
		}
		for _, hit := range got.Results {
			read := post(t, url, "resources/read", `{"uri":"`+hit.Source+`"}`, modern)
			if len(read.Result.Contents) != 1 || !strings.Contains(read.Result.Contents[0].Text, strings.Trim(hit.Content, "… ")) || read.Result.Contents[0].URI != hit.Source {
				t.Errorf("%s: %+v", hit.Source, read)
			}
		}
	})
}

func TestX4_MalformedSourcesOverHTTP(t *testing.T) {
	url := agent(t, kb.Options{})
	limit := 500 * time.Millisecond // some milliseconds on a machine that has nothing else to do
	if budget.Race() {
		limit *= 10
	}
	eras(t, func(t *testing.T, modern bool) {
		code := -32001
		if modern {
			code = -32602
		}
		for _, uri := range []string{"resource://kb/none.md", "resource://kb/../../etc/passwd", "resource://kb/%zz", "bytes://x/y", "resource://kb/" + strings.Repeat("a/", 3000), "resource://kb/a?line=" + strings.Repeat("9", 3000)} {
			var r reply
			took := budget.Median(func() { r = post(t, url, "resources/read", `{"uri":"`+uri+`"}`, modern) })
			if r.Error == nil || r.Error.Code != code || took > limit {
				t.Errorf("%.50s: %+v after %v", uri, r.Error, took)
			}
		}
	})
}

// A large result is a link, and its pages are read one by one.
func TestLargeResultOverHTTP(t *testing.T) {
	url := agent(t, kb.Options{})
	eras(t, func(t *testing.T, modern bool) {
		r := post(t, url, "tools/call", `{"name":"random_bytes","arguments":{"n":200000,"seed":1}}`, modern)
		pages := 0
		for uri := r.Result.StructuredContent.URI; uri != ""; pages++ {
			page := post(t, url, "resources/read", `{"uri":"`+uri+`"}`, modern)
			if len(page.Result.Contents) != 1 || page.Result.Contents[0].Blob == "" || pages > 4 {
				t.Fatalf("%s: %+v", uri, page.Error)
			}
			uri = page.Result.Contents[0].Meta.Next
		}
		assert.Equalf(t, pages, 4, "pages")
	})
}

// The span's name is one that collectors know; its attribute says what it really is.
func TestO1_SearchIsTraced(t *testing.T) {
	type key struct{}
	var span string
	var ended bool
	k, err := kb.New(kb.Options{Trace: func(ctx context.Context, name string, attrs map[string]string) (context.Context, func(error)) {
		span = name + " " + attrs["search.engine"] + " " + attrs["mcp.tenant_id"]
		return context.WithValue(ctx, key{}, true), func(err error) { ended = err == nil }
	}})
	require.NoError(t, err)
	defer k.Close()
	if _, err := k.Search(t.Context(), "acme", "tools", kb.SearchOptions{}); err != nil || span != "search.vector fts5 acme" || !ended {
		t.Errorf("%q, ended %v, %v", span, ended, err)
	}
}

func TestSearchesAtOnce(t *testing.T) {
	k, err := kb.New(kb.Options{})
	require.NoError(t, err)
	defer k.Close()
	done := make(chan error)
	for i := range 16 {
		go func() {
			r, err := k.Search(t.Context(), "t", "cancel a request", kb.SearchOptions{Limit: 1 + i%5})
			if err == nil && len(r.Hits) != 1+i%5 {
				err = fmt.Errorf("%d hits", len(r.Hits))
			}
			done <- err
		}()
	}
	for range 16 {
		assert.NoError(t, <-done)
	}
}
