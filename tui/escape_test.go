package tui_test

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/tui/tuitest"
)

// esc leaves the zoom before the screen; two of them that were read at once count twice.
func TestEscapeLeavesTheZoomFirst(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("z").Status().Has("zoom (esc)")
		app.Press("esc").View("fruits").Pane("detail").Has("at fruit 0")
		app.Press("z", "/").Type("1").Press("enter").Pane("list").Has("esc clears")
		app.Keys("\x1b\x1b")
		app.Sleep(time.Second).View("fruits").Pane("detail").Has("at fruit")
		app.Status().HasNot("zoom")
		app.Whole().HasNot("esc clears")
	})
}
