package mock

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const asking3 = `>2 tools/call {"name":"work","arguments":{},"_meta":{"progressToken":"theirs"}}
<- notifications/progress {"progressToken":"theirs","progress":1,"total":2} @1000
<- notifications/message {"level":"warning","data":"careful"}
<- notifications/message {"level":"debug","data":"detail"}
<?7 elicitation/create {"message":"Who?","requestedSchema":{"type":"object","properties":{}}}
>?7 {"action":"decline"} @9000
<- notifications/progress {"progressToken":"theirs","progress":2,"total":2} @1000
<2 {"content":[{"type":"text","text":"done"}]} @1000
`

func decline(string, string) string { return `{"action":"decline"}` }

// Progress, log messages and questions come at their place, with the client's token, and at their time.
func TestLegacyCallIsPlayed(t *testing.T) {
	for _, speed := range []float64{1, 10, math.Inf(1)} {
		synctest.Test(t, func(t *testing.T) {
			c := serve(t, tape(t, legacyHello+asking3), Options{Speed: speed}).dial(t, false, `{"elicitation":{}}`)
			c.token, c.answer = true, decline
			c.result("logging/setLevel", `"level":"info"`)
			start := time.Now()
			got := c.result("tools/call", `"name":"work"`)
			if took, want := time.Since(start), time.Duration(3003/speed)*time.Millisecond; took < want-5*time.Millisecond || took > want+5*time.Millisecond {
				t.Errorf("at speed %v it took %v, want %v", speed, took, want)
			}
			assert.Equal(t, got, `{"content":[{"type":"text","text":"done"}]}`)
			want := []string{
				`notifications/progress {"progressToken":"mine","progress":1,"total":2}`, `notifications/message {"level":"warning","data":"careful"}`,
				`notifications/progress {"progressToken":"mine","progress":2,"total":2}`,
			}
			if fmt.Sprint(c.notes) != fmt.Sprint(want) {
				t.Errorf("%q", c.notes)
			}
			if len(c.asked) != 1 || !strings.HasPrefix(c.asked[0], `elicitation/create {"message":"Who?","requestedSchema"`) {
				t.Errorf("%q", c.asked)
			}
		})
	}
}

// The same in rounds, for a client of the modern era; a state that is none is refused.
func TestLegacyCallForAModernClient(t *testing.T) {
	c := serve(t, tape(t, legacyHello+asking3), fast).dial(t, true, `{"elicitation":{}}`)
	c.token, c.level = true, "info"
	first := c.result("tools/call", `"name":"work"`)
	if !strings.Contains(first, `"resultType":"input_required","inputRequests":{"question":{"method":"elicitation/create","params":{"message":"Who?"`) {
		t.Fatalf("%s", first)
	}
	_, state, _ := strings.Cut(first, `"requestState":`)
	rest := `"name":"work","inputResponses":{"question":{"action":"decline"}},"requestState":`
	assert.Equal(t, c.result("tools/call", rest+strings.TrimSuffix(state, "}")), `{"content":[{"type":"text","text":"done"}],"resultType":"complete"}`)
	if len(c.notes) != 3 {
		t.Errorf("%q", c.notes)
	}
	for _, bad := range []string{`"mcphud-mock:"`, `"mcphud-mock:1:1"`, `"mcphud-mock:99999999999999999999:1"`, `"mcphud-mock:4:-1"`, `"mcphud-mock:4:1000000"`, `"mcphud-mock:4:1"`, `"other"`} {
		if e := c.fails("tools/call", rest+bad); e.Code != -32602 {
			t.Errorf("%s: %+v", bad, e)
		}
	}
}

const rounds = `>2 tools/call {"name":"ask",` + meta + `}
<2 {"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"s1"}
>3 tools/call {"name":"ask","inputResponses":{"who":{"action":"accept","content":{"n":1}}},"requestState":"s1",` + meta + `}
<3 {"resultType":"complete","content":[{"type":"text","text":"one"}]}
>4 tools/call {"name":"ask","inputResponses":{"who":{"action":"decline"}},"requestState":"s1",` + meta + `}
<4 {"resultType":"complete","content":[{"type":"text","text":"none"}]}
`

