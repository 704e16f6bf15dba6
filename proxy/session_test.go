package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// who lets each caller be whom the header X-Who names.
func who(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		c.Principal = c.R.Header.Get("X-Who")
		next(c)
	}
}

const noSession = "Missing or invalid MCP session"

func TestE9_R10_SessionsBelongToAgentAndCaller(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Outer: []flow.Middleware{who}}, route("a", a.at(), ""), route("b", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp", "X-Who", "ann")
	if got := f.post(t, "/agent/a/mcp", callEcho, "Mcp-Session-Id", id, "X-Who", "ann"); got.status != 200 || !strings.Contains(got.body, "up-1") {
		t.Errorf("%+v", got)
	}
	for _, c := range [][3]string{
		{"a", id, "bob"},
		{"a", id, ""},
		{"b", id, "ann"},
		{"a", "up-1", "ann"},
		{"a", "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "ann"},
		{"a", "mcphud1.AAAA", "ann"},
	} {
		got := f.post(t, "/mcps/"+c[0]+"/mcp", callEcho, "Mcp-Session-Id", c[1], "X-Who", c[2])
		got.check(t, 404, -32000, noSession)
		if e := got.rpcError(t); string(e.ID) != "2" || e.Error.Data["kind"] != "session_invalid" {
			t.Errorf("%s", got.body)
		}
	}
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", "").check(t, 400, -32000, noSession)
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id, "Mcp-Session-Id", id).check(t, 400, -32000, noSession)
	f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"result":{}}`).check(t, 400, -32000, noSession)
	// An id of the client's choice is not adopted.
	got := f.post(t, "/mcps/a/mcp", initialize, "Mcp-Session-Id", "6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	if got.status != 200 || got.header.Get("Mcp-Session-Id") == "6ba7b810-9dad-41d1-80b4-00c04fd430c8" {
		t.Errorf("%+v", got)
	}
	assert.Equalf(t, f.Sessions(), 2, "sessions")
}

func TestR13_Delete(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Outer: []flow.Middleware{who}}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp", "X-Who", "ann")
	f.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "X-Who", "bob").check(t, 404, -32000, noSession)
	for range 2 {
		if got := f.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "X-Who", "ann"); got.status != 204 || got.body != "" {
			t.Errorf("%+v", got)
		}
	}
	if !slices.Equal(a.ended(), []string{"up-1"}) {
		t.Errorf("ended at the agent: %q", a.ended())
	}
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id, "X-Who", "ann").check(t, 404, -32000, noSession)
}

func TestR10_SessionsEndWithDisuseAndHaveALimit(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Sessions: sessions.Limits{TTL: 50 * time.Millisecond, Max: 2}}, route("a", a.at(), ""))
	var ids []string
	for range 3 {
		ids = append(ids, f.open(t, "/mcps/a/mcp"))
	}
	if f.Sessions() > 2 {
		t.Errorf("%d sessions", f.Sessions())
	}
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", ids[0]).check(t, 404, -32000, noSession)
	require.Eventually(t, "the sessions to expire", func() bool { return f.Sessions() == 0 })
	require.Eventually(t, "the agent to hear of it", func() bool { return len(a.ended()) == 3 })
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", ids[2]).check(t, 404, -32000, noSession)
}

// A session that the agent opened, and for which the caller gets no id, is ended again.
func TestR10_NoSessionIsLeftAtTheAgentThatNobodyCanUse(t *testing.T) {
	ended := func(t *testing.T, a *agent, id string) {
		t.Helper()
		require.Eventually(t, fmt.Sprintf("the agent to hear that %.20s is over", id), func() bool { return slices.Contains(a.ended(), id) })
	}
	t.Run("no room", func(t *testing.T) {
		a := newAgent(t)
		f := start(t, Options{Sessions: sessions.Limits{Max: 1}}, route("a", a.at(), ""))
		id := f.open(t, "/mcps/a/mcp")
		called, proceed := make(chan struct{}), make(chan struct{})
		a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
			close(called)
			<-proceed
			reply(w, e.ID, "{}")
		}
		var call sync.WaitGroup
		defer call.Wait()
		defer close(proceed)
		call.Go(func() { f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id) })
		<-called
		if got := f.post(t, "/mcps/a/mcp", initialize); got.status != 503 || got.rpcError(t).Error.Data["kind"] != "queue_full" {
			t.Errorf("%+v", got)
		}
		ended(t, a, "up-2")
		if slices.Contains(a.ended(), "up-1") {
			t.Error("the session in use was ended")
		}
	})
	for name, opens := range map[string]func(w http.ResponseWriter, id []byte){
		"its id cannot be kept": func(w http.ResponseWriter, id []byte) {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("x", 1025))
			reply(w, id, initResult)
		},
		"its id cannot be kept, in an event stream": func(w http.ResponseWriter, id []byte) {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("x", 1025))
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: %s\n\n", jsonrpc.NewResult(id, []byte(initResult)))
		},
		"the answer breaks off": func(w http.ResponseWriter, id []byte) {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("x", 1025))
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0",`))
		},
		"an error": func(w http.ResponseWriter, id []byte) {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("x", 1025))
			_, _ = w.Write(jsonrpc.NewError(id, -32603, "no", nil))
		},
	} {
		for _, sessionless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sessionless %v", name, sessionless), func(t *testing.T) {
				a := newAgent(t)
				a.opens = opens
				f := start(t, Options{}, route("a", a.at(), ""))
				frame := initialize
				if sessionless {
					frame = callEcho
				}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.Router.URL()+"/mcps/a/mcp", strings.NewReader(frame))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", accept)
				if res, err := http.DefaultClient.Do(req); err == nil { // the connection may be cut
					if res.Header.Get("Mcp-Session-Id") != "" {
						t.Errorf("%+v", res.Header)
					}
					_ = res.Body.Close()
				}
				ended(t, a, strings.Repeat("x", 1025))
				assert.Equalf(t, f.Sessions(), 0, "sessions")
			})
		}
	}
}

