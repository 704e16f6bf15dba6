package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// taskServer is a server with one tool that runs as a task.
type taskServer struct {
	modern  bool
	support string                                  // execution.taskSupport
	task    string                                  // further members of each task
	state   func(nth int, ran time.Duration) string // members of the task that the nth tasks/get is answered with
	result  func(p *sessiontest.Peer, env jsonrpc.Envelope)
	more    func(p *sessiontest.Peer, env jsonrpc.Envelope) bool

	mu    sync.Mutex
	began time.Time
	log   []string // methods about tasks, each with the time since the call
	sent  []jsonrpc.Envelope
}

func (f *taskServer) serve(_ int, p *sessiontest.Peer) {
	gets := 0
	p.Serve(func(env jsonrpc.Envelope) {
		if strings.HasPrefix(env.Method, "tasks/") {
			f.mu.Lock()
			f.log = append(f.log, strings.TrimPrefix(env.Method, "tasks/")+" "+time.Since(f.began).Round(time.Millisecond).String())
			f.sent = append(f.sent, env)
			f.mu.Unlock()
		}
		if f.more != nil && f.more(p, env) {
			return
		}
		switch env.Method {
		case "server/discover":
			if !f.modern {
				p.Refuse(env, -32601, "")
				return
			}
			p.Answer(env, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`)
		case "initialize":
			p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"t","version":"1"}}`)
		case "tools/list":
			p.Answer(env, `{"tools":[{"name":"work","inputSchema":{"type":"object"},"execution":{"taskSupport":"`+f.support+`"}}]}`)
		case "tools/call":
			f.mu.Lock()
			f.began, f.sent = time.Now(), append(f.sent, env)
			f.mu.Unlock()
			task := `"taskId":"t 1","status":"working","createdAt":"2026-11-22T10:00:00Z","lastUpdatedAt":"2026-11-22T10:00:00Z"` + f.task
			switch {
			case f.modern:
				p.Answer(env, `{"resultType":"task",`+task+`}`)
			case jsonrpc.Get(env.Params, "task") != nil:
				p.Answer(env, `{"task":{`+task+`}}`)
			default:
				p.Answer(env, `{"content":[{"type":"text","text":"at once"}]}`)
			}
		case "tasks/get":
			gets++
			p.Answer(env, `{"resultType":"complete","taskId":"t 1",`+f.state(gets, time.Since(f.began))+f.task+`}`)
		case "tasks/result":
			f.result(p, env)
		case "tasks/cancel", "tasks/update":
			p.Answer(env, `{"taskId":"t 1","status":"cancelled"}`)
		}
	})
}

func (f *taskServer) open(t *testing.T, o session.Options) *session.Session {
	t.Helper()
	o.HealthInterval, o.Retry = -1, session.Retry{Base: time.Second}
	o.Dial = sessiontest.Dial(f.serve)
	_, s := sessiontest.Open(t, o, config.Server{})
	if _, err := s.List(t.Context(), offer.Tools); err != nil {
		t.Fatal(err)
	}
	return s
}

// params are those of the nth request about a task, the call being the first.
func (f *taskServer) params(n int) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[n].Params
}

func (f *taskServer) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

func doneAfter(d time.Duration, done string) func(int, time.Duration) string {
	return func(_ int, ran time.Duration) string {
		if ran < d {
			return `"status":"working","statusMessage":"busy"`
		}
		return done
	}
}

// TestRequiredTask: a tool of 2025-11-25 that must run as a task does so by itself, is asked about at the server's interval, and
// its call is answered like any other.
func TestRequiredTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{
			support: "required", task: `,"ttl":60000,"pollInterval":2000`, state: doneAfter(5*time.Second, `"status":"completed"`),
			result: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
				p.Answer(env, `{"content":[{"type":"text","text":"done"}],"n":9007199254740993}`)
			},
		}
		s := f.open(t, session.Options{})
		var heard []string
		r, err := s.CallTool(t.Context(), "work", json.RawMessage(`{}`), session.CallOptions{OnProgress: func(p rpc.Progress) { heard = append(heard, p.Message) }})
		if err != nil || string(r.Result) != `{"content":[{"type":"text","text":"done"}],"n":9007199254740993}` || r.Task != "t 1" || r.Took < 5*time.Second {
			t.Fatalf("%s, %q after %v, %v", r.Result, r.Task, r.Took, err)
		}
		if got, want := string(jsonrpc.Get(f.params(0), "task")), `{}`; got != want {
			t.Errorf("params.task is %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(f.asked()), "[get 2s get 4s get 6s result 6s]"; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(heard), "[task: working task: working: busy]"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
		is, _ := s.Task("t 1")
		if is.Status != tasks.Completed || is.Tool != "work" || is.TTL != time.Minute || !is.HasTTL || is.Request == 0 {
			t.Errorf("%+v", is)
		}
	})
}

