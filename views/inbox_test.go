package views_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	chatapi "github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// asker is a server whose tool "ask" asks with a request of its own before it answers, and says then what it was told. Asked again it
// asks the next one.
func asker(method string, params ...string) (tuitest.Serve, *told) {
	got := &told{}
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 64<<20)
		call, n := "", 0
		for lines.Scan() {
			id, name := requestOf(lines.Bytes())
			reply := ""
			switch {
			case name == string(mcp.MethodInitialize):
				reply = `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}}`
			case name == string(mcp.MethodToolsList):
				reply = `{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}`
			case name == string(mcp.MethodToolsCall):
				call = id
				reply = fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":%s}`, n, method, params[n%len(params)])
				n++
			case name == "" && strings.HasPrefix(id, `"q`):
				var a struct{ Result, Error json.RawMessage }
				if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
					return err
				}
				said := string(a.Result) + string(a.Error)
				got.add(said)
				reply = `{"jsonrpc":"2.0","id":` + call + `,"result":{"content":[{"type":"text","text":` + string(jsonrpc.Quote("you said "+said)) + `}]}}`
			}
			if reply != "" {
				if _, err := io.WriteString(out, reply+"\n"); err != nil {
					return err
				}
			}
		}
		return lines.Err()
	}, got
}

// told is what a server was answered.
type told struct {
	mu  sync.Mutex
	all []string
}

func (g *told) add(s string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, s)
}

// last is the newest answer.
func (g *told) last() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.all) == 0 {
		return ""
	}
	return g.all[len(g.all)-1]
}

// attended gives the sessions a queue that a person answers.
func attended() tuitest.Option {
	return tuitest.SessionOptions(func(o *session.Options) { o.Pending = pending.New(pending.Options{Attended: true}) })
}

// askers is a server that asks who one is.
func askers() []tuitest.Option {
	serve, _ := asker("elicitation/create", person)
	return []tuitest.Option{tuitest.Peer("asker", serve), attended()}
}

// asked starts the UI on a server that asks, and calls its tool.
func asked(t *testing.T, method, params string, more ...tuitest.Option) (*tuitest.App, *told) {
	t.Helper()
	return ask(t, views.Deps{}, method, params, more...)
}

// ask is asked for screens with dependencies of the test's own.
func ask(t *testing.T, deps views.Deps, method, params string, more ...tuitest.Option) (*tuitest.App, *told) {
	t.Helper()
	serve, got := asker(method, params)
	app := tuitest.Start(t, append([]tuitest.Option{tuitest.Views(views.All(deps)...), tuitest.Peer("asker", serve), attended(), tuitest.Size(80, 24)}, more...)...)
	app.Press("2").View("tools").Pane("list").Has("ask")
	app.Press("enter").View("call").Press("ctrl+g").Status().Has("inbox 1")
	return app, got
}

const person = `{"message":"Who are you?","requestedSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","title":"Your name"},"age":{"type":"integer","default":42},` +
	`"color":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"default":"g"},` +
	`"tags":{"type":"array","items":{"anyOf":[{"const":"a","title":"Apple"},{"const":"b","title":"Bear"}]},"default":["b"]}},"required":["name"]}}`

// TestInboxEndsAtTheCall: also who went through the list of questions is back at the call after the answer.
func TestInboxEndsAtTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := asked(t, "elicitation/create", person)
		app.Status().Has("inbox 1")
		app.Press("2").View("tools").Press("8").View("inbox").Sleep(time.Second).Press("enter").View("answer").Pane("form").Focused()
		app.Type("Ada").Press("ctrl+g").View("call").Pane("result").Has("you said")
	})
}

// A call waits for a person, says so, and its form has the schema's defaults. After the answer the call is on the screen again.
func TestInboxElicitation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var status *tea.ProgramStatus // as the terminal has it
		app, got := asked(t, "elicitation/create", person, tuitest.Config(func(c *tui.Config) { c.Frames = func(v tea.View) { status = v.ProgramStatus } }))
		app.Status().Has("inbox 1")
		if status == nil || status.State != tea.ProgramStateBlocked || status.Kind != tea.ProgramStatusKindQuestion {
			t.Errorf("the terminal is told %+v", status)
		}
		app.Pane("result").Has("waits for your answer", "i to answer")
		app.Press("i").View("answer").Pane("question").Has("asker says", "▌ Who are you?")
		app.Pane("form").Focused().Has("42", "Green", "Bear")
		app.Type("Ada").Press("ctrl+g").View("call")
		app.Pane("result").Has("✓ ", "you said")
		var a struct {
			Action  string
			Content map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(got.last()), &a))
		if s := fmt.Sprint(a.Content); a.Action != "accept" || s != "map[age:42 color:g name:Ada tags:[b]]" {
			t.Errorf("answered %s with %s", a.Action, s)
		}
		app.Press("8").View("inbox").Pane("list").Has("✓ accepted", "Who are you?")
		app.Status().HasNot("inbox 1")
	})
}

