package tui_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// place is a screen that says nothing.
func place(id, title, tab string, change ...func(*tui.Screen)) *tui.Screen {
	s := (&other{}).screen()
	s.ID, s.Title, s.Tab, s.Aliases, s.Actions = id, title, tab, nil, nil
	s.Panes = []tui.PaneSpec{{ID: "all", Title: title}}
	for _, f := range change {
		f(s)
	}
	return s
}

func badge(text *string) func(*tui.Screen) {
	return func(s *tui.Screen) { s.Badge = func(*tui.Ctx) string { return *text } }
}

func peer(s *tui.Screen) { s.Peer = true }

// topLine is the first row of the screen.
func topLine(a *tuitest.App) string {
	line, _, _ := strings.Cut(a.Settle().Screen(), "\n")
	return line
}

// column is where a name stands in a line.
func column(t *testing.T, line, name string) int {
	t.Helper()
	before, _, ok := strings.Cut(line, name)
	if !ok {
		t.Fatalf("%q is not in %q", name, line)
	}
	return utf8.RuneCountInString(before)
}

// TestTabsKeepTheirNames: they do not move while counts below 100 change, badges give way where there is no room, names never do.
func TestTabsKeepTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := "9"
		app := tuitest.Start(t, tuitest.Size(100, 24), tuitest.Views(
			place("one", "First", "", badge(&count)), place("two", "Second", "", badge(&count)), place("three", "Third", "", badge(&count)),
		))
		before := topLine(app)
		assert.Contains(t, before, " First 9", " Second 9", " Third 9")
		at := column(t, before, "Third")
		count = "17"
		assert.Equal(t, column(t, topLine(app.Resize(101, 24)), "Third"), at)
		count = ""
		assert.Equal(t, column(t, topLine(app.Resize(100, 24)), "Third"), at)
		count = "123456"
		assert.Contains(t, topLine(app.Resize(101, 24)), "First 123k")
		count = "–"
		assert.Contains(t, topLine(app.Resize(100, 24)), "Second –")
	})
}

// TestSections: they hang on their tab, `[` and `]` go through those that are beside each other, and esc leads back to where one came from.
func TestSections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := ""
		app := tuitest.Start(t, tuitest.Size(100, 24), tuitest.Views(
			place("home", "Home", ""), place("list", "List", ""), place("map", "Map", "list", peer), place("log", "Log", "list", peer),
			place("one", "One", "list"), place("mail", "Mail", "", func(s *tui.Screen) { s.Transient = true }), place("jobs", "Jobs", "mail", badge(&waits)),
		))
		assert.Equal(t, strings.TrimRight(topLine(app), " "), " Home  List")
		app.Press("]").Toast("there is nothing beside this")
		app.Press("esc", "2").View("list").Hints().Has("] Map")
		assert.Contains(t, topLine(app), "[ List · Map · Log ]")
		app.Press("]").View("map").Whole().Has("List ▸ Map")
		app.Press("]").View("log").Press("esc").View("list").Press("[").View("log").Press("]").View("list")
		app.Press("esc").View("home")
		app.Press(":").Type("map").Press("enter", "]").View("log").Press("esc").View("home")
		app.Palette().Find("one")
		app.Overlay("Command palette").Has("List ▸ One")
		app.Press("enter").View("one").Press("]").Toast("there is nothing beside this")
		assert.Equal(t, app.State().Crumbs, "List ▸ One")
		app.Press("q").View("home").Press("2").View("list").Press("]").View("map").Press("q")

		app.Press("esc").View("home").Press("3").View("mail") // its key works also while the tab is not there
		assert.Contains(t, topLine(app), "Mail")
		waits = "2"
		app.Press("esc").View("home")
		assert.Contains(t, topLine(app), " Mail 2")
	})
}

// TestASectionNeedsATab: no screen is nowhere.
func TestASectionNeedsATab(t *testing.T) {
	for _, views := range [][]*tui.Screen{
		{place("a", "A", ""), place("b", "B", "nowhere")},
		{place("a", "A", ""), place("b", "B", "a"), place("c", "C", "b")},
	} {
		assert.ErrorContains(t, tui.CheckViews(views), "which has no tab")
	}
}
