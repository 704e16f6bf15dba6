package views_test

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// TestE2EEverything goes through every screen with server-everything, over each
// transport that it speaks.
func TestE2EEverything(t *testing.T) {
	for name, server := range map[string]func(*testing.T) config.Server{
		"stdio": func(t *testing.T) config.Server { return peertest.Everything(t) },
		"http":  func(t *testing.T) config.Server { return peertest.EverythingHTTP(t).Server },
		"sse":   func(t *testing.T) config.Server { return peertest.EverythingSSE(t).Server },
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			for what, test := range map[string]func(*testing.T, *tuitest.App){
				"list":      listTools,
				"form":      fillForm,
				"contents":  showContents,
				"resources": readResources,
				"template":  expandTemplate,
				"prompt":    getPrompt,
			} {
				t.Run(what, func(t *testing.T) {
					app := open(t, s)
					test(t, app)
					intact(t, app)
				})
			}
		})
	}
}

// listTools lists and filters.
func listTools(_ *testing.T, app *tuitest.App) {
	app.View("tools").Pane("list").Has("echo", "get-sum", "trigger-long-running-operation")
	app.Pane("detail").Has("Echoes back the input string", "message *")
	app.Press("/").Type("tiny")
	app.View("tools").Pane("list").HasNot("get-sum")
	app.View("tools").Pane("list").Rows(tuitest.Contains("get-tiny-image"), tuitest.Eq(""))
	app.Press("ctrl+u").Type("no such tool")
	app.View("tools").Pane("list").Has(`Nothing matches "no such tool"`)
	app.Press("esc").View("tools").Pane("list").Has("get-sum")
}

// fillForm fills in numbers, an enum and a boolean, and shows what is wrong
// before anything is sent.
func fillForm(t *testing.T, app *tuitest.App) {
	form(app, "get-sum").Has("a*", "number", "2 to fill in")
	app.Type("x").Pane("form").Has("must be a number")
	app.Press("ctrl+g").Overlay("Send anyway?").Has("✗ a ", "✗ b ", "send anyway")
	app.Press("esc").NoOverlay()
	app.Press("backspace").Type("40").Press("enter").Type("2.5").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "The sum of 40 and 2.5 is 42.5.")
	assert.Contains(t, sentTo(t, app, "tools/call"), `"arguments":{"a":40,"b":2.5}`)

	form(app, "get-annotated-message").Has("unset", "one of: error, success, debug")
	app.Press("enter").Type("succ").Press("enter").Pane("form").Has("success")
	app.Press("down", "space", "ctrl+g")
	app.Pane("result").Has("✓ ", "1/2 text", "Operation completed successfully")
	assert.Contains(t, sentTo(t, app, "tools/call"), `"arguments":{"messageType":"success","includeImage":true}`)
	app.Press("]").Pane("result").Has("image/png", "20 × 20 pixels")
	if n := halves(app.Pane("result").Text()); n != 20*10 {
		t.Errorf("the picture has %d half blocks", n)
	}
	// What was typed is there when the form is opened again.
	form(app, "get-sum").Has("40", "2.5")
}

// showContents calls what answers with each kind of content.
func showContents(_ *testing.T, app *tuitest.App) {
	form(app, "get-structured-content")
	app.Press("enter", "down", "enter", "ctrl+g")
	app.Pane("result").Has("✓ ", "matches outputSchema", "▸text 1/3")
	app.Press("]").Pane("result").Has(`"temperature": 36`, `"conditions": "Light rain / drizzle"`)

	form(app, "get-resource-reference")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "2/3 resource")
	app.Press("]").Pane("result").Has("demo://resource/dynamic/text/1", "Resource 1: This is a plaintext resource")

	form(app, "get-resource-links")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "2/4 resource_link", "Here are 3 resource links")
	app.Press("]", "]").Pane("result").Has("demo://resource/dynamic/text/2", "Press o to read the resource")
	app.Press("o").View("resources")
	app.Pane("detail").Has("✓ ", "Resource 2: This is a plaintext resource")
	app.Press("esc").View("call")
	app.Pane("result").Has("2/4 resource_link")
}

// readResources reads a listed resource, any other URI, and one that is not there.
func readResources(_ *testing.T, app *tuitest.App) {
	pick(app, "3", "resources", "architecture.md").Press("enter")
	app.Pane("detail").Has("✓ ", "Everything Server", "Architecture")
	app.Press(":uri").Type("\x15demo://resource/dynamic/blob/3\r")
	app.Pane("detail").Has("✓ ", "demo://resource/dynamic/blob/3")
	app.Press(":uri").Type("\x15demo://nowhere\r")
	app.Pane("detail").Has("✗", "demo://nowhere", "-32602")
}

// expandTemplate fills in an RFC 6570 variable, which the server completes.
func expandTemplate(t *testing.T, app *tuitest.App) {
	app.Press("3").View("resources")
	app.Press(":templates").View("templates").Pane("list").Has("Dynamic Text Resource", "text/{resourceId}")
	app.Whole().Has("demo://resource/dynamic/text/{resourceId}")
	app.Press("enter").View("template").Pane("form").Has("resourceId")
	app.Type("17")
	completed := func(e journal.Entry) bool { return e.Kind == journal.Response && e.Method == "completion/complete" }
	for late := time.Now().Add(30 * time.Second); len(wire(app, completed)) == 0 && time.Now().Before(late); {
		time.Sleep(20 * time.Millisecond) // what is typed is completed after a rest
	}
	app.Press("ctrl+g")
	app.Pane("result").Has("✓ ", "demo://resource/dynamic/text/17", "Resource 17: This is a plaintext resource")
	assert.Contains(t, sentTo(t, app, "resources/read"), `"uri":"demo://resource/dynamic/text/17"`)
	assert.Contains(t, sentTo(t, app, "completion/complete"), `"uri":"demo://resource/dynamic/text/{resourceId}"`)
}

// getPrompt gets a prompt whose arguments the server completes, the second
// depending on the first.
func getPrompt(t *testing.T, app *tuitest.App) {
	pick(app, "4", "prompts", "completable-prompt").Press("enter").View("prompt").Pane("form").Has("department", "to fill in")
	app.Type("Ma").Pane("form").Has("› Marketing")
	app.Press("enter").Pane("form").Has("Marketing").HasNot("› Marketing")
	app.Press("down").Type("G").Pane("form").Has("› Grace")
	app.Press("enter", "ctrl+g")
	app.Pane("result").Has("✓ ", "Please promote Grace to the head of the Marketing team.", "user")
	assert.Contains(t, sentTo(t, app, "completion/complete"), `"context":{"arguments":{"department":"Marketing"}}`)
	pick(app, "4", "prompts", "resource-prompt").Press("enter").View("prompt")
	app.Type("Te").Pane("form").Has("› Text")
	app.Press("enter", "down").Type("5").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "2/2")
	app.Press("]").Pane("result").Has("Resource 5: This is a plaintext resource")
}
