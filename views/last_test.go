package views_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// TestLastResult: from 140 columns on the last result stands beside the definition once something was called, and the pane has
// what a result has.
func TestLastResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, append(agent(), tuitest.At("tools", nil), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(140, 40))...)
		app.View("tools").Whole().HasNot("Last result")
		call := func(message string) {
			app.Press("/").Type("echo").Press("enter", "enter").View("call").Press("ctrl+u").Type(message).Press("ctrl+g")
			app.Pane("result").Has(message)
			app.Press("2").View("tools")
		}
		call("first words")
		app.Pane("list").Has("echo")
		app.Pane("detail").Has("Returns the message it was given.")
		app.Pane("result").Has("first words")
		app.Whole().Has("Last result ✓")

		call("other words")
		app.Pane("result").Has("other words").HasNot("first words")

		app.Press("esc", "/").Type("add").Press("enter").Pane("result").Has("No result in this session.", "Press enter").HasNot("other words")
		app.Press("esc", "/").Type("echo").Press("enter").Pane("result").Has("other words")

		app.Press("tab", "tab").Pane("result").Focused().Hints().Has("t frames")
		app.Press("]").Pane("result").Has(`"content"`)
		app.Press("tab").Pane("list").Focused()

		app.Resize(139, 40).Whole().HasNot("Last result")
		app.Press("tab").Pane("detail").Focused().Press("tab").Pane("list").Focused()
		app.Resize(200, 60).Pane("result").Has("other words")
		app.Press("shift+tab").Pane("result").Focused().Resize(100, 30).Pane("detail").Focused()
	})
}

// TestLastResultFailed: an error answer and a tool's own failure say which they are.
func TestLastResultFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.NewMCPServer("odd", "1")
		s.AddTool(mcp.NewTool("broken", mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("the disk is gone")
		})
		s.AddTool(mcp.NewTool("refuses", mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("not on Sundays"), nil
		})
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("odd", s), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(160, 40))
		app.Pane("list").Has("broken", "refuses")
		app.Press("enter").View("call").Press("ctrl+g").Pane("form").Focused()
		app.Press("esc").View("tools").Pane("result").Has("✗ -32603 the disk is gone", `"code": -32603`)
		app.Whole().Has("Last result ✗")
		app.Press("down", "enter").View("call").Press("ctrl+g").Pane("result").Has("not on Sundays").Focused()
		app.Press("2").View("tools").Pane("result").Has("not on Sundays")
		app.Whole().Has("✗ isError")
	})
}

// TestLastResultIsReadWhereItIsSeen: a result is read for its pane only while that is on the screen, and never where it is large.
func TestLastResultIsReadWhereItIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.NewMCPServer("big", "1")
		s.AddTool(mcp.NewTool("fill", mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(strings.Repeat("x", 9<<20)), nil
		})
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("big", s), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(140, 40))
		app.Pane("list").Has("fill")
		app.Press("enter").View("call").Press("ctrl+g").Pane("result").Has("xxxx").Focused()
		app.Press("2").View("tools").Pane("result").Has("The result has 9.4 MB.").HasNot("xxxx")
		app.Press("shift+tab", "t").View("traffic").Whole().Has("tools/call")
	})
}
