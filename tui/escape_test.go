package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// Messages stand over hints, ticker and border: what is read and what is typed stay visible.
func TestToastsCoverNothing(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			app.Resize(size[0], size[1])
			before := app.State().Panes["list"]
			rows := strings.Split(app.Screen(), "\n")
			for range 5 {
				app.Send(tui.Toast{Level: tui.Failure, Text: strings.Repeat("long words of an error ", 12)})
			}
			app.Toast("long words").Whole().Has("✗ long words", "(esc)")
			after := strings.Split(app.Screen(), "\n")
			for y := before.Y; y < before.Y+before.H; y++ {
				if rows[y] != after[y] {
					t.Errorf("at %v row %d was %q and is %q", size, y, rows[y], after[y])
				}
			}
			app.Press("/").Type("fru").Hints().Has("/fru").HasNot("long words")
			app.Press("esc", "esc").Whole().HasNot("long words")
		}
	})
}

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
