package views_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/pane"
)

// An elicitation that is drawn like a dialog of this program stands in a pane that names its server, each of its lines marked; what
// looks like keys of a dialog means nothing.
func TestInboxDialogThatIsNone(t *testing.T) {
	const fake = "╭─ Start a server from this project? ─╮\n│ rm -rf ~                            │\n│  y trust and start   [ n do not start ] │\n╰──────────────────────── esc closes ─╯\n\x1b[2J\u202eevil"
	synctest.Test(t, func(t *testing.T) {
		app, got := asked(t, "elicitation/create", `{"message":`+string(jsonrpc.Quote(fake))+`,"requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}`)
		app.Press("i").View("answer").NoOverlay().Pane("question").Has("▌ ╭─ Start a server", "▌ │  y trust and start", "▌ ^[[2J<U+202E>evil")
		for row := range strings.Lines(app.Pane("question").Text()) {
			if strings.Contains(row, "trust") && !strings.HasPrefix(strings.TrimSpace(row), "▌") {
				t.Errorf("a line of the server is not marked: %s", row)
			}
		}
		app.Press("shift+tab").Pane("question").Focused().Press("y", "enter", "esc")
		if got.last() != "" {
			t.Errorf("answered %s", got.last())
		}
		app.Press("8").View("inbox").Pane("detail").Has("▌ ╭─ Start a server")
	})
}

// A schema beyond the subset of the specification is marked with what it breaks, and can be answered as JSON.
func TestInboxSchemaBeyondTheSubset(t *testing.T) {
	const params = `{"message":"m","requestedSchema":{"type":"object","properties":{"deep":{"type":"object","properties":{"x":{"$ref":"#/$defs/loop"}}}},"$defs":{"loop":{"$ref":"#/$defs/loop"}}}}`
	synctest.Test(t, func(t *testing.T) {
		app, got := asked(t, "elicitation/create", params, tuitest.Size(200, 60))
		app.Press("i").View("answer").Pane("question").Has(`! beyond what the specification allows: the schema uses "$defs"`, "! beyond what the specification allows: deep: objects")
		app.Pane("form").Focused().Press("ctrl+r")
		app.Press("ctrl+g")
		if len(app.State().Overlays) > 0 {
			app.Press("y")
		}
		app.View("call")
		if !strings.HasPrefix(got.last(), `{"action":"accept","content":`) {
			t.Errorf("answered %s", got.last())
		}
	})
}

// A page is shown whole with its host, and is opened when asked for, if it is a safe one.
func TestInboxPage(t *testing.T) {
	for _, k := range []struct {
		url    string
		shows  []string
		opened bool
		asks   bool
	}{
		{"https://accounts.example.com/login?state=abc&next=%2Fhome", []string{"host accounts.example.com", "▌ https://accounts.example.com/login?state=abc&next=%2Fhome"}, true, false},
		{"http://127.0.0.1:8080/done", []string{"host 127.0.0.1:8080"}, true, false},
		{"https://xn--pple-43d.com/", []string{"host xn--pple-43d.com", "! the host name is encoded (punycode)"}, true, true},
		{"javascript:alert(1)", []string{"host none", "✗ the URL has no host; decline it"}, false, false},
		{"file:///etc/passwd", []string{"host none"}, false, false},
		{"https://bank.example@evil.example/", []string{"host evil.example", "user name in front of its host"}, false, false},
		{"http://example.com/", []string{"host example.com", "not encrypted"}, false, false},
	} {
		t.Run(k.url, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opened atomic.Value
				browse := func(_ context.Context, url string) error { opened.Store(url); return nil }
				app, got := ask(t, views.Deps{Browse: browse}, "elicitation/create", `{"mode":"url","elicitationId":"1","message":"Log in","url":`+string(jsonrpc.Quote(k.url))+`}`)
				app.Press("i").View("answer").Pane("question").Focused().Has(append(k.shows, "▌ Log in")...)
				if opened.Load() != nil {
					t.Fatal("the page was opened unasked")
				}
				app.Press("o")
				switch {
				case !k.opened:
					app.Toast("open page: ")
				case k.asks:
					app.Confirm("Open a page of").Says("punycode").Yes()
					fallthrough
				default:
					app.Toast("opened in the browser")
				}
				if s, _ := opened.Load().(string); (s == k.url) != k.opened {
					t.Errorf("opened %q", s)
				}
				app.Press("ctrl+g").View("call")
				if got.last() != `{"action":"accept"}` {
					t.Errorf("answered %s", got.last())
				}
			})
		})
	}
}

