package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// demo starts the UI on the bundled agent, in memory.
func demo(t *testing.T, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...),
		tuitest.Server("demo", agentsrv.New(agentsrv.Options{}).MCP()),
	}, opts...)...)
}

func TestViewsAreSound(t *testing.T) {
	if err := tui.CheckViews(views.All(views.Deps{})); err != nil {
		t.Fatal(err)
	}
}

func TestCallAToolFromItsForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := demo(t, tuitest.At("tools", nil))
		app.View("tools").Some(tuitest.Contains("echo"))
		app.Press("/").Type("echo").Press("enter", "enter")
		app.View("call")
		app.Type("hello wörld").Press("ctrl+g")
		app.Pane("result").Has("hello wörld", "✓ ok")
	})
}