// TestOrdinaryCallStaysOne: a tool that may run as a task is not one unless that is asked for.
func TestOrdinaryCallStaysOne(t *testing.T) {
	f := &taskServer{
		support: "optional", state: doneAfter(0, `"status":"completed"`), task: `,"pollInterval":100`,
		result: func(p *sessiontest.Peer, env jsonrpc.Envelope) { p.Answer(env, `{"content":[]}`) },
	}
	s := f.open(t, session.Options{})
	r, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{})
	if err != nil || r.Task != "" || jsonrpc.Get(f.params(0), "task") != nil || len(s.Tasks()) != 0 {
		t.Errorf("%+v, %v; sent %s", r, err, f.params(0))
	}
	if r, err = s.CallTool(t.Context(), "work", nil, session.CallOptions{Task: true}); err != nil || r.Task != "t 1" || string(r.Result) != `{"content":[]}` {
		t.Errorf("%+v, %v", r, err)
	}
	f.support = "forbidden"
	s.Invalidate()
	if _, err := s.List(t.Context(), offer.Tools); err != nil {
		t.Fatal(err)
	}
	if _, err = s.CallTool(t.Context(), "work", nil, session.CallOptions{Task: true}); failure.KindOf(err) != failure.Usage {
		t.Errorf("%v", err)
	}
}

// TestUnaskedTask: what a modern server makes a task is waited for, and ends as the call would have.
func TestUnaskedTask(t *testing.T) {
	for name, c := range map[string]struct {
		end, result string
		kind        failure.Kind
		code        int64
	}{
		"completed":      {`"status":"completed","result":{"content":[],"big":9007199254740993}`, `{"content":[],"big":9007199254740993}`, "", 0},
		"tool failed":    {`"status":"completed","result":{"content":[],"isError":true}`, `{"content":[],"isError":true}`, "", 0},
		"error":          {`"status":"failed","error":{"code":-32603,"message":"broke"}`, "", failure.RpcError, -32603},
		"cancelled":      {`"status":"cancelled"`, "", failure.Interrupted, 0},
		"no result":      {`"status":"completed"`, "", failure.Protocol, 0},
		"no error":       {`"status":"failed"`, "", failure.Protocol, 0},
		"unknown status": {`"status":"resting"`, "", failure.Protocol, 0},
		"another task":   {`"status":"working","taskId":"t 2"`, "", failure.Protocol, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &taskServer{modern: true, task: `,"ttlMs":null,"pollIntervalMs":1000`, state: doneAfter(90*time.Minute, c.end)}
				s := f.open(t, session.Options{})
				r, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{MaxTimeout: 2 * time.Hour})
				if c.kind == "" && (err != nil || string(r.Result) != c.result) {
					t.Errorf("%s, %v", r.Result, err)
				}
				if failure.KindOf(err) != c.kind {
					t.Errorf("%v, want %s", err, c.kind)
				}
				if e, ok := err.(*failure.Error); ok && c.code != 0 && (e.Code == nil || *e.Code != c.code) {
					t.Errorf("%v, want code %d", err, c.code)
				}
				if s.Use().Calls != 2 { // with the list of tools
					t.Errorf("%d calls were counted", s.Use().Calls)
				}
			})
		})
	}
}

// TestTaskWithoutInterval: a server that does not say how often it wants to be asked is asked less and less often.
func TestTaskWithoutInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{modern: true, state: doneAfter(time.Minute, `"status":"completed","result":{}`)}
		s := f.open(t, session.Options{})
		if _, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := f.asked(); len(got) > 14 || got[0] != "get 500ms" {
			t.Errorf("asked %d times: %v", len(got), got)
		}
	})
}

