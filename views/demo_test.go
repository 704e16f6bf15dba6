package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// demoScreen is what the demo opens on, with servers that connect once they are needed.
func demoScreen(t *testing.T, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	deps := views.Deps{Stack: &processes{changed: make(chan struct{}, 1)}, Checks: checks(trial{"lint", picky})}
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(deps)...), tuitest.At("demo", nil), tuitest.NoConnect(),
		tuitest.Server("demo@router", basics.NewServer("")), tuitest.Server("everything", basics.NewServer("")),
		tuitest.SessionOptions(func(o *session.Options) { o.Tracing = session.TraceAll }),
	}, opts...)...)
}

func TestDemoDrawn(t *testing.T) {
	draw(t, "demo", false, sizes, func(t *testing.T, look ...tuitest.Option) *tuitest.App { return demoScreen(t, look...) })
}

// Each thing to try is one key away, connects to its server by itself, and leads back to the page.
func TestDemoTries(t *testing.T) {
	for _, size := range sizes[1:3] {
		synctest.Test(t, func(t *testing.T) {
			app := demoScreen(t, tuitest.Size(size[0], size[1]))
			app.Pane("list").Has("Three agents and a router", "router", "Try first", "› see its hops", "once a tool was called")
			app.Press("down", "enter").View("demo").Press("up")
			app.Press("enter").View("call").Pane("result").Has("42")
			app.Press("esc", "esc").View("demo").Pane("list").Has("✓ call a tool through the router", "what client, router")
			app.Press("down", "enter").View("trace").Pane("list").Has("client tools/call add → demo@router")
			app.Press("q").View("demo").Pane("list").Has("✓ see its hops")
			app.Press("down", "enter").View("call").Toast("everything lists nothing called test_input_required_result_elicitation; press r in its list to reload")
			app.Press(":").Type("demo").Press("enter").View("demo").Press("down", "enter").View("check").Pane("list").Has("✓ server", "✗ lint", "oneOf at the root")
			app.Press("q").View("demo").Pane("list").Has("✓ check an agent")
		})
	}
}
