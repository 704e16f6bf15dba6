package views_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// sizes are one for each arrangement of the panes.
var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// TestPictures draws every screen as a picture, for people to look at: in
// testdata/screens of the repository.
func TestPictures(t *testing.T) {
	every := budget.All() || flag.Lookup("update").Value.String() == "true"
	if !every {
		t.Log("each screen once; " + budget.TestsEnv + "=all draws it in all sizes and themes")
	}
	for i, sc := range scenes() {
		drawn := 0
		for _, size := range sizes {
			for _, theme := range []string{"dark", "light"} {
				if sc.rare && (size[0] == 200 || (size[0] == 120) != (theme == "dark")) {
					continue
				}
				if racing && (size[0] != 120 || theme != "dark") {
					continue // the same code with other numbers
				}
				drawn++
				if of := map[bool]int{true: 2, false: 6}[sc.rare]; !every && !racing && drawn-1 != i%of {
					continue
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

// TestScreensAsText draws some of the screens without colours, in every size
// down to one pane at a time, with letters that are two cells wide among them.
// What NO_COLOR promises holds for every byte.
func TestScreensAsText(t *testing.T) {
	shown := []string{"servers", "tools", "tools-wide-text", "call-wide-text", "call-form", "call-invalid", "result-structured", "call-running", "resource-read", "prompt-result", "traffic-frame", "again", "logs", "timeline"}
	every := budget.All() || flag.Lookup("update").Value.String() == "true"
	for i, sc := range scenes() {
		if !slices.Contains(shown, sc.name) {
			continue
		}
		for k, size := range append([][2]int{{60, 15}}, sizes...) {
			if racing && size[0] != 60 || !every && k > 0 && k != 1+i%3 {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d", sc.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					app := stage(t, sc, size, tuitest.NoColor())
					app.Golden("screens/" + name)
					if c := colored.Find(app.Output()); c != nil {
						t.Errorf("NO_COLOR is set, and the program printed %q", c)
					}
				})
			})
		}
	}
}

// colored is an escape sequence that sets a colour.
var colored = regexp.MustCompile("\x1b\\[([0-9;:]*[;:])?([34][0-8]|9[0-7]|10[0-7])([;:][0-9;:]*)?m")
