package task

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

func (r *rig) kept() (count, live int, bytes int64) {
	r.tasks.mu.Lock()
	defer r.tasks.mu.Unlock()
	return r.tasks.count, len(r.tasks.live), r.tasks.bytes
}

func TestTasksExpire(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	short := func(name string) string {
		a := r.tool(s, name, map[string]any{"name": "x"}, "task", map[string]any{"ttl": 1})
		return a.Result["task"].(map[string]any)["taskId"].(string)
	}
	done, running, stays := short("echo"), short("gate"), r.task(s, "echo", nil)
	<-r.started
	r.until("the short ones are gone", func() bool { count, live, _ := r.kept(); return count == 1 && live == 0 })
	for _, id := range []string{done, running} {
		if a := r.call(s, "tasks/get", map[string]any{"taskId": id}); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%+v", a)
		}
	}
	r.until("the call that ran ended", func() bool { return r.queue.Status().Running == 0 })
	if r.status(s, stays) != "completed" {
		t.Error("one that had time left is gone")
	}
	var rows int
	if err := r.db.QueryRow(`SELECT count(*) FROM tasks`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestTasksAreBounded(t *testing.T) {
	r := newRig(t, options{tasks: Options{MaxTasks: 3, Patience: time.Nanosecond, MaxValue: 1000}})
	s := r.login()
	for range 3 {
		r.task(s, "echo", nil)
	}
	a := r.tool(s, "echo", nil, "task", map[string]any{})
	if a.Error == nil || a.Error.Code != -32002 || a.Error.Data["retryAfterMs"] == nil {
		t.Errorf("one too many: %+v", a)
	}
	if a := r.tool(tasking, "chatty", nil); text(a.Result) != "said" {
		t.Errorf("whoever need not become a task gets the answer: %+v", a)
	}

	r = newRig(t, options{tasks: Options{MaxValue: 1000, MaxBytes: 800}})
	s = r.login()
	id := r.task(s, "big", map[string]any{"n": 5000})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); a.Error == nil || a.Error.Data["kind"] != "too_large" {
		t.Errorf("%+v", a)
	}
	id = r.task(s, "big", map[string]any{"n": 800})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); len(text(a.Result)) != 800 {
		t.Errorf("%+v", a)
	}
	r.until("the bytes are counted", func() bool { _, _, bytes := r.kept(); return bytes >= 800 })
	if a := r.tool(s, "echo", nil, "task", map[string]any{}); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("with all bytes taken: %+v", a)
	}
}

func TestFullQueueRefusesATaskInsteadOfLosingIt(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	for range 101 {
		r.task(s, "gate", map[string]any{"name": "x"})
	}
	a := r.tool(s, "echo", nil, "task", map[string]any{})
	if a.Error == nil || a.Error.Code != -32002 || a.Error.Data["kind"] != "queue_full" {
		t.Errorf("%+v", a)
	}
	if count, _, _ := r.kept(); count != 101 {
		t.Errorf("%d tasks", count)
	}
}

func TestStoreThatFailsMidwayLosesNoAnswer(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	midway := r.task(s, "gate", map[string]any{"name": "midway"})
	<-r.started
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	r.gate("midway") <- "done"
	if a := r.call(s, "tasks/result", map[string]any{"taskId": midway}); text(a.Result) != "done" {
		t.Errorf("%+v", a)
	}
	fresh := r.task(s, "echo", map[string]any{"x": 1})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": fresh}); text(a.Result) != `{"x":1}` {
		t.Errorf("%+v", a)
	}
	for _, id := range []string{midway, fresh} {
		if r.status(s, id) != "completed" {
			t.Error(r.status(s, id))
		}
	}
	a := r.call(s, "tasks/get", map[string]any{"taskId": "nope"})
	if a.Error == nil || a.Error.Code != -32603 || strings.Contains(a.Error.Message, "sql") {
		t.Errorf("what cannot be looked up is no unknown task: %+v", a)
	}
}

func TestLogIsATail(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	id := r.task(s, "chatty", map[string]any{"n": 40, "width": 5001})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); text(a.Result) != "said" {
		t.Fatalf("%+v", a)
	}
	_, page := r.get("/tasks/" + id)
	log, _ := page["log"].(string)
	if len(log) > tailMax || len(log) < tailMax-4 || !utf8.ValidString(log) || strings.ContainsRune(log, '\ufffd') {
		t.Errorf("%d bytes of log, valid: %v", len(log), utf8.ValidString(log))
	}
}

func TestCloseInterruptsAndRefuses(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	parked := r.modernTask("input", nil)
	r.detail(parked, "input_required")
	running := r.task(s, "gate", map[string]any{"name": "x"})
	<-r.started
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time is left for running calls, but what interrupts them is written down
	if err := r.tasks.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{parked, running} {
		rec, err := r.tasks.table.get(t.Context(), id, time.Now())
		if err != nil || rec.State != failed || !strings.Contains(string(rec.Error.Data), "interrupted") {
			t.Errorf("%+v %v", rec, err)
		}
	}
	if a := r.tool(s, "echo", nil, "task", map[string]any{}); a.Error == nil || a.Error.Data["kind"] != string(jsonrpc.FailInterrupted) {
		t.Errorf("%+v", a)
	}
}

func TestStatusOfTasksIsAnnounced(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	events := r.listen(s)
	id := r.task(s, "gate", map[string]any{"name": "x"})
	<-r.started
	r.gate("x") <- "done"
	for {
		m := <-events
		if p := m["params"].(map[string]any); m["method"] == "notifications/tasks/status" && p["taskId"] == id && p["status"] == "completed" {
			return
		}
	}
}

func TestQ3_SubscribersHearOfTheQueue(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	events := r.listen(s)
	if a := r.call(s, "resources/subscribe", map[string]any{"uri": "status://queue"}); a.Error != nil {
		t.Fatalf("%+v", a)
	}
	r.task(s, "gate", map[string]any{"name": "x"})
	for {
		m := <-events
		if p, _ := m["params"].(map[string]any); m["method"] == "notifications/resources/updated" && p["uri"] == "status://queue" {
			return
		}
	}
}
