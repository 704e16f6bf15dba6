package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// Resources whose URIs begin alike can be told apart in a narrow list.
func TestLongURIsCanBeToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("docs", "1", server.WithResourceCapabilities(false, false))
		add := func(uri, name string) {
			srv.AddResource(mcp.NewResource(uri, name), nil)
		}
		add("docs://static/document/of/the/server/architecture.md", "architecture.md")
		add("docs://static/document/of/the/server/features.md", "docs://static/document/of/the/server/features.md")
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("docs", srv),
			tuitest.At("resources", nil), tuitest.Size(80, 24))
		list := app.Pane("list")
		list.Has("architecture.md", "features.md")
		app.Press("/").Type("architecture").Press("enter")
		list.HasNot("features.md")
	})
}

// Where a server is not connected, r connects and leads back.
func TestReloadConnectsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := demo(t, tuitest.At("servers", nil))
		app.Status().Has("Connected")
		app.Press("d").Status().Has("Disconnected")
		app.Press("4").View("prompts").Pane("list").Has("Press r to connect")
		app.Hints().Has("r reload")
		app.Press("r").Status().Has("● Connected")
		app.View("prompts").Pane("list").Some(tuitest.Contains("greet"))
	})
}
