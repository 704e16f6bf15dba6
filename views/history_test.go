package views_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// past is a history with calls of the server demo, which was made before the program starts.
func past(t *testing.T, file string, made ...session.CallRecord) *calls.History {
	t.Helper()
	h := calls.OpenHistory(file, calls.UsualLimits)
	t.Cleanup(func() { assert.NoError(t, h.Close()) })
	for i, m := range made {
		m.Started, m.Took, m.Title = time.Now().Add(time.Duration(i-10)*time.Minute), 12*time.Millisecond, m.Server.Name
		h.Record(m)
	}
	for h.Busy() {
		time.Sleep(time.Millisecond)
	}
	return h
}

func madeAt(server, tool, args, result string) session.CallRecord {
	m := session.CallRecord{Method: "tools/call", Target: tool, Arguments: []byte(args), Version: "2025-11-25"}
	m.Server.Name, m.Server.Transport = server, "memory"
	m.Reply.Result, m.Reply.Request = []byte(result), 1
	return m
}

// openHistory starts the program on a history with three calls of demo and one of another server.
func openHistory(t *testing.T, h *calls.History, s *server.MCPServer, more ...tuitest.Option) *tuitest.App {
	t.Helper()
	app := tuitest.Start(t, append([]tuitest.Option{
		tuitest.At("history", nil), tuitest.Server("demo", s), tuitest.Views(views.All(views.Deps{History: h})...), tuitest.Size(100, 30),
	}, more...)...)
	app.View("history")
	app.Settle()
	return app
}

// recording keeps what is called.
func recording(h *calls.History) tuitest.Option {
	return tuitest.SessionOptions(func(o *session.Options) { o.Record = h.Record })
}

func someCalls() []session.CallRecord {
	failed := madeAt("demo", "echo", `{"message":"three","api_key":"hunter2"}`, `{"isError":true,"content":[{"type":"text","text":"no"}]}`)
	return []session.CallRecord{
		madeAt("demo", "echo", `{"message":"one"}`, `{"content":[{"type":"text","text":"said one"}]}`),
		madeAt("other", "look", `{"far":true}`, `{"content":[]}`),
		madeAt("demo", "echo", `{"message":"two"}`, `{"content":[{"type":"text","text":"said two"}]}`),
		failed,
	}
}

// Calls of earlier runs are listed for the current server, with arguments and results; they can be compared, named, noted and removed.
func TestHistoryScreen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	synctest.Test(t, func(t *testing.T) {
		h := past(t, file, someCalls()...)
		app := openHistory(t, h, basics.NewServer(""))
		list, detail := app.Pane("list"), app.Pane("detail")
		list.Rows(tuitest.Contains(`"three"`).Selected(), tuitest.Contains(`"two"`), tuitest.Contains(`"one"`))
		list.HasNot("hunter2", "look")
		detail.Has("isError", "api_key", "no")
		app.Press("j")
		detail.Has("said two")
		app.Press("d")
		app.View("again").Whole().Has("≠ 1 difference", "/content/0/text", `"said one"`, `"said two"`, "but for arguments/message")
		app.Press("q").View("history")
		app.Press(":name").Type("../x").Press("enter")
		app.Whole().Has("cannot be a name")
		app.Press("ctrl+u").Prompt("name").Answer("smoke")
		list.Has("smoke")
		app.Press(":note").Prompt("note").Answer("as documented")
		list.Has("as documented")
		app.Press("k", ":pin")
		list.Has("★✗")
		app.Press("space", "j", "j", "d")
		app.View("again").Whole().Has("≠ ", "/isError")
		app.Press("q").View("history").Press(":delete").Confirm("Remove call 1").Yes()
		list.Rows(tuitest.Contains(`"three"`), tuitest.Contains("smoke"))
		app.Press("G", "space", "d").View("again").Whole().Has("no other call to compare with", "q goes back").HasNot("r again")
		app.Press("q").View("history").Press("m")
		list.Has("look", "other")
		app.Press("/").Type("look").Press("enter")
		list.Rows(tuitest.Contains("look"))
		app.Press("r")
		app.Whole().Has("is not in this session")
	})
	synctest.Test(t, func(t *testing.T) { // the next run
		app := openHistory(t, past(t, file), basics.NewServer(""))
		app.Pane("list").Rows(tuitest.Contains(`"three"`), tuitest.Contains("smoke"))
	})
}

// A call is copied as the command that makes the same one: with its metadata and its time limit.
func TestHistoryCopiesTheWholeCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := madeAt("demo", "echo", `{"message":"one"}`, `{"content":[]}`)
		made.Meta, made.Timeout = []byte(`{"tenant":"blue","level":2}`), 90*time.Second
		app := openHistory(t, past(t, filepath.Join(t.TempDir(), "calls.db"), made), basics.NewServer(""))
		app.Press("y", "c")
		assert.Contains(t, app.Copied(1), `--meta tenant=blue --meta level:=2 --timeout 1m30s`)
	})
}