func TestRounds(t *testing.T) {
	m := serve(t, tape(t, modernHello+rounds), fast)
	c := m.dial(t, true, `{"elicitation":{}}`)
	assert.Contains(t, c.result("tools/call", `"name":"ask"`), `"requestState":"s1"`)
	for answer, want := range map[string]string{`{"action":"accept","content":{"n":1}}`: "one", `{"action":"decline"}`: "none"} {
		if got := c.result("tools/call", `"name":"ask","inputResponses":{"who":`+answer+`},"requestState":"s1"`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", answer, got)
		}
	}
	if e := c.fails("tools/call", `"name":"ask","inputResponses":{},"requestState":"s9"`); !strings.Contains(e.Message, "this round") {
		t.Errorf("%+v", e)
	}
	l := m.dial(t, false, `{"elicitation":{}}`)
	l.answer = decline
	if got := l.result("tools/call", `"name":"ask"`); got != `{"content":[{"type":"text","text":"one"}]}` || len(l.asked) != 1 {
		t.Errorf("%s %q", got, l.asked)
	}
}

// Who cannot be asked is not.
func TestWithoutTheCapability(t *testing.T) {
	for _, modern := range []bool{false, true} {
		c := serve(t, tape(t, legacyHello+asking3), fast).dial(t, modern, `{}`)
		if got := c.result("tools/call", `"name":"work"`); !strings.Contains(got, "done") || len(c.asked) > 0 {
			t.Errorf("%s %q", got, c.asked)
		}
	}
}

// What the server did of itself follows: after the handshake, and after a call.
func TestWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, tape(t, legacyHello+`<?1 roots/list @500
>?1 {"roots":[]}
>2 tools/call {"name":"change"}
<2 {"content":[]}
<- notifications/tools/list_changed @2000
`), Options{}).dial(t, false, `{"roots":{}}`)
		c.answer = func(string, string) string { return `{"roots":[]}` }
		c.take(<-c.frames)
		if len(c.asked) != 1 || c.asked[0] != "roots/list " {
			t.Errorf("%q", c.asked)
		}
		c.result("tools/call", `"name":"change"`)
		start := time.Now()
		c.take(<-c.frames)
		if len(c.notes) != 1 || !strings.HasPrefix(c.notes[0], "notifications/tools/list_changed") || time.Since(start) != 2*time.Second {
			t.Errorf("%q after %v", c.notes, time.Since(start))
		}
	})
}

// Progress that the answer overtook follows it, with the token of the request that it is of, whatever was asked since. A client
// without a session gets it before the answer.
func TestProgressAfterTheAnswer(t *testing.T) {
	const text = legacyHello + `>2 tools/call {"name":"work","_meta":{"progressToken":"theirs"}}
<- notifications/progress {"progressToken":"theirs","progress":1}
<2 {"content":[]}
>3 tools/call {"name":"other","_meta":{"progressToken":"other"}}
<- notifications/progress {"progressToken":"theirs","progress":2} @2000
<3 {"content":[]}
`
	want := []string{`notifications/progress {"progressToken":"mine","progress":1}`, `notifications/progress {"progressToken":"mine","progress":2}`}
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, tape(t, text), Options{}).dial(t, false, `{}`)
		c.token = true
		c.result("tools/call", `"name":"work"`)
		start := time.Now()
		c.take(<-c.frames)
		if fmt.Sprint(c.notes) != fmt.Sprint(want) || time.Since(start) != 2001*time.Millisecond {
			t.Errorf("%q after %v", c.notes, time.Since(start))
		}
		c.result("tools/call", `"name":"other"`)
		c.token = false
		c.result("tools/call", `"name":"work"`)
		time.Sleep(time.Minute)
		c.result("ping", "")
		if len(c.notes) != len(want) {
			t.Errorf("%q", c.notes)
		}
	})
	c := serve(t, tape(t, text), fast).dial(t, true, `{}`)
	c.token = true
	if c.result("tools/call", `"name":"work"`); fmt.Sprint(c.notes) != fmt.Sprint(want) {
		t.Errorf("in the modern era: %q", c.notes)
	}
}

