package kb

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/check/checktest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// call runs the tool as the server does, with arguments as they were sent.
func call(t *testing.T, k *KB, args string) (answer, *jsonrpc.RequestError) {
	t.Helper()
	res, err := checktest.Call(t, NewLibrary(k, nil).Tools()[0], args)
	if err != nil {
		f, ok := jsonrpc.AsRequestError(err)
		if !ok {
			t.Fatalf("%s: %v", args, err)
		}
		return answer{}, f
	}
	var out answer
	if err := json.Unmarshal([]byte(res.Content[0].(mcp.TextContent).Text), &out); err != nil || res.IsError {
		t.Fatalf("%s: %v: %+v", args, err, res)
	}
	raw, err := json.Marshal(res)
	require.NoError(t, err)
	var structured struct{ StructuredContent answer }
	if err := json.Unmarshal(raw, &structured); err != nil || len(structured.StructuredContent.Results) != out.Count {
		t.Fatalf("structuredContent differs from the text: %s", raw)
	}
	return out, nil
}

func TestT3_SearchKnowledgeBase(t *testing.T) {
	k := open(t, Options{})
	for limit, want := range map[string]int{`1`: 1, `5`: 5, `20`: 20, `5.0`: 5} {
		out, f := call(t, k, `{"query":"server client request","tenant_id":"t","limit":`+limit+`}`)
		if f != nil || out.Status != "success" || out.Count != want || len(out.Results) != want {
			t.Fatalf("limit %s: %d results, %v", limit, out.Count, f)
		}
		last := 1.0
		for _, r := range out.Results {
			if r.Score <= 0 || r.Score > last || r.Content == "" || !strings.HasPrefix(r.Source, "resource://") || r.Metadata.Title == "" || r.Metadata.Line < 1 {
				t.Errorf("limit %s: %+v after a score of %v", limit, r, last)
			}
			last = r.Score
			if c, err := k.Read(t.Context(), r.Source); err != nil || !strings.Contains(c.Text, strings.Trim(r.Content, "… ")) {
				t.Errorf("%s: %v, has not the content of its hit", r.Source, err)
			}
		}
	}
	if out, _ := call(t, k, `{"query":"server client request","tenant_id":"t"}`); out.Count != 5 {
		t.Errorf("the default limit gave %d results", out.Count)
	}
	for _, base := range []string{General, Codebase, Documents} {
		out, f := call(t, k, `{"query":"server","tenant_id":"t","knowledge_base":"`+base+`"}`)
		if f != nil || out.Count == 0 {
			t.Fatalf("%s: %d results, %v", base, out.Count, f)
		}
		for _, r := range out.Results {
			if r.Metadata.Base != base {
				t.Errorf("%s found %+v", base, r)
			}
		}
	}
}

func TestT3_X4_ArgumentsOutOfRange(t *testing.T) {
	k := open(t, Options{})
	long := func(n int) string { return strings.Repeat("ü", n) }
	for args, field := range map[string]string{
		`{"tenant_id":"t"}`:                                               "query",
		`{"query":"","tenant_id":"t"}`:                                    "query",
		`{"query":"` + long(1001) + `","tenant_id":"t"}`:                  "query",
		`{"query":"x"}`:                                                   "tenant_id",
		`{"query":"x","tenant_id":"t","limit":0}`:                         "limit",
		`{"query":"x","tenant_id":"t","limit":21}`:                        "limit",
		`{"query":"x","tenant_id":"t","limit":1.5}`:                       "limit",
		`{"query":"x","tenant_id":"t","limit":1e300}`:                     "limit",
		`{"query":"x","tenant_id":"t","knowledge_base":"everything"}`:     "knowledge_base",
		`{"query":"x","tenant_id":"t","knowledge_base":"' OR 1=1 --"}`:    "knowledge_base",
		`{"query":"x","tenant_id":"t","knowledge_base":"","limit":5}`:     "knowledge_base",
		`{"query":"x","tenant_id":"","knowledge_base":"general"}`:         "tenant_id",
		`{"query":"x","tenant_id":null,"knowledge_base":"general"}`:       "tenant_id",
		`{"query":null,"tenant_id":"t","knowledge_base":"documents"}`:     "query",
		`{"query":"x","tenant_id":"t","limit":-1,"knowledge_base":"foo"}`: "knowledge_base",
	} {
		_, f := call(t, k, args)
		if f == nil || f.Kind != jsonrpc.KindInvalidParams || f.Data["field"] != field || f.Data["reason"] == "" {
			t.Errorf("%.80s: %+v", args, f)
		}
	}
	if _, f := call(t, k, `{"query":"x"}`); f.Message != "Invalid params: tenant_id is required" || f.Data["reason"] != "Field required" || f.Code(false) != -32602 {
		t.Errorf("%+v", f)
	}
	if _, f := call(t, k, `{"query":"`+long(1000)+`","tenant_id":"t"}`); f != nil {
		t.Errorf("1,000 characters: %v", f)
	}
}

