package task

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// replicas are two agents with one table, each with its own queue.
func replicas(t *testing.T, open func() Table, o options) (a, b *rig) {
	t.Helper()
	o.table = open()
	a = newRig(t, o)
	o.table = open()
	return a, newRig(t, o)
}

// replicasAnswerInBothEras is what a client sees whose every request reaches another replica.
func replicasAnswerInBothEras(t *testing.T, open func() Table) {
	a, b := replicas(t, open, options{tasks: Options{TaskAfter: 20 * time.Millisecond, ReplicaTimeout: 4 * time.Second}})
	here, there := a.login(), b.login()
	events := a.listen(here)

	// Legacy: state, progress, the result when there is one, the page.
	id := a.task(here, "gate", map[string]any{"name": "1"}, "_meta", map[string]any{"progressToken": "p"})
	<-a.started
	b.until("the other replica sees how far it is", func() bool {
		got := b.call(there, "tasks/get", map[string]any{"taskId": id})
		return got.Result["status"] == "working" && got.Result["statusMessage"] == "2 of 4 under way"
	})
	b.until("its page shows the log", func() bool {
		status, page := b.get("/tasks/" + id)
		return status == 200 && page["status"] == "running" && strings.Contains(fmt.Sprint(page["log"]), "progress 2 of 4")
	})
	result := make(chan answer, 1)
	go func() {
		result <- b.exchange(t.Context(), there, 7001, "tasks/result", map[string]any{"taskId": id}, nil)
	}()
	a.gate("1") <- "done"
	if got := <-result; resultText(got.Result) != "done" {
		t.Errorf("tasks/result: %+v", got)
	}
	if _, page := b.get("/getTaskStatus?taskId=" + id); page["status"] != "completed" || resultText(page["result"].(map[string]any)) != "done" {
		t.Errorf("the page: %v", page)
	}

	// Legacy: cancelled at the other replica, which its own session hears of.
	id = a.task(here, "gate", map[string]any{"name": "2"})
	<-a.started
	if got := b.call(there, "tasks/cancel", map[string]any{"taskId": id}); got.Result["status"] != "cancelled" {
		t.Errorf("tasks/cancel: %+v", got)
	}
	a.until("the handler ended", func() bool { return a.queue.Status().Running == 0 })
	for heard := false; !heard; {
		m := <-events
		p, _ := m["params"].(map[string]any)
		heard = m["method"] == "notifications/tasks/status" && p["taskId"] == id && p["status"] == "cancelled"
	}
	assert.Equalf(t, a.status(here, id), "cancelled", "where it ran")
	if got := b.call(there, "tasks/cancel", map[string]any{"taskId": id}); got.Error == nil || !strings.Contains(got.Error.Message, "cancelled") {
		t.Errorf("once more: %+v", got)
	}

	// Modern: polled, answered and cancelled at the other replica.
	id = a.modernTask("input", nil)
	asks, _ := b.detail(id, "input_required")["inputRequests"].(map[string]any)
	if asks["a"] == nil || asks["b"] == nil {
		t.Fatalf("questions: %v", asks)
	}
	answer := func(to *rig, key string) {
		t.Helper()
		if got := to.call(tasking, "tasks/update", map[string]any{"taskId": id, "inputResponses": map[string]any{key: map[string]any{"action": "accept", "content": map[string]any{"name": key}}}}); got.Error != nil {
			t.Errorf("tasks/update: %+v", got)
		}
		for _, r := range []*rig{a, b} { // whoever asks next must not see it again
			asks, _ := r.call(tasking, "tasks/get", map[string]any{"taskId": id}).Result["inputRequests"].(map[string]any)
			if asks[key] != nil {
				t.Errorf("%s is answered, and still asked: %v", key, asks)
			}
		}
	}
	answer(b, "a")
	answer(a, "b")
	b.until("it asks again", func() bool {
		asks, _ := b.detail(id, "input_required")["inputRequests"].(map[string]any)
		return asks["a-2"] != nil && asks["b"] == nil
	})
	answer(b, "a-2")
	if got := b.detail(id, "completed"); !strings.Contains(fmt.Sprint(got["result"]), "accept") {
		t.Errorf("%v", got)
	}
	id = a.modernTask("gate", map[string]any{"name": "3"})
	<-a.started
	if got := b.call(tasking, "tasks/cancel", map[string]any{"taskId": id}); got.Error != nil {
		t.Errorf("tasks/cancel: %+v", got)
	}
	b.detail(id, "cancelled")
	a.until("the handler ended", func() bool { return a.queue.Status().Running == 0 })
	a.detail(id, "cancelled")

	// For clients that know no tasks.
	s, _ := a.tool(sessionless, "echo", map[string]any{"x": 1}, "_meta", map[string]any{"async": true}).Result["structuredContent"].(map[string]any)
	b.until("the page has its result", func() bool {
		_, page := b.get("/task?taskId=" + s["taskId"].(string))
		return page["status"] == "completed"
	})
}

