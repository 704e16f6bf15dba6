package aggregate

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const (
	extension   = "io.modelcontextprotocol/tasks"        // of the modern era
	metaRelated = "io.modelcontextprotocol/related-task" // a member of _meta
)

// Tasks are the agents' own. Their ids get the agent's name in front, and a proof that this caller was given them: an id that
// somebody else heard of, or that an agent makes easy to guess, is of no use to another principal.

const macLen = 22 // of 16 bytes in base64

func (c *client) macOf(agent, id string) string {
	h := hmac.New(sha256.New, c.s.mac[:])
	for _, s := range []string{c.principal, agent, id} {
		_, _ = h.Write([]byte(s)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// taskID is an agent's task id as the client knows it.
func (c *client) taskID(agent, id string) string { return agent + "." + c.macOf(agent, id) + "." + id }

// task finds the agent of a task, and the agent's own id for it.
func (c *client) task(id string) (agent, own string, err error) {
	for _, a := range c.agents() {
		rest, ok := strings.CutPrefix(id, a+".")
		if !ok || len(rest) <= macLen || rest[macLen] != '.' {
			continue
		}
		if own := rest[macLen+1:]; hmac.Equal([]byte(rest[:macLen]), []byte(c.macOf(a, own))) {
			return a, own, nil
		}
	}
	return "", "", jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Failed to retrieve task: Task not found").With("field", "taskId").With("reason", "unknown or expired")
}

// taskIn is text with the id of an agent's task, where the path leads to one, as the client knows it.
func (c *client) taskIn(agent string, text []byte, path ...string) []byte {
	id, ok := jsonrpc.String(jsonrpc.Get(text, path...))
	if !ok {
		return text
	}
	return replace(text, jsonrpc.Quote(c.taskID(agent, id)), path...)
}

// makesTask reports whether a call may become a task.
func (x *exchange) makesTask() bool {
	if x.modern {
		return bytes.Contains(x.params.Caps, []byte(extension))
	}
	return jsonrpc.Get(x.env.Params, "task") != nil
}

// taskOf is an agent's result with the ids of tasks in it as the client knows them. token is the progress token of a call.
func (x *exchange) taskOf(agent string, token, result []byte) []byte {
	switch x.env.Method {
	case string(mcp.MethodToolsCall):
		path := []string{"task", "taskId"}
		switch {
		case !x.makesTask():
			return result
		case x.modern:
			if kind := jsonrpc.GetString(result, "resultType"); kind != "task" {
				return result
			}
			path = path[1:]
		}
		out := x.c.taskIn(agent, result, path...)
		if token != nil && len(out) != len(result) { // it goes on
			x.c.mu.Lock()
			x.c.tokens.put(string(token), x.params.Token)
			x.c.mu.Unlock()
		}
		return out
	case methodTasksResult:
		return x.c.taskIn(agent, result, "_meta", metaRelated, "taskId")
	case methodTasksGet, methodTasksCancel, methodTasksUpdate:
		return x.c.taskIn(agent, result, "taskId")
	}
	return result
}

const (
	methodTasksGet    = string(mcp.MethodTasksGet)
	methodTasksResult = string(mcp.MethodTasksResult)
	methodTasksCancel = string(mcp.MethodTasksCancel)
	methodTasksList   = string(mcp.MethodTasksList)
	methodTasksUpdate = "tasks/update"
)

// tasks answers what a client asks about a task.
func (x *exchange) tasks(ctx context.Context) ([]byte, error) {
	if x.modern && !x.makesTask() {
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeMissingCapability, Message: "this needs the extension " + extension + "; declare it in the request's clientCapabilities.extensions",
			Data: []byte(`{"kind":"missing_client_capability","requiredCapabilities":{"extensions":{"` + extension + `":{}}}}`),
		}
	}
	id, ok := jsonrpc.String(jsonrpc.Get(x.env.Params, "taskId"))
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: taskId is required").With("field", "taskId").With("reason", "Field required")
	}
	if name := x.r.Header.Get(mcp.HeaderName); x.modern && name != "" && name != id {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeHeaderMismatch, Message: "the header " + mcp.HeaderName + " does not match params.taskId", Data: []byte(`{"kind":"header_mismatch"}`)}
	}
	agent, own, err := x.c.task(id)
	if err != nil {
		return nil, err
	}
	return x.call(ctx, agent, own, "taskId")
}

// tokens are the progress tokens of calls that became tasks, the client's by ours. The oldest go.
type tokens struct {
	by    map[string][]byte
	order []string
}

const maxTokens = 1000

func (t *tokens) put(ours string, own []byte) {
	if t.by == nil {
		t.by = map[string][]byte{}
	}
	t.by[ours] = bytes.Clone(own)
	if t.order = append(t.order, ours); len(t.order) > maxTokens {
		delete(t.by, t.order[0])
		t.order = t.order[1:]
	}
}

// taskProgress passes on progress of a task, whose call is over.
func (c *client) taskProgress(agent string, frame []byte) {
	token := jsonrpc.Get(frame, "params", "progressToken")
	if token == nil {
		return
	}
	c.mu.Lock()
	own := c.tokens.by[string(token)]

	c.mu.Unlock()
	if own == nil {
		return
	}
	frame = replace(frame, own, "params", "progressToken")
	frame = c.taskIn(agent, frame, "params", "_meta", metaRelated, "taskId")
	if x := c.exchangeWith(agent, false); x != nil && x.env.Method == methodTasksResult && x.send(frame) {
		return
	}
	c.notify(string(mcp.MethodNotificationProgress), frame)
}
