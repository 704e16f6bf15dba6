package views_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/wire/journal"
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
		app.Press(":disconnect").Status().Has("Disconnected")
		app.Press("4").View("prompts").Pane("list").Has("Press r to connect")
		app.Hints().Has("r connect").HasNot("reload")
		app.Press("r").Status().Has("● Connected")
		app.View("prompts").Pane("list").Some(tuitest.Contains("greet"))
		app.Hints().Has("r reload")
	})
}

// gitLike are tools of which several hold the words of others in their names and descriptions.
func gitLike(opts ...tuitest.Option) []tuitest.Option {
	srv := server.NewMCPServer("git", "1", server.WithToolCapabilities(false))
	for _, t := range [][2]string{
		{"git_add", "Stage files."},
		{"git_changelog_analyze", "Analyse the changelog."},
		{"git_clear_working_dir", "Clears what git_set_working_dir has set."},
		{"git_diff", "Differences, as of git_status."},
		{"git_log", "Show the log."},
		{"git_set_working_dir", "Sets the folder. Says the status."},
		{"git_show", "Show an object."},
		{"git_status", "Show what changed."},
	} {
		srv.AddTool(mcp.NewTool(t[0], mcp.WithDescription(t[1]), mcp.WithString("path")), nil)
	}
	return append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Server("git", srv),
		tuitest.At("tools", nil), tuitest.Size(80, 24),
	}, opts...)
}

// What `/` finds best is under the cursor while it is typed, wherever the cursor was, so that enter twice opens it.
func TestFilterGoesToTheBestHit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, gitLike()...)
		for typed, want := range map[string]string{
			"set_w": "git_set_working_dir", "log": "git_log", "status": "git_status", "diff": "git_diff",
			"swd": "git_set_working_dir", "gst": "git_status",
		} {
			app.Press("G", "/").Type(typed).Press("enter", "enter").View("call")
			if at := app.State().Crumbs; !strings.HasSuffix(at, want) {
				t.Errorf("/%s opened %s, want %s", typed, at, want)
			}
			app.Press("esc").View("tools").Press("esc")
		}
	})
}

// `/` starts empty, what was typed before is a key away, and what is applied stands in the frame until esc takes it away.
func TestFilterStartsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, gitLike()...)
		list := app.Pane("list")
		app.Press("/").Type("log").Press("enter")
		app.Whole().Has("Tools /log 2 of 8", "esc clears")
		app.Press("/").Hints().Has("↑ log")
		list.Has("git_log").HasNot("git_status") // still applied
		app.Press("enter")
		app.Whole().Has("Tools /log 2 of 8")
		app.Press("/").Type("status")
		app.Whole().Has("Tools /status 3 of 8")
		list.Selected("git_status")
		app.Press("enter", "esc").Whole().HasNot("esc clears")
		list.Has("git_add").Selected("git_status")
		app.Press("/", "up").Hints().Has("/status")
		list.Selected("git_status")
		app.Press("up").Hints().Has("/log")
		app.Whole().Has("Tools /log 2 of 8")
		app.Press("esc").Whole().HasNot("/log")
		app.Press("/").Type("set_working_dir").Press("enter").Whole().Has(" Tools /set_working_dir 2 of 8 ─") // before the hint
		app.Press("esc")
	})
}

// A pasted text of 10 kB filters like any other.
func TestHugeFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, gitLike()...)
		app.Press("/").Paste(strings.Repeat("git log ", 1250))
		app.Pane("list").Has("Nothing matches", "Press esc to clear")
		app.Press("esc").Pane("list").Has("git_add")
		app.Press("/").Paste(strings.Repeat("git ", 20)).Pane("list").Has("git_add")
		app.Press("esc")
	})
}

// A list gives its room to names, marks what destroys and what only reads in a cell, counts calls, and says in its frame what
// the tools weigh; the detail has the whole name, the arguments before the description, and that folded.
func TestListAndDetail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("s", "1", server.WithToolCapabilities(false))
		long := "a_tool_with_a_name_that_is_longer_than_any_column_could_be_at_eighty"
		add := func(name, about string, opts ...mcp.ToolOption) {
			srv.AddTool(mcp.NewTool(name, append(opts, mcp.WithDescription(about))...), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText("done"), nil
			})
		}
		add(long, "Acme | Long.")
		add("drop", "\n  Acme | Drops **all** of it.\n\n"+strings.Repeat("One line.\n\n", 10), mcp.WithDestructiveHintAnnotation(true), mcp.WithReadOnlyHintAnnotation(false),
			mcp.WithString("id", mcp.Required(), mcp.Description("Which.")),
			func(tool *mcp.Tool) {
				tool.InputSchema.Properties["id"] = map[string]any{"type": "string", "format": "uuid", "description": "Which."}
			})
		add("look", "Acme | Looks.", mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false))
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("s", srv), tuitest.At("tools", nil), tuitest.Size(80, 24))
		app.Whole().Has("3 tools · ", " ≈ ", " tok ")
		list, detail := app.Pane("list"), app.Pane("detail")
		list.Rows(tuitest.Contains("a_tool_with_a_name_that_is_longer"), tuitest.Matches(`^⚠ drop  Drops all of it\. +\d+ tok$`), tuitest.Matches(`^✓ look  Looks\. +\d+ tok$`))
		app.Press("g")
		if got := strings.ReplaceAll(detail.Text(), "\n", ""); !strings.Contains(got, long) {
			t.Errorf("the detail does not have the whole name:\n%s", detail.Text())
		}
		detail.Has("takes no arguments")
		app.Press("/").Type("drop").Press("enter")
		app.Whole().Has("⚠ destructive")
		detail.Rows(tuitest.Contains("drop(id)"), tuitest.Contains("id *  uuid  Which."), tuitest.Eq(""), tuitest.Contains("Acme | Drops all of it."))
		detail.Has("… space shows all", "writes · destructive").HasNot("format")
		app.Hints().Has("enter call", "r reload", "y copy", "/ filter", "ctrl+p all", "? help")
		app.Press("space").Pane("detail").HasNot("shows all")
		app.Press("space", "/").Type("look").Press("enter", "enter").View("call").Press("ctrl+g").Pane("result").Has("done")
		leave(app).View("tools").Pane("list").Rows(tuitest.Matches(`✓ look  Looks\. +\d+ tok ×1`))
		app.Whole().Has("called 1× · last ✓ ")
		app.Press("/").Type("nosuch").Press("enter")
		detail.HasNot("drop")
		app.Whole().Has("Nothing matches").HasNot("─ drop ─")
		app.Press("esc").Pane("list").HasNot("Acme") // what all begin with is left out
	})
}