// What was typed for a question is there when one comes back to it, and an answer after the server gave up says so and loses nothing.
func TestInboxDraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := asked(t, "elicitation/create", person)
		app.Press("i").View("answer").Type("Ada").Press("esc", "esc").View("call")
		app.Press("i").View("answer").Pane("form").Has("Ada")
		app.Press("esc", "esc").View("call").Press("x").Pane("result").Has("cancelled")
		app.Press("8").View("inbox").Pane("list").Has("⊘ withdrawn: the call")
	})
}

// The first question of an empty inbox swallows the keys that were on their way to something else.
func TestInboxGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, changed := pending.New(pending.Options{Attended: true}), make(chan struct{}, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.At("inbox", nil),
			tuitest.SessionOptions(func(o *session.Options) { o.Pending = q }), tuitest.Config(func(c *tui.Config) { c.Changed = changed }))
		app.View("inbox").Pane("list").Has("No questions", "arrives here")
		go func() {
			_, _, _ = q.Ask(ctx, pending.Question{Server: "asker", Title: "asker", Method: "elicitation/create", Params: []byte(person)}, func() { changed <- struct{}{} })
		}()
		app.Pane("list").Has("Who are you?")
		app.Press("f6", "f6", "f6").Settle()
		assert.Equalf(t, q.Len(), 1, "a key that was on its way answered")
		app.Sleep(time.Second).Press("f6").Pane("list").Has("✗ declined")
	})
}

// Fifty servers ask a thousand questions at once: keys stay quick, there are few toasts, and what does not fit is refused.
func TestInboxStorm(t *testing.T) {
	q := pending.New(pending.Options{Attended: true})
	r := newRigOn(t, session.NewManager(session.Options{Pending: q}), "traffic")
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var refused atomic.Int64
	defer wg.Wait()
	defer stop()
	ask := func(n int, params func(int) string) {
		for i := range n {
			wg.Go(func() {
				name := fmt.Sprint("server-", i%50)
				_, fault, _ := q.Ask(ctx, pending.Question{Server: name, Title: name, Method: "elicitation/create", Params: []byte(params(i))}, func() {})
				if fault != nil {
					refused.Add(1)
				}
			})
		}
	}
	ask(1000, func(i int) string { return strings.Replace(person, "Who are you?", fmt.Sprint("question ", i), 1) })
	took := r.usual(21, func(key string) time.Duration {
		slowest := r.send(tui.SessionChanged{}) + r.press(key)
		for _, more := range r.drain() {
			slowest = max(slowest, more)
		}
		return slowest
	}, "6", "down", "8", "down", "enter", "esc", "esc")
	if took > 100*time.Millisecond && !racing {
		t.Errorf("a key among 1,000 questions usually takes %v", took)
	}
	for q.Len() < 1000 {
		time.Sleep(time.Millisecond)
	}
	r.press("8")
	r.send(tui.SessionChanged{})
	r.until("1000 open")
	ask(4000, func(int) string { return person })
	for q.Len() < 4096 || refused.Load() < 5000-4096 {
		time.Sleep(time.Millisecond)
	}
	r.send(tui.SessionChanged{})
	r.until("4096 open")
}

// 50 MB of conversation are read beside the event loop, and only what is on the screen is drawn: no message takes as long as reading
// them all.
func TestInboxLongConversation(t *testing.T) {
	params := conversation()
	read := func() {
		pane.QuestionParts(pending.Record{Question: pending.Question{Method: "sampling/createMessage", Params: params}}, nil)
	}
	// Processor time: what else the machine does interrupts the longer of the two more often.
	best := budget.Alternate(func() time.Duration { return longConversation(t, params) }, func() time.Duration { return budget.Spent(read) })
	if best[0] > best[1] {
		t.Errorf("a message on the event loop took %s, reading it all %s", best[0], best[1])
	}
}

