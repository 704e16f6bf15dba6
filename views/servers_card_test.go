package views_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// What is published about a server is read on request, and stands in its details without what would move the cursor.
func TestServerCard(t *testing.T) {
	mcp := behave.Handler(behave.Good, behave.Fault{JSON: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mcp":
			mcp.ServeHTTP(w, r)
		case "/.well-known/mcp.json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"name":"other\u001b]0;pwned\u0007","version":"9.9.9"}`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	cfg := config.Server{Name: "carded", Transport: config.HTTP, URL: srv.URL + "/mcp"}
	app := tuitest.Start(t, tuitest.Target(cfg), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(120, 40))
	app.Press(":card").Toast("what is published differs from what the server says")
	app.Press("tab").Pane("detail").Focused()
	app.Press("G").Pane("detail").Has("Published", "9.9.9", "differs", `version: the document says`)
	if app.Title() == "pwned" {
		t.Error("a document set the title of the window")
	}
}
