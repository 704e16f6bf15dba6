package tui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphud/mcphud/tui/tuitest"
)

// The shell around a small screen at the sizes at which it changes.
func TestGoldenShell(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
				f.rows[3] = "果物 🍎 wide"
				app.Press("j", "j", "j").Golden(fmt.Sprintf("shell-%dx%d", size[0], size[1]))
			}, tuitest.Size(size[0], size[1]), tuitest.Server("good", echoServer()), tuitest.Peer("bad", refuses), tuitest.NoConnect())
		})
	}
}

func TestGoldenOverlays(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("?").Golden("help")
		app.Press("esc", "D").Golden("confirm")
		app.Press("esc", "y").Sleep(time.Second).Golden("chord")
		app.Press("esc", ":").Type("s").Golden("command")
	}, tuitest.Size(80, 24))
}

func TestPicture(t *testing.T) {
	for _, theme := range []string{"dark", "light"} {
		t.Run(theme, func(t *testing.T) {
			opts := []tuitest.Option{tuitest.Size(120, 30), tuitest.Server("good", echoServer()), tuitest.Peer("bad", refuses), tuitest.NoConnect()}
			if theme == "light" {
				opts = append(opts, tuitest.Light())
			}
			in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
				f.rows[3] = "果物 🍎 wide"
				app.Press("j", "j", "j", "D")
				pic := app.Picture()
				if n := len(pic); n > 24<<10 {
					t.Errorf("the picture has %d bytes", n)
				}
				app.SVG("testdata/shell-" + theme + ".svg")
				app.Press("esc")
			}, opts...)
		})
	}
}