func TestR10_AgentsHearOfTheirSessionsWhenTheRouterEnds(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for range 40 {
		f.open(t, "/mcps/a/mcp")
	}
	f.post(t, "/mcps/a/mcp", callEcho) // opens one more
	assert.NoError(t, f.Close(t.Context()))
	assert.Equalf(t, len(a.ended()), 41, "sessions were ended at the agent")
}

func TestE9_ARestartedAgentKnowsNoSessions(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	a.restart()
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
	assert.Equalf(t, f.Sessions(), 0, "the session is still kept")
	// Other servers say it otherwise.
	id = f.open(t, "/mcps/a/mcp")
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		w.WriteHeader(400)
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`))
	}
	f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
	id = f.open(t, "/mcps/a/mcp")
	const other = `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: session"}}`
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		w.WriteHeader(400)
		_, _ = w.Write([]byte(other))
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 400 || got.body != other {
		t.Errorf("%+v", got)
	}
}

func TestF4_R15_OneInitializeForManyCalls(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	var all sync.WaitGroup
	for w := range 10 {
		all.Go(func() {
			for i := range 100 {
				id := fmt.Sprintf(`"%d-%d"`, w, i)
				got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list"}`)
				if got.status != 200 || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":`+id+`,"result"`) || got.header.Get("Mcp-Session-Id") != "" {
					t.Errorf("%+v", got)
				}
			}
		})
	}
	all.Wait()
	assert.Equalf(t, a.opened.Load(), 1, "upstream sessions")
	h, _ := a.seen()
	if h.Get("Mcp-Protocol-Version") != "2025-06-18" {
		t.Errorf("%v", h)
	}
}

func TestR15_ReinitializesOnceWhenTheAgentWasRestarted(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	f.post(t, "/mcps/a/mcp", callEcho)
	a.restart()
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 || !strings.Contains(got.body, "up-2") {
		t.Errorf("%+v", got)
	}
	// An agent that knows no session at all: its own answer, after one more attempt.
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		http.Error(w, "no", http.StatusNotFound)
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 404 || got.body != "no\n" {
		t.Errorf("%+v", got)
	}
	assert.Equalf(t, a.opened.Load(), 3, "upstream sessions")
}

// What an agent did it must not do again because of how it says that it failed.
func TestR15_AToolIsNotCalledAgainForItsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"error as 404": {404, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`},
		"plain 404":    {404, "no"},
		"of a session": {400, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"charged the card, but your shopping session is old"}}`},
	} {
		a := newAgent(t)
		var calls atomic.Int64
		a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
			calls.Add(1)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}
		f := start(t, Options{}, route("a", a.at(), ""))
		if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != c.status || got.body != c.body || calls.Load() != 1 {
			t.Errorf("%s: %d calls, %+v", name, calls.Load(), got)
		}
	}
}

