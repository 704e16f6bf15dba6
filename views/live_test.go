package views_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// A server gets a tool and loses one: the list on the screen follows, without a key.
func TestS7_ToolListFollowsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("living", "1", server.WithToolCapabilities(true))
		add := func(name string) {
			srv.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(name), nil
			})
		}
		add("first")
		add("second")
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("living", srv), tuitest.At("tools", nil))
		app.View("tools").Has("first", "second")
		add("third")
		app.Sleep(5 * time.Second)
		app.View("tools").Has("first", "second", "third")
		srv.DeleteTools("first")
		app.Sleep(5 * time.Second)
		app.View("tools").Has("second", "third")
		app.View("tools").HasNot("first")
	})
}

// A template with an exploded list and a query becomes a form, its expansion is what the server gets, and what the server
// answers is shown.
func TestD2_TemplateIsFilledInAndRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("db", "1", server.WithResourceCapabilities(false, false))
		srv.AddResourceTemplate(mcp.NewResourceTemplate("db://rows{/id*}{?q}", "rows"), func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "got " + r.Params.URI}}, nil
		})
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("db", srv), tuitest.At("templates", nil))
		app.View("templates").Has("db://rows{/id*}{?q}")
		app.Press("enter").View("template")
		app.Type(`["a","b c"]`).Press("tab").Type("ü?").Press("ctrl+g")
		app.Pane("result").Has("got db://rows/a/b%20c?q=%C3%BC%3F")
	})
}
