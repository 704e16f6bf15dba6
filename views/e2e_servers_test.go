package views_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// TestE2EFilesystem writes, edits and reads files, with an array of objects
// and an enum, and is asked before anything is destroyed.
func TestE2EFilesystem(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "note.txt")
	app := open(t, peertest.Filesystem(t, dir))
	app.View("tools").Pane("list").Has("⚠ write_file")

	form(app, "write_file")
	app.Type(note).Press("enter").Paste("first line\nsecond line\n").Press("ctrl+g")
	app.Confirm("Call write_file?").Says("as destructive").No()
	if _, err := os.Stat(note); err == nil {
		t.Fatal("the file was written without consent")
	}
	app.Press("ctrl+g").Confirm("Call write_file?").Yes().Pane("result").Has("✓ ", "Successfully wrote")
	if b, err := os.ReadFile(note); err != nil || string(b) != "first line\nsecond line\n" {
		t.Errorf("the file holds %q, %v", b, err)
	}

	form(app, "edit_file")
	app.Type(note).Press("enter", "ctrl+n") // an edit
	app.Press("down").Type("second").Press("enter").Type("2nd").Press("ctrl+g")
	app.Confirm("Call edit_file?").Yes().Pane("result").Has("✓ ", "-second line", "+2nd line")
	assert.Contains(t, sentTo(t, app, "tools/call"), `"edits":[{"oldText":"second","newText":"2nd"}]`)

	form(app, "read_text_file")
	app.Type(note).Press("enter", "enter").Type("1").Press("ctrl+g") // head
	app.Pane("result").Has("✓ ", "first line", "matches outputSchema")
	app.Pane("result").HasNot("2nd line")

	form(app, "list_directory_with_sizes")
	app.Type(dir).Press("enter", "right", "right").Pane("form").Has("size")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "[FILE] note.txt")

	// Outside of the directory: isError never looks like success.
	form(app, "read_text_file")
	app.Press("ctrl+home").Press("ctrl+x").Type("/etc/passwd").Press("ctrl+g")
	app.Pane("result").Has("✗ the tool failed (isError)", "Access denied")
	app.Pane("result").HasNot("✓ ")
	app.Pane("form").Has("/etc/passwd")
	intact(t, app)
}

// TestE2EReadOnly lists and calls only tools that say of themselves that they change nothing.
func TestE2EReadOnly(t *testing.T) {
	dir := t.TempDir()
	app := open(t, peertest.Filesystem(t, dir), tuitest.ReadOnly())
	app.View("tools").Pane("list").Has("list_allowed_directories").HasNot("write_file", "create_directory")
	form(app, "list_allowed_directories")
	app.Press("ctrl+g")
	app.Pane("result").Has("✓ ", dir)
	app.Press(":").Type("call create_directory").Press("enter").View("call")
	app.Type(filepath.Join(dir, "sub")).Press("ctrl+g").Toast("read-only mode: ")
	if _, err := os.Stat(filepath.Join(dir, "sub")); err == nil {
		t.Error("the folder was made")
	}
}

// graph makes an entity with two observations in the form of create_entities,
// whose arrays are nested.
func graph(app *tuitest.App) {
	form(app, "create_entities").Has("entities")
	app.Press("ctrl+n", "down").Type("Ada").Press("enter").Type("person").Press("enter")
	app.Press("ctrl+n").Type("wrote the first program").Press("ctrl+n").Type("loved maths")
	app.Pane("form").Has("[2 items]")
	app.Whole().Has("✓ valid")
	app.Press("ctrl+g")
}

