package task

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

var quiet = slog.New(slog.DiscardHandler)

// rig is a server with tasks before a queue, over HTTP, and its client.
type rig struct {
	t       *testing.T
	db      *store.DB
	queue   *queue.Queue
	tasks   *Service
	front   *front.Server
	url     string
	client  *http.Client
	started chan string // what "gate" was called with, in the order it ran

	mu    sync.Mutex
	gates map[string]chan string
	ended map[string]error
	id    int
}

// options of a rig; zero values will do.
type options struct {
	queue  queue.Options
	tasks  Options
	store  string // path, "" for memory
	memory bool   // keep tasks in memory
	table  Table  // instead of one in store
	tenant bool   // take the tenant from the header X-Tenant, and the principal from X-Principal
}

// full is a table that takes no new tasks.
type full struct{ Table }

func (full) insert(context.Context, *record) error { return errors.New("full") }

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	db, err := store.Open(o.store)
	require.NoError(t, err)
	r := &rig{t: t, db: db, started: make(chan string, 20000), gates: map[string]chan string{}, ended: map[string]error{}, client: &http.Client{Transport: &http.Transport{}}}
	o.queue.Changed = func(queue.Status) { r.front.ResourceUpdated(queue.URI) }
	o.queue.Logger, o.tasks.Logger, o.tasks.Table = quiet, cmp.Or(o.tasks.Logger, quiet), SQL(db, quiet)
	switch {
	case o.memory:
		o.tasks.Table = full{SQL(db, quiet)}
	case o.table != nil:
		o.tasks.Table = o.table
	}
	if o.tasks.Default == (Policy{}) {
		o.tasks.Default = Policy{Support: mcp.TaskSupportOptional}
	}
	r.queue, r.tasks = queue.New(o.queue), New(o.tasks)
	require.NoError(t, r.tasks.Open(t.Context()))
	opts := front.Options{
		Engine: r.engine(), Use: []front.Middleware{r.tasks.Middleware(), r.queue.Middleware()},
		Routes: r.tasks.Routes(), Logger: quiet,
	}
	opts.Routes["/queue"] = r.queue.Page()
	if o.tenant {
		opts.Authenticate = func(q *http.Request) (kit.Identity, error) {
			return kit.Identity{Principal: q.Header.Get("X-Principal"), Tenant: q.Header.Get("X-Tenant")}, nil
		}
	}
	r.front = front.New(opts)
	web := httptest.NewServer(r.front.Handler())
	r.url = web.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		r.openAll()
		gone, stop := context.WithCancel(ctx)
		stop()
		_ = r.queue.Drain(gone)
		assert.NoError(t, r.tasks.Close(ctx))
		_ = r.front.Close(gone)
		r.client.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
		_ = db.Close()
	})
	return r
}

