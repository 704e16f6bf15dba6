package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
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
		"extensions    io.modelcontextprotocol/ui: pages", "\n              com.example/odd: not known", "beta (experimental)", "note          logging is deprecated since 2026-07-28",
		"icons         https://x.example/i.svg", "cache         ttl 1m0s, public",
	} {
		if !strings.Contains(o, want) {
			t.Errorf("no %q in\n%s", want, o)
		}
	}
	if o := mcphud(t, "info", "--url", srv.URL, "--format", "json").ok(t); !strings.Contains(o, capabilities) || strings.Contains(o, "deprecated") {
		t.Error(o)
	}
}
