package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestMain fails where goroutines are left over.
func TestMain(m *testing.M) { leaktest.Main(m, tuitest.LeftByBubbleTea()) }

// demo starts the UI on the bundled agent, in memory.
func demo(t *testing.T, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...),
		tuitest.Server("demo", basics.NewServer("")),
	}, opts...)...)
}

func TestViewsAreSound(t *testing.T) {
	require.NoError(t, tui.CheckViews(views.All(views.Deps{})))
}

func TestCallAToolFromItsForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := demo(t, tuitest.At("tools", nil))
		app.View("tools").Pane("list").Some(tuitest.Contains("echo"))
		app.Press("/").Prompt("/").Answer("echo").Pane("list").Focused().Selected("echo")
		app.Press("enter").View("call").Pane("form").Focused()
		app.Type("hello wörld").Press("ctrl+g")
		app.Pane("result").Has("hello wörld", "✓ ")
	})
}

// The hint bar of a form says what the keys do at the focused field.
func TestFormHintsFollowTheField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := demo(t, tuitest.At("tools", nil), tuitest.Size(160, 40))
		app.View("tools").Pane("list").Some(tuitest.Contains("form_gallery"))
		app.Press("/").Type("form_g").Press("enter", "enter").View("call")
		app.Hints().Has("ctrl+g call", "tab next field", "ctrl+r raw JSON", "f1 help")
		app.Hints().HasNot("/ filter", "y copy", "? help")
		app.Press("down").Hints().Has("space choose")
		app.Press("enter").Hints().Has("enter choose", "esc close")
	})
}
