package task

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/test/natstest"
)

// reluctant is a table that takes a new task only when it is let to, and not the first end that it is told.
type reluctant struct {
	Table
	take    chan struct{}
	refused atomic.Bool
}

func (r *reluctant) insert(ctx context.Context, task *record) error {
	<-r.take
	return r.Table.insert(ctx, task)
}

func (r *reluctant) settle(ctx context.Context, task *record) (*record, bool, error) {
	if !r.refused.Swap(true) {
		return nil, false, errors.New("not now")
	}
	return r.Table.settle(ctx, task)
}

// A task that is done before its record is made has its end stored however often that takes, and nobody is told of it before: other replicas
// would say for as long as it is kept that it runs.
func TestEndBeforeTheRecordIsStored(t *testing.T) {
	t.Parallel()
	srv := natstest.Run(t)
	conn := connect(t, srv.URL)
	table := &reluctant{Table: NATS(conn, "rig", quiet), take: make(chan struct{})}
	a := newRig(t, options{table: table})
	s := a.login()
	got := make(chan answer, 1)
	go func() { got <- a.tool(s, "echo", map[string]any{"x": 1}, "task", map[string]any{}) }()
	a.until("it is done", func() bool {
		a.tasks.mu.Lock()
		defer a.tasks.mu.Unlock()
		return len(a.tasks.live) == 1 && len(a.tasks.runs) == 0
	})
	close(table.take)
	task, _ := (<-got).Result["task"].(map[string]any)
	id, _ := task["taskId"].(string)
	b, _ := onNATS(t, srv, options{})
	a.until("its end is stored", func() bool {
		told := a.status(s, id)
		end, err := table.get(t.Context(), id)
		if err != nil || end == nil {
			t.Fatal(end, err)
		}
		if told == "completed" && !end.State.isTerminal() {
			t.Fatalf("its client is told that it is %s, and others that it is %s", told, end.State)
		}
		return end.State == completed
	})
	if _, page := b.get("/tasks/" + id); page["status"] != "completed" {
		t.Errorf("at another replica: %v", page)
	}
	if got := a.call(s, "tasks/result", map[string]any{"taskId": id}); resultText(got.Result) != `{"x":1}` {
		t.Errorf("%+v", got)
	}
}

// The end of a task that comes before its client hears of a task is not announced to it.
func TestEndBeforeTheTaskIsToldOf(t *testing.T) {
	t.Parallel()
	table := &reluctant{Table: NATS(connect(t, natstest.Run(t).URL), "rig", quiet), take: make(chan struct{})}
	table.refused.Store(true)
	a := newRig(t, options{table: table})
	s := a.login()
	events := a.listen(s)
	got := make(chan answer, 1)
	go func() { got <- a.tool(s, "echo", nil, "task", map[string]any{}) }()
	a.until("it is done", func() bool {
		a.tasks.mu.Lock()
		defer a.tasks.mu.Unlock()
		return len(a.tasks.live) == 1 && len(a.tasks.runs) == 0
	})
	close(table.take)
	first, _ := (<-got).Result["task"].(map[string]any)
	second := a.task(s, "gate", map[string]any{"name": "x"})
	<-a.started
	a.gate("x") <- "done"
	for id := ""; id != second; {
		m := <-events
		if p, _ := m["params"].(map[string]any); m["method"] == "notifications/tasks/status" && p["status"] == "completed" {
			if id, _ = p["taskId"].(string); id == first["taskId"] {
				t.Error("it was announced")
			}
		}
	}
}