// A question that arrives while something else is on the screen is announced once; the keys stay where they are.
func TestInboxAnnounces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := asked(t, "elicitation/create", person, tuitest.Latency(time.Second))
		app.Press("x").Sleep(5 * time.Second)
		app.Press("r").Press("6").View("traffic").Toast("asker asks: elicitation, i opens it")
		app.View("traffic").Pane("list").Focused()
		app.Press("i").View("answer").Type("Ada").Press("f9").View("answer").Press("esc", "esc").View("traffic")
	})
}

// Decline and cancel are keys of their own, in the form and in the list.
// The key that answers goes to the question of the call on the screen first, and from there to the next one.
func TestInboxAnswersTheCallOnTheScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other, _ := asker("elicitation/create", `{"message":"Another question","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}`)
		app, _ := asked(t, "elicitation/create", person, tuitest.Peer("other", other))
		app.Press("1").View("servers").Pane("list").Has("other")
		app.Press("down", "enter", "2").View("tools").Pane("list").Has("ask")
		app.Press("enter").View("call").Press("ctrl+g").Status().Has("inbox 2")
		app.Press("i").View("answer").Pane("question").Has("Another question")
		app.Hints().Has("f9 next question")
		app.Press("f9").View("answer").Pane("question").Has("Who are you?")
		app.Press("f9").View("answer").Pane("question").Has("Another question")
	})
}

func TestInboxDeclineAndCancel(t *testing.T) {
	for _, k := range []struct{ key, from, action string }{
		{"f6", "answer", "decline"},
		{"f7", "answer", "cancel"},
		{"f6", "inbox", "decline"},
		{"f7", "inbox", "cancel"},
	} {
		synctest.Test(t, func(t *testing.T) {
			app, got := asked(t, "elicitation/create", person)
			if k.from == "answer" {
				app.Press("i").View("answer")
			} else {
				app.Press("8").View("inbox").Sleep(time.Second)
				app.Hints().Has("enter answer", "f6 decline", "f7 cancel", "x cancel call").HasNot("i answer")
			}
			app.Press(k.key)
			app.Eventually(func() string {
				if want := `{"action":"` + k.action + `"}`; got.last() != want {
					return "the server was told " + got.last()
				}
				return ""
			})
			app.Press("8").View("inbox").Pane("list").Has("asker")
		})
	}
}

// Who answers in the list sees what became of that question, and not of an earlier one.
func TestInboxShowsTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := asked(t, "elicitation/create", person, tuitest.Size(80, 24))
		app.Press("i").View("answer").Press("f7").View("call").Press("r").Sleep(time.Second)
		app.Press("8").View("inbox").Sleep(time.Second).Press("f6").Pane("detail").Has("✗ declined", "answer   raw")
		app.Hints().Has("enter show")
		app.Press("enter").View("answer").Hints().Has("q back")
	})
}

const chat = `{"systemPrompt":"You are terse.","maxTokens":100,"temperature":0.2,"modelPreferences":{"hints":[{"name":"sonnet"}]},` +
	`"messages":[{"role":"user","content":{"type":"text","text":"How warm is it?"}},` +
	`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"weather","input":{"city":"Rome"}}]},` +
	`{"role":"user","content":[{"type":"hologram","depth":3},{"type":"text","text":"and \u001b[2J now?"}]}],` +
	`"tools":[{"name":"weather","description":"Tells the weather","inputSchema":{"type":"object","properties":{"at":{"$ref":"#/$defs/place"}},"required":["at"],` +
	`"$defs":{"place":{"type":"string","enum":["Rome","Oslo"]}}}}]}`

// Sampling shows the conversation, what is wanted of the answer and unknown content, and takes a text.
func TestInboxSampling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, got := asked(t, "sampling/createMessage", chat, tuitest.Size(120, 40))
		app.Press("i").View("answer").Pane("question").Has("▌ You are terse.", "▌ maxTokens: 100", "sonnet", "▌ How warm is it?", "tool_use weather", "Unknown content type", "▌ and ^[[2J now?")
		app.Pane("form").Has("text", "tool_use", "▸ 4 more fields  image, role, model, stopReason").HasNot("assistant", "human", "endTurn")
		app.Press("tab", "tab", "enter").Pane("form").Has("▾ 4 more fields", "assistant", "human", "endTurn")
		app.Press("left", "shift+tab", "shift+tab").Pane("form").Has("▸ 4 more fields")
		app.Press("f7").Toast("decline it")
		app.Type("Warm.").Press("ctrl+g").View("call")
		if want := `{"role":"assistant","model":"human","stopReason":"endTurn","content":{"type":"text","text":"Warm."}}`; got.last() != want {
			t.Errorf("answered %s", got.last())
		}
		app.Press("r").Pane("result").Has("waits for your answer").Press("i").View("answer").Press("f6").View("call").Pane("result").Has("User rejected")
	})
}

