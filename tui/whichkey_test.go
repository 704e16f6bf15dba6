package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// What can follow the first key of a chord is shown once nothing follows it: who knows the second key never sees the list.
func TestWhichKeyWaits(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("y")
		time.Sleep(200 * time.Millisecond)
		app.Press("v").Toast("copied value").NoOverlay()
		app.Sleep(time.Second).NoOverlay() // the pause of a chord that ended shows nothing
		app.Press("y").Sleep(100 * time.Millisecond).NoOverlay().Whole().HasNot("copy value\n")
		app.Sleep(300*time.Millisecond).Overlay("y …").Has("v  copy value", "j  copy JSON (not available here)")
		app.Press("esc").NoOverlay()
		app.Press("y", "esc").Sleep(time.Second).NoOverlay().View("fruits")
		app.Press("y", "Q").Toast("y Q is not bound; y lists what is").NoOverlay()
	})
}

// The list can be walked and clicked, and fits a terminal of 40x10.
func TestWhichKeyIsAMenu(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("y", "down", "enter").Toast("copied value").NoOverlay()
		app.Press("y").Overlay("y …")
		app.ClickOn("v  copy value").NoOverlay()
		app.Press("y", "down", "down", "up", "up").Overlay("y …").Selected("v  copy value")
		app.Press("enter").NoOverlay()
		app.Resize(40, 10).Press("y").Overlay("y …").Has("v  copy value", "m  copy config")
		app.ClickOn("p  copy path").Toast("not available here").NoOverlay()
	}, tuitest.Size(80, 24))
}

// A key that somebody bound to an action of the shell is listed, once.
func TestWhichKeyFollowsTheActions(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		got := app.Press("y").Overlay("y …").Has("z  zoom", "v  copy value").Text()
		if n := strings.Count(got, "zoom"); n != 1 {
			t.Errorf("zoom is listed %d times:\n%s", n, got)
		}
		app.Press("z").Status().Has("zoom (esc)")
	}, tuitest.Config(func(c *tui.Config) { c.Settings.Keys = map[string][]string{"app.zoom": {"y z"}} }))
}

func TestLinearListsWhatFollowsAKey(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.enter()
		c.has(c.enter("y"), "y v: copy value", "y j: copy JSON (not available here)")
		c.has(c.enter("y v"), "fruit 0")
	})
}
