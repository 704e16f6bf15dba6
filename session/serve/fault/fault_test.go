package fault

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const question = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`

// answers is a server that answers with the request's own id: JSON, or an event stream with a notification if the client
// asks for one.
func answers(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	env, _ := jsonrpc.Scan(raw)
	frame := jsonrpc.NewResult(env.ID, []byte(`{"content":[{"type":"text","text":"`+strings.Repeat("x", 500)+`"}]}`))
	if r.Header.Get("Stream") == "" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(frame)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, f := range [][]byte{jsonrpc.NewNotification("notifications/x", nil), frame} {
		_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", f)
		_ = http.NewResponseController(w).Flush()
	}
}

// reply is what a client got.
type reply struct {
	status int
	body   string
	err    error // of the request, or of reading the body
	kind   string
}

func listen(t *testing.T, i *Injector, spared ...string) func(body string, header ...string) reply {
	t.Helper()
	srv := httptest.NewUnstartedServer(i.Wrap(http.HandlerFunc(answers), spared...))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	hc := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	t.Cleanup(func() { hc.CloseIdleConnections(); srv.Close() })
	return func(body string, header ...string) reply {
		req, err := http.NewRequest(http.MethodPost, srv.URL+"/mcp", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Accept", "application/json, text/event-stream")
		for n := 0; n < len(header); n += 2 {
			req.Header.Set(header[n], header[n+1])
		}
		res, err := hc.Do(req)
		if err != nil {
			return reply{err: err}
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		return reply{res.StatusCode, string(raw), err, res.Header.Get("Content-Type")}
	}
}

func TestEachKind(t *testing.T) {
	i := &Injector{}
	require.NoError(t, i.Set(Plan{Delay: 60 * time.Millisecond}))
	ask := listen(t, i)
	whole := ask(question)
	if whole.err != nil || !strings.Contains(whole.body, `"id":7`) {
		t.Fatalf("%+v", whole)
	}
	streamed := ask(question, "Stream", "1")
	for _, c := range []struct {
		kind   Kind
		header []string
		ok     func(r reply, took time.Duration) bool
	}{
		{Delay, nil, func(r reply, took time.Duration) bool { return r == whole && took >= 60*time.Millisecond }},
		{Drop, nil, func(r reply, _ time.Duration) bool { return r.err != nil && r.status == 0 }},
		{HTTP500, nil, func(r reply, _ time.Duration) bool { return r.status == 500 }},
		{JSONRPCError, nil, func(r reply, _ time.Duration) bool {
			return r.status == 200 && strings.Contains(r.body, `"id":7`) && strings.Contains(r.body, `"fault_injected"`)
		}},
		{PartialJSON, nil, func(r reply, _ time.Duration) bool {
			return r.err != nil && r.status == 200 && r.body == whole.body[:len(whole.body)/2]
		}},
		{PartialJSON, []string{"Stream", "1"}, func(r reply, _ time.Duration) bool {
			return r.err != nil && r.status == 200 && r.body != "" && strings.HasPrefix(streamed.body, r.body)
		}},
		{TruncatedSSE, nil, func(r reply, _ time.Duration) bool {
			return r.err == nil && r.kind == "text/event-stream" && strings.HasPrefix(r.body, "event: message\ndata: {") && !strings.Contains(r.body, "\n\n")
		}},
		{TruncatedSSE, []string{"Stream", "1"}, func(r reply, _ time.Duration) bool {
			return r.err == nil && r.body != "" && len(r.body) < 60 && strings.HasPrefix(streamed.body, r.body)
		}},
		{TruncatedSSE, []string{"Accept", "application/json"}, func(r reply, _ time.Duration) bool {
			return r.err != nil && r.kind == "application/json"
		}},
		{SlowBody, nil, func(r reply, took time.Duration) bool { return r == whole && took >= 50*time.Millisecond }},
		{WrongID, nil, func(r reply, _ time.Duration) bool {
			return r.err == nil && r.body == strings.Replace(whole.body, `"id":7`, `"id":"fault-of-somebody-else"`, 1)
		}},
		{WrongID, []string{"Stream", "1"}, func(r reply, _ time.Duration) bool {
			return r.err == nil && strings.Contains(r.body, `"id":"fault-of-somebody-else"`) && !strings.Contains(r.body, `"id":7`)
		}},
	} {
		require.NoError(t, i.Next(Pick{Kind: c.kind}))
		start := time.Now()
		r := ask(question, c.header...)
		if took := time.Since(start); !c.ok(r, took) {
			t.Errorf("%s %v: %+v after %v", c.kind, c.header, r, took)
		}
		// Exactly one request suffered.
		if r := ask(question); r != whole {
			t.Errorf("after %s: %+v", c.kind, r)
		}
	}
	if s := i.Status(); s.Injected[TruncatedSSE] != 3 || len(s.Pending) != 0 || s.Requests != 26 {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsSpared(t *testing.T) {
	i, err := New(Plan{DropPercent: 100})
	require.NoError(t, err)
	ask := listen(t, i, "fault_set")
	if r := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fault_set"}}`); r.err != nil {
		t.Errorf("%+v", r)
	}
	if r := ask(question); r.err == nil {
		t.Errorf("%+v", r)
	}
	// A picked method is left for its own requests.
	require.NoError(t, i.Set(Plan{}))
	require.NoError(t, i.Next(Pick{HTTP500, "tools/list"}))
	if r := ask(question); r.status != 200 {
		t.Errorf("%+v", r)
	}
	if r := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); r.status != 500 {
		t.Errorf("%+v", r)
	}
	// Long and malformed bodies reach the server whole.
	for _, body := range []string{"{bad", "", "[]", strings.Repeat(" ", maxPeek+10) + question} {
		if r := ask(body); r.err != nil || r.status != 200 {
			t.Errorf("%.20q: %+v", body, r)
		}
	}
	w := httptest.NewRecorder()
	require.NoError(t, i.Set(Plan{ErrorPercent: 100}))
	i.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/health", nil))
	assert.Equalf(t, w.Code, 204, "/health")
}

