package views_test

import (
	"net/url"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestLoginPictures draws the states of a login, as pictures and without colours.
func TestLoginPictures(t *testing.T) {
	waits := func(t *testing.T, a *tuitest.App, s *authtest.Server) *url.URL {
		a.Press("r").View("login")
		return awaitURL(t, a)
	}
	back := func(t *testing.T, a *tuitest.App, s *authtest.Server) {
		to, err := authtest.Visit(t.Context(), s.HTTP, waits(t, a, s))
		require.NoError(t, err)
		a.Press("a").Paste(to.String()).Press("enter")
	}
	for _, sc := range []struct {
		name  string
		knobs authtest.Knobs
		play  func(t *testing.T, a *tuitest.App, s *authtest.Server)
	}{
		{"login-needed", authtest.Knobs{}, func(_ *testing.T, a *tuitest.App, _ *authtest.Server) { a.Pane("list").Has("r  log in") }},
		{"login-waits", authtest.Knobs{}, func(t *testing.T, a *tuitest.App, s *authtest.Server) { waits(t, a, s) }},
		{"login-failed", authtest.Knobs{Back: func(q url.Values) { q.Set("iss", "https://evil.example.com") }}, func(t *testing.T, a *tuitest.App, s *authtest.Server) {
			back(t, a, s)
			a.Pane("list").Has("✗ authorize")
		}},
		{"login-done", authtest.Knobs{JWT: true}, func(t *testing.T, a *tuitest.App, s *authtest.Server) {
			back(t, a, s)
			a.View("tools").Sleep(20 * time.Second) // the toast goes
			a.Press("r")                            // one request, the last in the traffic: those after a login end in any order
			a.Press(":login").View("login").Pane("list").Has("● logged in")
		}},
	} {
		draw(t, sc.name, false, sizes[1:3], func(t *testing.T, look ...tuitest.Option) *tuitest.App {
			cryptotest.SetGlobalRandom(t, 1)
			s := authtest.Memory(t, sc.knobs)
			app := tuitest.Start(t, append(look, tuitest.Views(views.All(views.Deps{})...), tuitest.Target(remote(s)), tuitest.At("tools", nil), tuitest.SessionOptions(withLogin(s)))...)
			sc.play(t, app, s)
			return app
		})
	}
}
