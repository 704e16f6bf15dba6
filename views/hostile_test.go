package views_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// watch judges every frame before the renderer sees it, each line once.
type watch struct {
	mu   sync.Mutex
	bad  string
	n    int
	good map[string]bool
}

func (w *watch) frame(v tea.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	why := ""
	for line := range strings.SplitSeq(v.Content, "\n") {
		if !w.good[line] && why == "" {
			why = hostile.HarmStyled(line)
			w.good[line] = true
		}
	}
	if why == "" {
		why = hostile.Harm(v.WindowTitle)
		if strings.Contains(v.WindowTitle, "\n") {
			why = "a line feed in the window's title"
		}
	}
	w.n++
	if w.bad == "" && why != "" {
		w.bad = why
	}
}

func (w *watch) check(t *testing.T, app *tuitest.App, where string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad != "" {
		t.Fatalf("%s: %s\n%s", where, w.bad, app.Screen())
	}
	if w.n == 0 {
		t.Fatal("no frame was seen")
	}
}

// TestHostileStringsE2E serves every string of the corpus in every field that a
// server controls, goes through all screens, and looks at every frame and at
// every byte that reached the terminal. Short strings share a walk.
func TestHostileStringsE2E(t *testing.T) {
	t.Parallel()
	if !budget.All() {
		t.Log("some of the strings; " + budget.TestsEnv + "=all takes all of them")
	}
	for i, h := range groups() {
		if budget.Race() && i%16 != 0 {
			continue // a walk takes ten times as long; the strings are the same to the detector
		}
		if !budget.All() && i%20 != 0 {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { walk(t, h.Value) })
		})
	}
}

// groups joins short strings by four. A hundred fields hold each string, so
// what is long is cut to stay below the cap on frames.
func groups() (out []hostile.String) {
	const short, most, together = 30, 30_000, 4
	var few []hostile.String
	join := func() {
		var g hostile.String
		for _, h := range few {
			g.Name += h.Name + ", "
			g.Value += h.Value
		}
		if few != nil {
			out, few = append(out, g), nil
		}
	}
	for _, h := range hostile.Strings() {
		if h.Value == "" || len(h.Value) > short || strings.Contains(h.Value, "\n") {
			out = append(out, hostile.String{Name: h.Name, Value: h.Value[:min(len(h.Value), most)]})
			continue
		}
		if few = append(few, h); len(few) == together {
			join()
		}
	}
	join()
	return out
}

// walk shows all that a server can make appear.
func walk(t *testing.T, s string) {
	w := &watch{good: map[string]bool{}}
	app := tuitest.Start(t,
		tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("evil", evil(s)), tuitest.At("tools", nil),
		tuitest.Env("PAGER", "true"), tuitest.Env("EDITOR", "true"),
		tuitest.Config(func(c *tui.Config) { c.Frames = w.frame }),
	)
	j := app.Manager().Journal()
	j.Append(journal.Entry{Server: "evil", Dir: journal.In, Kind: journal.Stderr}, []byte(s))
	j.Append(journal.Entry{Server: "evil", Dir: journal.In, Kind: journal.HTTP, Note: s, Method: s, ID: s, Tool: s}, []byte("HTTP/1.1 500 "+s))
	copies := 0
	keys := func(where string, ks ...string) {
		t.Helper()
		app.Press(ks...)
		w.check(t, app, where+" after "+strings.Join(ks, " "))
	}
	wall := []string{"down", "down", "up", "up", "tab", "down", "G", "g"}
	screen := func(id string, also ...string) {
		t.Helper()
		app.Send(tui.Navigate{View: id}) // a form with the focus would take the keys of the command line
		app.View(id)
		keys(id, append(wall, also...)...)
		keys(id, "shift+tab")
		quiet(app)
	}
	copied := func(where string, ks ...string) {
		t.Helper()
		for _, k := range ks {
			keys(where, "y", k)
			copies++
			if len(app.State().Overlays) > 0 {
				app.Press("esc")
			}
			quiet(app)
			app.View(where)
		}
	}
	keys("command line", ":")
	app.Type("serv")
	keys("command line", "tab", "enter")
	screen("servers", "p")
	screen("tools", "s", "m", "s")
	copied("tools", "v", "j", "c")
	keys("help", "?", "pgdown", "esc")
	keys("palette", "ctrl+p", "pgdown", "esc")
	keys("copy menu", "y", "esc")
	app.View("tools")
	keys("tools", "/")
	app.Type("x")
	keys("filter", "enter", "esc")

	callScreen(t, app, keys)
	screen("call", "]", "]", "]", "]", "]", "]", "]", "]", "]", "]", "m", "m", "[", "[")
	screen("resources", "s", "m")
	keys("reading", "enter")
	app.Idle()
	keys("reading", "]", "]", "]", "]", "]", "m")
	quiet(app)
	app.Sleep(2e9) // updates of what was subscribed to
	screen("subscriptions")
	screen("instructions")
	screen("prompts", "s")
	keys("prompt", "shift+tab", "enter")
	if app.State().View == "prompt" {
		app.Type("x").Sleep(400e6)
		keys("prompt", "down", "ctrl+g")
		app.Idle()
		keys("prompt", "]", "]", "]", "]")
		quiet(app)
	}
	screen("skills", "s")
	keys("skill", "enter")
	app.Idle()
	quiet(app)
	screen("templates", "s")
	keys("template", "enter")
	if app.State().View == "template" {
		app.Type("x").Sleep(400e6)
		keys("template", "ctrl+g")
		app.Idle()
		quiet(app)
	}
	screen("logs")
	for range 8 {
		keys("logs", "down")
	}
	screen("traffic")
	for range 40 {
		keys("traffic", "up")
	}
	for _, size := range [][2]int{{80, 24}, {41, 11}, {20, 5}, {1, 1}, {200, 60}} {
		app.Resize(size[0], size[1])
		w.check(t, app, fmt.Sprint("at ", size))
	}
	keys("pager", "z", "\\", ":theme")
	quiet(app)
	if why := outside(app.Output(), copies); why != "" {
		t.Errorf("the terminal was sent %s", why)
	}
}

// callScreen fills in the form of the first tool that can be called and calls
// it three times.
func callScreen(t *testing.T, app *tuitest.App, keys func(string, ...string)) {
	t.Helper()
	keys("tools", "enter")
	if app.State().View != "call" {
		keys("tools", "down", "enter") // the first one has no name
	}
	app.View("call")
	for range 20 {
		keys("form", "down")
	}
	keys("form", "ctrl+o", "esc", "f8", "ctrl+r", "ctrl+r")
	for range 3 {
		keys("send", "ctrl+g")
		for range 3 {
			if len(app.State().Overlays) == 0 {
				break
			}
			app.Pane("overlay").Text()
			keys("dialog", "y")
		}
		app.Idle()
		keys("result", "shift+tab")
		if app.State().Focus != "form" {
			keys("result", "tab")
		}
		quiet(app)
	}
}

// quiet acknowledges the errors on the screen: that the server is bad is not
// what these tests find out.
func quiet(app *tuitest.App) {
	for range 8 {
		n := len(app.State().Failures)
		if n == 0 || len(app.State().Overlays) > 0 {
			return
		}
		app.Press("esc")
		if len(app.State().Failures) == n {
			return
		}
	}
}
