package views_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// sizes are those that architecture.md's layouts change at.
var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// TestPictures draws every screen as a picture, for people to look at: in
// testdata/screens of the repository.
func TestPictures(t *testing.T) {
	for _, sc := range scenes() {
		for _, size := range sizes {
			for _, theme := range []string{"dark", "light"} {
				if sc.rare && (size[0] == 200 || (size[0] == 120) != (theme == "dark")) {
					continue
				}
				if racing && (size[0] != 120 || theme != "dark") {
					continue // the same code with other numbers
				}
				name := fmt.Sprintf("%s-%dx%d-%s", sc.name, size[0], size[1], theme)
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var look []tuitest.Option
						if theme == "light" {
							look = append(look, tuitest.Light())
						}
						stage(t, sc, size, look...).SVG("../testdata/screens/" + name + ".svg")
					})
				})
			}
		}
	}
}

// stage starts the UI and plays a scene.
func stage(t *testing.T, sc scene, size [2]int, more ...tuitest.Option) *tuitest.App {
	t.Helper()
	opts := []tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Size(size[0], size[1]), tuitest.At(sc.at, nil),
		tuitest.Latency(3100 * time.Microsecond),
	}
	app := tuitest.Start(t, append(append(opts, sc.opts...), more...)...)
	if sc.play != nil {
		sc.play(app)
	}
	return app
}
