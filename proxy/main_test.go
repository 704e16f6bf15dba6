package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := childMain(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // most tests wait for time limits, which the race detector's work would eat up
	}
	leaktest.Main(m)
}

// agent is a small legacy server: it demands sessions, and tells what it saw.
type agent struct {
	*httptest.Server
	mu       sync.Mutex
	sessions map[string]bool
	deleted  []string
	last     http.Header // of the last request
	body     []byte      // of the last request
	opened   atomic.Int64
	// answer, if it is set, serves the requests within sessions.
	answer func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope)
	// opens, if it is set, answers initialize; the session's id is in the header already.
	opens func(w http.ResponseWriter, id []byte)
}

func newAgent(t testing.TB) *agent {
	t.Helper()
	a := &agent{sessions: map[string]bool{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() {
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

const initResult = `{"protocolVersion":"2025-06-18","capabilities":{"prompts":{},"tools":{"listChanged":true}},` +
	`"serverInfo":{"version":"7.0", "name" : "inner","title":"Kept"},"instructions":"name: inner"}`

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	a.mu.Lock()
	a.last, a.body = r.Header.Clone(), body
	known := a.sessions[id]
	if r.Method == http.MethodDelete {
		delete(a.sessions, id)
		a.deleted = append(a.deleted, id)
	}
	a.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete:
		if !known {
			w.WriteHeader(http.StatusNotFound)
		}
		return
	case r.Method == http.MethodGet:
		if a.answer != nil && known {
			a.answer(w, r, jsonrpc.Envelope{})
			return
		}
		w.WriteHeader(http.StatusNotFound)
		return
	}
	e, err := jsonrpc.Scan(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if e.Method == "initialize" {
		n := a.opened.Add(1)
		id := fmt.Sprintf("up-%d", n)
		a.mu.Lock()
		a.sessions[id] = true
		a.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		if a.opens != nil {
			a.opens(w, e.ID)
			return
		}
		reply(w, e.ID, initResult)
		return
	}
	modern := strings.HasPrefix(r.Header.Get("Mcp-Protocol-Version"), "2026")
	if !known && !modern {
		http.Error(w, "Invalid session ID", http.StatusNotFound)
		return
	}
	if e.Kind != jsonrpc.Request {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if a.answer != nil {
		a.answer(w, r, e)
		return
	}
	reply(w, e.ID, `{"content":[{"type":"text","text":`+strconv.Quote(id)+`}]}`)
}

func reply(w http.ResponseWriter, id []byte, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(jsonrpc.NewResult(id, []byte(result)))
}

// restart forgets all sessions, as an agent does that was started again.
func (a *agent) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = map[string]bool{}
}

func (a *agent) seen() (http.Header, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last, string(a.body)
}

func (a *agent) ended() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.deleted...)
}

// fixture is a router with a file of routes.
type fixture struct {
	*Router
	file   string
	client *http.Client
	base   string // instead of the router's; "" for that
}

// URL is the base of what requests are sent to.
func (f *fixture) URL() string {
	if f.base != "" {
		return f.base
	}
	return f.Router.URL()
}

// start runs a router with these routes, given as the JSON of each.
func start(t testing.TB, o Options, routes ...string) *fixture {
	t.Helper()
	f := &fixture{file: filepath.Join(t.TempDir(), "routing.json"), client: http.DefaultClient}
	f.write(t, table(routes...))
	o.Routes, o.RoutesMust = f.file, true
	r, err := New(o)
	require.NoError(t, err)
	f.Router = r
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	require.NoError(t, r.Start(t.Context()))
	return f
}

// route is the JSON of one route, with its name.
func route(name, at, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`%q:{"url":%q%s}`, name, at, more)
}

func (a *agent) at() string { return a.URL + "/mcp" }

func table(routes ...string) string { return `{"routes":{` + strings.Join(routes, ",\n") + `}}` }

func (f *fixture) write(t testing.TB, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(f.file, []byte(text), 0o600))
}

type response struct {
	status int
	header http.Header
	body   string
	proto  int // HTTP's major version
}

// send makes a request to the router; headers are name, value pairs.
func (f *fixture) send(t testing.TB, method, path, body string, headers ...string) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.URL()+path, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Add(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
			req.Header.Del("Host")
		}
	}
	res, err := f.client.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v after %q", method, path, err, b)
	}
	return response{res.StatusCode, res.Header, string(b), res.ProtoMajor}
}

func (f *fixture) post(t testing.TB, path, body string, headers ...string) response {
	t.Helper()
	return f.send(t, http.MethodPost, path, body, headers...)
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	callEcho   = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}`
	accept     = "application/json, text/event-stream"
)

// open opens a session through the router and returns its id.
func (f *fixture) open(t testing.TB, path string, headers ...string) string {
	t.Helper()
	got := f.post(t, path, initialize, append(headers, "Accept", accept)...)
	id := got.header.Get("Mcp-Session-Id")
	if got.status != 200 || id == "" {
		t.Fatalf("initialize: %+v", got)
	}
	return id
}

// within makes sure that something takes at most so long, once in half a minute: a busy machine holds up what is quick.
func within(t *testing.T, limit time.Duration, took func() time.Duration) {
	t.Helper()
	end := time.Now().Add(30 * time.Second)
	best := took()
	for best > limit && time.Now().Before(end) {
		best = min(best, took())
	}
	if best > limit {
		t.Errorf("it took %v, at most %v is right", best, limit)
	}
}

// rpcError is the error of an answer.
func (r response) rpcError(t testing.TB) (e struct {
	ID    json.RawMessage `json:"id"`
	Error struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	return e
}

func (r response) check(t testing.TB, status, code int, message string) {
	t.Helper()
	e := r.rpcError(t)
	if r.status != status || e.Error.Code != code || e.Error.Message != message || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s, want %d with %d %q", r.status, r.body, status, code, message)
	}
}
