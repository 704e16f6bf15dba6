package task

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func (r *rig) kept() (count, live int, bytes int64) {
	r.tasks.mu.Lock()
	defer r.tasks.mu.Unlock()
	_, total := r.tasks.usage()
	return total.tasks, len(r.tasks.live), total.bytes
}

// heldTable takes no end before it is let.
type heldTable struct {
	Table
	asked chan struct{}
	let   chan struct{}
}

func (h heldTable) settle(ctx context.Context, r *record) (*record, bool, error) {
	h.asked <- struct{}{}
	<-h.let
	return h.Table.settle(ctx, r)
}

// What a client was told about the end is what the next process says as well, so nothing is told before the store has it.
func TestAnEndIsOneOnceItIsKept(t *testing.T) {
	db, err := store.Open("")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	h := heldTable{SQL(db, quiet), make(chan struct{}, 1), make(chan struct{})}
	r := newRig(t, options{table: h})
	s := r.login()
	id := r.task(s, "gate", map[string]any{"name": "x"})
	<-r.started
	r.gate("x") <- "done"
	<-h.asked
	early, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := r.tasks.findVisible(early, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it is found while the store does not know its end: %v", err)
	}
	close(h.let)
	r.until("it is completed", func() bool { return r.status(s, id) == "completed" })
}

func TestTasksExpire(t *testing.T) {
	t.Parallel()
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
	assert.Equalf(t, r.status(s, stays), "completed", "one that had time left is gone")
	var rows int
	if err := r.db.QueryRow(`SELECT count(*) FROM task_records`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestTasksAreBounded(t *testing.T) {
	r := newRig(t, options{tasks: Options{MaxTasks: 3, TaskAfter: time.Nanosecond, MaxValue: 1000}})
	s := r.login()
	for range 3 {
		r.task(s, "echo", nil)
	}
	a := r.tool(s, "echo", nil, "task", map[string]any{})
	if a.Error == nil || a.Error.Code != -32002 || a.Error.Data["retryAfterMs"] == nil {
		t.Errorf("one too many: %+v", a)
	}
	if a := r.tool(tasking, "chatty", nil); resultText(a.Result) != "said" {
		t.Errorf("whoever need not become a task gets the answer: %+v", a)
	}

	r = newRig(t, options{tasks: Options{MaxValue: 1000, MaxBytes: 800}})
	s = r.login()
	id := r.task(s, "big", map[string]any{"n": 5000})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); a.Error == nil || a.Error.Data["kind"] != "too_large" {
		t.Errorf("%+v", a)
	}
	id = r.task(s, "big", map[string]any{"n": 800})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); len(resultText(a.Result)) != 800 {
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
	require.NoError(t, r.db.Close())
	r.gate("midway") <- "done"
	if a := r.call(s, "tasks/result", map[string]any{"taskId": midway}); resultText(a.Result) != "done" {
		t.Errorf("%+v", a)
	}
	fresh := r.task(s, "echo", map[string]any{"x": 1})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": fresh}); resultText(a.Result) != `{"x":1}` {
		t.Errorf("%+v", a)
	}
	for _, id := range []string{midway, fresh} {
		assert.Equal(t, r.status(s, id), "completed")
	}
	a := r.call(s, "tasks/get", map[string]any{"taskId": "NOPE"})
	if a.Error == nil || a.Error.Code != -32603 || strings.Contains(a.Error.Message, "sql") {
		t.Errorf("what cannot be looked up is no unknown task: %+v", a)
	}
}

