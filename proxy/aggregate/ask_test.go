package aggregate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// asking is an agent of the modern era that needs input before it does anything.
func asking(name string) *script {
	return &script{modern: true, caps: `{"tools":{},"prompts":{},"resources":{}}`, answer: func(a asked, _ func(string, ...any)) string {
		switch a.Method {
		case "tools/list":
			return `{"tools":[{"name":"t","inputSchema":{}}]}`
		case "prompts/list":
			return `{"prompts":[{"name":"p"}]}`
		case "resources/list":
			return `{"resources":[{"uri":"` + name + `://r","name":"r"}]}`
		case "tools/call", "prompts/get", "resources/read":
			if a.param("requestState") == "" {
				return `{"resultType":"input_required","requestState":"state of ` + name + `","inputRequests":{` +
					`"e":{"method":"elicitation/create","params":{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{}}}},` +
					`"s":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}},"r":{"method":"roots/list"}}}`
			}
			return fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%q}]}`, name+" got "+a.param("requestState")+a.param("inputResponses"))
		}
		return ""
	}}
}

// Questions of the modern era go to the caller as they are, and the answers to the agent that asked.
func TestR19_InputIsAskedForInTheModernEra(t *testing.T) {
	s := router(t, map[string]string{"a": asking("a").serve(t), "b": asking("b").serve(t)}, nil)
	caps := `{"elicitation":{},"sampling":{},"roots":{}}`
	for _, c := range []struct{ method, name, params string }{
		{"tools/call", "mcp__b__t", `,"name":"mcp__b__t"`}, {"prompts/get", "mcp__b__p", `,"name":"mcp__b__p"`}, {"resources/read", "b://r", `,"uri":"b://r"`},
	} {
		a := s.modernAsk(c.method, c.name, c.params, caps)
		if !all(a.raw, []string{`"resultType":"input_required"`, `"requestState":"state of b"`, `"elicitation/create"`, `"sampling/createMessage"`, `"roots/list"`, "who?"}) {
			t.Errorf("%s: %s", c.method, a.raw)
		}
		a = s.modernAsk(c.method, c.name, c.params+`,"requestState":"state of b","inputResponses":{"e":{"action":"decline"}}`, caps)
		if len(a.Result.Content) != 1 || a.Result.Content[0].Text != `b got "state of b"{"e":{"action":"decline"}}` {
			t.Errorf("%s: %s", c.method, a.raw)
		}
	}
}

// A client of the legacy era is asked the same questions by requests.
func TestR19_InputOfTheModernEraIsAskedOfALegacyClient(t *testing.T) {
	s := router(t, map[string]string{"a": asking("a").serve(t)}, nil)
	id, _ := s.open(`{"elicitation":{},"sampling":{},"roots":{}}`, "2025-11-25")
	call := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__t"}}`))
	answers := map[string]string{"elicitation/create": `{"action":"decline"}`, "sampling/createMessage": `{"model":"m"}`, "roots/list": `{"roots":[]}`}
	for range answers { // the questions of one round come in any order
		var q struct {
			ID     json.RawMessage
			Method string
		}
		require.NoError(t, json.Unmarshal([]byte(call.next(`"method"`)), &q))
		res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":`+answers[q.Method]+`}`)
		_ = res.Body.Close()
	}
	call.next(`"id":1`, "a got", "decline", `\"roots\":[]`)
}

