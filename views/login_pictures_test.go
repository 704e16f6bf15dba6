package views_test

import (
	"fmt"
	"net/url"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestLoginPictures draws the states of a login, as pictures and without colours.
func TestLoginPictures(t *testing.T) {
	waits := func(t *testing.T, a *tuitest.App, s *authtest.Server) *url.URL {
		a.Press("L").View("login")
		return awaitURL(t, a)
	}
	back := func(t *testing.T, a *tuitest.App, s *authtest.Server) {
		to, err := authtest.Visit(t.Context(), s.HTTP, waits(t, a, s))
		require.NoError(t, err)
		a.Press("p").Paste(to.String()).Press("enter")
	}
	for _, sc := range []struct {
		name  string
		knobs authtest.Knobs
		play  func(t *testing.T, a *tuitest.App, s *authtest.Server)
	}{
		{"login-needed", authtest.Knobs{}, func(_ *testing.T, a *tuitest.App, _ *authtest.Server) { a.Pane("list").Has("L  log in") }},
		{"login-waits", authtest.Knobs{}, func(t *testing.T, a *tuitest.App, s *authtest.Server) { waits(t, a, s) }},
		{"login-failed", authtest.Knobs{Back: func(q url.Values) { q.Set("iss", "https://evil.example.com") }}, func(t *testing.T, a *tuitest.App, s *authtest.Server) {
			back(t, a, s)
			a.Pane("list").Has("✗ authorize")
		}},
		{"login-done", authtest.Knobs{JWT: true}, func(t *testing.T, a *tuitest.App, s *authtest.Server) {
			back(t, a, s)
			a.View("tools").Sleep(20 * time.Second) // the toast goes
			a.Press("r")                            // one request, the last in the traffic: those after a login end in any order
			a.Press("L").View("login").Pane("list").Has("● logged in")
		}},
	} {
		for _, size := range sizes[:2] {
			for _, look := range []string{"dark", "light", "text"} {
				if racing && (size[0] != 80 || look != "text") {
					continue // the same code with other numbers
				}
				name := fmt.Sprintf("%s-%dx%d", sc.name, size[0], size[1])
				t.Run(name+"-"+look, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						cryptotest.SetGlobalRandom(t, 1)
						s := authtest.Memory(t, sc.knobs)
						opts := map[string][]tuitest.Option{"light": {tuitest.Light()}, "text": {tuitest.NoColor()}}[look]
						app := tuitest.Start(t, append(opts, tuitest.Views(views.All(views.Deps{})...), tuitest.Target(remote(s)), tuitest.Size(size[0], size[1]), tuitest.At("tools", nil), tuitest.SessionOptions(withLogin(s)))...)
						sc.play(t, app, s)
						if look != "text" {
							app.SVG("../testdata/screens/" + name + "-" + look + ".svg")
							return
						}
						app.Golden("screens/" + name)
						if c := colored.Find(app.Output()); c != nil {
							t.Errorf("NO_COLOR is set, and the program printed %q", c)
						}
					})
				})
			}
		}
	}
}