// The offered tools are called by forms of their schemas, with their own definitions.
func TestInboxSamplingToolUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, got := asked(t, "sampling/createMessage", chat, tuitest.Size(120, 40))
		app.Press("i").View("answer").Press("tab", "ctrl+n").Pane("form").Has("weather", "input", "at*", "Rome")
		app.Press("down", "down", "down", "right", "ctrl+g").View("call")
		assert.Contains(t, got.last(), `"type":"tool_use"`, `"input":{"at":"Rome"}`, `"stopReason":"toolUse"`)
	})
}

// A configured language model fills in the answer, which a person reads before it is sent.
func TestInboxSamplingByModel(t *testing.T) {
	var sent struct {
		Model      string
		Messages   []struct{ Role, Content string }
		MaxTokens  int `json:"max_tokens"`
		Tools      []json.RawMessage
		ToolChoice any
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		_, _ = io.WriteString(w, `{"model":"tiny-1","choices":[{"message":{"role":"assistant","content":"30 degrees"}}]}`)
	}))
	defer api.Close()
	model, err := chatapi.New(chatapi.Model{URL: api.URL + "/v1", Name: "tiny"})
	require.NoError(t, err)
	defer model.Close()
	app, got := ask(t, views.Deps{Model: model}, "sampling/createMessage", chat, tuitest.Size(120, 40))
	app.Press("i").View("answer").Pane("form").Has("text")
	app.Press("f4").Toast("the model answered")
	app.Pane("form").Has("30 degrees", "tiny-1")
	assert.Equalf(t, got.last(), "", "answered unread")
	if sent.Model != "tiny" || sent.MaxTokens != 100 || len(sent.Tools) != 1 || fmt.Sprint(sent.Messages) != "[{system You are terse.} {user How warm is it?} {assistant } {user [hologram]\nand \x1b[2J now?}]" {
		t.Errorf("asked %+v", sent)
	}
	app.Press("ctrl+g").View("call")
	app.Eventually(func() string {
		if want := `"model":"tiny-1","stopReason":"endTurn","content":{"type":"text","text":"30 degrees"}`; !strings.Contains(got.last(), want) {
			return "the server was told " + got.last()
		}
		return ""
	})
}

// Roots are edited as a list, and the server is notified.
func TestRootsAreEdited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve, _ := asker("roots/list", "{}")
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("asker", serve), attended(), tuitest.Size(80, 24))
		app.Press("1", ":roots").View("roots").Pane("form").Has("roots", "empty")
		app.Press("ctrl+n").Type("/srv/data").Press("ctrl+n").Type("file:///tmp/x").Press("ctrl+g").Toast("2 roots from now on")
		told := wire(app, func(e journal.Entry) bool { return e.Method == "notifications/roots/list_changed" })
		if roots := only(app).Roots(); len(told) != 1 || fmt.Sprint(roots) != "[/srv/data file:///tmp/x]" {
			t.Errorf("%d notifications, roots %v", len(told), roots)
		}
		app.Press("esc").View("servers").Press(":roots").View("roots").Pane("form").Has("/srv/data", "file:///tmp/x")
		app.Press("esc").View("servers").Press("2").View("tools").Press("enter").View("call").Press("ctrl+g")
		app.Pane("result").Has(`{"uri":"file:///srv/data","name":"data"},{"uri":"file:///tm`)
	})
}

// What was changed of one server's roots is there again after a look at another's.
func TestRootsOfTwoServersAreKeptApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, _ := asker("roots/list", "{}")
		two, _ := asker("roots/list", "{}")
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("one", one), tuitest.Peer("two", two), attended(), tuitest.Size(80, 24))
		app.Press("1", ":roots").View("roots").Press("ctrl+n").Type("/srv/first").Press("esc").View("servers").Press("down", "enter").View("tools")
		app.Press("1", ":roots").View("roots").Pane("form").HasNot("/srv/first")
		app.Press("esc").View("servers").Press("up", "enter").View("tools")
		app.Press("1", ":roots").View("roots").Pane("form").Has("/srv/first")
	})
}

// A model whose certificate nobody checks is marked where it is asked.
func TestInboxMarksAnInsecureModel(t *testing.T) {
	model, err := chatapi.New(chatapi.Model{URL: "https://models.example/v1", Name: "tiny", Via: config.Server{Insecure: true}})
	require.NoError(t, err)
	defer model.Close()
	app, _ := ask(t, views.Deps{Model: model}, "sampling/createMessage", chat, tuitest.Size(120, 40))
	if app.Press("i").View("answer").Press("?"); !strings.Contains(app.Screen(), "ask the model (insecure)") {
		t.Errorf("it is not marked:\n%s", app.Screen())
	}
}