// A delayed answer is cancelled, and so is one that never came.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := serve(t, tape(t, legacyHello+`>2 tools/call {"name":"slow"}
<2 {"content":[]} @200000
>3 tools/call {"name":"never"}
>- notifications/cancelled {"requestId":3}
>4 tools/call {"name":"cut"}
`), Options{})
		c := m.dial(t, false, `{}`)
		for _, name := range []string{"slow", "never"} {
			id := c.request("tools/call", `"name":"`+name+`"`)
			time.Sleep(time.Second)
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		}
		if c.result("ping", ""); len(c.notes) > 0 {
			t.Errorf("%q", c.notes)
		}
		if e := c.fails("tools/call", `"name":"cut"`); !strings.Contains(e.Message, "not in the recording") {
			t.Errorf("%+v", e)
		}
	})
}

const tasks = `>2 tools/call {"name":"long","task":{"ttl":60000}}
<2 {"task":{"taskId":"t1","status":"working","ttl":60000}}
>3 tasks/get {"taskId":"t1"}
<3 {"taskId":"t1","status":"working"}
>4 tasks/get {"taskId":"t1"}
<4 {"taskId":"t1","status":"completed"}
>5 tasks/result {"taskId":"t1"}
<5 {"content":[{"type":"text","text":"at last"}]}
`

func TestTasks(t *testing.T) {
	m := serve(t, tape(t, legacyHello+tasks), fast)
	c := m.dial(t, false, `{}`)
	assert.Contains(t, c.result("tools/call", `"name":"long","task":{"ttl":5}`), `"taskId":"t1"`)
	for _, want := range []string{"working", "completed", "completed"} {
		assert.Contains(t, c.result("tasks/get", `"taskId":"t1"`), want)
	}
	assert.Contains(t, c.result("tasks/result", `"taskId":"t1"`), "at last")
	assert.Contains(t, c.result("tools/call", `"name":"long"`), "at last")
	if e := c.fails("tasks/get", `"taskId":"t2"`); e.Code != -32602 {
		t.Errorf("%+v", e)
	}
	assert.Contains(t, m.dial(t, true, `{}`).result("tools/call", `"name":"long"`), "at last", `"resultType":"complete"`)
}

// What a journal can hold does no harm: garbage, halves of exchanges, answers to nothing.
func TestHostileJournal(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	j := tape(t, legacyHello+`>2 tools/call {"name":"deep","arguments":`+deep+`}
<2 {"content":[]}
<9 {"content":[]}
>3 tools/list {"cursor":"never begun"}
<3 {"tools":[{"name":"x"}]}
>4 tools/list
<4 {"tools":[{"name":"first"}],"nextCursor":"and on"}
<- notifications/progress {"progressToken":"of nothing"}
`)
	j.Append(journal.Entry{Server: "srv", Conn: 1, Dir: journal.In, Kind: journal.Bad}, []byte("\x1b[2J not json"))
	j.Append(journal.Entry{Server: "srv", Conn: 1, Dir: journal.Out, Kind: journal.Request, Method: "tools/call", ID: "5", Tool: "bad"}, []byte(`{"jsonrpc":`))
	j.Append(journal.Entry{Server: "srv", Conn: 1, Dir: journal.In, Kind: journal.Response, ID: "5"}, []byte(`{"jsonrpc":"2.0","id":5,"result":`))
	c := serve(t, j, fast).dial(t, false, `{}`)
	if got := c.result("tools/list", ""); !strings.Contains(got, `"first"`) || strings.Contains(got, "nextCursor") {
		t.Errorf("%s", got)
	}
	assert.Contains(t, c.result("tools/call", `"name":"deep","arguments":`+deep), `"content":[]`)
	assert.Contains(t, c.result("tools/call", `"name":"deep","arguments":{"a":{"b":2}}`), `"content":[]`)
	if e := c.fails("tools/call", `"name":"bad"`); e.Message == "" {
		t.Errorf("%+v", e)
	}
	if _, err := New(Options{Journal: j, Server: "another"}); err == nil {
		t.Error("a server that is not there is served")
	}
}

// A mock that is closed has nothing left, even while answers are due.
func TestCloseWithAnswersDue(t *testing.T) {
	m, err := New(Options{Journal: tape(t, legacyHello+asking3), Server: "srv"})
	require.NoError(t, err)
	c := m.dial(t, false, `{}`)
	c.request("tools/call", `"name":"work"`)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	assert.NoError(t, m.Close(ctx))
}