// Whichever question a client refuses, the agent is not taken for one that cannot be reached.
func TestR19_AQuestionThatIsRefused(t *testing.T) {
	for _, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list"} {
		s := router(t, map[string]string{"a": asking("a").serve(t)}, nil)
		id, _ := s.open(`{"elicitation":{},"sampling":{},"roots":{}}`, "2025-11-25")
		call := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__t"}}`))
		var q struct{ ID json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(call.next(`"method":"`+method)), &q))
		res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"error":{"code":-1,"message":"no"}}`)
		_ = res.Body.Close()
		if got := call.next(`"id":1`); !strings.Contains(got, "requires input") || strings.Contains(got, "reach") {
			t.Errorf("%s: %s", method, got)
		}
	}
}

// A person may take longer to answer than a call may take that nothing is heard of.
func TestR19_TheClientIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := router(t, map[string]string{"a": asking("a").serve(t)}, func(o *aggregate.Options) { o.Timeout = 3 * time.Second })
	id, _ := s.open(`{"elicitation":{},"sampling":{},"roots":{}}`, "2025-11-25")
	call := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__t"}}`))
	var q struct{ ID json.RawMessage }
	for range 3 {
		require.NoError(t, json.Unmarshal([]byte(call.next(`"method"`)), &q))
	}
	late := time.After(5 * time.Second)
	select {
	case got := <-call.all:
		t.Fatalf("the call did not wait: %s", got)
	case <-late:
	}
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"error":{"code":-1,"message":"no"}}`)
	_ = res.Body.Close()
	assert.Contains(t, call.next(`"id":1`), "requires input")
}

// The same holds where the agent asks on the stream of no call: any of the calls that run at it can be why it asks.
func TestR19_TheClientIsWaitedForWhoeverAsked(t *testing.T) {
	t.Parallel()
	for name, passes := range map[string]bool{"passed through": true, "translated": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &script{caps: `{"tools":{}}`}
			a.answer = func(q asked, say func(string, ...any)) string {
				if q.Method != "tools/call" {
					return ""
				}
				say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, q.param("_meta", "progressToken"))
				a.tell(`{"jsonrpc":"2.0","id":"why","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}`)
				for {
					select {
					case got := <-a.notes:
						if got.Method == "" {
							return `{"content":[{"type":"text","text":"went on"}]}`
						}
					case <-q.r.Context().Done():
						return ""
					}
				}
			}
			s := router(t, map[string]string{"a": a.serve(t)}, func(o *aggregate.Options) {
				o.Timeout = 6 * time.Second
				if !passes {
					o.Direct = nil
				}
			})
			id, _ := s.open(`{"elicitation":{}}`, "2025-11-25")
			s.ask(id, "tools/list", "")
			require.Eventually(t, "the router listens to the agent", func() bool { return a.streams() > 0 })
			call := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__t","_meta":{"progressToken":"p"}}}`))
			var q struct{ ID json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(call.next("elicitation/create")), &q))
			time.Sleep(8 * time.Second)
			res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"action":"decline"}}`)
			_ = res.Body.Close()
			assert.Contains(t, call.next(`"id":1`), "went on")
		})
	}
}

// A question ends with the call that caused it: its agent may say nothing more of it, and may ask 64 at once only.
func TestR19_AQuestionEndsWithItsCall(t *testing.T) {
	for name, end := range map[string]string{"cancelled": "", "answered": `{"content":[]}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asks := make(chan struct{}, 1)
			a := &script{caps: `{"tools":{}}`}
			a.answer = func(q asked, say func(string, ...any)) string {
				if q.Method != "tools/call" {
					return ""
				}
				say(`{"jsonrpc":"2.0","id":"why","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}`)
				<-asks
				if end == "" {
					<-q.r.Context().Done()
				}
				return end
			}
			s := router(t, map[string]string{"a": a.serve(t)}, nil)
			id, _ := s.open(`{"elicitation":{}}`, "2025-11-25")
			call := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__t"}}`))
			call.next("elicitation/create")
			asks <- struct{}{}
			if end == "" {
				res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
				_ = res.Body.Close()
			}
			late := time.After(20 * time.Second)
			for {
				select {
				case got := <-a.notes:
					if got.Method == "" && all(string(got.Params), []string{`"id":"why"`, `"error"`}) {
						return
					}
				case <-late:
					t.Fatal("the agent never hears that nobody answers")
				}
			}
		})
	}
}

