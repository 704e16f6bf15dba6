package conform

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// A server that has only the transport of 2024-11-05 is told so. One that has both is not, wherever it has the new one, nor is one that is
// reached by the new one.
func TestOnlySSE(t *testing.T) {
	t.Parallel()
	const id = "http-sse-only"
	both := &counted{Handler: behave.Handler(behave.Good, behave.Fault{}), given: map[string]bool{}, ended: map[string]bool{}}
	t.Cleanup(func() {
		if len(both.given) == 0 || len(both.ended) != len(both.given) {
			t.Errorf("%d of %d sessions were ended", len(both.ended), len(both.given))
		}
	})
	for name, c := range map[string]struct {
		serves func(r *http.Request) bool
		trips  bool
	}{
		"only HTTP+SSE": {func(r *http.Request) bool {
			return r.URL.Path == "/message" || r.URL.Path == "/sse" && r.Method == http.MethodGet
		}, true},
		"Streamable HTTP at /mcp": {func(r *http.Request) bool { return r.URL.Path != "/sse" || r.Method == http.MethodGet }, false},
		"Streamable HTTP elsewhere": {func(r *http.Request) bool {
			return r.URL.Path != "/mcp" && (r.URL.Path != "/sse" || r.Method == http.MethodGet)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !c.serves(r) {
					http.Error(w, "Cannot POST", http.StatusNotFound)
					return
				}
				both.ServeHTTP(w, r)
			}))
			t.Cleanup(web.Close)
			t.Cleanup(web.CloseClientConnections)
			r := examined(t, config.Server{Name: "old", URL: web.URL + "/sse", Transport: config.SSE}, func() {}, id)
			if finds(r, id) != c.trips || slices.Contains(passed(r), id) == c.trips {
				t.Fatalf("%+v %+v", r.Findings, r.Sections)
			}
			if c.trips {
				f := r.Findings[0]
				if f.Severity != check.Warning || f.Message != "initialize by POST is not served: /sse: status 404; /mcp: status 404" || !strings.HasPrefix(f.Evidence, "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility\n") {
					t.Errorf("%+v", f)
				}
			}
		})
	}
	for _, cfg := range []config.Server{faketest.HTTP(t, behave.Good, behave.Fault{}), faketest.Stdio(t, behave.Good)} {
		if r := examined(t, cfg, func() {}, id); len(r.Findings) > 0 || slices.Contains(passed(r), id) {
			t.Errorf("%s: %+v %+v", cfg.Name, r.Findings, r.Sections)
		}
	}
}
