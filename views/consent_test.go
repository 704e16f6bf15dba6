package views_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// database has two tools that destroy, one that only reads, and one that says nothing of itself.
func database() *server.MCPServer {
	srv := server.NewMCPServer("db", "1")
	answer := func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("called " + r.Params.Name + " " + r.GetString("table", "")), nil
	}
	for name, o := range map[string][]mcp.ToolOption{
		"drop":  {mcp.WithString("table"), mcp.WithString("password"), mcp.WithDestructiveHintAnnotation(true), mcp.WithReadOnlyHintAnnotation(false)},
		"wipe":  {mcp.WithDestructiveHintAnnotation(true), mcp.WithReadOnlyHintAnnotation(false)},
		"rows":  {mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false)},
		"plain": {func(t *mcp.Tool) { t.Annotations = mcp.ToolAnnotation{} }},
	} {
		srv.AddTool(mcp.NewTool(name, o...), answer)
	}
	return srv
}

func inDatabase(t *testing.T, agreed *consent.Policy, f func(*tuitest.App), opts ...tuitest.Option) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, append([]tuitest.Option{
			tuitest.At("tools", nil), tuitest.Server("db", database()),
			tuitest.Views(views.All(views.Deps{Consent: agreed})...),
		}, opts...)...)
		app.View("tools").Pane("list").Some(tuitest.Contains("rows"))
		f(app)
	})
}

// A destructive tool asks with its arguments, secrets hidden. What is agreed to for the session does not ask again, also where
// the same is sent once more, and nothing else is.
func TestDestructiveToolAsks(t *testing.T) {
	inDatabase(t, nil, func(app *tuitest.App) {
		app.Press(":").Type("call drop").Press("enter").View("call")
		app.Type("geheim").Press("enter").Type("users").Press("ctrl+g")
		ask := app.Confirm("Call drop?").Says("db marks drop as destructive.", `{"password":"***","table":"users"}`,
			"y once", "s this tool this session", "a this server this session", "d never ask this session", "[ n no ]")
		ask.HasNot("geheim")
		app.Hints().Has("tab next answer", "enter no").HasNot("ctrl+g", "null, empty")
		app.Press("enter").NoOverlay().Pane("result").HasNot("called")
		app.Press("ctrl+g").Confirm("Call drop?").Yes().Pane("result").Has("called drop users")
		app.Press("r").Confirm("Call drop?").No()
		app.Press("r", "s").NoOverlay().Pane("result").Has("called drop users")
		app.Press("r").NoOverlay().Pane("result").Has("called drop users")
		app.Press(":").Type("call wipe").Press("enter", "ctrl+g")
		app.Confirm("Call wipe?").Says("db marks wipe as destructive. Call it without arguments?")
		app.Press("a").NoOverlay().Pane("result").Has("called wipe")
		app.Press("r").NoOverlay().Pane("result").Has("called wipe")
	})
}

func TestNothingAsksOnceThatIsAgreedTo(t *testing.T) {
	inDatabase(t, nil, func(app *tuitest.App) {
		app.Press(":").Type("call wipe").Press("enter", "ctrl+g").Confirm("Call wipe?").Press("d").NoOverlay().Pane("result").Has("called wipe")
		app.Press("r").NoOverlay().Pane("result").Has("called wipe")
	})
	agreed := &consent.Policy{}
	agreed.All()
	inDatabase(t, agreed, func(app *tuitest.App) {
		app.Press(":").Type("call wipe").Press("enter", "ctrl+g").NoOverlay().Pane("result").Has("called wipe")
	})
}

// Read-only mode leaves the tools that are marked as read-only, in lists too, and calls no other.
func TestReadOnlyLeavesReadOnlyTools(t *testing.T) {
	inDatabase(t, nil, func(app *tuitest.App) {
		app.Whole().Has("1 of 4 tools: read-only")
		app.Pane("list").Has("rows").HasNot("drop", "wipe", "plain")
		app.Press("enter").View("call").Press("ctrl+g").Pane("result").Has("called rows")
		for _, name := range []string{"wipe", "plain"} {
			app.Press(":").Type("call " + name).Press("enter").View("call").Press("ctrl+g").Toast("read-only mode: this tool is not marked").NoOverlay()
		}
	}, tuitest.ReadOnly(), tuitest.Size(80, 24))
}
