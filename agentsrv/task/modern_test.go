package task

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// detail polls a modern task until it has one of these states.
func (r *rig) detail(id string, states ...string) (got map[string]any) {
	r.t.Helper()
	r.until(fmt.Sprint(states), func() bool {
		got = r.call(tasking, "tasks/get", map[string]any{"taskId": id}).Result
		for _, s := range states {
			if got["status"] == s {
				return true
			}
		}
		return false
	})
	return got
}

func (r *rig) modernTask(name string, args map[string]any) string {
	r.t.Helper()
	a := r.tool(tasking, name, args)
	id, _ := a.Result["taskId"].(string)
	if id == "" || a.Result["resultType"] != "task" {
		r.t.Fatalf("no task: %+v", a)
	}
	return id
}

func TestQ6_ModernTaskWhereACallTakesLong(t *testing.T) {
	r := newRig(t, options{tasks: Options{TaskAfter: time.Hour}})
	if a := r.tool(tasking, "echo", map[string]any{"x": 1}); a.Result["taskId"] != nil || resultText(a.Result) != `{"x":1}` {
		t.Errorf("a call that is done at once: %+v", a)
	}
	if a := r.tool(tasking, "echo", map[string]any{"x": 1}, "task", map[string]any{"ttl": 5}); a.Result["taskId"] != nil || a.Result["task"] != nil {
		t.Errorf("with the parameter of the other era: %+v", a)
	}
	r = newRig(t, options{tasks: Options{TaskAfter: 20 * time.Millisecond}})
	a := r.tool(tasking, "gate", map[string]any{"name": "a"})
	id, _ := a.Result["taskId"].(string)
	if a.Result["status"] != "working" || a.Result["ttlMs"] != 3600_000.0 || a.Result["pollIntervalMs"] != 1000.0 || a.Result["ttl"] != nil || a.Result["requestState"] != nil {
		t.Errorf("%+v", a)
	}
	if got := r.detail(id, "working"); got["result"] != nil || got["resultType"] != "complete" {
		t.Errorf("%v", got)
	}
	r.gate("a") <- "done"
	got := r.detail(id, "completed")
	result, _ := got["result"].(map[string]any)
	if resultText(result) != "done" || strings.Contains(fmt.Sprint(result["_meta"]), "related") {
		t.Errorf("%v", got)
	}
	for _, method := range []string{"tasks/result", "tasks/list"} {
		if a := r.call(tasking, method, map[string]any{"taskId": id}); a.Status != 404 || a.Error.Code != -32601 {
			t.Errorf("%s: %+v", method, a)
		}
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if a := r.call(modern(map[string]any{}), method, map[string]any{"taskId": id, "inputResponses": map[string]any{}}); a.Status != 400 || a.Error.Code != -32021 {
			t.Errorf("%s without the extension: %+v", method, a)
		}
		if a := r.call(tasking, method, map[string]any{"taskId": "nope", "inputResponses": map[string]any{}}); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%s of an unknown task: %+v", method, a)
		}
		if a := r.call(tasking.with("Mcp-Name", "other"), method, map[string]any{"taskId": id, "inputResponses": map[string]any{}}); a.Error == nil || a.Error.Code != -32020 {
			t.Errorf("%s with another name in the header: %+v", method, a)
		}
	}
}

func TestModernTaskFailsAndIsCancelled(t *testing.T) {
	r := newRig(t, options{tasks: Options{TaskAfter: time.Nanosecond}})
	r.tasks.mu.Lock()
	for _, name := range []string{"fail", "panic"} {
		r.tasks.tools[name] = Policy{Support: mcp.TaskSupportRequired}
	}
	r.tasks.mu.Unlock()
	got := r.detail(r.modernTask("fail", nil), "completed", "failed")
	if result, _ := got["result"].(map[string]any); got["status"] != "completed" || result["isError"] != true {
		t.Errorf("what a tool reports is a result: %v", got)
	}
	got = r.detail(r.modernTask("panic", nil), "completed", "failed")
	if e, _ := got["error"].(map[string]any); got["status"] != "failed" || e["code"] != -32603.0 || got["result"] != nil {
		t.Errorf("%v", got)
	}
	id := r.modernTask("gate", map[string]any{"name": "x"})
	<-r.started
	for range 2 { // cancelling what is over says the same
		if a := r.call(tasking, "tasks/cancel", map[string]any{"taskId": id}); fmt.Sprint(a.Result) != "map[resultType:complete]" {
			t.Errorf("%+v", a)
		}
	}
	r.detail(id, "cancelled")
	r.until("the call ended", func() bool { return r.queue.Status().Running == 0 })
}