// Callers without a session share one at the agent, where nothing tells their requests apart but ids.
// A caller without a session has no other way to say that it waits no more than to leave, or is told so by the router.
func TestR15_Q7_WhoLeavesCancels(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	arrived, stop := make(chan struct{}, 9), make(chan struct{})
	a.answer = func(http.ResponseWriter, *http.Request, jsonrpc.Envelope) {
		arrived <- struct{}{}
		<-stop
	}
	t.Cleanup(func() { close(stop) })
	cancelled := func(id string) {
		t.Helper()
		require.Eventually(t, "the agent to hear that "+id+" is cancelled", func() bool {
			h, body := a.seen()
			e, err := jsonrpc.Scan([]byte(body))
			return err == nil && e.Method == "notifications/cancelled" && string(jsonrpc.Get(e.Params, "requestId")) == id && h.Get("Mcp-Session-Id") == "up-1"
		})
	}
	f := start(t, Options{}, route("a", a.at(), ""), route("quick", a.at(), `"timeout":"2s"`))
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Router.URL()+"/mcps/a/mcp", strings.NewReader(callEcho))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	done := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		done <- err
	}()
	<-arrived
	leave()
	assert.ErrorIs(t, <-done, context.Canceled)
	cancelled("2")
	if got := f.post(t, "/mcps/quick/mcp", strings.Replace(callEcho, `"id":2`, `"id":"late"`, 1)); got.status != 504 {
		t.Errorf("%+v", got)
	}
	require.Eventually(t, "the agent to hear that a call was cancelled that took too long", func() bool {
		_, body := a.seen()
		return strings.Contains(body, `notifications/cancelled","params":{"requestId":"late"}`)
	})
}

// Callers without a session share one at the agent, where a request's id is not theirs alone.
func TestR15_Q7_NobodyCancelsWhatOthersAskedFor(t *testing.T) {
	a := newAgent(t)
	arrived, goOn := make(chan struct{}), make(chan struct{})
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		arrived <- struct{}{}
		<-goOn
		reply(w, e.ID, `{}`)
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	done := make(chan response, 1)
	go func() { done <- f.post(t, "/mcps/a/mcp", callEcho) }()
	<-arrived
	if got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`); got.status != 202 || got.body != "" {
		t.Errorf("%+v", got)
	}
	if _, body := a.seen(); body != callEcho {
		t.Errorf("the agent was told %s", body)
	}
	close(goOn)
	if got := <-done; got.status != 200 {
		t.Errorf("%+v", got)
	}
}

func TestSameIDsOfManyCallersAreToldApart(t *testing.T) {
	a := newAgent(t)
	var mu sync.Mutex
	ids := map[string]int{}
	var together sync.WaitGroup
	const callers = 64
	together.Add(callers)
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		mu.Lock()
		ids[string(e.ID)]++
		mu.Unlock()
		together.Done()
		together.Wait()
		result := append([]byte(`{"got":`), e.Params...)
		if r.Header.Get("Traceparent") != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: %s\n\n", jsonrpc.NewResult(e.ID, append(result, '}')))
			return
		}
		reply(w, e.ID, string(result)+"}")
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			params := fmt.Sprintf(`{"n":%d}`, i)
			headers := []string{"Accept", accept}
			want := `{"jsonrpc":"2.0","id":7,"result":{"got":` + params + `}}`
			if i%2 == 0 {
				headers = append(headers, "Traceparent", "x")
				want = "data: " + want + "\n\n"
			}
			got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":7,"method":"x/y","params":`+params+`}`, headers...)
			if got.status != 200 || got.body != want {
				t.Errorf("caller %d: %+v", i, got)
			}
		})
	}
	all.Wait()
	if len(ids) != callers || ids["7"] != 1 || a.opened.Load() != 1 {
		t.Errorf("%d ids, %d of them as sent, %d sessions", len(ids), ids["7"], a.opened.Load())
	}
}

func TestSessionlessCallersOfAnAgentWithoutSessions(t *testing.T) {
	a := newAgent(t)
	a.opens = func(w http.ResponseWriter, id []byte) {
		w.Header().Del("Mcp-Session-Id")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(jsonrpc.NewError(id, -32601, "no such method", nil))
	}
	a.sessions[""] = true // calls without a session are served
	f := start(t, Options{}, route("a", a.at(), ""))
	for range 3 {
		if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 || !strings.Contains(got.body, `"text":""`) {
			t.Errorf("%+v", got)
		}
	}
	if a.opened.Load() != 1 {
		t.Errorf("asked %d times", a.opened.Load())
	}
}

