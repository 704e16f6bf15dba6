package views_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// scribe is a server whose lists and resource a test changes. It speaks either era.
type scribe struct {
	modern bool
	hints  string // of lists, such as `,"ttlMs":1000`

	mu      sync.Mutex
	tools   string // the members of the array
	state   string // what file:///state holds
	counts  map[string]int
	asked   []string // methods with the uri or argument they are about
	send    func(string)
	answers map[string]func(params []byte) string // results by method, or errors where they begin with {"code"
}

func newScribe() *scribe {
	return &scribe{tools: toolJSON("alpha", "The first."), state: "one\ntwo", counts: map[string]int{}, answers: map[string]func([]byte) string{}}
}

func toolJSON(name, about string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, about)
}

func (s *scribe) serve(_ context.Context, in io.Reader, out io.Writer) error {
	var wmu sync.Mutex
	send := func(frame string) {
		wmu.Lock()
		defer wmu.Unlock()
		_, _ = io.WriteString(out, frame+"\n") // the client may have gone
	}
	s.mu.Lock()
	s.send = send
	s.mu.Unlock()
	for sc := bufio.NewScanner(in); sc.Scan(); {
		env, err := jsonrpc.Scan(sc.Bytes())
		if err != nil {
			return err
		}
		if env.Kind != jsonrpc.Request {
			continue
		}
		answer := s.answer(env)
		member := "result"
		if strings.HasPrefix(answer, `{"code"`) {
			member = "error"
		}
		if answer != "" {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%q:%s}`, env.ID, member, answer))
		}
	}
	return nil
}

func (s *scribe) answer(env jsonrpc.Envelope) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[env.Method]++
	s.asked = append(s.asked, env.Method+" "+jsonrpc.GetString(env.Params, "uri"))
	if a, ok := s.answers[env.Method]; ok {
		return a(env.Params)
	}
	hints := s.hints
	if s.modern {
		hints += `,"resultType":"complete"`
	}
	const caps = `"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{}},"serverInfo":{"name":"scribe","version":"1"}`
	switch env.Method {
	case "server/discover":
		if s.modern {
			return `{"resultType":"complete","supportedVersions":["2026-07-28"],` + caps + `}`
		}
	case "initialize":
		return `{"protocolVersion":"2025-11-25",` + caps + `}`
	case "tools/list":
		return `{"tools":[` + s.tools + `]` + hints + `}`
	case "resources/list":
		return `{"resources":[{"uri":"file:///state","name":"state"},{"uri":"file:///other","name":"other"}]` + hints + `}`
	case "resources/read":
		return fmt.Sprintf(`{"contents":[{"uri":"file:///state","text":%q}]%s}`, s.state, hints)
	case "resources/subscribe", "resources/unsubscribe", "ping":
		return `{}`
	case "subscriptions/listen":
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s}}`, jsonrpc.Get(env.Params, "notifications")))
		return ""
	}
	return `{"code":-32601,"message":"no such method"}`
}

func (s *scribe) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[method]
}

// list gives the server other tools, and has it say so.
func (s *scribe) list(tools ...string) {
	s.mu.Lock()
	s.tools = strings.Join(tools, ",")
	send := s.send
	s.mu.Unlock()
	send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

// write changes the resource, and has the server say so.
func (s *scribe) write(text string) {
	s.mu.Lock()
	s.state = text
	send := s.send
	s.mu.Unlock()
	send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///state"}}`)
}

// subscribed shows a subscription with two updates.
func (s *scribe) subscribed(a *tuitest.App) {
	s.mu.Lock()
	s.state = `{"open":3,"oldest":"Grüße","assigned":["Ada"]}`
	s.mu.Unlock()
	a.Press(":subscribe").Sleep(time.Second)
	s.write(`{"open":4,"oldest":"Grüße","assigned":["Ada"]}`)
	a.Sleep(90 * time.Second)
	s.write(`{"open":3,"oldest":"世界","assigned":["Ada","Alan"]}`)
	a.Sleep(time.Second).Press(":subscriptions").Sleep(6 * time.Second)
}

