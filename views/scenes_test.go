package views_test

import (
	"time"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// scene is a screen in a state worth looking at.
type scene struct {
	name string
	at   string // screen to start on
	opts []tuitest.Option
	// rare is what is drawn at fewer sizes: states that few ever see.
	rare bool
	// pictured is what people look at in colour, too.
	pictured bool
	// play brings the screen into its state.
	play func(*tuitest.App)
}

// scenes are all of them, in the order in which somebody meets them.
func scenes() []scene {
	board := newScribe()
	return []scene{
		{name: "servers", pictured: true, at: "servers", opts: several(), play: severalStates},
		{name: "server-page", at: "servers", opts: agent(), play: func(a *tuitest.App) { a.Idle().Press("tab", "down") }},
		{name: "servers-none", rare: true, at: "servers", opts: []tuitest.Option{}, play: func(a *tuitest.App) { a.View("servers").Pane("list").Has("No servers") }},
		{name: "settings", at: "settings", opts: []tuitest.Option{}},
		{name: "keys", rare: true, at: "keys", opts: []tuitest.Option{}},
		{name: "tools", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { down(a, 1) }},
		{name: "tools-filter", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { a.Press("/").Type("form") }},
		{name: "tools-no-match", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { a.Press("/").Type("zebra").Press("enter") }},
		{name: "tools-loading", rare: true, at: "tools", opts: silent(), play: func(a *tuitest.App) { a.Sleep(1500 * time.Millisecond) }},
		{name: "tools-disconnected", rare: true, at: "tools", opts: append(agent(), tuitest.NoConnect())},
		{name: "tools-error", rare: true, at: "tools", opts: broken()},
		{name: "tools-wide-text", rare: true, at: "tools", opts: worldly()},
		{name: "call-wide-text", rare: true, at: "tools", opts: worldly(), play: func(a *tuitest.App) { fillIn(a, "天気").Type("東京 🗼") }},
		{name: "call-form", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { fillIn(a, "form_gallery").Type("Ada").Press("down", "down", "down") }},
		{name: "call-invalid", at: "tools", opts: agent(), play: func(a *tuitest.App) { fillIn(a, "add").Type("12").Press("tab").Type("twelve").Press("ctrl+g") }},
		{name: "call-raw", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { fillIn(a, "echo").Type("hello").Press("ctrl+r") }},
		{name: "result-text", at: "tools", opts: agent(), play: func(a *tuitest.App) { sendIt(fillIn(a, "echo").Type("Grüße, 世界 🙂")) }},
		{name: "result-structured", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) {
			sendIt(fillIn(a, "add").Type("9007199254740993").Press("down").Type("1"))
			a.Press("]")
		}},
		{name: "result-json", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { contents(a, "json") }},
		{name: "result-markdown", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { contents(a, "markdown") }},
		{name: "result-image", at: "tools", opts: agent(), play: func(a *tuitest.App) { contents(a, "image") }},
		{name: "result-all", at: "tools", opts: agent(), play: func(a *tuitest.App) { sendIt(fillIn(a, "contents")) }},
		{name: "result-is-error", at: "tools", opts: agent(), play: func(a *tuitest.App) { sendIt(fillIn(a, "fail")) }},
		{name: "call-running", at: "tools", opts: agent(), play: func(a *tuitest.App) {
			fillIn(a, "sleep").Press("ctrl+g").Sleep(1300 * time.Millisecond)
		}},
		{name: "call-cancelled", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) {
			fillIn(a, "sleep").Press("ctrl+g").Sleep(1300 * time.Millisecond).Press("x").Sleep(5 * time.Second)
		}},
		{name: "confirm", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { fillIn(a, "reset_counter").Press("ctrl+g") }},
		{name: "resources", at: "resources", opts: agent()},
		{name: "resource-read", pictured: true, at: "resources", opts: agent(), play: func(a *tuitest.App) { down(a, 1).Press("enter") }},
		{name: "templates", at: "templates", opts: agent()},
		{name: "skill", rare: true, at: "skills", opts: []tuitest.Option{tuitest.Peer("scribe", librarian().withSkill().serve)}, play: func(a *tuitest.App) { a.Press("enter").Press("tab") }},
		{name: "subscriptions", at: "resources", opts: []tuitest.Option{tuitest.Peer("board", board.serve)}, play: func(a *tuitest.App) { board.subscribed(a) }},
		{name: "toolset", at: "toolset", opts: agent()},
		{name: "template-form", at: "templates", opts: agent(), play: func(a *tuitest.App) { a.Press("enter").Type("t").Sleep(time.Second) }},
		{name: "prompts", at: "prompts", opts: agent()},
		{name: "prompt-result", at: "prompts", opts: agent(), play: func(a *tuitest.App) {
			down(a, 1).Press("enter").Type("go").Sleep(time.Second).Press("enter", "down").Type("func main() {}").Press("ctrl+g")
		}},
		{name: "traffic", at: "tools", opts: agent(), play: func(a *tuitest.App) { trafficScene(a) }},
		{name: "again", at: "tools", opts: agent(), play: func(a *tuitest.App) {
			sendIt(fillIn(a, "add").Type("2").Press("down").Type("3")).Press("6").View("traffic").Press("e").View("edit").Idle()
			a.Send(tui.Edited{View: "edit", Tag: "json:", Text: `{"name":"add","arguments":{"a":2,"b":9007199254740993}}`, Changed: true}).Press("ctrl+g").View("again").Idle()
		}},
		{name: "edit", rare: true, at: "tools", opts: agent(), play: func(a *tuitest.App) {
			sendIt(fillIn(a, "add").Type("2").Press("down").Type("3")).Press("6").View("traffic").Press("e").View("edit").Idle()
		}},
		{name: "traffic-frame", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { trafficScene(a).Press("up", "enter", "G", "enter") }},
		{name: "timeline", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) {
			played(a.Manager().Journal(), time.Now())
			a.Press("6").View("traffic").Press(":timeline", "home", "right", "right")
		}},
		{name: "inbox", at: "tools", opts: askers(), play: func(a *tuitest.App) { fillIn(a, "ask").Press("ctrl+g").Press("8").Sleep(time.Second) }},
		{name: "inbox-answer", pictured: true, at: "tools", opts: askers(), play: func(a *tuitest.App) {
			fillIn(a, "ask").Press("ctrl+g").Sleep(1300 * time.Millisecond).Press("i").Type("Ada")
		}},
		{name: "inbox-none", rare: true, at: "inbox", opts: agent()},
		{name: "personas", at: "servers", opts: []tuitest.Option{chooser()}, play: func(a *tuitest.App) {
			a.Press(":persona").View("personas").Press("down", "enter").Toast("presented as claude-code").Press("G", "d").Overlay("Start a second process?").Press("y").Idle()
		}},
		{name: "tasks", at: "tools", opts: workers(), play: func(a *tuitest.App) {
			fillIn(a, "work").Press("ctrl+t").Sleep(7 * time.Second)
			fillIn(a, "index").Press("ctrl+t").Sleep(3300 * time.Millisecond)
		}},
		{name: "tasks-none", rare: true, at: "tasks", opts: workers()},
		{name: "logs", at: "tools", opts: agent(), play: func(a *tuitest.App) {
			a.Press("6", "[", ":level").Type("debug").Press("enter", "2").Idle()
			fillIn(a, "log").Idle()
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // what ran before took one millisecond more or less
			sendIt(a)
			a.Press("6", "[")
		}},
		{name: "logs-none", rare: true, at: "logs", opts: agent()},
		{name: "help", at: "tools", opts: agent(), play: func(a *tuitest.App) { a.Press("?") }},
		{name: "palette", pictured: true, at: "tools", opts: agent(), play: func(a *tuitest.App) { a.Press("ctrl+p").Type("re") }},
	}
}

// down moves the cursor n rows down.
func down(a *tuitest.App, n int) *tuitest.App {
	for range n {
		a.Press("down")
	}
	return a
}

// fillIn opens a tool's form, as enter on its row does.
func fillIn(a *tuitest.App, tool string) *tuitest.App {
	a.Idle().Send(tui.Navigate{View: "call", Arg: tool})
	a.View("call")
	return a
}

// sendIt makes the call and waits for its end.
func sendIt(a *tuitest.App) *tuitest.App { return a.Press("ctrl+g").Idle() }

// contents calls the tool that returns one kind of content.
func contents(a *tuitest.App, kind string) *tuitest.App {
	return sendIt(fillIn(a, "contents").Press("ctrl+r", "delete", "delete").Type(`{"kind":"` + kind + `"}`))
}

// trafficScene shows what a few calls left on the wire.
func trafficScene(a *tuitest.App) *tuitest.App {
	sendIt(fillIn(a, "sleep"))
	sendIt(fillIn(a, "fail"))
	a.Press("6")
	a.View("traffic")
	return a
}