// An agent of the legacy era whose caller has no session cannot ask anybody. It hears so at once, and the call goes on.
func TestR19_WhoCannotBeAskedIsRefusedAtOnce(t *testing.T) {
	answers := make(chan asked, 10)
	a := &script{caps: `{"tools":{}}`}
	a.answer = func(q asked, say func(string, ...any)) string {
		if q.Method != "tools/call" {
			return ""
		}
		say(`{"jsonrpc":"2.0","id":"why","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
		got := <-a.notes
		for got.Method != "" { // notifications/initialized
			got = <-a.notes
		}
		answers <- got
		return `{"content":[{"type":"text","text":"went on"}]}`
	}
	s := router(t, map[string]string{"a": a.serve(t)}, nil)
	for _, call := range []func() answer{
		func() answer { return s.ask("", "tools/call", `{"name":"mcp__a__t"}`) },
		func() answer {
			return s.modernAsk("tools/call", "mcp__a__t", `,"name":"mcp__a__t"`, "")
		},
	} {
		if got := call(); len(got.Result.Content) != 1 || got.Result.Content[0].Text != "went on" {
			t.Error(got.raw)
		}
		if got := <-answers; !all(string(got.Params), []string{`"id":"why"`, `"code":-32601`}) {
			t.Errorf("%s", got.Params)
		}
	}
}

// Agents hear that a client's roots changed, and of no other client's.
func TestR19_RootsChange(t *testing.T) {
	a, b, modern := loud(false), loud(false), loud(true)
	s := router(t, map[string]string{"a": a.serve(t), "b": b.serve(t), "modern": modern.serve(t)}, nil)
	id, _ := s.open(`{"roots":{"listChanged":true}}`, "2025-11-25")
	other, _ := s.open(`{"roots":{"listChanged":true}}`, "2025-11-25")
	s.ask(id, "tools/list", "")
	s.ask(other, "tools/list", "")
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	_ = res.Body.Close()
	assert.Equal(t, res.StatusCode, http.StatusAccepted)
	for _, agent := range []*script{a, b} {
		require.Eventually(t, "the agent hears of it", func() bool { return agent.count("notifications/roots/list_changed") == 1 })
	}
	s.ask(other, "tools/call", `{"name":"mcp__a__t"}`)
	assert.Equal(t, a.count("notifications/roots/list_changed")+modern.count("notifications/roots/list_changed"), 1)
}

// An agent of the legacy era asks a caller of the modern one by the answer to its call, as often as it likes, and goes on with
// what the caller comes back with. Nobody else can answer.
func TestR19_AnAgentOfTheLegacyEraAsksAModernCaller(t *testing.T) {
	a := &script{caps: `{"tools":{}}`}
	ask := func(q asked, say func(string, ...any), id, method, params string) string {
		say(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)
		for {
			select {
			case got := <-a.notes:
				if got.Method == "" && strings.Contains(string(got.Params), `"id":"`+id+`"`) {
					return string(got.Params)
				}
			case <-q.r.Context().Done():
				return ""
			}
		}
	}
	a.answer = func(q asked, say func(string, ...any)) string {
		switch q.Method {
		case "tools/call":
			who := ask(q, say, "one", "elicitation/create", `{"message":"who?","requestedSchema":{}}`)
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, q.param("_meta", "progressToken"))
			roots := ask(q, say, "two", "roots/list", `{}`)
			model := ask(q, say, "three", "sampling/createMessage", `{}`)
			text, _ := json.Marshal(who + roots + model)
			return `{"content":[{"type":"text","text":` + string(text) + `}]}`
		}
		return ""
	}
	s := router(t, map[string]string{"a": a.serve(t)}, nil)
	caps := `{"elicitation":{"form":{}},"roots":{}},"progressToken":"tok"`
	type round struct {
		Result struct {
			ResultType, RequestState string
			InputRequests            map[string]struct{ Method string }
		}
	}
	call := func(more string) (round, string) {
		t.Helper()
		got := s.modernAsk("tools/call", "mcp__a__t", `,"name":"mcp__a__t"`+more, caps)
		var r round
		require.NoError(t, json.Unmarshal([]byte(got.raw), &r))
		return r, got.raw
	}
	first, raw := call("")
	if first.Result.ResultType != "input_required" || first.Result.InputRequests["1"].Method != "elicitation/create" || !strings.Contains(raw, `"who?"`) {
		t.Fatal(raw)
	}
	state := `,"requestState":"` + first.Result.RequestState + `"`
	for _, wrong := range []answer{
		s.modernAsk("tools/call", "mcp__a__u", `,"name":"mcp__a__u"`+state, caps),
		s.modernAsk("prompts/get", "mcp__a__t", `,"name":"mcp__a__t"`+state, caps),
		s.modernAsk("tools/call", "mcp__a__t", `,"name":"mcp__a__t","requestState":"mcphud-parked.X"`, caps),
		s.modernAsk("tools/call", "mcp__a__t", `,"name":"mcp__a__t"`+state, caps, "X-Only", "a"),
	} {
		if wrong.Error == nil || wrong.Error.Code != -32602 {
			t.Error(wrong.raw)
		}
	}
	if again, raw := call(state + `,"inputResponses":{"other":{}}`); again.Result.InputRequests["1"].Method != "elicitation/create" || again.Result.RequestState != first.Result.RequestState {
		t.Errorf("what is not answered is asked again: %s", raw)
	}
	second := s.events(s.modern("s", "tools/call", "mcp__a__t", `,"name":"mcp__a__t"`+state+`,"inputResponses":{"1":{"action":"accept","content":{"n":"Ada"}}}`, caps))
	second.next("notifications/progress", `"progressToken":"tok"`)
	second.next(`"id":"s"`, "input_required", "roots/list")
	// What the caller did not say it can be asked is refused at once, so that the call goes on to its end.
	last, raw := call(state + `,"inputResponses":{"2":{"roots":[]}}`)
	if last.Result.RequestState != "" || !all(raw, []string{"Ada", `roots\":[]`, "-32601", `"resultType":"complete"`}) {
		t.Error(raw)
	}
	if over, raw := call(state + `,"inputResponses":{}`); over.Result.ResultType != "" {
		t.Error(raw)
	}
	// A call that nobody comes back to does not outlive the router, which the end of the test sees to.
	if got, raw := call(""); got.Result.ResultType != "input_required" {
		t.Error(raw)
	}
}