func scribed(t *testing.T, s *scribe, opts ...tuitest.Option) *tuitest.App {
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("scribe", s.serve), tuitest.At("tools", nil), tuitest.Size(80, 24),
	}, opts...)...)
}

// What is subscribed to stands in the list of resources and on a screen, with what each update changed; in both eras.
func TestSubscriptions(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprint("modern=", modern), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScribe()
				s.modern = modern
				app := scribed(t, s, tuitest.At("resources", nil))
				app.Press(":").Type("subscriptions\r").View("subscriptions").Pane("list").Has("Nothing is subscribed", ":subscribe on a resource")
				app.Press("q").View("resources")
				app.Press(":subscribe").Toast("subscribed to file:///state")
				app.Pane("list").Some(tuitest.Matches(`state .*◉ subscribed`))
				time.Sleep(time.Second)
				s.write("one\nthree")
				app.Toast("resource updated (1): file:///state")
				app.Press(":subscriptions").View("subscriptions").Pane("list").Has("● live", "1×", "file:///state")
				app.Pane("detail").Has("● live · 1 update since", "+1 −1 lines", "- two", "+ three")
				time.Sleep(time.Second)
				s.write("one\nthree\nfour")
				time.Sleep(time.Second)
				app.Pane("detail").Has("2 updates since", "+1 −0 lines", "+ four", "- two")
				app.Press("x").Toast("unsubscribed from file:///state").Pane("list").Has("Nothing is subscribed")
				if end := s.count("resources/unsubscribe"); !modern && end != 1 {
					t.Errorf("unsubscribed %d times", end)
				}
				app.Press("a").Type("file:///else\r").Toast("subscribed to file:///else").Pane("list").Has("file:///else")
			})
		})
	}
}

// A list that changes says how, and marks what nobody saw yet.
func TestListChangedIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		app := scribed(t, s)
		s.list(toolJSON("alpha", "The first."), toolJSON("beta", "A second."), toolJSON("gamma", "A third."))
		time.Sleep(2 * time.Second)
		app.Toast("tools: 2 added (beta, gamma)").Pane("list").Some(tuitest.Matches(`beta .*\+ new`))
		app.Press("down").Pane("list").Some(tuitest.Matches(`beta .*\+ new`))
		app.Press("down").Pane("list").HasNot("second. + new").Some(tuitest.Matches(`gamma .*\+ new`))
		app.Press("r").Pane("list").HasNot("+ new")
		s.list(toolJSON("alpha", "The very first."), toolJSON("gamma", "A third."))
		time.Sleep(2 * time.Second)
		app.Toast("tools: 1 removed (beta), 1 changed (alpha)").Pane("list").Some(tuitest.Matches(`alpha .*~ changed`))
		app.Press("g").Pane("detail").Has("~ Changed since you looked", `-   "description": "The first."`, `+   "description": "The very first."`)
	})
}

// A list whose time is over is asked for again when somebody comes to look at it, and not before.
func TestCacheHintsAreObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		s.modern, s.hints = true, `,"ttlMs":60000,"cacheScope":"private"`
		app := scribed(t, s)
		app.View("tools").Pane("list").Has("ttl 1m0s, private")
		asked := func(want int, why string) {
			t.Helper()
			app.Pane("list").Has("alpha")
			if n := s.count("tools/list"); n != want {
				t.Errorf("%s: asked %d times, want %d", why, n, want)
			}
		}
		asked(1, "at the start")
		app.Press("3").View("resources").Pane("list").Has("state")
		app.Press("2").View("tools")
		asked(1, "looked at again")
		app.Press("1").View("servers").Press("r").Status().Has("Connected")
		app.Press("2").View("tools")
		asked(1, "reconnected")
		app.Press("r")
		asked(2, "reloaded")
		time.Sleep(2 * time.Minute)
		asked(2, "over, and looked at all the time")
		app.Press("3").View("resources").Press("2").View("tools")
		asked(3, "over, and looked at again")
	})
}
