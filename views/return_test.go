package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// A list that nobody asked for while another screen was looked at is asked for when somebody comes back to it.
func TestAListIsLoadedWhenItsScreenIsBack(t *testing.T) {
	for view, shows := range map[string]string{"tools": "echo", "resources": "readme"} {
		synctest.Test(t, func(t *testing.T) {
			app := demo(t, tuitest.NoConnect(), tuitest.At(view, nil))
			app.Press(":").Type("roots").Press("enter").View("roots")
			s, _ := app.Manager().Server("demo")
			require.NoError(t, s.Connect(t.Context()))
			state(app, session.Connected)
			app.Press("esc").View(view).Pane("list").Has(shows)
		})
	}
}