func TestSameSeedSameFaults(t *testing.T) {
	plan := Plan{Delay: time.Millisecond, DelayPercent: 30, DropPercent: 10, ErrorPercent: 20, PartialPercent: 15, Seed: 42}
	run := func(p Plan) (kinds []Kind, late int) {
		i, err := New(p)
		require.NoError(t, err)
		for range 10000 {
			k, d, _ := i.decide("tools/call")
			kinds = append(kinds, k)
			if d > 0 {
				late++
			}
		}
		return kinds, late
	}
	a, late := run(plan)
	if b, _ := run(plan); !slices.Equal(a, b) {
		t.Error("the same seed gave other faults")
	}
	// More of one kind does not move the others about.
	more := plan
	more.DelayPercent = 90
	if b, _ := run(more); !slices.Equal(a, b) {
		t.Error("delays moved other faults")
	}
	plan.Seed = 43
	if b, _ := run(plan); slices.Equal(a, b) {
		t.Error("another seed gave the same faults")
	}
	n := map[Kind]int{}
	for _, k := range a {
		n[k]++
	}
	near := func(what string, got, want int) {
		if got < want-200 || got > want+200 {
			t.Errorf("%s: %d of 10000, want about %d", what, got, want)
		}
	}
	near("drop", n[Drop], 1000)
	near("errors", n[HTTP500]+n[JSONRPCError], 2000)
	near("partial", n[PartialJSON]+n[TruncatedSSE], 1500)
	near("late", late, 3000)
}

func TestPlansThatCannotBe(t *testing.T) {
	for _, p := range []Plan{{DropPercent: -1}, {DelayPercent: 101}, {DropPercent: 60, ErrorPercent: 60}, {Delay: -1}, {Delay: MaxDelay + 1}} {
		if _, err := New(p); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	i := &Injector{}
	if err := i.Next(Pick{Kind: "earthquake"}); err == nil {
		t.Error("an unknown kind was accepted")
	}
	for range maxPending {
		require.NoError(t, i.Next(Pick{Kind: Drop}))
	}
	if err := i.Next(Pick{Kind: Drop}); err == nil {
		t.Error("picks without end")
	}
}
