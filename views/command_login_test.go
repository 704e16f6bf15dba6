package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestC4b_ACommandLogsInFromTheScreen goes from a command that was not started, for want of a login, to its tools with one key.
func TestC4b_ACommandLogsInFromTheScreen(t *testing.T) {
	t.Parallel()
	c := authtest.StartCommand(t, authtest.Knobs{})
	app := tuitest.Start(t,
		tuitest.Views(views.All(views.Deps{Browse: surf, AutoBrowse: true})...), tuitest.Target(c.Config()), tuitest.Size(80, 24), tuitest.At("tools", nil),
		tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.SessionOptions(func(o *session.Options) {
			patient(o)
			o.HealthInterval = -1
			o.Auth = &auth.Options{}
		}))
	state(app, session.NeedsLogin)
	shows(app, "list", "◆ slack wants a login.", "r log in")
	if tokens, _ := c.Started(); len(tokens) > 0 || len(c.Calls("")) > 0 {
		t.Errorf("started %d times before a login", len(tokens))
	}
	app.Press("r").Toast("logged in at slack").View("tools").Pane("list").Has("echo")
	state(app, session.Connected)
	app.Press(":").Type("login").Press("enter").View("login").Pane("list").Has("● logged in · expires in", "✓ authorize", "✓ token")
	app.Press("G").Pane("list").Selected("✓ retry")
	if tokens, _ := c.Started(); len(tokens) == 0 || !strings.HasPrefix(tokens[0], "zqaccesszq") {
		t.Errorf("started with %q", tokens)
	}
	for _, secret := range c.Secrets() {
		assert.NotContains(t, string(app.Output()), secret)
	}
}
