package agentsrv

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// embeddings is an API whose vectors point one way for texts about flying, and another for those about diving.
func embeddings(t *testing.T) chat.Model {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "senses" || r.Header.Get("Authorization") != "Bearer k3y" {
			t.Errorf("%+v %v %v", in, r.Header, err)
		}
		var data []string
		for i, text := range in.Input {
			v := "[0,0,1]"
			switch {
			case strings.Contains(text, "zeppelin"), strings.Contains(text, "aircraft"):
				v = "[1,0,0.1]"
			case strings.Contains(text, "submarine"):
				v = "[0,1,0.1]"
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return chat.Model{URL: s.URL + "/v1", Name: "senses", Key: "k3y"}
}

// meant waits until all passages have embeddings.
func meant(t *testing.T, a *Agent) {
	t.Helper()
	ready(t, a)
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		s := a.kb.Status()
		missing := s.Embeddings.Vectors < s.Chunks
		for _, one := range s.Tenants {
			missing = missing || one.Embeddings.Vectors < one.Chunks
		}
		if !missing {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("there are never embeddings: %+v", s)
		}
	}
}

// What is near in meaning to a query is found, and by no tenant in the folder of another.
func TestT3_X1_SearchByMeaningOfATenant(t *testing.T) {
	for name, store := range map[string]string{"in memory": "", "in a file": filepath.Join(t.TempDir(), "agent.db")} {
		t.Run(name, func(t *testing.T) { meaningOfTenants(t, store) })
	}
}

func TestBackendSearchByMeaningOfATenant(t *testing.T) { meaningOfTenants(t, pgtest.Run(t)) }

func meaningOfTenants(t *testing.T, store string) {
	t.Helper()
	a, cs := serve(t, Options{Store: store, RateLimit: -1, Embeddings: embeddings(t), KB: []string{
		"acme=" + folder(t, "plans.md", "# Plans\n\nThe zeppelin starts on the ninth of October.\n"),
		"globex=" + folder(t, "plans.md", "# Plans\n\nThe submarine dives on the tenth of May.\n"),
		folder(t, "house.md", "# House rules\n\nEverybody is announced here.\n"),
	}})
	meant(t, a)
	for era, c := range cs {
		for tenant, want := range map[string]string{"acme": "zeppelin", "globex": "submarine", "other": "Everybody"} {
			got := c.call("search_knowledge_base", fmt.Sprintf(`{"query":"aircraft","tenant_id":%q,"limit":20}`, tenant)).Content[0].Text
			if !strings.Contains(got, `"mode":"hybrid"`) || strings.Contains(got, `"note"`) {
				t.Errorf("%s: %s: %s", era, tenant, got)
			}
			for text, in := range map[string]bool{"zeppelin": tenant == "acme", "submarine": tenant == "globex", "Everybody": tenant == "other"} {
				if strings.Contains(got, text) != in {
					t.Errorf("%s: %s finds %s: %s, want %s", era, tenant, text, got, want)
				}
			}
		}
		got := c.call("search_knowledge_base", `{"query":"aircraft","tenant_id":"acme","mode":"semantic"}`).Content[0].Text
		if !strings.Contains(got, `"found":"semantic","similarity":1`) || !strings.Contains(got, `"mode":"semantic"`) {
			t.Errorf("%s: %s", era, got)
		}
		if tools := string(c.result("tools/list", `{}`)); !strings.Contains(tools, "Hybrid search, by words and by meaning") {
			t.Errorf("%s: the description does not say how it searches", era)
		}
	}
	status := page(t, cs["modern"], "/status")
	if kb := string(jsonrpc.Get(status, "kb")); !strings.Contains(kb, `"embeddings":{"model":"senses","running":false,"vectors":1}`) || strings.Contains(kb, "k3y") {
		t.Errorf("%s", kb)
	}
}

// Without an endpoint the built-in vectors of words compare meanings, and the tool and each answer say so.
func TestT3b_SearchSaysWhatFoundIt(t *testing.T) {
	_, cs := serve(t, Options{RateLimit: -1})
	for era, c := range cs {
		if tools := string(c.result("tools/list", `{}`)); !strings.Contains(tools, "Hybrid search, by words and by built-in vectors of English words, over") {
			t.Errorf("%s: the description does not say how it searches", era)
		}
		for args, want := range map[string][]string{
			`"query":"cancel a call"`:                     {`"mode":"hybrid","vectors":"words"`, `"found":"both"`},
			`"query":"hues and shapes seem ugly"`:         {`"mode":"hybrid","vectors":"words"`, `"found":"semantic"`, "Colours or layout look wrong"},
			`"query":"hues and shapes","mode":"semantic"`: {`"mode":"semantic","vectors":"words"}`, `"found":"semantic"`},
			`"query":"opaqe string nextcursr"`:            {`"vectors":"words"`, `{"word":"opaqe","as":["opaqu"]}`},
			`"query":"cancel a call","mode":"full-text"`:  {`"mode":"full-text"}`, `"found":"lexical"`},
			`"query":"工具 -32601"`:                         {`"mode":"full-text","note":"full-text only: the built-in word vectors have no word of the query"}`},
		} {
			got := c.call("search_knowledge_base", `{"tenant_id":"t",`+args+`}`).Content[0].Text
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%s: %s: no %s in %s", era, args, w, got)
				}
			}
		}
	}
	assert.Contains(t, string(jsonrpc.Get(page(t, cs["modern"], "/status"), "kb")), `"embeddings":{"model":"mcphud-words-`)
}

// Where meanings are not to be compared the tool says what it does: full-text search.
func TestT3_SearchSaysThatItIsFullText(t *testing.T) {
	_, cs := serve(t, Options{RateLimit: -1, FullText: true})
	for era, c := range cs {
		if tools := string(c.result("tools/list", `{}`)); !strings.Contains(tools, "Full-text search over") {
			t.Errorf("%s: the description does not say how it searches", era)
		}
		for mode, want := range map[string]string{"full-text": `"mode":"full-text"}`, "hybrid": `"mode":"full-text","note":"full-text only: no embeddings are configured for this agent"`} {
			if got := c.call("search_knowledge_base", `{"query":"cancel a call","tenant_id":"t","mode":"`+mode+`"}`).Content[0].Text; !strings.Contains(got, want) || !strings.Contains(got, `"found":"lexical"`) {
				t.Errorf("%s: %s: %s", era, mode, got)
			}
		}
		m, _ := c.roundTrip("tools/call", `{"name":"search_knowledge_base","arguments":{"query":"x","tenant_id":"t","mode":"guess"}}`)
		if m.Error == nil && !strings.Contains(string(m.Result), "isError") {
			t.Errorf("%s: %s", era, m.Result)
		}
	}
	if _, err := (Options{Embeddings: chat.Model{URL: "http://me:s3cret@vectors/v1"}}).Completed(); err == nil || !strings.Contains(err.Error(), "vectors need a model") || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}