// unplug takes a replica off what all share.
func unplug(t *testing.T, r *rig) {
	t.Helper()
	switch table := r.tasks.table.(type) {
	case *kvTable:
		table.conn.Close()
	case *sqlTable:
		require.NoError(t, table.db.Close())
	}
}

// A replica that is lost with its tasks, whose jobs were in its own memory.
func lostReplicaIsInterruptedOnce(t *testing.T, open func() Table) {
	o := options{tasks: Options{ReplicaTimeout: time.Second}}
	o.table = open()
	a := newRig(t, o)
	s := a.login()
	ended, running := a.task(s, "echo", map[string]any{"x": 1}), a.task(s, "gate", map[string]any{"name": "lost"})
	<-a.started
	asks := a.modernTask("input", nil)
	o.table = open()
	b := newRig(t, o)
	there := b.login()
	if got := b.status(there, running); got != "working" {
		t.Errorf("one that starts says %q of what another one runs", got)
	}
	b.until("it has ended at the other one", func() bool { return b.status(there, ended) == "completed" })
	unplug(t, a) // which is all that others see of a process that is killed
	for _, id := range []string{running, asks} {
		if got := b.call(there, "tasks/result", map[string]any{"taskId": id}); got.Error == nil || got.Error.Data["kind"] != "interrupted" {
			t.Errorf("the result: %+v", got)
		}
		if _, page := b.get("/tasks/" + id); page["status"] != "failed" || !strings.Contains(fmt.Sprint(page["error"]), "interrupted") {
			t.Errorf("the page: %v", page)
		}
	}
	if got := b.call(there, "tasks/result", map[string]any{"taskId": ended}); resultText(got.Result) != `{"x":1}` {
		t.Errorf("what was over: %+v", got)
	}
	// It knows that it is cut off, and shows no end of its own.
	a.gate("lost") <- "too late"
	a.until("the handler ended", func() bool { return a.queue.Status().Running == 0 })
	if got := a.status(s, running); got != "working" {
		t.Errorf("the lost replica says %q of what it cannot store", got)
	}
}

// The limits are those of all replicas together.
func replicasShareTheirLimits(t *testing.T, open func() Table) {
	a, b := replicas(t, open, options{tenant: true, tasks: Options{MaxTasks: 6}})
	both := []*rig{a, b}
	total := func(n int) {
		t.Helper()
		for _, r := range both {
			r.until("each counts what all have", func() bool {
				require.NoError(t, r.tasks.recount())
				count, _, _ := r.kept()
				return count == n
			})
		}
	}
	for i := range 6 {
		if both[i%2].asyncTask("greedy", "echo", nil) == "" {
			t.Fatalf("task %d was refused", i)
		}
		total(i + 1)
	}
	for _, r := range both {
		assert.Equalf(t, r.asyncTask("greedy", "echo", nil), "", "one too many was taken")
	}
	if b.asyncTask("other", "echo", nil) == "" {
		t.Error("another tenant was refused")
	}
	total(6)
	a.until("it knows who gave way", func() bool { return a.tasks.table.usageByTenant()["greedy"].tasks == 5 })
}
