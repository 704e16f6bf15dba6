package views_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// What is typed for _meta goes with every request to the server from then on, the frame shows it, the command to copy has it,
// and an empty line takes it away.
func TestT6_MetaIsSetFromAnyScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("tenants", "1", server.WithResourceCapabilities(false, false))
		srv.AddResource(mcp.NewResource("agent://mine", "mine"), func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			tenant := "nobody"
			if m := r.Params.Meta; m != nil {
				if id, ok := m.AdditionalFields["tenant_id"].(string); ok {
					tenant = id
				}
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "agents of " + tenant}}, nil
		})
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("tenants", srv), tuitest.At("resources", nil))
		app.View("resources").Pane("list").Has("agent://mine")
		app.Press("enter").Pane("detail").Has("agents of nobody")
		app.Press(":meta").Type("tenant_id").Press("enter")
		app.Whole().Has("not metadata: tenant_id")
		app.Prompt("_meta (KEY=VALUE KEY:=JSON)").Answer("tenant_id=acme")
		app.Status().Has("tenant_id=acme")
		app.Press("shift+tab", "enter").Pane("detail").Has("agents of acme")
		app.Press(":meta", "ctrl+u", "enter")
		app.Status().HasNot("tenant_id")
		app.Press("shift+tab", "enter").Pane("detail").Has("agents of nobody")
	})
}

// The command to copy sends the same metadata, and a form keeps what is typed while it is asked for.
func TestT6_CopiedCommandHasTheMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("tenants", "1", server.WithToolCapabilities(true))
		srv.AddTool(mcp.NewTool("echo", mcp.WithString("text"), mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("x"), nil
		})
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("tenants", srv), tuitest.At("tools", nil))
		app.View("tools").Pane("list").Has("echo")
		app.Press("enter").View("call")
		app.Type("hello").Palette().Find("metadata").Run("request metadata").Prompt("_meta (KEY=VALUE KEY:=JSON)").Answer("tenant_id=acme n:=1")
		app.Pane("form").Has("hello")
		app.Press("ctrl+g").Pane("result").Has("x")
		app.Press("y", "c").Toast("copied mcphud command")
		assert.Contains(t, app.Copied(1), "--meta tenant_id=acme --meta n:=1")
	})
}
