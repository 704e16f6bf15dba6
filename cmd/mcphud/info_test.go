package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	verbcall "github.com/mcphud/mcphud/cmd/verb/call"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TestInfoNotes: info names extensions, what is deprecated, icons and cache hints as text, and leaves JSON as the server sent it.
func TestInfoNotes(t *testing.T) {
	t.Parallel()
	const capabilities = `{"tools":{},"logging":{},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"com.example/odd":{}},"experimental":{"beta":{}}}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, _ := jsonrpc.Scan(body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":%s,`+
			`"serverInfo":{"name":"x","version":"1","icons":[{"src":"https://x.example/i.svg"}]},"ttlMs":60000,"cacheScope":"public"}}`, env.ID, capabilities)
	}))
	t.Cleanup(srv.Close)
	o := mcphud(t, "info", "--url", srv.URL, "--format", "text").ok(t)
	for _, want := range []string{
		"\nExtensions:\nio.modelcontextprotocol/ui ", "\n  pages of apps", "\ncom.example/odd\n  not known", "\nbeta (experimental)\n", "✓ logging\n  ! deprecated since 2026-07-28",
		"icons     https://x.example/i.svg", "cache     ttl 1m0s, public", "\n· resources not offered\n",
	} {
		assert.Contains(t, o, want)
	}
	if o := mcphud(t, "info", "--url", srv.URL, "--format", "json").ok(t); !strings.Contains(o, capabilities) || strings.Contains(o, "deprecated") {
		t.Error(o)
	}
}

// What is published about a server stands beside what it says, and does no harm.
func TestInfoCard(t *testing.T) {
	mcp := behave.Handler(behave.Good, behave.Fault{JSON: true})
	var docs map[string]string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := docs[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "application/mcp-server-card+json")
			w.Header().Set("Access-Control-Allow-Origin", "*")
			_, _ = w.Write([]byte(text))
			return
		}
		if r.URL.Path != "/mcp" {
			http.NotFound(w, r)
			return
		}
		mcp.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	url := srv.URL + "/mcp"
	card := `{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json","name":"com.example/other\u001b]0;x\u0007","version":"9.9.9","description":"d","remotes":[{"type":"sse","url":"` + url + `"}]}`
	docs = map[string]string{
		"/mcp/server-card":             card,
		"/.well-known/mcp.json":        `{"name":"other","url":"` + url + `","tools":["echo","surely-not"]}`,
		"/.well-known/ai-catalog.json": `{"entries":[{"type":"application/mcp-server-card+json","data":` + strings.Replace(card, url, "https://elsewhere.example/mcp", 1) + `}]}`,
	}
	var i struct {
		Published []verbcall.PublishedDoc
	}
	o := mcphud(t, "info", url, "--card")
	if err := json.Unmarshal([]byte(o.ok(t)), &i); err != nil || len(i.Published) != 5 {
		t.Fatalf("%v: %s", err, o.out)
	}
	fields := func(d verbcall.PublishedDoc) (s string) {
		for _, x := range d.Differences {
			s += x.Field + " "
		}
		return s
	}
	if d := i.Published[0]; !d.Found || fields(d) != "name version transport " || len(d.Problems) != 1 || !strings.Contains(d.Problems[0], "is not of the form") {
		t.Errorf("%+v", d)
	}
	if d := i.Published[2]; fields(d) != "name tools " || d.Differences[1].Document != "also surely-not" {
		t.Errorf("%+v", d)
	}
	if d := i.Published[4]; !d.Found || fields(d) != "" {
		t.Errorf("a card about another server: %+v", d)
	}
	if o := mcphud(t, "info", url, "--card", "--format", "text"); strings.Contains(o.ok(t), "\x1b") || !strings.Contains(o.out, "server-card.json: nothing") ||
		!strings.Contains(o.out, `differs  version: the document says "9.9.9", the server "`) || !strings.Contains(o.out, "a catalog, server cards: 1") {
		t.Errorf("%q", o.out)
	}
	if o := mcphud(t, "info", url); strings.Contains(o.ok(t), "published") {
		t.Errorf("unasked: %s", o.out)
	}
	if o := mcphud(t, fake(t, behave.Good, "info", "--card", "--format", "text")...); !strings.Contains(o.ok(t), "nothing can be: the server has no URL") {
		t.Error(o.out)
	}
}
