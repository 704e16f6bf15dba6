package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// TestServerPage: the right side of Servers has a row for each section of the server; down goes through them, enter opens one, and esc
// comes back to the row.
func TestServerPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := demo(t, tuitest.At("servers", nil), tuitest.Size(120, 40)).View("servers")
		app.Press("tab")
		for i, row := range []struct{ label, screen string }{
			{"seen as", "personas"}, {"instructions", "instructions"}, {"roots", "roots"}, {"log", "logs"}, {"doctor", "doctor"},
		} {
			if i > 0 {
				app.Press("down")
			}
			app.Pane("detail").Selected(row.label)
			app.Press("enter").View(row.screen).Send(tui.Back{}).View("servers").Pane("detail").Focused()
		}
		app.Idle().Pane("detail").Has("doctor       ✗ Program")
	})
}
