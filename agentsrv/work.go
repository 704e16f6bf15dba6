package agentsrv

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/stream"
	"github.com/mcphud/mcphud/agentsrv/task"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// work makes what decides when calls run, and where: in this process, by a queue in memory and tasks in the database; or in any agent of this name, by a
// queue and a table of tasks in NATS. Then the process that took a call and the one that runs it differ, and so whichever learns first how a task ended
// settles it.
func (a *Agent) work() error {
	o := queue.Options{
		Concurrency: a.o.Concurrency, Capacity: a.o.QueueCapacity, Timeout: a.o.Timeout, MaxTimeout: MaxTimeout, ToolTimeout: a.toolTimeout,
		Repeatable: a.repeatable, Logger: a.log,
		// a.front is there before anything is queued.
		Changed: func(queue.Status) { a.front.ResourceUpdated(queue.URI) },
	}
	t := task.Options{Table: task.SQL(a.db, a.log), Default: a.taskPolicy(), Logger: a.log}
	if a.o.Queue.URL == "" {
		a.queue = queue.New(o)
		a.tasks = task.New(t)
		a.closes = append(a.closes, a.closeTasks)
		return a.tasks.Open(context.Background())
	}
	conn, err := a.connect()
	if err != nil {
		return err
	}
	o.TenantRunning = max(a.o.TenantConcurrency, 0)
	shared, err := stream.New(context.Background(), stream.Options{
		Options: o, Conn: conn, Name: a.o.Name, Offer: a.offer,
		Settle: func(ctx context.Context, id string, result json.RawMessage, err error) error {
			return a.tasks.Settle(ctx, id, result, err)
		},
		Over: func(ctx context.Context, id string) (over, known bool, err error) { return a.tasks.Over(ctx, id) },
	})
	if err != nil {
		return err
	}
	a.conn, a.queue = conn, shared
	a.closes = append(a.closes, func() error {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		return shared.Drain(gone) // was drained before, unless the agent never was complete
	})
	t.Table, t.Queued = task.NATS(conn, a.o.Name, a.log), shared.Queued
	t.Cancel = func(ctx context.Context, id string, cause error) {
		if err := shared.Cancel(ctx, id, cause); err != nil {
			a.log.Warn("cannot cancel the call of a task", "task", id, "err", err)
		}
	}
	a.tasks = task.New(t)
	a.closes = append(a.closes, a.closeTasks)
	return a.tasks.Open(context.Background())
}

// connect opens the connection to what agents share.
func (a *Agent) connect() (*natsconn.Conn, error) {
	o := a.o.Queue
	o.Logger = a.log
	if o.Name == "" {
		o.Name = "mcphud agent " + a.o.Name
	}
	conn, err := natsconn.Open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	a.closes = append(a.closes, func() error { conn.Close(); return nil })
	return conn, nil
}

// offer says what tools there are and what they take, as a text that agents of one queue compare: those that offer something else do not share their
// calls.
func (a *Agent) offer() string {
	var all []string
	for name, t := range a.engine.ListTools() {
		schema, _ := json.Marshal(t.Tool.InputSchema) // a schema that JSON cannot hold has no clients
		all = append(all, name+" "+string(schema)+" "+string(t.Tool.RawInputSchema))
	}
	slices.Sort(all)
	return string(a.o.Profile) + "\n" + strings.Join(all, "\n")
}

// repeatable reports whether a call of the tool may run again should the process that runs it be lost: its annotations say that it
// changes nothing, or nothing more.
func (a *Agent) repeatable(tool string) bool {
	t := a.engine.GetTool(tool)
	if t == nil {
		return true // it will not be found again
	}
	is := func(hint *bool) bool { return hint != nil && *hint }
	return is(t.Tool.Annotations.ReadOnlyHint) || is(t.Tool.Annotations.IdempotentHint)
}