// r makes a call again, e opens its form; what was secret has to be typed again. A new call is in the list at once.
func TestHistoryRunsAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	synctest.Test(t, func(t *testing.T) {
		h := past(t, file, someCalls()...)
		app := openHistory(t, h, basics.NewServer(""), recording(h))
		app.Press("j", "r").View("call")
		app.Pane("result").Has("two")
		app.Press("tab", "q")
		app.Send(tui.Navigate{View: "history"}).Settle()
		app.Pane("list").Rows(tuitest.Contains(`"two"`), tuitest.Contains(`"three"`), tuitest.Contains(`"two"`), tuitest.Contains(`"one"`))
		app.Press("g", "j", "j", "j", "e").View("call").Pane("form").Has("one").Focused()
		app.Pane("result").Has("two") // nothing was sent
		app.Send(tui.Navigate{View: "history"}).Settle()
		app.Press("g", "j", "r").View("call")
		app.Pane("form").Has("three").HasNot("hunter2", "***")
		app.Toast("1 value was secret")
		app.Pane("result").Has("two")
		app.Press("f3").View("history").Pane("list").Rows(tuitest.Contains("two"), tuitest.Contains("three"), tuitest.Contains("two"), tuitest.Contains("one"))
	})
}

// The hint bars of Tools and Call say how many earlier calls there are of the tool, those of this run included, and nothing where there are none.
func TestHintsCountEarlierCalls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	synctest.Test(t, func(t *testing.T) {
		h := past(t, file, someCalls()...)
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", basics.NewServer("")), tuitest.Views(views.All(views.Deps{History: h})...),
			tuitest.Size(80, 24), recording(h))
		app.Press("g").Pane("detail").Has("add(")
		app.Hints().Has("enter call", "y copy", "/ filter").HasNot("f3", "check", "tokens")
		app.Press("/").Type("echo").Press("enter").Hints().Has("f3 3 earlier")
		app.Press("enter").View("call").Hints().Has("ctrl+g call", "f3 3 earlier")
		app.Type("four").Press("ctrl+g").Pane("result").Has("four").Focused()
		app.Hints().Has("r run again", "y copy", "t frames", "f3 4 earlier", "ctrl+p all", "? help")
		app.Press("r").Hints().Has("f3 5 earlier")
		app.Press("f3").View("history").Whole().Has("History /echo 5")
	})
}

// W writes a call to a file of the project, from the history and from a form; a file that is there is asked about.
func TestCallsAreSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		h := past(t, filepath.Join(t.TempDir(), "calls.db"), someCalls()...)
		app := openHistory(t, h, basics.NewServer(""))
		app.Press("s").Prompt("save as").Answer("said")
		app.Overlay("Expected answer").Has("any answer but an error", "exactly this result", "this result, except for some places")
		app.Press("enter").Toast("saved as")
		b, err := os.ReadFile(".mcphud/calls/said.yaml")
		if want := "server: demo\ntool: echo\narguments:\n  message: three\n  api_key: \"***\"\nsecrets: [/api_key]\n"; err != nil || string(b) != want {
			t.Errorf("%s %v", b, err)
		}
		app.Press("j", "e").View("call")
		app.Press("tab", "s").Type("the call").Press("enter").Prompt("save as").Answer("said")
		app.Confirm("Write over said.yaml").Yes()
		app.Settle()
		if b, err := os.ReadFile(".mcphud/calls/said.yaml"); err != nil || string(b) != "server: demo\ntool: echo\narguments:\n  message: two\n" {
			t.Errorf("%s %v", b, err)
		}
		app.Press("s").Type("the call").Press("enter").Type("../x").Press("enter")
		app.Whole().Has("cannot be the name")
	})
}

