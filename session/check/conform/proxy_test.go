package conform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// turn is one request to our agent, and what becomes of it.
type turn struct {
	w     http.ResponseWriter
	r     *http.Request
	body  string
	env   jsonrpc.Envelope
	agent http.Handler
	s     *state
}

// state is what a change remembers from one request to the next.
type state struct {
	mu      sync.Mutex
	n       map[string]int
	session string
}

// count is how often it was called with what.
func (x *turn) count(what string) int {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.n[what]++
	return x.s.n[what]
}

// did reports whether it was called with what.
func (x *turn) did(what string) bool {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	return x.s.n[what] > 0
}

// change makes the agent wrong in one way. It returns false where the request goes to the agent as it is by then.
type change func(x *turn) bool

func (x *turn) is(method string) bool { return x.env.Method == method }
func (x *turn) has(part string) bool  { return strings.Contains(x.body, part) }

func (x *turn) say(status int, media, body string) bool {
	x.w.Header().Set("Content-Type", media)
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
	return true
}

func (x *turn) id() string {
	if x.env.ID == nil {
		return "null"
	}
	return string(x.env.ID)
}

func (x *turn) framed(result string) string {
	return `{"jsonrpc":"2.0","id":` + x.id() + `,"result":` + result + `}`
}

func (x *turn) result(result string) bool { return x.say(200, "application/json", x.framed(result)) }

func (x *turn) fail(code int) bool {
	status := 200
	if code == -32601 && x.r.Header.Get("Mcp-Method") != "" {
		status = 404
	}
	return x.say(status, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, x.id(), code))
}

// events says frames as a stream, each after the line that comes with it.
func (x *turn) events(parts ...string) bool {
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i] + "data: " + parts[i+1] + "\n\n")
	}
	return x.say(200, "text/event-stream", b.String())
}

// edit lets the agent answer, and changes the answer.
func (x *turn) edit(how func(body string, h http.Header) string) bool {
	rec := httptest.NewRecorder()
	x.agent.ServeHTTP(rec, x.request())
	body := how(rec.Body.String(), rec.Header())
	for name, v := range rec.Header() {
		if name != "Content-Length" {
			x.w.Header()[name] = v
		}
	}
	x.w.WriteHeader(rec.Code)
	_, _ = io.WriteString(x.w, body)
	return true
}

// swap is edit by replacing one part of the answer.
func (x *turn) swap(old, with string) bool {
	return x.edit(func(b string, _ http.Header) string { return strings.Replace(b, old, with, 1) })
}

// send is the rest of the way with another body.
func (x *turn) send(body string) bool {
	x.body = body
	return false
}

// request is the request as it is by now.
func (x *turn) request() *http.Request {
	r := x.r.Clone(x.r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(x.body)), int64(len(x.body))
	return r
}

// changed is our agent with a change, that begins when on is set.
type changed struct {
	agent http.Handler
	how   change
	on    atomic.Bool
	s     state
}

func (c *changed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	env, _ := jsonrpc.Scan(bytes.TrimSpace(body))
	x := &turn{w: w, r: r, body: string(body), env: env, agent: c.agent, s: &c.s}
	if c.on.Load() && c.how != nil && c.how(x) {
		return
	}
	c.agent.ServeHTTP(w, x.request())
}

// everything is the agent with everything in it, with short pages.
func everything(t *testing.T) http.Handler {
	t.Helper()
	a, err := agentsrv.New(agentsrv.Options{Profile: agentsrv.Everything, PageSize: 5})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = a.Close(ctx) // what a test left behind is not an error of the agent
	})
	return a.Handler()
}

// tried is what a run of some rules found, against the agent with a change.
func tried(t *testing.T, agent http.Handler, how change, protocol string, rules ...string) *check.Report {
	t.Helper()
	return triedWithin(t, agent, how, protocol, 20*time.Second, rules...)
}

// triedWithin is tried with a time to wait for answers.
func triedWithin(t *testing.T, agent http.Handler, how change, protocol string, wait time.Duration, rules ...string) *check.Report {
	t.Helper()
	c := &changed{agent: agent, how: how, s: state{n: map[string]int{}}}
	web := httptest.NewServer(c)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	cfg := config.Server{Name: "agent", URL: web.URL + "/mcp", Transport: config.HTTP, Protocol: protocol}
	return examinedWithin(t, cfg, func() { c.on.Store(true) }, wait, rules...)
}

// examined is a run against a server whose tools that take their time are not called.
func examined(t *testing.T, cfg config.Server, begin func(), rules ...string) *check.Report {
	t.Helper()
	return examinedWithin(t, cfg, begin, 20*time.Second, rules...)
}

func examinedWithin(t *testing.T, cfg config.Server, begin func(), wait time.Duration, rules ...string) *check.Report {
	t.Helper()
	_, s := sessiontest.Open(t, session.Options{}, cfg)
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	o.Tools = slices.DeleteFunc(o.Tools, func(it offer.Item) bool {
		return it.Name == "sleep" || it.Name == "failing_job" || it.Name == "protocol_error_job"
	})
	begin()
	section, err := New(Options{Rules: rules, Wait: wait, leave: 2 * time.Second})
	require.NoError(t, err)
	r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{section}, check.Tool{}, check.Watch{})
	require.NoError(t, err)
	return r
}

// counted is an agent whose sessions are counted.
type counted struct {
	http.Handler
	mu           sync.Mutex
	given, ended map[string]bool
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete {
		c.add(c.ended, r.Header.Get("Mcp-Session-Id"))
	}
	c.Handler.ServeHTTP(w, r)
	c.add(c.given, w.Header().Get("Mcp-Session-Id"))
}

func (c *counted) add(to map[string]bool, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id != "" {
		to[id] = true
	}
}

// Whatever opened a session, none is left at the server.
func TestSessionsAreEnded(t *testing.T) {
	t.Parallel()
	c := &counted{Handler: everything(t), given: map[string]bool{}, ended: map[string]bool{}}
	t.Run("run", func(t *testing.T) { tried(t, c, nil, rev2511, "[b-i]*", "s*") }) // with what is cleaned up after it
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.given) < 5 {
		t.Errorf("only %d sessions", len(c.given))
	}
	for id := range c.given {
		if !c.ended[id] {
			t.Errorf("a session of %d is left", len(c.given))
		}
	}
}