// The palette has the tools, prompts and resources of the open servers, and opens them; moves and what concerns a form's
// field are not in it; what cannot be done stands last, with its reason; and esc does what the frame says.
func TestPalette(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := server.NewMCPServer("demo", "1", server.WithToolCapabilities(false), server.WithPromptCapabilities(false))
		other.AddTool(mcp.NewTool("firecrawl_map", mcp.WithDescription("Maps a site. "+strings.Repeat("It says much of itself. ", 5)+"The end.")), nil)
		other.AddTool(mcp.NewTool("demolish", mcp.WithDescription("Breaks demo.")), nil)
		other.AddPrompt(mcp.NewPrompt("greet", mcp.WithPromptDescription("Greets.")), nil)
		app := tuitest.Start(t, gitLike(tuitest.Server("demo", other))...)
		app.Press("1").View("servers").Press("j", "enter").View("tools").Press("4").View("prompts").Press("2").View("tools")
		p := app.Palette()
		p.Has("Tools, prompts, resources", "firecrawl_map").HasNot("half a page", "unset")
		app.Whole().Has("esc closes")
		p.Find("git_log").Run("git_log").View("call")
		if at := app.State(); !strings.HasSuffix(at.Crumbs, "git_log") || at.Server != "git" {
			t.Errorf("the palette opened %s of %s", at.Crumbs, at.Server)
		}
		app.Press("esc")
		p = app.Palette().Find("firecrawl_map")
		p.Selected("firecrawl_map")
		p.Has("The end.") // the row is cut, the foot is not
		app.Whole().Has("esc clears")
		app.Press("esc").Whole().Has("esc closes")
		app.Press("esc").NoOverlay()
		app.Palette().Find("demo").Run("demo")
		if at := app.State().Server; at != "demo" {
			t.Errorf("demo led to %s", at)
		}
		app.Palette().Find("greet").Run("greet").View("prompt").Press("esc")
		app.Press(":").Type("tools fire").Press("tab").Hints().Has(":tools firecrawl_map") // the `:` line completes them too
		app.Press("enter").View("tools").Pane("list").Selected("firecrawl_map")
		app.Press(":").Type("palet").Press("tab").Hints().Has(":app.palette") // also from the middle of a name
		app.Press("esc")
		rows := strings.Split(app.View("tools").Palette().Find("cancel").Text(), "\n")
		if i := slices.IndexFunc(rows, func(r string) bool { return strings.HasPrefix(r, "Not now") }); i < 0 || !strings.Contains(rows[i+1], "nothing is running") {
			t.Errorf("what cannot be done is not said with its reason:\n%s", strings.Join(rows, "\n"))
		}
		app.Press("esc")
		app.Press("ctrl+u", "pgdown").Overlay("palette").HasNot("Call: ", "Prompt: ")
		app.Press("esc")
	})
}

// The tabs count what the server offers before anybody looks at it, say what it does not offer, and always show where one is.
func TestTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("s", "1", server.WithToolCapabilities(false), server.WithResourceCapabilities(false, false))
		srv.AddTool(mcp.NewTool("one"), nil)
		for _, uri := range []string{"a://1", "a://2", "a://3"} {
			srv.AddResource(mcp.NewResource(uri, uri), nil)
		}
		srv.AddResourceTemplate(mcp.NewResourceTemplate("a://{id}", "any"), nil)
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("s", srv), tuitest.At("tools", nil), tuitest.Size(80, 24))
		app.Whole().Has(" Tools 1   Resources 3   Prompts –   Call ")
		if sent := wire(app, func(e journal.Entry) bool { return strings.HasPrefix(e.Method, "prompts/") }); len(sent) > 0 {
			t.Error("prompts were asked for, though the server offers none")
		}
		app.Press("3", ":templates").View("templates").Hints().Has("q back")
		app.Press("q").View("resources")
		app.Press(":templates").View("templates")
		app.Whole().Has(" Servers  ", "s ▸ Resources ▸ Templates")
		app.Press("5").View("call").Pane("form").Has("server's tools")
	})
}