// TestTaskNeverEnds: the time that a call may take bounds the waiting, and its time to live the following.
func TestTaskNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{modern: true, task: `,"ttlMs":600000,"pollIntervalMs":1`, state: doneAfter(1000*time.Hour, "")}
		s := f.open(t, session.Options{})
		_, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{MaxTimeout: time.Minute})
		e, ok := err.(*failure.Error)
		if !ok || e.Kind != failure.Timeout || e.Remedy != failure.SeeTask || e.Object != "t 1" {
			t.Fatalf("%v", err)
		}
		if got := f.asked(); len(got) > 601 || slices.Contains(got, "cancel 1m0s") {
			t.Errorf("asked %d times in a minute", len(got))
		}
		_, err = s.TaskResult(t.Context(), "t 1", session.CallOptions{MaxTimeout: time.Hour})
		if failure.KindOf(err) != failure.Timeout || !strings.Contains(err.Error(), "time to live") || time.Since(f.began) > 11*time.Minute {
			t.Errorf("after %v: %v", time.Since(f.began), err)
		}
		if is, _ := s.Task("t 1"); is.Problem == nil {
			t.Error("it does not say that it is over time")
		}
	})
}

// TestCancelledCallCancelsItsTask: who gives up a call that became a task gives up the task.
func TestCancelledCallCancelsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{modern: true, task: `,"pollIntervalMs":60000`, state: doneAfter(time.Hour, "")}
		s := f.open(t, session.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := s.CallTool(ctx, "work", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.Timeout || fmt.Sprint(f.asked()) != "[cancel 5s]" && f.asked()[0] != "cancel 5s" {
			t.Errorf("%v; asked %v", err, f.asked())
		}
		if got := jsonrpc.GetString(f.params(1), "taskId"); got != "t 1" {
			t.Errorf("cancelled %q", got)
		}
	})
}

// TestLeaveATask: a call that became a task can be left, and its result fetched later, also over another connection.
func TestLeaveATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{modern: true, task: `,"pollIntervalMs":1000`, state: doneAfter(time.Hour, `"status":"completed","result":{"content":[]}`)}
		s := f.open(t, session.Options{})
		leave := make(chan struct{})
		time.AfterFunc(3*time.Second, func() { close(leave) })
		r, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{Leave: leave})
		if err != nil || r.Task != "t 1" || jsonrpc.GetString(r.Result, "resultType") != "task" || time.Since(f.began) > 3500*time.Millisecond {
			t.Fatalf("%s, %v", r.Result, err)
		}
		require.NoError(t, s.Reconnect(t.Context()))
		time.Sleep(10 * time.Second)
		if is, _ := s.Task("t 1"); is.Status != tasks.Working || is.Problem != nil || time.Since(is.Seen) > 2*time.Second {
			t.Errorf("%+v", is)
		}
		if r, err = s.TaskResult(t.Context(), "t 1", session.CallOptions{MaxTimeout: 2 * time.Hour}); err != nil || string(r.Result) != `{"content":[]}` {
			t.Errorf("%s, %v", r.Result, err)
		}
	})
}

// TestTaskOfAnotherSession: an id that the server does not know is a clear error, and ends the following.
func TestTaskOfAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{modern: true, more: func(p *sessiontest.Peer, env jsonrpc.Envelope) bool {
			if env.Method != "tasks/get" {
				return false
			}
			p.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Failed to retrieve task: Task not found"}}`, env.ID)
			return true
		}}
		s := f.open(t, session.Options{})
		_, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.NotFound || !strings.Contains(err.Error(), "knows no such task") || !strings.Contains(err.Error(), "Task not found") {
			t.Errorf("%v", err)
		}
		if is, _ := s.Task("t 1"); is.Status != tasks.Unknown || len(f.asked()) != 1 {
			t.Errorf("%+v, asked %v", is, f.asked())
		}
		if _, err := s.GetTask(t.Context(), "never heard of"); failure.KindOf(err) != failure.NotFound {
			t.Errorf("%v", err)
		}
	})
}

