package aggregate_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// living is an agent of one tool whose listeners stay.
func living(modern bool, tool string) *script { return followed(modern, tool, new(atomic.Int64)) }

// followed is living, and counts how often its resource is followed.
func followed(modern bool, tool string, again *atomic.Int64) *script {
	caps := `{"tools":{"listChanged":true},"resources":{"subscribe":true}}`
	return &script{modern: modern, caps: caps, answer: func(a asked, say func(string, ...any)) string {
		switch a.Method {
		case "tools/list":
			return `{"tools":[{"name":"` + tool + `","inputSchema":{}}]}`
		case "tools/call":
			return `{"content":[{"type":"text","text":"` + tool + `"}]}`
		case "resources/list":
			return `{"resources":[{"uri":"x://r","name":"r"}]}`
		case "resources/subscribe":
			again.Add(1)
			return `{}`
		case "ping":
			return `{}`
		case "subscriptions/listen":
			if a.param("notifications", "resourceSubscriptions") != "" {
				again.Add(1)
			}
			say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, a.param("notifications"), a.ID)
			<-a.r.Context().Done()
		}
		return ""
	}}
}

// While somebody listens, an agent may die, come back as another, and appear late: each time the client hears that its lists
// changed, and they say what there is. What was followed is followed again.
func TestR19_AgentsComeAndGo(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprint("modern agent: ", modern), func(t *testing.T) {
			t.Parallel()
			p, late := newPort(t), newPort(t)
			p.start(living(modern, "first"))
			s := router(t, map[string]string{"a": p.url(), "late": late.url()}, nil)
			id, _ := s.open("{}", "2025-11-25")
			stream := s.general(id)
			listen := s.events(s.modern("L", "subscriptions/listen", "", `,"notifications":{"toolsListChanged":true}`, ""))
			listen.next("acknowledged")
			list := func() string { return strings.Join(names(s.ask(id, "tools/list", "")), " ") }
			if got := list(); got != "mcp__a__first" {
				t.Fatal(got)
			}
			if got := s.ask(id, "resources/subscribe", `{"uri":"x://r"}`); got.Error != nil {
				t.Fatal(got.raw)
			}
			p.stop()
			stream.next("tools/list_changed")
			listen.next("tools/list_changed")
			require.Eventually(t, "it is missing", func() bool {
				a := s.ask(id, "tools/list", "")
				return len(a.Result.Tools) == 0 && strings.Contains(string(a.Result.Meta["mcphud/missing"]), `"a"`)
			})
			if a := s.ask(id, "tools/call", `{"name":"mcp__a__first"}`); a.Error == nil || !strings.HasPrefix(a.Error.Message, "Failed to reach agent:") {
				t.Error(a.raw)
			}
			var again atomic.Int64
			p.start(followed(modern, "second", &again))
			stream.next("tools/list_changed")
			listen.next("tools/list_changed")
			require.Eventually(t, "it is back", func() bool { return list() == "mcp__a__second" })
			require.Eventually(t, "its resource is followed again", func() bool { return again.Load() > 0 })
			if a := s.ask(id, "tools/call", `{"name":"mcp__a__second"}`); a.Error != nil || a.Result.Content[0].Text != "second" {
				t.Error(a.raw)
			}
			late.start(living(modern, "third"))
			stream.next("tools/list_changed")
			require.Eventually(t, "it is there", func() bool { return list() == "mcp__a__second mcp__late__third" })
		})
	}
}

// An agent that does not answer is waited for once; then lists come without it, until it answers, which clients that listen
// are told.
func TestS15_AHungAgentIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	inner := living(false, "slow")
	p := newPort(t)
	p.start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			inner.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	const patience = 3 * time.Second
	s := router(t, map[string]string{"good": living(false, "one").serve(t), "hung": p.url()}, func(o *aggregate.Options) { o.Patience, o.Timeout = patience, time.Minute })
	id, _ := s.open("{}", "2025-11-25")
	stream := s.general(id)
	s.ask(id, "tools/list", "")
	other, _ := s.open("{}", "2025-11-25")
	for _, session := range []string{id, other, ""} {
		for _, method := range []string{"tools/list", "prompts/list"} {
			var a answer
			if took := budget.Median(func() { a = s.ask(session, method, "") }); took > patience-time.Second || !strings.Contains(string(a.Result.Meta["mcphud/missing"]), `[{"agent":"hung","error":"it did not answer in time"}]`) {
				t.Errorf("%v %s", took, a.raw)
			}
		}
	}
	close(release)
	stream.next("tools/list_changed")
	assert.Equal(t, strings.Join(names(s.ask(id, "tools/list", "")), " "), "mcp__good__one mcp__hung__slow")
}

// Cancelling reaches the agent under the id that it knows, in both eras. A client of a session that only goes cancels nothing.
func TestR19_CancelReachesTheAgent(t *testing.T) {
	begun, ended := make(chan asked, 10), make(chan string, 10)
	release := make(chan struct{})
	slow := func(modern bool) *script {
		return &script{modern: modern, caps: `{"tools":{}}`, answer: func(a asked, _ func(string, ...any)) string {
			if a.Method != "tools/call" {
				return ""
			}
			begun <- a
			select {
			case <-a.r.Context().Done():
				ended <- "left"
			case <-release:
				ended <- "done"
			}
			return `{"content":[]}`
		}}
	}
	old := slow(false)
	s := router(t, map[string]string{"old": old.serve(t), "new": slow(true).serve(t)}, nil)
	id, _ := s.open("{}", "2025-11-25")
	// call sends a request and forgets it when leave is called.
	call := func(session, body string, head ...string) func() {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(body))
			if err != nil {
				return
			}
			head = append(head, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
			for i := 0; i < len(head); i += 2 {
				q.Header.Set(head[i], head[i+1])
			}
			if session != "" {
				q.Header.Set("Mcp-Session-Id", session)
			}
			if res, err := http.DefaultClient.Do(q); err == nil {
				_ = res.Body.Close()
			}
		}()
		return func() { cancel(); <-over }
	}
	leave := call(id, `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"mcp__old__t"}}`)
	was := <-begun
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0063"}}`) // another spelling of "c"
	_ = res.Body.Close()
	note := <-old.notes
	for note.Method != "notifications/cancelled" {
		note = <-old.notes
	}
	if got := <-ended; note.param("requestId") != string(was.ID) || got != "left" {
		t.Errorf("%s: %s for %s", got, note.Params, was.ID)
	}
	leave()
	leave = call("", `{"jsonrpc":"2.0","id":"m","method":"tools/call","params":{"name":"mcp__new__t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "mcp__new__t")
	<-begun
	leave()
	assert.Equal(t, <-ended, "left")
	leave = call(id, `{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"mcp__old__t"}}`)
	<-begun
	leave()
	if got := s.ask(id, "ping", ""); got.Error != nil { // the router has seen that the client went, if it looks
		t.Error(got.raw)
	}
	close(release)
	if got := <-ended; got != "done" || old.count("notifications/cancelled") != 1 {
		t.Error(got, old.seen)
	}
}