func (r *rig) engine() *server.MCPServer {
	e := server.NewMCPServer("rig", "1.0.0", append(front.EngineOptions(), server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithElicitation())...)
	tool := func(name string, h server.ToolHandlerFunc) server.ServerTool {
		return kit.Tool(name, name, name, kit.ReadOnly, h, `{"type":"object"}`, "")
	}
	text := func(s string) (*mcp.CallToolResult, error) { return mcp.NewToolResultText(s), nil }
	form := mcp.ElicitationParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}
	tools := []server.ServerTool{
		// gate runs until the test opens it or the call ends, and returns what the test says.
		tool("gate", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			name := q.GetString("name", "")
			gate := r.gate(name)
			if err := kit.Progress(ctx, q, 2, 4, "under way"); err != nil {
				return nil, err
			}
			r.started <- name
			select {
			case s := <-gate:
				return text(s)
			case <-ctx.Done():
				r.mu.Lock()
				r.ended[name] = context.Cause(ctx)
				r.mu.Unlock()
				return nil, ctx.Err()
			}
		}),
		tool("deaf", func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			name := q.GetString("name", "")
			gate := r.gate(name)
			r.started <- name
			return text(<-gate)
		}),
		tool("echo", func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(string(kit.RawArguments(q)))
		}),
		tool("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("no"), nil
		}),
		tool("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret") }),
		tool("big", func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(strings.Repeat("x", q.GetInt("n", 0)))
		}),
		tool("chatty", func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range q.GetInt("n", 3) {
				if err := kit.Progress(ctx, q, float64(i), 3, "step\n"+fmt.Sprint(i)); err != nil {
					return nil, err
				}
				if err := kit.Log(ctx, mcp.LoggingLevelError, "rig", strings.Repeat("é", q.GetInt("width", 4))); err != nil {
					return nil, err
				}
			}
			return text("said")
		}),
		tool("elicit", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: form})
			if err != nil {
				return nil, err
			}
			raw, err := json.Marshal(res.Content)
			if err != nil {
				return nil, err
			}
			return text(string(raw))
		}),
		// input asks two things at a time, and then, with the same key, one more.
		tool("input", func(_ context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			raw, err := json.Marshal(q.Params.InputResponses)
			if err != nil {
				return nil, err
			}
			switch q.Params.RequestState {
			case "":
				return server.NewInputRequestBuilder("1").Elicit("a", form).Elicit("b", form).ToolResult(), nil
			case "1":
				return server.NewInputRequestBuilder("2"+string(raw)).Elicit("a", form).ToolResult(), nil
			}
			return text(q.Params.RequestState + string(raw))
		}),
	}
	e.AddTools(r.tasks.Declare(tools...)...)
	e.AddTools(r.tasks.Declare(r.queue.Tools()...)...)
	e.AddResources(r.queue.Resources()...)
	return e
}

func (r *rig) gate(name string) chan string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gates[name] == nil {
		r.gates[name] = make(chan string, 1)
	}
	return r.gates[name]
}

func (r *rig) openAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.gates {
		select {
		case g <- "late":
		default:
		}
	}
}