// TestTaskAsks: what a modern task asks is answered once, by whoever answers requests.
func TestTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		f := &taskServer{modern: true, task: `,"pollIntervalMs":1000`}
		f.state = func(int, time.Duration) string {
			f.mu.Lock()
			defer f.mu.Unlock()
			n := 0
			for _, line := range f.log {
				if strings.HasPrefix(line, "update") {
					n++
				}
			}
			if n < 2 {
				return `"status":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"A?"}},"b":{"method":"elicitation/create","params":{"message":"B?"}}}`
			}
			return `"status":"completed","result":{"content":[]}`
		}
		s := f.open(t, session.Options{Serve: func(_ context.Context, _ *session.Session, method string, params json.RawMessage) (json.RawMessage, *session.Fault, bool) {
			f.mu.Lock()
			asked = append(asked, method+" "+jsonrpc.GetString(params, "message"))
			f.mu.Unlock()
			time.Sleep(time.Hour) // longer than the call may take: the time of a person does not count
			return json.RawMessage(`{"action":"accept","content":{"x":"` + jsonrpc.GetString(params, "message") + `"}}`), nil, true
		}})
		if _, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(asked)
		if got, want := fmt.Sprint(asked), "[elicitation/create A? elicitation/create B?]"; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
		answers := map[string]string{}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, env := range f.sent {
			if env.Method == "tasks/update" {
				_ = jsonrpc.Members(jsonrpc.Get(env.Params, "inputResponses"), func(key string, v []byte) bool {
					answers[key] = jsonrpc.GetString(v, "content", "x")
					return true
				})
			}
		}
		if answers["a"] != "A?" || answers["b"] != "B?" || len(answers) != 2 {
			t.Errorf("%v", answers)
		}
	})
}

// TestTaskAsksInVain: a question that nobody can answer ends the waiting with what was asked.
func TestTaskAsksInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{modern: true, state: func(int, time.Duration) string {
			return `"status":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"A?"}}}`
		}}
		s := f.open(t, session.Options{})
		_, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{})
		if e, ok := err.(*failure.Error); !ok || e.Kind != failure.NeedsInput || !strings.Contains(string(e.Data), "A?") {
			t.Errorf("%v", err)
		}
	})
}