// TestE2EMemory builds a graph out of nested arrays and finds it again.
func TestE2EMemory(t *testing.T) {
	app := open(t, peertest.Memory(t))
	graph(app)
	app.Pane("result").Has("✓ ", "matches outputSchema")
	if got := sentTo(t, app, "tools/call"); !strings.Contains(got,
		`"arguments":{"entities":[{"name":"Ada","entityType":"person","observations":["wrote the first program","loved maths"]}]}`) {
		t.Errorf("sent %s", got)
	}
	form(app, "search_nodes")
	app.Type("maths").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "loved maths")
	// Raw JSON is the same value.
	form(app, "create_entities")
	app.Press("ctrl+r").Pane("form").Has(`"entities": [`, `"loved maths"`)
	app.Press("ctrl+r").Pane("form").Has("[2 items]")
	intact(t, app)
}

// TestE2EGoSDKMemory does the same where arrays may be null, in the modern era.
func TestE2EGoSDKMemory(t *testing.T) {
	app := open(t, peertest.GoSDKMemory(t))
	app.Status().Has("2026-07-28", "Connected")
	graph(app)
	app.Pane("result").Has("✓ ")
	form(app, "read_graph")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "Graph read successfully")
	app.Press("]").Pane("result").Has(`"entityType": "person"`, "loved maths")
	intact(t, app)
}

// TestE2EGoSDKEverything goes through go-sdk's example in the modern era.
func TestE2EGoSDKEverything(t *testing.T) {
	app := open(t, peertest.GoSDKEverything(t))
	app.Status().Has("2026-07-28", "Connected")
	app.View("tools").Pane("list").Has("greet (structured)", "roots")
	form(app, "greet (structured)")
	app.Type("Zoë").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "matches outputSchema", "Hi Zoë")
	form(app, "greet (content with ResourceLink)")
	app.Type("you").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "resource_link", "data:text/plain,Hi%20you")

	pick(app, "3", "resources", "embedded:info").Press("enter")
	app.Pane("detail").Has("✓ ", "This is the hello example server.")
	app.Press("shift+tab", ":templates").View("templates")
	app.Whole().Has("http://example.com/~{resource_name}/")
	app.Press("enter").View("template").Pane("form").Has("resource_name")
	app.Type("a b").Press("ctrl+g")
	shows(app, "result", "✗", `wrong scheme: "http"`)
	assert.Contains(t, sentTo(t, app, "resources/read"), `"uri":"http://example.com/~a%20b/"`)
	app.Pane("form").Has("a b")

	pick(app, "4", "prompts", "greet").Press("enter").View("prompt")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "Say hi to")
	intact(t, app)
}

// TestE2EMCPGoEverything goes through mcp-go's example.
func TestE2EMCPGoEverything(t *testing.T) {
	app := open(t, peertest.MCPGoEverything(t))
	form(app, "add")
	app.Type("1").Press("enter").Type("2").Press("ctrl+g")
	// Its tools leave destructiveHint at its default, true, and say so.
	app.Confirm("Call add?").Yes().Pane("result").Has("✓ ", "The sum of 1.000000 and 2.000000 is 3.000000.")
	form(app, "getTinyImage")
	app.Press("ctrl+g")
	confirm(app)
	app.Pane("result").Has("✓ ", "image")
	for range 2 {
		if halves(app.Pane("result").Text()) > 0 {
			break
		}
		app.Press("]")
	}
	if halves(app.Pane("result").Text()) < 20 {
		t.Errorf("there is no picture:\n%s", app.Screen())
	}

	leave(app).Press("3").View("resources").Pane("list").Has("test://static/resource/1")
	pick(app, "3", "resources", "resource/42").Press("enter")
	app.Pane("detail").Has("✓ ", "Binary content for resource 42")
	app.Press("shift+tab", ":templates").View("templates")
	app.Whole().Has("test://dynamic/resource/{id}")
	app.Press("enter").View("template")
	app.Type("7").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "This is a sample resource")

	pick(app, "4", "prompts", "complex_prompt").Press("enter").View("prompt")
	app.Type("0.5").Press("tab")
	app.Type("terse").Press("ctrl+g")
	shows(app, "result", "✓ ", "temperature=0.5, style=terse")
	app.Press("]", "]").Pane("result").Has("image/png")
	intact(t, app)
}
