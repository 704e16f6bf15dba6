package agentsrv

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// client speaks to a served agent with nothing but net/http, so that mcp-go is not tested with itself.
type client struct {
	t       *testing.T
	url     string
	modern  bool
	session string
	id      atomic.Int64
	hc      *http.Client
	// capabilities are those of a modern client, {} unless given.
	capabilities string
}

// message is one JSON-RPC message as it came.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int64
		Message string
		Data    json.RawMessage
	}
}

// serve starts an agent and returns clients of both eras.
func serve(t *testing.T, o Options) (*Agent, map[string]*client) {
	t.Helper()
	a, err := New(o)
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		assert.NoError(t, a.Close(context.Background()))
		hc.CloseIdleConnections()
	})
	modern := &client{t: t, url: a.URL(), modern: true, hc: hc}
	legacy := &client{t: t, url: a.URL(), hc: hc}
	legacy.initialize()
	return a, map[string]*client{"legacy": legacy, "modern": modern}
}

// bothEras runs f once per era against one agent.
func bothEras(t *testing.T, f func(t *testing.T, c *client)) {
	t.Helper()
	_, cs := serve(t, Options{RateLimit: -1})
	for era, c := range cs {
		t.Run(era, func(t *testing.T) {
			f(t, &client{t: t, url: c.url, modern: c.modern, session: c.session, hc: c.hc})
		})
	}
}

func (c *client) initialize() {
	c.t.Helper()
	res := c.do(context.Background(), "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
	if res.StatusCode != http.StatusOK {
		c.t.Fatalf("initialize: %s", res.Status)
	}
	c.session = res.Header.Get("Mcp-Session-Id")
	if c.session == "" {
		c.t.Fatal("initialize: no session id")
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	res = c.post(context.Background(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	_ = res.Body.Close()
}

// do sends one request and returns the open response.
func (c *client) do(ctx context.Context, method, params string) *http.Response {
	c.t.Helper()
	if params == "" {
		params = "{}"
	}
	name := ""
	if c.modern {
		var p map[string]json.RawMessage
		require.NoError(c.t, json.Unmarshal([]byte(params), &p))
		meta := map[string]json.RawMessage{}
		if m := p["_meta"]; m != nil {
			require.NoError(c.t, json.Unmarshal(m, &meta))
		}
		meta["io.modelcontextprotocol/protocolVersion"] = []byte(`"2026-07-28"`)
		meta["io.modelcontextprotocol/clientCapabilities"] = []byte(cmp.Or(c.capabilities, `{}`))
		raw, _ := json.Marshal(meta)
		// Only _meta is ours; the other members go out byte for byte.
		params = `{"_meta":` + string(raw)
		for k, v := range p {
			if k != "_meta" {
				params += fmt.Sprintf(",%q:%s", k, v)
			}
		}
		params += "}"
		for _, k := range []string{"name", "uri", "taskId"} {
			if v := p[k]; v != nil {
				_ = json.Unmarshal(v, &name)
			}
		}
	}
	return c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id.Add(1), method, params), name)
}

func (c *client) post(ctx context.Context, body, name string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.modern {
		var m message
		_ = json.Unmarshal([]byte(body), &m)
		req.Header.Set("MCP-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", m.Method)
		if name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	} else if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	res, err := c.hc.Do(req)
	require.NoError(c.t, err)
	return res
}

// roundTrip sends one request and returns its answer and the notifications that came before it.
func (c *client) roundTrip(method, params string) (answer message, notes []message) {
	c.t.Helper()
	res := c.do(context.Background(), method, params)
	defer res.Body.Close()
	ms := read(c.t, res)
	if len(ms) == 0 {
		c.t.Fatalf("%s: no answer (%s)", method, res.Status)
	}
	return ms[len(ms)-1], ms[:len(ms)-1]
}

// result is roundTrip for requests that must succeed.
func (c *client) result(method, params string) json.RawMessage {
	c.t.Helper()
	m, _ := c.roundTrip(method, params)
	if m.Error != nil || m.Result == nil {
		c.t.Fatalf("%s: %+v", method, m)
	}
	return m.Result
}

// read decodes a body of either type to the end.
func read(t *testing.T, res *http.Response) []message {
	t.Helper()
	var frames [][]byte
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		sc := bufio.NewScanner(res.Body)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			if d, ok := bytes.CutPrefix(sc.Bytes(), []byte("data: ")); ok && len(d) > 0 { // an event without data only has an id
				frames = append(frames, bytes.Clone(d))
			}
		}
	} else {
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		frames = append(frames, b)
	}
	var out []message
	for _, f := range frames {
		var m message
		if err := json.Unmarshal(f, &m); err != nil {
			t.Fatalf("%v in %q", err, f)
		}
		out = append(out, m)
	}
	return out
}

// toolResult is what tests look at in a tools/call result.
type toolResult struct {
	Content []struct {
		Type, Text, Data, MimeType, URI, Name string
		Resource                              *struct{ URI, MimeType, Text, Blob string }
		Annotations                           json.RawMessage
	}
	StructuredContent json.RawMessage
	IsError           bool
}

func (c *client) call(name, args string) toolResult {
	c.t.Helper()
	var r toolResult
	require.NoError(c.t, json.Unmarshal(c.result("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)), &r))
	return r
}

// until posts one modern tool call and returns the answer, "" if ctx ended first.
func (c *client) until(ctx context.Context, tool, body string) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(k, v)
	}
	res, err := c.hc.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	return string(raw)
}