// TestTaskThatAsksNothing: a task that says that it waits for input, and asks for none, does not hold its caller for ever.
func TestTaskThatAsksNothing(t *testing.T) {
	for name, f := range map[string]*taskServer{
		"modern": {modern: true, state: func(int, time.Duration) string { return `"status":"input_required","inputRequests":{}` }},
		"legacy": {
			support: "required", state: func(int, time.Duration) string { return `"status":"input_required"` },
			result: func(*sessiontest.Peer, jsonrpc.Envelope) {},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := f.open(t, session.Options{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := s.CallTool(ctx, "work", nil, session.CallOptions{MaxTimeout: time.Minute})
			if e, ok := err.(*failure.Error); !ok || e.Kind != failure.Timeout || e.Remedy != failure.SeeTask || time.Since(f.began) > 2*time.Minute {
				t.Errorf("%s: %v after %v", name, err, time.Since(f.began))
			}
		})
	}
}

// TestLegacyTaskAsks: a task of 2025-11-25 asks on the stream of tasks/result, which is opened for that.
func TestLegacyTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := make(chan string, 1)
		f := &taskServer{support: "required", task: `,"pollInterval":1000`}
		held := jsonrpc.Envelope{}
		f.state = func(int, time.Duration) string { return `"status":"input_required"` }
		f.result = func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			held = env
			p.Send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"A?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t 1"}}}}`)
		}
		f.more = func(p *sessiontest.Peer, env jsonrpc.Envelope) bool {
			if string(env.ID) != `"q"` {
				return false
			}
			answered <- string(env.Result)
			p.Answer(held, `{"content":[]}`)
			f.mu.Lock()
			f.state = func(int, time.Duration) string { return `"status":"completed"` }
			f.mu.Unlock()
			return true
		}
		s := f.open(t, session.Options{Serve: func(context.Context, *session.Session, string, json.RawMessage) (json.RawMessage, *session.Fault, bool) {
			time.Sleep(time.Hour)
			return json.RawMessage(`{"action":"decline"}`), nil, true
		}})
		r, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{})
		if err != nil || string(r.Result) != `{"content":[]}` || <-answered != `{"action":"decline"}` {
			t.Errorf("%s, %v", r.Result, err)
		}
		if is, _ := s.Task("t 1"); is.Status != tasks.Completed {
			t.Errorf("%+v", is)
		}
	})
}

// TestTaskNotifications: status and progress arrive without being asked for.
func TestTaskNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{support: "required", task: `,"pollInterval":600000`, state: doneAfter(0, `"status":"completed"`)}
		f.result = func(p *sessiontest.Peer, env jsonrpc.Envelope) { p.Answer(env, `{"content":[]}`) }
		f.more = func(p *sessiontest.Peer, env jsonrpc.Envelope) bool {
			if env.Method == "tools/call" {
				time.AfterFunc(time.Second, func() {
					p.Send(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t 1","status":"working","statusMessage":"first half"}}`)
				})
				time.AfterFunc(2*time.Second, func() {
					p.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":3,"total":4,"message":"three of four"}}`, jsonrpc.Get(env.Params, "_meta", "progressToken"))
				})
				time.AfterFunc(3*time.Second, func() {
					p.Send(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t 1","status":"completed"}}`)
				})
			}
			return false
		}
		s := f.open(t, session.Options{})
		var heard []string
		if _, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{OnProgress: func(p rpc.Progress) { heard = append(heard, fmt.Sprint(p.Message, p.Progress, p.Total)) }}); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(heard, "; "), "task: working0 0; task: working: first half0 0; task: working: three of four3 4"; !strings.HasPrefix(got, want) {
			t.Errorf("heard %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(f.asked()), "[get 3s result 3s]"; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	})
}

// TestListTasks: all pages are one list, and those that run are followed.
func TestListTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &taskServer{support: "optional", state: doneAfter(0, `"status":"completed"`)}
		f.more = func(p *sessiontest.Peer, env jsonrpc.Envelope) bool {
			if env.Method != "tasks/list" {
				return false
			}
			if jsonrpc.GetString(env.Params, "cursor") == "" {
				p.Answer(env, `{"tasks":[{"taskId":"old","status":"failed","statusMessage":"no","extra":1}],"nextCursor":"2","kept":true}`)
			} else {
				p.Answer(env, `{"tasks":[{"taskId":"t 1","status":"working","pollInterval":1000},{"broken":true}]}`)
			}
			return true
		}
		s := f.open(t, session.Options{})
		raw, all, err := s.ListTasks(t.Context())
		want := `{"tasks":[{"taskId":"old","status":"failed","statusMessage":"no","extra":1},{"taskId":"t 1","status":"working","pollInterval":1000},{"broken":true}],"kept":true}`
		if err != nil || string(raw) != want || len(all) != 2 || len(s.Tasks()) != 2 {
			t.Errorf("%s, %v, %v", raw, all, err)
		}
		time.Sleep(2 * time.Second)
		if is, _ := s.Task("t 1"); is.Status != tasks.Completed {
			t.Errorf("%+v", is)
		}
		s.ForgetTask("t 1")
		assert.Equalf(t, len(s.Tasks()), 1, "it is not forgotten")
	})
}

// TestTaskAsksInOrder: answers that were prepared are for a task's questions in the order in which it lists them.
func TestTaskAsksInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := &pending.Script{}
		for i := range 30 {
			require.NoError(t, script.Add(fmt.Appendf(nil, `{"n":%d}`, i)))
		}
		var questions []string
		for i := range 30 {
			questions = append(questions, fmt.Sprintf(`"q%d":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}}`, i))
		}
		f := &taskServer{modern: true, task: `,"pollIntervalMs":1000`}
		f.state = func(int, time.Duration) string {
			if strings.Count(strings.Join(f.asked(), " "), "update") < len(questions) {
				return `"status":"input_required","inputRequests":{` + strings.Join(questions, ",") + `}`
			}
			return `"status":"completed","result":{"content":[]}`
		}
		s := f.open(t, session.Options{Pending: pending.New(pending.Options{Rules: []pending.Rule{script}})})
		if _, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, env := range f.sent {
			_ = jsonrpc.Members(jsonrpc.Get(env.Params, "inputResponses"), func(key string, v []byte) bool {
				if n := jsonrpc.Get(v, "content", "n"); key != "q"+string(n) {
					t.Errorf("%s was answered with %s", key, v)
				}
				return true
			})
		}
	})
}