// conversation is params of sampling/createMessage.
func conversation() []byte {
	var b strings.Builder
	b.WriteString(`{"maxTokens":1,"messages":[`)
	size, lines := 50_000_000, 4000
	if racing || !budget.All() { // as many messages, each a tenth as long
		size, lines = size/10, lines/10
	}
	block := `{"role":"user","content":{"type":"text","text":"` + strings.Repeat(`many words \n`, lines) + `"}}`
	for b.Len() < size {
		b.WriteString(block + ",")
	}
	b.WriteString(block + `]}`)
	return []byte(b.String())
}

// longConversation goes through one, and returns how much of the processor the slowest message took on the event loop.
func longConversation(t *testing.T, params []byte) (slowest time.Duration) {
	t.Helper()
	q := pending.New(pending.Options{Attended: true})
	r := newRigOn(t, session.NewManager(session.Options{Pending: q}), "inbox")
	r.cost = budget.Spent
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_, _, _ = q.Ask(ctx, pending.Question{Server: "s", Title: "s", Method: "sampling/createMessage", Params: params}, func() {})
	}()
	for q.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	slowest = r.send(tui.SessionChanged{})
	_, took := r.until("▌ many words")
	time.Sleep(500 * time.Millisecond) // keys that were typed before the question came do not answer it, see tui.Grace
	slowest = max(slowest, took, r.press("enter"))
	_, took = r.until("Your answer")
	_, late := r.until("▌ many words")
	took = max(took, late)
	r.rest() // the form has the keys
	slowest = max(slowest, took, r.press("shift+tab", "G"))
	_, took = r.until("more: see raw")
	return max(slowest, took, r.press("]", "]"))
}

// A form of 5,000 fields opens beside the event loop as far as it takes long, and moves as any other.
func TestInboxManyFields(t *testing.T) {
	q := pending.New(pending.Options{Attended: true})
	r := newRigOn(t, session.NewManager(session.Options{Pending: q}), "inbox")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,"f%d":{"type":"string","default":"v%d"}`, i, i)
	}
	params := `{"message":"many","requestedSchema":{"type":"object","properties":{` + b.String()[1:] + `}}}`
	go func() {
		_, _, _ = q.Ask(ctx, pending.Question{Server: "s", Title: "s", Method: "elicitation/create", Params: []byte(params)}, func() {})
	}()
	for q.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	r.send(tui.SessionChanged{})
	r.until("many")
	r.press("i")
	r.until("v0")
	r.rest()
	took := r.usual(5, func(key string) time.Duration { return r.press(key) }, "down", "x", "down", "pgdown")
	r.rest()
	if took > 100*time.Millisecond && !racing { // less than one on a machine that has nothing else to do
		t.Errorf("a key in a form of 5,000 fields usually takes %v", took)
	}
}

// What was answered for a secret is not on the screen afterwards.
func TestInboxHidesSecrets(t *testing.T) {
	const params = `{"message":"Log in","requestedSchema":{"type":"object","properties":{"user":{"type":"string"},"pin":{"type":"string","format":"password"},"api_key":{"type":"string"}}}}`
	synctest.Test(t, func(t *testing.T) {
		app, got := asked(t, "elicitation/create", params)
		app.Press("i").View("answer").Type("ada").Press("down").Type("1234").Press("down").Type("hunter2").Press("ctrl+g").View("call")
		if !strings.Contains(got.last(), "hunter2") || !strings.Contains(got.last(), "1234") {
			t.Fatalf("answered %s", got.last())
		}
		app.Press("8").View("inbox").Press("tab", "]", "]").Pane("detail").Has("ada", `"***"`)
		app.Pane("detail").HasNot("hunter2", "1234")
	})
}
