package views_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// A 401 that says nothing of a login is answered with a token or a key first; L stays below it.
func TestABare401OffersAKeyFirst(t *testing.T) {
	t.Parallel()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(bare.Close)
	app := start(t, tuitest.Target(config.Server{Name: "keyed", Transport: config.HTTP, URL: bare.URL + "/mcp"}),
		tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.SessionOptions(withLogin(authtest.Start(t, authtest.Knobs{}))))
	state(app, session.NeedsLogin)
	shows(app, "list", "◆ keyed wants credentials", "a token or an API key in a header", "Authorization: Bearer", "r look for a login all the same")
	app.Pane("list").HasNot("wants a login")
	app.Whole().HasNot("Needs login")
	app.Whole().Has("◆ Needs a key")
	app.Press("1").View("servers").Pane("list").Has("Needs a key")
	app.Whole().HasNot("Needs login")
}
