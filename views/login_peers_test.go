package views_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestPeerLogIn: at oidc-provider one key logs in, another call asks for more rights and is made with them, and the token, which is
// bound to a key, is shown, refreshed and revoked.
func TestPeerLogIn(t *testing.T) {
	t.Parallel()
	s := peertest.Login(t, "--dpop", "--nonce")
	user := peertest.NewBrowser()
	browse := func(_ context.Context, page string) error {
		_, err := user.Open(page)
		return err
	}
	app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Browse: browse, AutoBrowse: true})...), tuitest.Target(s), tuitest.Size(120, 40),
		tuitest.At("tools", nil), tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.SessionOptions(func(o *session.Options) {
			patient(o)
			o.Auth = &auth.Options{}
		}))
	state(app, session.NeedsLogin)
	app.Press("r").Toast("logged in at login").View("tools").Pane("list").Has("whoami", "write")
	form(app, "write").Press("ctrl+g")
	shows(app, "result", "the login does not cover this: the server asks for notes:write", "r log in and do it again")
	app.Press("r").Toast("logged in at login").View("call").Pane("result").HasNot("does not cover")
	shows(app, "result", "notes:read notes:write")
	app.Press(":").Type("login").Press("enter").View("login").Press("g")
	shows(app, "detail", "token DPoP, refreshed by itself", "notes:read notes:write", `"sub": "ann"`)
	app.Press("r").Toast("new token from").Pane("list").Has("✓ refresh")
	app.Press(":logout").Overlay("Forget the login at login?").Press("y").Toast("is forgotten").Pane("list").Has("✓ revoke")
	if n := peertest.Ask(t, s, "/revoked"); n == "0" {
		t.Error("nothing was revoked")
	}
}
