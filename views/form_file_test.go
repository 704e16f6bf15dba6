package views_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// A file is picked from a list: its path goes into the field, or its bytes where the schema wants base64. Names that would
// write on the terminal are shown, not obeyed.
func TestPickAFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "inner"), 0o700))
	for name, text := range map[string]string{"inner/a.txt": "hi", "inner/b\x1b]0;owned\x07.txt": "x", "top.txt": "y"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	srv := server.NewMCPServer("s", "1")
	srv.AddTool(mcp.NewToolWithRawSchema("put", "", []byte(`{"type":"object","properties":{"data":{"type":"string","contentEncoding":"base64"},"path":{"type":"string"},"n":{"type":"integer"}}}`)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("done"), nil
		})
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", srv), tuitest.Size(80, 24), tuitest.Views(views.All(views.Deps{})...))
		app.View("tools").Pane("list").Some(tuitest.Contains("put"))
		app.Press("enter").View("call").Whole().Has("ctrl+f pick a file")
		app.Press("ctrl+f").Overlay("Pick a file").Has("inner", "top.txt")
		app.Press("enter").Overlay("Pick a file").Has("a.txt").HasNot("top.txt")
		assert.NotContains(t, string(app.Output()), "\x1b]0;owned")
		app.Press("enter").NoOverlay().Pane("form").Has("aGk=")
		app.Press("tab", "ctrl+f").Overlay("Pick a file").Has("top.txt")
		app.Press("down", "enter").NoOverlay()
		app.Press("ctrl+r").Pane("form").Has(`"data": "aGk="`, filepath.Base(dir), "top.txt")
		app.Press("ctrl+r", "tab", "ctrl+f").NoOverlay()
	})
}
