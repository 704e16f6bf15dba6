package agentsrv

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
)

// folder is a directory with one file.
func folder(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	return dir
}

// ready waits until everything is indexed.
func ready(t *testing.T, a *Agent) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if pending, _ := a.kb.Status().Pending(); !pending {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the knowledge bases are never indexed")
		}
	}
}

// What the knowledge base of one tenant holds no other finds, reads, is quoted or gets as the correction of a misspelt word.
func TestT3_X1_KnowledgeBaseOfATenant(t *testing.T) {
	own := map[string]string{"acme": "The zeppelin launches", "globex": "The submarine dives", "other": "launches and dives of everybody"}
	for name, o := range map[string]Options{
		"in memory": {FullText: true}, "in a file": {FullText: true, Store: filepath.Join(t.TempDir(), "agent.db")},
		"in memory, by word vectors": {}, "in a file, by word vectors": {Store: filepath.Join(t.TempDir(), "agent.db")},
	} {
		t.Run(name, func(t *testing.T) {
			a, cs := serve(t, Options{Store: o.Store, FullText: o.FullText, RateLimit: -1, KB: []string{
				"acme=" + folder(t, "plans.md", "# Plans\n\nThe zeppelin launches on the ninth of October.\n"),
				"globex=" + folder(t, "plans.md", "# Plans\n\nThe submarine dives on the tenth of May.\n"),
				folder(t, "house.md", "# House rules\n\nThe launches and dives of everybody are announced here.\n"),
			}})
			ready(t, a)
			if !o.FullText {
				meant(t, a)
			}
			for era, c := range cs {
				search := func(tenant, query string) string {
					return c.call("search_knowledge_base", fmt.Sprintf(`{"query":%q,"tenant_id":%q,"limit":20}`, query, tenant)).Content[0].Text
				}
				for _, q := range []struct{ tenant, query, finds string }{
					{"acme", "zeppelin", "ninth of October"},
					{"globex", "submarine", "tenth of May"},
					{"other", "announced", "everybody"},
					{"acme", "zeplin", "ninth of October"},
					{"globex", "zeppelin", ""},
					{"other", "zeppelin", ""},
					{"default", "zeppelin", ""},
					{"globex", "zeplin", ""},
					{"other", "zeplin", ""},
					{"acme", "submarine", ""},
					{"other", "submarin", ""},
					{"acme", "announced", ""},
				} {
					got := search(q.tenant, q.query)
					if o.FullText && q.finds == "" && !strings.Contains(got, `"count":0`) || !strings.Contains(got, q.finds) {
						t.Errorf("%s: %s searches %s: %s", era, q.tenant, q.query, got)
					}
					for whose, text := range own {
						if whose != q.tenant && !(whose == "other" && q.tenant == "default") && strings.Contains(got, text) {
							t.Errorf("%s: %s searches %s and finds what %s has: %s", era, q.tenant, q.query, whose, got)
						}
					}
				}
				// Nobody learns from a score what others have.
				if alone, both := search("other", "everybody"), search("someone", "everybody"); alone != both || !strings.Contains(alone, `"type":"md"`) {
					t.Errorf("%s\n%s", alone, both)
				}
				for tenant, want := range map[string]string{"acme": "zeppelin", "globex": "submarine", "other": ""} {
					m, _ := c.roundTrip("resources/read", `{"uri":"resource://kb/plans.md","_meta":{"tenant_id":"`+tenant+`"}}`)
					if want == "" && m.Error == nil || !strings.Contains(string(m.Result), want) {
						t.Errorf("%s: %s reads %s %v", era, tenant, m.Result, m.Error)
					}
				}
				r := c.call("ask_agent", `{"agent_uri":"researcher","tenant_id":"globex","prompt":"When does the zeppelin launch?"}`)
				if text := fmt.Sprint(r); strings.Contains(text, "October") {
					t.Errorf("%s: an agent of another tenant quotes %s", era, text)
				}
			}
		})
	}
}

