package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// reply answers a question of the server.
func (r *rig) reply(c caller, id any, result string) {
	r.t.Helper()
	raw, err := json.Marshal(id)
	require.NoError(r.t, err)
	q, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/mcp", bytes.NewReader(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, raw, result)))
	require.NoError(r.t, err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range c.header {
		q.Header.Set(k, v)
	}
	res, err := r.client.Do(q)
	require.NoError(r.t, err)
	_ = res.Body.Close()
}

// task starts a legacy task and returns its id.
func (r *rig) task(c caller, name string, args map[string]any, more ...any) string {
	r.t.Helper()
	a := r.tool(c, name, args, append(more, "task", map[string]any{"ttl": 60000})...)
	task, _ := a.Result["task"].(map[string]any)
	id, _ := task["taskId"].(string)
	if id == "" {
		r.t.Fatalf("no task: %+v", a)
	}
	return id
}

func (r *rig) status(c caller, id string) string {
	r.t.Helper()
	s, _ := r.call(c, "tasks/get", map[string]any{"taskId": id}).Result["status"].(string)
	return s
}

func TestQ6_LegacyTask(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	a := r.tool(s, "gate", map[string]any{"name": "a"}, "task", map[string]any{"ttl": 60000})
	task, _ := a.Result["task"].(map[string]any)
	id, _ := task["taskId"].(string)
	if len(id) < 22 || task["status"] != "working" || task["ttl"] != 60000.0 || task["pollInterval"] != 1000.0 || a.Result["content"] != nil {
		t.Fatalf("%+v", a)
	}
	for _, key := range []string{"createdAt", "lastUpdatedAt"} {
		if _, err := time.Parse(time.RFC3339, task[key].(string)); err != nil {
			t.Error(err)
		}
	}
	<-r.started
	if got := r.status(s, id); got != "working" {
		t.Errorf("status %q", got)
	}
	result := make(chan answer, 1)
	go func() {
		result <- r.exchange(t.Context(), s, 77, "tasks/result", map[string]any{"taskId": id}, nil)
	}()
	r.gate("a") <- "done"
	got := <-result
	meta, _ := got.Result["_meta"].(map[string]any)
	about, _ := meta["io.modelcontextprotocol/related-task"].(map[string]any)
	if resultText(got.Result) != "done" || about["taskId"] != id {
		t.Errorf("tasks/result: %+v", got)
	}
	r.until("completed, from the store too", func() bool {
		r.tasks.mu.Lock()
		defer r.tasks.mu.Unlock()
		return len(r.tasks.live) == 0
	})
	if got := r.status(s, id); got != "completed" {
		t.Errorf("status %q", got)
	}
	if got := r.call(s, "tasks/result", map[string]any{"taskId": id}); resultText(got.Result) != "done" {
		t.Errorf("again: %+v", got)
	}
	if a := r.call(s, "tasks/cancel", map[string]any{"taskId": id}); a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, "completed") {
		t.Errorf("cancel of what is over: %+v", a)
	}
	if a := r.call(s, "tasks/update", map[string]any{"taskId": id}); a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("tasks/update is not of this era: %+v", a)
	}
}

func TestQ6_LegacyTaskThatFails(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	id := r.task(s, "fail", nil)
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); a.Result["isError"] != true || r.status(s, id) != "failed" {
		t.Errorf("isError: %+v, status %s", a, r.status(s, id))
	}
	id = r.task(s, "panic", nil)
	a := r.call(s, "tasks/result", map[string]any{"taskId": id})
	if a.Error == nil || a.Error.Code != -32603 || strings.Contains(a.Error.Message, "secret") || r.status(s, id) != "failed" {
		t.Errorf("panic: %+v, status %s", a, r.status(s, id))
	}
}

func TestQ6_Q7_LegacyCancel(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	running, queued := r.task(s, "gate", map[string]any{"name": "a"}), r.task(s, "gate", map[string]any{"name": "b"})
	<-r.started
	for _, id := range []string{queued, running} {
		if a := r.call(s, "tasks/cancel", map[string]any{"taskId": id}); a.Result["status"] != "cancelled" {
			t.Errorf("%+v", a)
		}
		if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); a.Error == nil || a.Error.Data["kind"] != "cancelled" {
			t.Errorf("%+v", a)
		}
	}
	r.until("the queue is empty", func() bool { s := r.queue.Status(); return s.Running == 0 && s.Queued == 0 })
	assert.Equalf(t, r.status(s, running), "cancelled", "its end changed the state of a cancelled task")
	assert.Equalf(t, len(r.started), 0, "the cancelled task ran")
}

func TestLegacyTaskAsksItsClientOnTheStreamOfItsResult(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	id := r.task(s, "elicit", nil)
	r.until("input_required", func() bool { return r.status(s, id) == "input_required" })
	if a := r.tool(s, "echo", nil); a.Result == nil {
		t.Errorf("the task that waits has the slot: %+v", a)
	}
	var about any
	a := r.exchange(t.Context(), s, 50, "tasks/result", map[string]any{"taskId": id}, func(m map[string]any) {
		if m["method"] != "elicitation/create" {
			return
		}
		meta, _ := m["params"].(map[string]any)["_meta"].(map[string]any)
		about = meta["io.modelcontextprotocol/related-task"]
		r.reply(s, m["id"], `{"action":"accept","content":{"name":"Ann"}}`)
	})
	if !strings.Contains(resultText(a.Result), "Ann") || about.(map[string]any)["taskId"] != id {
		t.Errorf("%+v, question about %v", a, about)
	}
}