func TestModernTaskAsksForInputAgainAndAgain(t *testing.T) {
	r := newRig(t, options{})
	id := r.modernTask("input", map[string]any{"kept": true})
	got := r.detail(id, "input_required")
	asks, _ := got["inputRequests"].(map[string]any)
	if len(asks) != 2 || got["requestState"] != nil || asks["a"].(map[string]any)["method"] != "elicitation/create" {
		t.Fatalf("%v", got)
	}
	yes := map[string]any{"action": "accept", "content": map[string]any{"name": "A"}}
	give := func(key string) {
		t.Helper()
		if a := r.call(tasking, "tasks/update", map[string]any{"taskId": id, "inputResponses": map[string]any{key: yes, "nobody asked": yes}}); fmt.Sprint(a.Result) != "map[resultType:complete]" {
			t.Errorf("%+v", a)
		}
	}
	give("a")
	got = r.detail(id, "input_required")
	if asks, _ := got["inputRequests"].(map[string]any); len(asks) != 1 || asks["b"] == nil {
		t.Errorf("after one of two answers: %v", got)
	}
	assert.Equalf(t, r.queue.Status().Running, 0, "a task that waits for input has a slot")
	give("b")
	r.until("a third question, under a key that was not used", func() bool {
		got = r.call(tasking, "tasks/get", map[string]any{"taskId": id}).Result
		asks, _ := got["inputRequests"].(map[string]any)
		return asks["a-2"] != nil
	})
	give("a-2")
	got = r.detail(id, "completed", "failed")
	result, _ := got["result"].(map[string]any)
	if s := resultText(result); !strings.HasPrefix(s, `2{"a":`) || !strings.Contains(s, `"b":`) || !strings.Contains(s[strings.Index(s, "}{"):], `"a":`) {
		t.Errorf("%v", got)
	}
	if a := r.call(tasking, "tasks/update", map[string]any{"taskId": id, "inputResponses": 5}); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("%+v", a)
	}
}

func TestModernInputBeforeTheTask(t *testing.T) {
	r := newRig(t, options{tasks: Options{Default: Policy{Support: mcp.TaskSupportRequired, InputFirst: true}}})
	a := r.tool(tasking, "input", nil)
	if n, _, _ := r.kept(); a.Result["resultType"] != "input_required" || a.Result["taskId"] != nil || n != 0 {
		t.Fatalf("%+v, %d tasks", a, n)
	}
	yes := map[string]any{"action": "accept", "content": map[string]any{"name": "A"}}
	a = r.tool(tasking, "input", nil, "requestState", "2", "inputResponses", map[string]any{"a": yes})
	id, _ := a.Result["taskId"].(string)
	if a.Result["resultType"] != "task" || a.Result["requestState"] != nil {
		t.Fatalf("%+v", a)
	}
	if got := r.detail(id, "completed"); !strings.HasPrefix(resultText(got["result"].(map[string]any)), `2{"a"`) {
		t.Errorf("%v", got)
	}
}

func TestQ7_ModernClientThatLeavesEndsItsCallButNotItsTask(t *testing.T) {
	r := newRig(t, options{tasks: Options{TaskAfter: time.Hour}})
	ctx, leave := context.WithCancel(t.Context())
	r.later(ctx, tasking, 500, "gate", map[string]any{"name": "leaves"})
	<-r.started
	leave()
	r.until("the call ended", func() bool { return r.queue.Status().Running == 0 })
	r.until("no room is taken", func() bool {
		n, _, _ := r.kept()
		r.tasks.mu.Lock()
		defer r.tasks.mu.Unlock()
		return n == 0 && len(r.tasks.runs) == 0
	})
	r = newRig(t, options{tasks: Options{TaskAfter: 20 * time.Millisecond}})
	id := r.modernTask("gate", map[string]any{"name": "stays"})
	<-r.started
	r.gate("stays") <- "done"
	r.detail(id, "completed")
}

func TestQ6_AsyncForClientsThatKnowNoTasks(t *testing.T) {
	r := newRig(t, options{})
	for _, c := range []caller{sessionless, modern(map[string]any{})} {
		first := r.tool(c, "gate", map[string]any{"name": "first"}, "_meta", map[string]any{"async": true})
		a := r.tool(c, "echo", map[string]any{"x": 1}, "_meta", map[string]any{"async": true})
		s, _ := a.Result["structuredContent"].(map[string]any)
		id, _ := s["taskId"].(string)
		if s["status"] != "pending" || s["pollInterval"] != 1000.0 || resultText(a.Result) == "" || a.Result["task"] != nil || id == "" {
			t.Fatalf("%+v", a)
		}
		running, _ := first.Result["structuredContent"].(map[string]any)
		<-r.started
		if _, page := r.get("/tasks/" + running["taskId"].(string)); page["status"] != "running" || page["result"] != nil {
			t.Errorf("%v", page)
		}
		if status, page := r.get("/getTaskStatus?taskId=" + id); status != 200 || page["status"] != "pending" || page["tool"] != "echo" || page["ttl"] != 3600_000.0 {
			t.Errorf("%d %v", status, page)
		}
		r.gate("first") <- "go"
		var page map[string]any
		r.until("completed", func() bool { _, page = r.get("/tasks/" + id); return page["status"] == "completed" })
		if result, _ := page["result"].(map[string]any); resultText(result) != `{"x":1}` {
			t.Errorf("%v", page)
		}
	}
	for _, path := range []string{"/task", "/getTaskStatus", "/getTaskStatus?taskId="} {
		if status, page := r.get(path); status != 400 || page["error"] != "invalid_request" {
			t.Errorf("%s: %d %v", path, status, page)
		}
	}
	for _, path := range []string{"/tasks/nope", "/task?taskId=nope", "/getTaskStatus?taskId=nope", "/tasks/%00"} {
		if status, page := r.get(path); status != 404 || page["error"] != "task_not_found" {
			t.Errorf("%s: %d %v", path, status, page)
		}
	}
	// Nobody could answer the questions of such a task.
	a := r.tool(modern(map[string]any{"elicitation": map[string]any{}}), "input", nil, "_meta", map[string]any{"async": true})
	s, _ := a.Result["structuredContent"].(map[string]any)
	r.until("failed", func() bool { _, page := r.get("/tasks/" + s["taskId"].(string)); return page["status"] == "failed" })
}