// What a call that is saved has to be answered is the result that there is, but for places that change, if somebody wants that.
func TestSavedCallsExpectTheirResults(t *testing.T) {
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		h := past(t, filepath.Join(t.TempDir(), "calls.db"), someCalls()...)
		app := openHistory(t, h, basics.NewServer(""))
		save := func(name, choice string) {
			if app.Press("s").State().View == "call" { // else there is no result to save
				app.Type("the call").Press("enter")
			}
			app.Prompt("save as").Answer(name).Overlay("Expected answer")
			app.Type(choice).Press("enter")
		}
		expects := func(name string, ignored []string, result string) {
			t.Helper()
			app.Toast("saved as")
			f, warnings, err := calls.Read(filepath.Join(".mcphud", "calls", name+".yaml"))
			if err != nil || len(warnings) > 0 || f.Calls[0].Expect.Snapshot == nil || !slices.Equal(f.Calls[0].Expect.Snapshot.Ignored(), ignored) {
				t.Fatalf("%v %v %+v", err, warnings, f)
			}
			if failed := f.Calls[0].Expect.Check(t.Context(), expect.Answer{Result: []byte(result)}); len(failed) > 0 {
				t.Errorf("%s: %+v", name, failed)
			}
			if failed := f.Calls[0].Expect.Check(t.Context(), expect.Answer{Result: []byte(`{"content":[]}`)}); len(failed) == 0 {
				t.Errorf("%s expects nothing", name)
			}
		}
		save("kept", "exactly")
		expects("kept", nil, `{"content":[{"type":"text","text":"no"}],"isError":true}`)

		app.Press("j", "e").View("call")
		app.Press("tab", "s").Type("the call").Press("enter").Prompt("save as").Answer("early") // nothing was answered yet: there is nothing to ask
		app.Toast("saved as")
		app.Press("shift+tab", "ctrl+g").Settle()
		save("loose", "some places")
		app.Prompt("ignore").Type("/x .[").Press("enter")
		app.Whole().Has("is not a jq expression")
		app.Press("ctrl+u").Type("/_meta .content[].text").Press("enter")
		expects("loose", []string{"/_meta", ".content[].text"}, `{"content":[{"type":"text","text":"whatever"}],"resultType":"complete"}`)
	})
}

// What a form sends is in the history of the next run, but for what its schema says is secret; that has to be typed again.
func TestSecretsOfFormsAreNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	vault := func() *server.MCPServer {
		s := server.NewMCPServer("demo", "1")
		s.AddTool(mcp.NewToolWithRawSchema("unlock", "", []byte(`{"type":"object","properties":{"pin":{"type":"string","format":"password"},"who":{"type":"string"}},"required":["pin"]}`)),
			func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText("opened by " + r.GetString("who", "")), nil
			})
		return s
	}
	synctest.Test(t, func(t *testing.T) {
		h := past(t, file)
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", vault()), recording(h), tuitest.Views(views.All(views.Deps{History: h})...))
		app.Press("enter").View("call")
		app.Type("hunter2").Press("tab").Type("ada").Press("ctrl+g")
		app.Pane("result").Has("opened by ada")
	})
	files, err := filepath.Glob(file + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || strings.Contains(string(b), "hunter2") || f == file && !strings.Contains(string(b), "ada") {
			t.Errorf("%s: %v", f, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		app := openHistory(t, past(t, file), vault())
		app.Pane("list").Rows(tuitest.Contains("unlock"))
		app.Press("r").View("call")
		app.Pane("form").Has("ada").HasNot("***")
		app.Toast("1 value was secret")
		app.Pane("result").HasNot("opened")
	})
}

// A prompt's form is filled in, and a resource read, as a tool's.
func TestHistoryOfPromptsAndResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.NewMCPServer("demo", "1")
		s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("who")), func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("hello "+r.Params.Arguments["who"]))}), nil
		})
		s.AddResource(mcp.NewResource("file:///x", "x"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "file:///x", Text: "what it holds"}}, nil
		})
		prompt, resource := madeAt("demo", "greet", `{"who":"Ada"}`, `{"messages":[]}`), madeAt("demo", "file:///x", "", `{"contents":[]}`)
		prompt.Method, resource.Method = "prompts/get", "resources/read"
		h := past(t, filepath.Join(t.TempDir(), "calls.db"), prompt, resource)
		app := openHistory(t, h, s)
		app.Press("r").View("resources").Pane("detail").Has("what it holds")
		app.Send(tui.Navigate{View: "history"}).Settle()
		app.Press("j", "r").View("prompt").Pane("result").Has("hello Ada")
	})
}

// A history that cannot be written is said once, and calls go on.
func TestBrokenHistoryIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := calls.OpenHistory(filepath.Join(t.TempDir(), "x\x00", "calls.db"), calls.UsualLimits)
		t.Cleanup(func() { _ = h.Close() })
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", basics.NewServer("")), recording(h), tuitest.Views(views.All(views.Deps{History: h})...))
		app.Press("/").Type("echo").Press("enter", "enter").View("call")
		app.Type("hello").Press("ctrl+g")
		app.Pane("result").Has("hello")
		app.Sleep(time.Second)
		app.Whole().Has("cannot open the history")
		if n := strings.Count(string(app.Output()), "cannot open the history"); n > 1 {
			t.Errorf("it was said %d times", n)
		}
	})
}
