package views_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// A definition on the screen of all tools can be saved, and the screen says where it went.
func TestSaveFromAllTools(t *testing.T) {
	tools := toolset.NewRegistry()
	require.NoError(t, tools.Register(toolset.RegisteredTool{
		Name: "local_tool", Source: toolset.Local, Item: offer.Item{Name: "local_tool", Raw: []byte(`{"name":"local_tool"}`)},
		Run: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	}))
	file := filepath.Join(t.TempDir(), "saved.json")
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Registry: tools})...))
		app.Press(":").Type("all-tools").Press("enter")
		app.Whole().Has("local_tool")
		app.Press("m", "tab", "s", "ctrl+u").Type(file).Press("enter").Toast("saved 21 B to ")
	})
	if b, err := os.ReadFile(file); err != nil || string(b) != `{"name":"local_tool"}` {
		t.Errorf("saved %s, %v", b, err)
	}
}

// Read-only mode leaves out what may change something on the screen of all tools too.
func TestAllToolsReadOnly(t *testing.T) {
	tools := toolset.NewRegistry()
	for name, annotations := range map[string]string{"looks": `{"readOnlyHint":true}`, "changes": `{}`} {
		require.NoError(t, tools.Register(toolset.RegisteredTool{
			Name: name, Source: toolset.Local, Item: offer.Item{Name: name, Annotations: []byte(annotations)},
			Run: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		}))
	}
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Registry: tools})...), tuitest.ReadOnly())
		app.Press(":").Type("all-tools").Press("enter")
		app.Whole().Has("looks").HasNot("changes")
	})
}

// TestRoutedCopies: what a router offers of a server that is in the list itself is left out, unless it is wanted.
func TestRoutedCopies(t *testing.T) {
	tools := toolset.NewRegistry()
	for _, x := range [][2]string{{"demo", "add"}, {"demo@router", "add"}, {"all@router", "mcp__demo__add"}, {"other", "add"}, {"all@router", "own"}} {
		require.NoError(t, tools.Register(toolset.RegisteredTool{
			Name: toolset.FullName(x[0], x[1]), Source: toolset.MCP, Server: x[0], Tool: x[1],
			Item: offer.Item{Name: x[1], Description: "adds", InputSchema: []byte(`{"type":"object"}`)},
			Run:  func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		}))
	}
	file := filepath.Join(t.TempDir(), "preferences.json")
	kept := tuitest.Config(func(c *tui.Config) { c.PreferencesFile = file })
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Registry: tools})...), tuitest.Size(200, 40), kept)
		app.Press(":").Type("all-tools").Press("enter").View("toolset").Pane("list").Has("own", "other", "2 routed copies left out").HasNot("demo@router", "mcp__all@router__mcp__demo__add")
		app.Press(":").Type("routed").Press("enter").Pane("list").Has("demo@router", "mcp__demo__add").HasNot("left out")
	})
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Registry: tools})...), tuitest.Size(200, 40), kept)
		app.Press(":").Type("all-tools").Press("enter").Pane("list").Has("demo@router", "mcp__demo__add")
		app.Press(":").Type("routed").Press("enter").Pane("list").Has("2 routed copies left out").HasNot("demo@router")
	})
}

// Servers that connect before the screen is opened do not push the cursor down; those that connect later leave it on its tool.
func TestAllToolsOpenAtTheFirst(t *testing.T) {
	tools := toolset.NewRegistry()
	register := func(server string) {
		require.NoError(t, tools.Register(toolset.RegisteredTool{
			Name: server + "_tool", Tool: "tool", Server: server, Source: toolset.MCP, Item: offer.Item{Name: "tool", Description: "that " + server + " has"},
			Run: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		}))
	}
	synctest.Test(t, func(t *testing.T) {
		register("zeta")
		app := tuitest.Start(t, tuitest.Server("demo", basics.NewServer("")), tuitest.Views(views.All(views.Deps{Registry: tools})...))
		app.Settle()
		register("beta")
		app.Press(":").Type("all-tools").Press("enter").Pane("detail").Has("that beta has")
		register("alpha")
		app.Press("2", ":").Type("all-tools").Press("enter").Pane("list").Has("alpha")
		app.Pane("detail").Has("that beta has")
	})
}
