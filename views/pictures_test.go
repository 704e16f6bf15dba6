package views_test

import (
	"flag"
	"fmt"
	"hash/crc32"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// sizes are one for each arrangement of the panes.
var sizes = [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 60}}

// draw plays a scene in each of its looks and compares what is drawn: as text without colours in some sizes, and where it
// is pictured as two pictures for people to look at, in testdata/screens of the repository. Without every look asked for it
// takes one, another for each scene.
func draw(t *testing.T, name string, pictured bool, sizes [][2]int, play func(t *testing.T, look ...tuitest.Option) *tuitest.App) {
	t.Helper()
	every := budget.All() || flag.Lookup("update").Value.String() == "true"
	looks := len(sizes)
	if pictured {
		looks += 2
	}
	chosen := int(crc32.ChecksumIEEE([]byte(name))) % looks
	if racing {
		chosen = 0 // the same code with other numbers
	}
	at := func(i int, suffix string, w, h int, shot func(*tuitest.App, string), more ...tuitest.Option) {
		if every && !racing || i == chosen {
			id := fmt.Sprintf("%s-%dx%d%s", name, w, h, suffix)
			t.Run(id, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { shot(play(t, append(more, tuitest.Size(w, h))...), id) })
			})
		}
	}
	text := func(a *tuitest.App, id string) {
		a.Golden("screens/" + id)
		if c := colored.Find(a.Output()); c != nil {
			t.Errorf("NO_COLOR is set, and the program printed %q", c)
		}
	}
	picture := func(a *tuitest.App, id string) { a.Legible().SVG("../testdata/screens/" + id + ".svg") }
	for i, s := range sizes {
		at(i, "", s[0], s[1], text, tuitest.NoColor())
	}
	if pictured {
		at(looks-2, "-dark", 120, 40, picture)
		at(looks-1, "-light", 80, 24, picture, tuitest.Light())
	}
}

// TestScreens draws every scene.
func TestScreens(t *testing.T) {
	for _, sc := range scenes() {
		of := sizes
		if sc.rare {
			of = sizes[1:3]
		}
		draw(t, sc.name, sc.pictured, of, func(t *testing.T, look ...tuitest.Option) *tuitest.App { return stage(t, sc, look...) })
	}
}

// stage starts the UI and plays a scene.
func stage(t *testing.T, sc scene, look ...tuitest.Option) *tuitest.App {
	t.Helper()
	opts := []tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.At(sc.at, nil),
		tuitest.Latency(3100 * time.Microsecond),
	}
	app := tuitest.Start(t, append(append(opts, sc.opts...), look...)...)
	if sc.play != nil {
		sc.play(app)
	}
	return app
}

// colored is an escape sequence that sets a colour.
var colored = regexp.MustCompile("\x1b\\[([0-9;:]*[;:])?([34][0-8]|9[0-7]|10[0-7])([;:][0-9;:]*)?m")