func TestP2_NotificationsHaveNoAnswer(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	for _, headers := range [][]string{{}, {"Mcp-Session-Id", id}, {"Mcp-Protocol-Version", "2026-07-28"}} {
		got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...)
		if got.status != 202 || got.body != "" {
			t.Errorf("%v: %+v", headers, got)
		}
	}
}

// A notification has no answer, so that only the status can say that it was not taken.
func TestP2_ARefusedNotificationIsNotOK(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("none", a.at(), `"methods":[]`), route("a", a.at(), ""))
	for agent, frame := range map[string]string{
		"none": `{"jsonrpc":"2.0","method":"notifications/whatever"}`,
		"a":    `{"jsonrpc":"2.0","method":"notifications/whatever","params":[]}`,
	} {
		if got := f.post(t, "/mcps/"+agent+"/mcp", frame); got.status != 400 || string(got.rpcError(t).ID) != "null" {
			t.Errorf("%s: %+v", frame, got)
		}
	}
}

// Why an agent opens no session now is passed on to those who wait for it.
func TestR15_AnAgentThatIsFullSaysSoItself(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for status, c := range map[int]struct {
		code int
		kind string
	}{503: {-32002, "queue_full"}, 429: {-32002, "rate_limited"}, 504: {-32003, "timeout"}} {
		a.opens = func(w http.ResponseWriter, id []byte) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = w.Write(jsonrpc.NewError(id, -32002, "all seats are taken", nil))
		}
		got := f.post(t, "/mcps/a/mcp", callEcho)
		e := got.rpcError(t)
		if got.status != status || e.Error.Code != c.code || e.Error.Message != "all seats are taken" || e.Error.Data["kind"] != c.kind || got.header.Get("Retry-After") != "7" {
			t.Errorf("%d: %+v", status, got)
		}
	}
	// A route that leads to the router itself.
	f.write(t, table(route("self", f.URL()+"/mcps/self/mcp", "")))
	require.NoError(t, f.Reload())
	if got := f.post(t, "/mcps/self/mcp", callEcho); got.status != 508 || !strings.Contains(got.body, "too many proxy hops") {
		t.Errorf("%+v", got)
	}
}

// Two routers with one key, none of which keeps anything.
func TestSealedSessionsAreUnderstoodByEveryReplica(t *testing.T) {
	a := newAgent(t)
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600))
	replica := func() *fixture {
		f := start(t, Options{Outer: []flow.Middleware{who}})
		f.write(t, `{"sessionKey":`+string(jsonrpc.Quote(key))+`,"routes":{`+route("a", a.at(), "")+","+route("b", a.at(), "")+`}}`)
		require.NoError(t, f.Reload())
		return f
	}
	one, two := replica(), replica()
	id := one.open(t, "/mcps/a/mcp", "X-Who", "ann")
	if !strings.HasPrefix(id, "mcphud1.") || strings.ContainsAny(id, "\r\n ") {
		t.Errorf("%q", id)
	}
	for i := range 10 {
		f := []*fixture{one, two}[i%2]
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id, "X-Who", "ann"); got.status != 200 || !strings.Contains(got.body, "up-1") {
			t.Errorf("%+v", got)
		}
		f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id, "X-Who", "bob").check(t, 404, -32000, noSession)
		f.post(t, "/mcps/b/mcp", callEcho, "Mcp-Session-Id", id, "X-Who", "ann").check(t, 404, -32000, noSession)
		f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id[:len(id)-1], "X-Who", "ann").check(t, 404, -32000, noSession)
	}
	assert.Equalf(t, one.Sessions()+two.Sessions(), 0, "something is kept")
	two.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "X-Who", "bob").check(t, 404, -32000, noSession)
	for _, f := range []*fixture{two, one, two} {
		if got := f.send(t, "DELETE", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "X-Who", "ann"); got.status != 204 {
			t.Errorf("%+v", got)
		}
	}
	for _, f := range []*fixture{one, two} {
		f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id, "X-Who", "ann").check(t, 404, -32000, noSession)
	}
}
