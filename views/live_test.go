package views_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/mcpgo"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
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
		app.View("tools").Pane("list").Has("first", "second")
		add("third")
		app.Sleep(5 * time.Second)
		app.View("tools").Pane("list").Has("first", "second", "third")
		srv.DeleteTools("first")
		app.Sleep(5 * time.Second)
		app.View("tools").Pane("list").Has("second", "third")
		app.View("tools").Pane("list").HasNot("first")
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
		app.View("templates").Pane("list").Has("db://rows{/id*}{?q}")
		app.Press("enter").View("template")
		app.Type(`["a","b c"]`).Press("tab").Type("ü?").Press("ctrl+g")
		app.Pane("result").Has("got db://rows/a/b%20c?q=%C3%BC%3F")
	})
}

// The tools of two servers and one of this program are one list; source:, server: and words filter it; enter opens a tool's
// form on its server; and a server that goes takes its tools along.
func TestS6_S11_S12_ToolsOfAllServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*server.MCPServer{}
		for name, tools := range map[string][]string{"alpha": {"find", "merge"}, "beta": {"find"}} {
			servers[name] = server.NewMCPServer(name, "1", server.WithToolCapabilities(true))
			for _, tool := range tools {
				servers[name].AddTool(mcp.NewTool(tool, mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return mcp.NewToolResultText(tool + " of " + name), nil
				})
			}
		}
		m := session.NewManager(session.Options{Dial: func(c config.Server) (transport.Transport, bool) {
			return mcpgo.From(mcptransport.NewInProcessTransport(servers[c.Name])), true
		}})
		bridge := toolset.NewBridge(m, config.Settings{})
		t.Cleanup(func() {
			bridge.Close()
			assert.NoError(t, m.Close())
		})
		require.NoError(t, bridge.Registry().Register(toolset.RegisteredTool{
			Name: "clock", Source: toolset.Local, Item: offer.Item{Name: "clock", Raw: []byte(`{"name":"clock"}`)},
			Run: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		}))
		for _, name := range []string{"alpha", "beta"} {
			require.NoError(t, bridge.RegisterServer(config.Server{Name: name}))
		}
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Registry: bridge.Registry()})...), tuitest.Sessions(m), tuitest.At("toolset", nil))
		app.View("toolset").Pane("list").Has("clock", "local")
		app.View("toolset").Pane("list").HasNot("alpha")
		for _, name := range []string{"alpha", "beta"} {
			if err := m.Connect(t.Context(), name); err != nil { // anybody's connecting makes the tools known
				t.Fatal(err)
			}
		}
		rows := func(has ...string) {
			for _, row := range has { // a tool's own name, and its server
				app.View("toolset").Pane("list").Some(tuitest.Matches(row))
			}
		}
		rows("find .*alpha", "merge .*alpha", "find .*beta")
		app.Press("2").View("tools").Pane("list").Has("find")
		app.Press("/").Type("merge").Press("enter").Pane("list").Some(tuitest.Contains("merge"))
		app.Press("1").View("servers").Press("j", "enter").View("tools") // another server's tools are not filtered by it
		app.Pane("list").Some(tuitest.Contains("find"))
		app.Press(":all").View("toolset")
		app.Whole().Has("Tools ▸ All tools").HasNot("alpha ▸ Tools")
		for filter, want := range map[string]struct{ has, lacks []string }{
			"source:local":             {[]string{"clock"}, []string{"alpha", "beta"}},
			"source:mcp":               {[]string{"find .*alpha", "find .*beta"}, []string{"clock"}},
			"source:mcp server:alpha":  {[]string{"find .*alpha", "merge .*alpha"}, []string{"beta", "clock"}},
			"-source:local -find":      {[]string{"merge .*alpha"}, []string{"clock", "beta"}},
			"source:local server:beta": {[]string{"Nothing matches"}, []string{"alpha"}},
		} {
			app.Press("/", "ctrl+u").Type(filter).Press("enter")
			rows(want.has...)
			app.View("toolset").Pane("list").HasNot(want.lacks...)
		}
		app.Press("/", "ctrl+u").Type("server:beta").Press("enter", "enter").View("call")
		app.Press("ctrl+g").Pane("result").Has("find of beta")
		require.NoError(t, bridge.Disconnect("beta"))
		app.Press(":").Type("all").Press("enter")
		app.View("toolset").Pane("list").Has("Nothing matches")
		app.Press("/", "ctrl+u", "enter")
		rows("merge .*alpha", "clock .*local")
		app.View("toolset").Pane("list").HasNot("beta")
	})
}