// No text is syntax, none is slow, none is an error.
func TestX4_HostileQueries(t *testing.T) {
	k := open(t, Options{})
	find(t, k, "warm", SearchOptions{})
	limit := 500 * time.Millisecond // less than 100 on a machine that has nothing else to do
	if budget.Race() {
		limit = time.Minute
	}
	for _, q := range []string{
		`"`, `""`, `NEAR(`, `NEAR(a b, 2)`, `*`, `tool*`, `^tool`, `body:tool`, `{heading body}: x`, `a AND`, `NOT`, `OR OR`, `-tool`, `(`, `tool"`,
		"a\x00b", "\x00", "\xff\xfe", "'; DROP TABLE kb_chunk; --", "🙂🙂", "🙂 tools", "工具 列表", "ツールを一覧する", "도구", "e\u0301le\u0301ment",
		strings.Repeat(`"`, 1000), strings.Repeat("* ", 500), strings.Repeat("工", 1000), strings.Repeat("🙂", 1000), strings.Repeat("a", 1000),
		strings.Repeat("server ", 142), strings.Repeat("zq xw ", 166), strings.Repeat("aBcD", 250), strings.Repeat("a_", 500), strings.Repeat("\u0301", 1000),
		"the of and", strings.Repeat("serverx", 142), mistyped(140),
	} {
		var r Results
		var err error
		took := budget.Median(func() { r, err = k.Search(t.Context(), "t", q, SearchOptions{Limit: 20}) })
		if err != nil || took > limit {
			t.Errorf("%.40q: %v after %v", q, err, took)
		}
		for _, h := range r.Hits {
			if h.Score < 0 || h.Score > 1 {
				t.Errorf("%.40q: score %v", q, h.Score)
			}
		}
	}
	if len(find(t, k, "tools", SearchOptions{})) == 0 {
		t.Error("nothing is left")
	}
}

func FuzzSearch(f *testing.F) {
	for _, q := range []string{`"a" OR NEAR(b`, "sesion\x00 工具 readFile_x", "\xff🙂 e\u0301", "ﬀ ſ İ ß ǅ"} {
		f.Add(q)
	}
	k, err := New(Options{})
	require.NoError(f, err)
	f.Cleanup(func() { _ = k.Close() })
	f.Fuzz(func(t *testing.T, q string) {
		r, err := k.Search(t.Context(), "t", q, SearchOptions{Limit: 20})
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		for _, h := range r.Hits {
			if c, err := k.Read(t.Context(), h.Source); err != nil || c.Text != h.Content {
				t.Fatalf("%q found %s: %v", q, h.Source, err)
			}
		}
	})
}

// mistyped is n different words that no passage has, each like one that some have.
func mistyped(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("serv" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "r ")
	}
	return b.String()
}

// Also in a base of one passage a hit with all words of the query has a score that says so, and one with half of them less.
func TestT3_ScoresOfASmallBase(t *testing.T) {
	k := open(t, Options{Dir: folder(t, map[string]string{"plans.md": "# Plans\n\nThe zeppelin launches in October.\n"})})
	require.NoError(t, k.Reindex(t.Context()))
	score := func(query string) float64 {
		hits := find(t, k, query, SearchOptions{})
		if len(hits) != 1 {
			t.Fatalf("%s: %+v", query, hits)
		}
		return hits[0].Score
	}
	if all, half := score("zeppelin october"), score("zeppelin submarine"); all < 0.4 || half >= all/2 {
		t.Errorf("%v with all words, %v with half of them", all, half)
	}
}