// answer is a JSON-RPC response, with what came before it on the stream.
type answer struct {
	Status int
	Header http.Header
	Before []map[string]any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

// caller is a way of calling: headers, and what goes into _meta.
type caller struct {
	header map[string]string
	meta   map[string]any
}

var sessionless = caller{}

// modern is a client of 2026-07-28 with these capabilities.
func modern(caps map[string]any) caller {
	return caller{map[string]string{"Mcp-Protocol-Version": "2026-07-28"}, map[string]any{
		mcp.MetaKeyProtocolVersion: "2026-07-28", mcp.MetaKeyClientCapabilities: caps, mcp.MetaKeyClientInfo: map[string]any{"name": "t", "version": "1"},
	}}
}

var tasking = modern(map[string]any{"elicitation": map[string]any{}, "extensions": map[string]any{Extension: map[string]any{}}})

// with is c with more headers.
func (c caller) with(header ...string) caller {
	h := map[string]string{}
	for k, v := range c.header {
		h[k] = v
	}
	for i := 0; i < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	return caller{h, c.meta}
}

// login opens a session of 2025-11-25.
func (r *rig) login(header ...string) caller { r.t.Helper(); return r.loginAs("2025-11-25", header...) }

// loginAs opens a session of a version.
func (r *rig) loginAs(version string, header ...string) caller {
	r.t.Helper()
	c := sessionless.with(header...)
	a := r.call(c, "initialize", map[string]any{"protocolVersion": version, "capabilities": map[string]any{"elicitation": map[string]any{}}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	if a.Result == nil {
		r.t.Fatalf("initialize: %+v", a)
	}
	c = c.with("Mcp-Session-Id", a.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", version)
	r.notify(c, "notifications/initialized", nil)
	return c
}

func (r *rig) request(ctx context.Context, c caller, id any, method string, params map[string]any) *http.Request {
	r.t.Helper()
	p := map[string]any{}
	for k, v := range params {
		p[k] = v
	}
	if c.meta != nil {
		m := map[string]any{}
		for k, v := range c.meta {
			m[k] = v
		}
		if own, ok := p["_meta"].(map[string]any); ok {
			for k, v := range own {
				m[k] = v
			}
		}
		p["_meta"] = m
	}
	frame := map[string]any{"jsonrpc": "2.0", "method": method, "params": p}
	if id != nil {
		frame["id"] = id
	}
	body, err := json.Marshal(frame)
	require.NoError(r.t, err)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/mcp", bytes.NewReader(body))
	require.NoError(r.t, err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if c.meta != nil {
		q.Header.Set("Mcp-Method", method)
		if name, ok := p["name"].(string); ok {
			q.Header.Set("Mcp-Name", name)
		}
		if uri, ok := p["uri"].(string); ok {
			q.Header.Set("Mcp-Name", uri)
		}
		if id, ok := p["taskId"].(string); ok {
			q.Header.Set("Mcp-Name", id)
		}
	}
	for k, v := range c.header {
		q.Header.Set(k, v)
	}
	return q
}

func (r *rig) notify(c caller, method string, params map[string]any) {
	r.t.Helper()
	res, err := r.client.Do(r.request(r.t.Context(), c, nil, method, params))
	require.NoError(r.t, err)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		r.t.Fatalf("%s: %s", method, res.Status)
	}
}

func (r *rig) nextID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.id++
	return r.id
}

// call sends a request and reads its answer.
func (r *rig) call(c caller, method string, params map[string]any) answer {
	r.t.Helper()
	return r.exchange(r.t.Context(), c, r.nextID(), method, params, nil)
}

// exchange is call with everything to choose; each hears every message before the answer.
func (r *rig) exchange(ctx context.Context, c caller, id int, method string, params map[string]any, each func(map[string]any)) answer {
	r.t.Helper()
	res, err := r.client.Do(r.request(ctx, c, id, method, params))
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	a := answer{Status: res.StatusCode, Header: res.Header}
	final := func(raw []byte) bool {
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			r.t.Errorf("%s: %v in %s", method, err, raw)
		}
		if m["method"] != nil {
			a.Before = append(a.Before, m)
			if each != nil {
				each(m)
			}
			return false
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			r.t.Errorf("%s: %v in %s", method, err, raw)
		}
		return true
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok && strings.TrimSpace(data) != "" && final([]byte(data)) {
				break
			}
		}
		return a
	}
	raw, err := io.ReadAll(res.Body)
	if err == nil && len(raw) > 0 {
		final(raw)
	}
	return a
}

// tool calls a tool.
func (r *rig) tool(c caller, name string, args map[string]any, more ...any) answer {
	r.t.Helper()
	return r.call(c, "tools/call", toolParams(name, args, more...))
}

func toolParams(name string, args map[string]any, more ...any) map[string]any {
	p := map[string]any{"name": name, "arguments": args}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}

// get reads a page as JSON.
func (r *rig) get(path string, header ...string) (int, map[string]any) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+path, nil)
	require.NoError(r.t, err)
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	res, err := r.client.Do(q)
	require.NoError(r.t, err)
	defer res.Body.Close()
	var m map[string]any
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil && res.StatusCode == 200 {
		r.t.Fatal(err)
	}
	return res.StatusCode, m
}

// until waits for a condition.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			r.t.Fatalf("not in 30 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// text is the text of a tool result.
func resultText(result map[string]any) string {
	content, _ := result["content"].([]any)
	if len(content) == 0 {
		return ""
	}
	first, _ := content[0].(map[string]any)
	s, _ := first["text"].(string)
	return s
}

// listen opens the session's own stream and hands out what comes on it.
func (r *rig) listen(c caller) <-chan map[string]any {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/mcp", nil)
	require.NoError(r.t, err)
	q.Header.Set("Accept", "text/event-stream")
	for k, v := range c.header {
		q.Header.Set(k, v)
	}
	res, err := r.client.Do(q)
	require.NoError(r.t, err)
	events := make(chan map[string]any, 1000)
	go func() {
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var m map[string]any
			if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok && json.Unmarshal([]byte(data), &m) == nil {
				events <- m
			}
		}
	}()
	return events
}