// A PDF document is found by what its pages say, with the page, and can be read.
func TestT3_PagesOfPDFDocuments(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("tools", "kb", "testdata", "two-pages.pdf"))
	require.NoError(t, err)
	dir := folder(t, "plans.pdf", string(raw))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.pdf"), raw[:len(raw)/2], 0o600))
	a, cs := serve(t, Options{KB: []string{dir}, RateLimit: -1})
	ready(t, a)
	if s := a.kb.Status(); s.Files != 1 || s.Skipped != 1 {
		t.Errorf("%+v", s)
	}
	for era, c := range cs {
		for query, page := range map[string]int{"zeppelin": 1, "submarine": 2} {
			var found struct {
				Results []struct {
					Content, Source string
					Metadata        struct {
						Type, Title string
						Base        string `json:"knowledge_base"`
						Page        int
					}
				}
			}
			text := c.call("search_knowledge_base", fmt.Sprintf(`{"query":%q,"tenant_id":"t","mode":"full-text"}`, query)).Content[0].Text
			if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Results) != 1 {
				t.Fatalf("%s: %s: %s %v", era, query, text, err)
			}
			hit := found.Results[0]
			if m := hit.Metadata; m.Type != "pdf" || m.Page != page || m.Title != "Flight plans" || m.Base != "documents" || !strings.Contains(hit.Content, query) {
				t.Errorf("%s: %s: %s", era, query, text)
			}
			for _, uri := range []string{hit.Source, "resource://kb/plans.pdf"} {
				if got := string(c.result("resources/read", `{"uri":"`+uri+`"}`)); !strings.Contains(got, query) || !strings.Contains(got, `"text/plain"`) {
					t.Errorf("%s: %s: %s", era, uri, got)
				}
			}
		}
	}
}

func TestKnowledgeBaseArguments(t *testing.T) {
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "a=b")
	require.NoError(t, os.Mkdir(two, 0o700))
	o, err := Options{KB: []string{two, "acme=" + one}}.Completed()
	if dirs, _ := o.bases(); err != nil || dirs[""] != two || dirs["acme"] != one {
		t.Errorf("%v %v", dirs, err)
	}
	for _, args := range [][]string{{one, two}, {"acme=" + one, "acme=" + two}, {"acme="}, {"acme=" + filepath.Join(one, "none")}, {"a b=" + one}} {
		if _, err := (Options{KB: args}).Completed(); err == nil || !strings.Contains(err.Error(), "kb") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// The status shows what can be searched: the built-in texts without anybody having searched them, and the bases of tenants
// without their names.
func TestO8_StatusShowsTheKnowledgeBase(t *testing.T) {
	status := func(o Options) (s struct {
		KB struct {
			Ready         bool
			Files, Chunks int
			Tenants       []struct{ Files int }
		}
	}, raw []byte,
	) {
		t.Helper()
		a, cs := serve(t, o)
		if a.kb != nil {
			ready(t, a)
		}
		raw = page(t, cs["modern"], "/status")
		require.NoError(t, json.Unmarshal(raw, &s))
		return s, raw
	}
	if s, raw := status(Options{}); !s.KB.Ready || s.KB.Files < 10 || s.KB.Chunks < s.KB.Files {
		t.Errorf("the built-in texts: %s", jsonrpc.Get(raw, "kb"))
	}
	if s, raw := status(Options{KB: []string{"acme=" + folder(t, "x.md", "text")}}); s.KB.Files < 10 || len(s.KB.Tenants) != 1 || s.KB.Tenants[0].Files != 1 || strings.Contains(string(raw), "acme") {
		t.Errorf("the base of a tenant: %s", jsonrpc.Get(raw, "kb"))
	}
	if _, raw := status(Options{Profile: Everything}); string(jsonrpc.Get(raw, "kb")) != "null" {
		t.Errorf("a profile without one: %s", raw)
	}
}

// page gets a page beside the endpoint.
func page(t *testing.T, c *client, path string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(c.url, "/mcp")+path, nil)
	require.NoError(t, err)
	res, err := c.hc.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", path, res.Status, body, err)
	}
	return body
}

// On a file system that does not tell case apart, tenants that differ in nothing else still have an index each.
func TestX1_AFileForEachTenant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	serve(t, Options{Store: path, KB: []string{"acme=" + folder(t, "a.md", "one"), "Acme=" + folder(t, "a.md", "two"), "a:c*=" + folder(t, "a.md", "three")}})
	files, err := filepath.Glob(path + ".kb-*[0-9a-z]")
	names := map[string]bool{}
	for _, f := range files {
		if base := strings.ToLower(filepath.Base(f)); !strings.ContainsAny(base, ":*") && !strings.HasSuffix(base, "-wal") && !strings.HasSuffix(base, "-shm") {
			names[base] = true
		}
	}
	if err != nil || len(names) != 3 {
		t.Errorf("%q %v", files, err)
	}
}
