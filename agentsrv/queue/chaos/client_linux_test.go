package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// door is an address at which an agent answers: a replica's own, or a router's.
type door struct{ name, url string }

// caller makes requests of revision 2026-07-28, which need no session.
type caller struct{ http http.Client }

func newCaller() *caller {
	return &caller{http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// answer is what came back, as far as it matters here.
type answer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    struct{ Kind string }
	}
}

// failure is how an answer is not a result, "" if it is one.
func (a answer) failure() string {
	if a.Error == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s)", a.Error.Message, a.Error.Data.Kind)
}

// knowsTasks is what a caller declares that knows tasks.
var knowsTasks = map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}

// ask sends a request of a client that can do so much. An error is one of the connection, or of a server on the way that did not answer in JSON-RPC.
func (c *caller) ask(ctx context.Context, d door, method, name string, can, params map[string]any) (a answer, err error) {
	meta, _ := params["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
	meta["io.modelcontextprotocol/clientCapabilities"] = can
	params["_meta"] = meta
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return a, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		r.Header.Set(k, v)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return a, err
	}
	if i := bytes.LastIndex(text, []byte("\ndata: ")); i >= 0 { // the answer is the last event of a stream
		text = text[i+len("\ndata: "):]
	} else if rest, ok := bytes.CutPrefix(text, []byte("data: ")); ok {
		text = rest
	}
	if err := json.Unmarshal(bytes.TrimSpace(text), &a); err != nil || a.Result == nil && a.Error == nil {
		return a, fmt.Errorf("HTTP %d: %.200s", res.StatusCode, text)
	}
	return a, nil
}

// call calls a tool, and waits for its result.
func (c *caller) call(ctx context.Context, d door, tool string, arguments map[string]any) (answer, error) {
	return c.ask(ctx, d, "tools/call", tool, map[string]any{}, map[string]any{"name": tool, "arguments": arguments})
}

// start makes a task of a call, and returns its id.
func (c *caller) start(ctx context.Context, d door, tool string, arguments map[string]any) (id string, a answer, err error) {
	a, err = c.ask(ctx, d, "tools/call", tool, knowsTasks, map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{"async": true}})
	var r struct{ TaskID string }
	if err == nil && a.Error == nil {
		err = json.Unmarshal(a.Result, &r)
	}
	return r.TaskID, a, err
}

// state is how a task is: its status, and what it ended with.
type state struct {
	Status string
	Result json.RawMessage
	Error  json.RawMessage
}

// over reports whether it has ended.
func (s state) over() bool {
	return s.Status == "completed" || s.Status == "failed" || s.Status == "cancelled"
}

// same reports whether two looks at a task saw the same end.
func (s state) same(other state) bool {
	return s.Status == other.Status && bytes.Equal(s.Result, other.Result) && bytes.Equal(s.Error, other.Error)
}

// look polls a task.
func (c *caller) look(ctx context.Context, d door, id string) (s state, a answer, err error) {
	a, err = c.ask(ctx, d, "tasks/get", id, knowsTasks, map[string]any{"taskId": id})
	if err == nil && a.Error == nil {
		err = json.Unmarshal(a.Result, &s)
	}
	return s, a, err
}