func TestLegacyTaskReportsProgressOnTheStreamOfItsResult(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	r.later(t.Context(), s, 900, "gate", map[string]any{"name": "first"})
	<-r.started
	id := r.task(s, "chatty", nil, "_meta", map[string]any{"progressToken": "p"})
	got := make(chan answer, 1)
	go func() { got <- r.exchange(t.Context(), s, 51, "tasks/result", map[string]any{"taskId": id}, nil) }()
	r.until("somebody listens", func() bool {
		r.tasks.mu.Lock()
		defer r.tasks.mu.Unlock()
		task := r.tasks.live[id]
		task.mu.Lock()
		defer task.mu.Unlock()
		return task.host != nil
	})
	r.gate("first") <- "go"
	a := <-got
	if len(a.Before) != 6 || a.Before[0]["params"].(map[string]any)["progressToken"] != "p" || resultText(a.Result) != "said" {
		t.Errorf("%+v", a)
	}
	if _, page := r.get("/tasks/" + id); !strings.Contains(page["log"].(string), "progress 2 of 3 step 2\n") || !strings.Contains(page["log"].(string), "error rig: éééé\n") {
		t.Errorf("log %q", page["log"])
	}
}

func TestLegacyList(t *testing.T) {
	r := newRig(t, options{})
	s, other := r.login(), r.login()
	var ids []string
	for range pageSize + 3 {
		ids = append(ids, r.task(s, "echo", nil))
	}
	var got []string
	params := map[string]any{}
	pages := 0
	for {
		a := r.call(s, "tasks/list", params)
		tasks, _ := a.Result["tasks"].([]any)
		for _, task := range tasks {
			got = append(got, task.(map[string]any)["taskId"].(string))
		}
		if pages++; a.Result["nextCursor"] == nil {
			break
		}
		params["cursor"] = a.Result["nextCursor"]
	}
	if pages != 2 || len(got) != len(ids) || got[0] != ids[len(ids)-1] || got[len(got)-1] != ids[0] {
		t.Errorf("%d pages, %d tasks", pages, len(got))
	}
	for _, c := range []caller{other, sessionless} {
		if a := r.call(c, "tasks/list", nil); fmt.Sprint(a.Result["tasks"]) != "[]" {
			t.Errorf("somebody else sees %v", a.Result)
		}
	}
	for _, cursor := range []any{"", "!", "-5", 5, nil} {
		if a := r.call(s, "tasks/list", map[string]any{"cursor": cursor}); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("cursor %v: %+v", cursor, a)
		}
	}
}

func TestLegacyNegotiation(t *testing.T) {
	r := newRig(t, options{})
	for version, want := range map[string]bool{"2025-11-25": true, "2025-06-18": false} {
		a := r.call(sessionless, "initialize", map[string]any{"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
		caps, _ := a.Result["capabilities"].(map[string]any)
		raw, _ := json.Marshal(caps["tasks"])
		if want && string(raw) != `{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}` || !want && caps["tasks"] != nil {
			t.Errorf("%s: %s", version, raw)
		}
		s := sessionless.with("Mcp-Session-Id", a.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", version)
		tools, _ := r.call(s, "tools/list", nil).Result["tools"].([]any)
		for _, tool := range tools {
			m := tool.(map[string]any)
			if e, _ := m["execution"].(map[string]any); (e["taskSupport"] == "optional") != (want && m["name"] != "queue_status") {
				t.Errorf("%s: %v of %v", version, e, m["name"])
			}
		}
	}
	s := r.login()
	for _, task := range []any{map[string]any{"ttl": "x"}, map[string]any{"ttl": -1}, 5, []any{}} {
		if a := r.tool(s, "echo", nil, "task", task); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("task %v: %+v", task, a)
		}
	}
	if a := r.tool(s, "echo", nil, "task", map[string]any{"ttl": 1e300}); a.Result["task"].(map[string]any)["ttl"] != 24*3600*1000.0 {
		t.Errorf("%+v", a)
	}
}

func TestPolicies(t *testing.T) {
	r := newRig(t, options{tasks: Options{Default: Policy{Support: mcp.TaskSupportForbidden}}})
	s := r.login()
	if a := r.tool(s, "echo", nil, "task", map[string]any{}); a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("forbidden: %+v", a)
	}
	if a := r.tool(tasking, "echo", nil, "task", map[string]any{}); a.Result["resultType"] == "task" || resultText(a.Result) != "{}" && resultText(a.Result) != "" && a.Result == nil {
		t.Errorf("forbidden, modern: %+v", a)
	}
	r.tasks.mu.Lock()
	r.tasks.tools["echo"] = Policy{Support: mcp.TaskSupportRequired}
	r.tasks.mu.Unlock()
	if a := r.tool(s, "echo", nil); a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("required: %+v", a)
	}
	if a := r.tool(modern(map[string]any{}), "echo", nil); a.Error == nil || a.Error.Code != -32021 || a.Status != 400 {
		t.Errorf("required, modern: %+v", a)
	}
	if a := r.tool(tasking, "echo", nil); a.Result["resultType"] != "task" {
		t.Errorf("required, by one who knows: %+v", a)
	}
}

// The member task came with 2025-11-25: to a client of an earlier revision, which was offered no tasks, it means nothing.
func TestQ6_TaskMemberOfEarlierRevisionsIsIgnored(t *testing.T) {
	r := newRig(t, options{})
	for version, want := range map[string]bool{"2025-11-25": true, "2025-06-18": false, "2025-03-26": false, "2024-11-05": false} {
		s := r.loginAs(version)
		a := r.tool(s, "echo", map[string]any{"message": "x"}, "task", map[string]any{"ttl": 60000})
		if _, task := a.Result["task"]; task != want || a.Error != nil || !want && resultText(a.Result) == "" {
			t.Errorf("%s: %+v", version, a)
		}
	}
}