func TestLogIsATail(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	id := r.task(s, "chatty", map[string]any{"n": 40, "width": 5001})
	if a := r.call(s, "tasks/result", map[string]any{"taskId": id}); resultText(a.Result) != "said" {
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
	require.NoError(t, r.tasks.Close(ctx))
	for _, id := range []string{parked, running} {
		rec, err := r.tasks.table.get(t.Context(), id)
		if err != nil || rec.State != failed || !strings.Contains(string(rec.Error.Data), "interrupted") {
			t.Errorf("%+v %v", rec, err)
		}
	}
	if a := r.tool(s, "echo", nil, "task", map[string]any{}); a.Error == nil || a.Error.Data["kind"] != string(jsonrpc.KindInterrupted) {
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

// asyncTask starts a call of a tenant that becomes a task, and waits until it is done; "" if that was refused.
func (r *rig) asyncTask(tenant, tool string, args map[string]any) string {
	r.t.Helper()
	a := r.tool(sessionless.with("X-Tenant", tenant), tool, args, "_meta", map[string]any{"async": true})
	if a.Error != nil {
		if a.Error.Code != -32002 || a.Error.Data["retryAfterMs"] == nil || !strings.Contains(a.Error.Message, "no room for more tasks: ") {
			r.t.Errorf("refused otherwise than for want of room: %+v", a.Error)
		}
		return ""
	}
	id, _ := a.Result["structuredContent"].(map[string]any)["taskId"].(string)
	r.until("it is done", func() bool {
		_, page := r.get("/tasks/"+id, "X-Tenant", tenant)
		r.tasks.mu.Lock()
		defer r.tasks.mu.Unlock()
		return page["status"] == "completed" && len(r.tasks.runs) == 0
	})
	return id
}

func TestX2_OneTenantsTasksDoNotShutOutOthers(t *testing.T) {
	for name, o := range map[string]options{"store": {}, "memory": {memory: true}} {
		t.Run(name, func(t *testing.T) {
			o.tenant, o.tasks.MaxTasks = true, 8
			r := newRig(t, o)
			var greedy []string
			for range 8 {
				greedy = append(greedy, r.asyncTask("greedy", "echo", nil))
			}
			assert.Equalf(t, r.asyncTask("greedy", "echo", nil), "", "one too many of its own was taken")
			for i := range 4 {
				if r.asyncTask("other", "echo", nil) == "" {
					t.Fatalf("task %d of another tenant was refused", i)
				}
				for n, id := range greedy {
					if status, _ := r.get("/tasks/"+id, "X-Tenant", "greedy"); (status == 404) != (n <= i) {
						t.Errorf("%d of others: task %d of the greedy tenant is %d; the oldest gives way", i+1, n, status)
					}
				}
			}
			if r.asyncTask("other", "echo", nil) != "" || r.asyncTask("greedy", "echo", nil) != "" {
				t.Error("with the room shared alike, a tenant takes some of the other's")
			}
			if !o.memory {
				again := New(Options{Table: SQL(r.db, quiet)})
				require.NoError(t, again.Open(t.Context()))
				had, _ := r.tasks.usage()
				if has, _ := again.usage(); !maps.Equal(has, had) {
					t.Errorf("%v is used, after a restart %v", had, has)
				}
				assert.NoError(t, again.Close(t.Context()))
			}
		})
	}
}

// What ended a while ago gives way to the tenant's own tasks too, but not where that would not help: what is not over takes its share.
func TestX2_OldTasksGiveWayToThoseOfTheSameTenant(t *testing.T) {
	for name, o := range map[string]options{"store": {}, "memory": {memory: true}} {
		t.Run(name, func(t *testing.T) {
			o.tenant, o.tasks.MaxTasks, o.tasks.GracePeriod = true, 20, time.Nanosecond
			r := newRig(t, o)
			var ids []string
			there := func(id string) bool {
				status, _ := r.get("/tasks/"+id, "X-Tenant", "only")
				return status != 404
			}
			for i := range 24 {
				id := r.asyncTask("only", "echo", nil)
				if id == "" {
					t.Fatalf("task %d was refused", i)
				}
				ids = append(ids, id)
			}
			for i, id := range ids {
				assert.Equalf(t, there(id), (i >= 4), "task %d of 24 is there: the oldest 4 give way", i)
			}
			for i := range minShare {
				if a := r.tool(tasking.with("X-Tenant", "only"), "input", nil); a.Error != nil || a.Result["taskId"] == nil {
					t.Fatalf("%d: %+v", i, a)
				}
			}
			a := r.tool(sessionless.with("X-Tenant", "only"), "echo", nil, "_meta", map[string]any{"async": true})
			if a.Error == nil || !strings.Contains(a.Error.Message, "16 tasks of the tenant are not over") || !there(ids[20]) || there(ids[19]) {
				t.Errorf("%+v; there: %v %v", a, there(ids[19]), there(ids[20]))
			}
		})
	}
}

func TestX2_OneTenantsResultsDoNotShutOutOthers(t *testing.T) {
	r := newRig(t, options{tenant: true, tasks: Options{MaxBytes: 800}})
	for range 2 {
		r.asyncTask("greedy", "big", map[string]any{"n": 500})
	}
	assert.Equalf(t, r.asyncTask("greedy", "echo", nil), "", "with all bytes taken the same tenant gets another task")
	if r.asyncTask("other", "big", map[string]any{"n": 10}) == "" {
		t.Error("another tenant gets none")
	}
}

// Tasks that wait for input are in no queue, and cannot give way.
func TestX2_OneTenantsUnfinishedTasksDoNotShutOutOthers(t *testing.T) {
	r := newRig(t, options{tenant: true, tasks: Options{MaxTasks: 80}})
	asks := func(tenant string) answer { return r.tool(tasking.with("X-Tenant", tenant), "input", nil) }
	for i := range 20 {
		if a := asks("greedy"); a.Error != nil || a.Result["taskId"] == nil {
			t.Fatalf("%d: %+v", i, a)
		}
	}
	if a := asks("greedy"); a.Error != nil || a.Result["resultType"] != "input_required" {
		t.Errorf("beyond its share a call does not become a task: %+v", a)
	}
	a := r.tool(sessionless.with("X-Tenant", "greedy"), "echo", nil, "_meta", map[string]any{"async": true})
	if a.Error == nil || a.Error.Data["kind"] != "queue_full" || a.Error.Message != "20 tasks of the tenant are not over, and it may have 20; wait for one, or cancel one" {
		t.Errorf("one that must be a task: %+v", a)
	}
	if a = asks("other"); a.Error != nil || a.Result["taskId"] == nil {
		t.Errorf("another tenant: %+v", a)
	}
}
