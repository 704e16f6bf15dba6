package views_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/authtest"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// surf is a browser that goes where it is sent, and on to where it is sent from there.
func surf(ctx context.Context, url string) error {
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := web.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}

// protected opens a screen on a server that wants a login.
func protected(t *testing.T, s *authtest.Server, deps views.Deps, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(deps)...), tuitest.Target(s.Config()), tuitest.Size(80, 24), tuitest.Deadline(time.Minute), tuitest.Beside(),
		tuitest.SessionOptions(func(o *session.Options) {
			patient(o)
			o.Auth = &auth.Options{HTTP: s.HTTP}
			o.Transport.Via = s.HTTP
		}),
	}, opts...)...)
}

// TestLogIn goes from a refused connection to the tools with one key.
func TestLogIn(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{JWT: true})
	app := protected(t, s, views.Deps{Browse: surf, AutoBrowse: true}, tuitest.At("tools", nil))
	state(app, session.NeedsLogin)
	t.Log("\n" + app.Screen())
	app.Press("1").View("servers")
	t.Log("\n" + app.Screen())
	app.Press("2").View("tools")
	app.Press("L").View("tools")
	state(app, session.Connected)
	app.Pane("list").Has("echo")
	t.Log("\n" + app.Screen())
	app.Press(":").Type("login").Press("enter").View("login")
	t.Log("\n" + app.Screen())
}