func TestX1_TasksOfOthersDoNotExist(t *testing.T) {
	r := newRig(t, options{tenant: true})
	alice := sessionless.with("X-Principal", "alice", "X-Tenant", "a")
	s, _ := r.tool(alice, "echo", nil, "_meta", map[string]any{"async": true}).Result["structuredContent"].(map[string]any)
	id := s["taskId"].(string)
	if status, _ := r.get("/tasks/"+id, "X-Principal", "alice", "X-Tenant", "a"); status != 200 {
		t.Fatalf("her own: %d", status)
	}
	_, unknown := r.get("/tasks/nope", "X-Principal", "alice")
	for _, who := range [][]string{{"X-Principal", "bob", "X-Tenant", "a"}, {"X-Principal", "alice", "X-Tenant", "b"}, {}} {
		if status, page := r.get("/tasks/"+id, who...); status != 404 || fmt.Sprint(page) != fmt.Sprint(unknown) {
			t.Errorf("%v: %d %v", who, status, page)
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			got := r.call(sessionless.with(who...), method, map[string]any{"taskId": id})
			want := r.call(sessionless.with(who...), method, map[string]any{"taskId": "nope"})
			if got.Error == nil || fmt.Sprint(*got.Error) != fmt.Sprint(*want.Error) {
				t.Errorf("%s by %v: %+v", method, who, got)
			}
		}
	}
}

// Who looks at a task that runs sees how far it is, in either era, and no more once it ended.
func TestQ6_ProgressOfATaskIsItsStatusMessage(t *testing.T) {
	r := newRig(t, options{})
	token := map[string]any{"progressToken": "p"}
	legacy := r.login()
	id := r.task(legacy, "gate", map[string]any{"name": "legacy"}, "_meta", token)
	<-r.started
	if got := r.call(legacy, "tasks/get", map[string]any{"taskId": id}).Result["statusMessage"]; got != "2 of 4 under way" {
		t.Errorf("%v", got)
	}
	r.gate("legacy") <- "done"
	r.until("it ended", func() bool { return r.status(legacy, id) == "completed" })
	if got := r.call(legacy, "tasks/get", map[string]any{"taskId": id}).Result["statusMessage"]; got != nil {
		t.Errorf("when it ended: %v", got)
	}
	if _, page := r.get("/tasks/" + id); !strings.Contains(fmt.Sprint(page["log"]), "progress 2 of 4 under way") {
		t.Errorf("%v", page)
	}
	a := r.tool(tasking, "gate", map[string]any{"name": "modern"}, "_meta", token)
	id, _ = a.Result["taskId"].(string)
	<-r.started
	if got := r.detail(id, "working")["statusMessage"]; got != "2 of 4 under way" {
		t.Errorf("modern: %v in %+v", got, a)
	}
	r.gate("modern") <- "done"
	if got := r.detail(id, "completed"); got["statusMessage"] != nil {
		t.Errorf("modern, when it ended: %v", got)
	}
}

// A tool that tells much all the while does not fail because its call became a task in the middle of a notification.
func TestQ6_ACallThatTellsMuchBecomesATask(t *testing.T) {
	r := newRig(t, options{tasks: Options{TaskAfter: 5 * time.Millisecond}})
	became := 0
	for range 10 {
		a := r.tool(tasking, "chatty", map[string]any{"n": 5000}, "_meta", map[string]any{"progressToken": "p"})
		id, ok := a.Result["taskId"].(string)
		if !ok {
			continue // it was faster
		}
		became++
		if got := r.detail(id, "completed", "failed"); got["status"] != "completed" {
			t.Errorf("%v", got)
		}
	}
	if became == 0 {
		t.Error("no call became a task")
	}
}
