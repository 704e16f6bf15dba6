// Package task runs tool calls that outlive their request. A call becomes a task
//
//   - in the legacy era when its params carry task (tasks of revision 2025-11-25),
//   - in the modern era, for clients that declare the extension io.modelcontextprotocol/tasks with the call, when the
//     tool wants it or is not done after a moment,
//   - in either era when its params._meta has "async": true, for clients that know neither: they get a tool result with
//     {"taskId", "status", "pollInterval"} and poll GET /tasks/{id}.
//
// A task waits in the same queue as every other call. It is kept in the store until its time to live is over, and what
// a restart interrupts is reported as failed.
//
//	s := task.New(task.Options{Table: task.SQL(db, logger)})
//	engine.AddTools(s.Declare(tools...)...)                              // before the server begins
//	err := s.Open(ctx)                                                   // the table is read; before the first request
//	front.New(front.Options{Engine: engine, Use: []front.Middleware{s.Middleware(), queue}}) // it stands before the queue
//	…
//	err = s.Close(ctx) // after the queue was drained, before the store closes
//
// A call has three lives. It runs (Service.runs, type task); it may become a task (claim), which clients know by its id; and its record is in a
// Table, that of this process (SQL with SQLite) or one that replicas share (SQL with PostgreSQL, NATS). While it runs here the type task knows most
// of it; once it is over the table alone does. In a shared table of several ends the first counts, wherever it came from: a replica shows no
// end that the table does not have.
//
// call.go makes tasks of calls, run.go runs them, live.go is one that runs, end.go how it ends and how that is kept; methods.go answers tasks/*, http.go
// those who speak no MCP; room.go decides who may have how many; replica.go is what replicas do for each other; table.go is what a table must do, sql.go,
// sqlshare.go and the files of kv are the two that there are.
//
// Specification: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks, and SEP-2663.
package task

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
)

const (
	// Extension is the name under which both sides declare tasks in 2026-07-28.
	Extension = "io.modelcontextprotocol/tasks"
	// MetaInput is the member of a tool's _meta that, with the value "before", is Policy.InputFirst.
	MetaInput = "mcphud/taskInput"
	// MetaAsync is the member of a call's _meta that, when true, asks for a task and gets its id as a tool result.
	MetaAsync = "async"

	metaRelatedTask = "io.modelcontextprotocol/related-task"
)

// Support is whether calls of a tool may run as tasks, with the values of Tool.execution.taskSupport.
type Support = mcp.TaskSupport

// Policy is how calls of a tool become tasks.
type Policy struct {
	Support Support // "" is forbidden
	// InputFirst: a call that needs input is answered with input_required until it has that, and can become a task only
	// then. Otherwise it becomes a task and asks for the input itself.
	InputFirst bool
	// Async lets a tool with Support Forbidden run as a task all the same for a client that asks by MetaAsync, whatever version it speaks.
	Async bool
}

// Options of a Service. Zero values are the defaults.
type Options struct {
	Table          Table         // keeps tasks over a restart; required
	Default        Policy        // for tools that declare nothing
	TaskAfter      time.Duration // after which a modern call that may become a task does; 250 ms
	TTL            time.Duration // how long a task is kept if its client does not say; 1 h
	MaxTTL         time.Duration // the longest time that a client gets; 24 h
	Poll           time.Duration // how long clients are asked to wait before they look again; 1 s
	MaxTasks       int           // tasks that are kept; 1,000
	MaxBytes       int64         // of all results and logs that are kept; 256 MiB
	MaxValue       int64         // of one result; 16 MiB
	GracePeriod    time.Duration // after its end, in which a task does not give way to others of its tenant; 1 min
	ReplicaTimeout time.Duration // without a sign of which a replica counts as gone; 10 s
	Logger         *slog.Logger  // slog.Default()
	// Queued reports whether the job of a task still waits or runs at some replica; nil where jobs end with the agent that took the
	// call. Cancel ends such a job.
	Queued func(ctx context.Context, id string) (bool, error)
	Cancel func(ctx context.Context, id string, cause error)
}

// Service has all tasks. Safe for concurrent use. A task's lock may be taken while mu is held, never the other way round; no statement of the
// table runs under either.
type Service struct {
	o       Options       // completed
	table   Table         // locks for itself
	replica string        // this one, by a name of its own at each start
	stop    chan struct{} // closed by Close

	mu           sync.Mutex         // guards what follows, but for leave, steady and work
	tools        map[string]Policy  // by Declare; others have Options.Default
	runs         map[*task]struct{} // calls that run, tasks or not yet
	live         map[string]*task   // tasks that run, or that the store did not take
	unsavedUsage map[string]usage   // by tenant, what the table does not have, or not yet
	sweeper      *time.Timer        // removes what has expired; nil before the first task. Counted in work while it is armed
	next         time.Time          // when it runs, zero if it does not
	closed       bool               // no call may begin
	leave        sync.Once          // of the table
	steady       time.Time          // since when heartbeats succeed, zero while they fail; only heartbeat has it
	work         sync.WaitGroup     // of runs, of the sweeper, and of what else goes on
}

// New makes a service. It starts nothing and opens nothing.
func New(o Options) *Service {
	o.TaskAfter = cmp.Or(o.TaskAfter, 250*time.Millisecond)
	o.TTL = cmp.Or(o.TTL, time.Hour)
	o.MaxTTL = cmp.Or(o.MaxTTL, 24*time.Hour)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.MaxTasks = cmp.Or(o.MaxTasks, 1000)
	o.MaxBytes = cmp.Or(o.MaxBytes, 256<<20)
	o.MaxValue = cmp.Or(o.MaxValue, 16<<20)
	o.GracePeriod = cmp.Or(o.GracePeriod, time.Minute)
	o.ReplicaTimeout = cmp.Or(o.ReplicaTimeout, 10*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return &Service{
		o: o, table: o.Table, replica: rand.Text(), stop: make(chan struct{}),
		tools: map[string]Policy{}, runs: map[*task]struct{}{}, live: map[string]*task{}, unsavedUsage: map[string]usage{},
	}
}

// Declare learns from tools how their calls become tasks (execution.taskSupport, and MetaInput in _meta), and returns
// them without execution, as the engine has to get them: it would mind tasks itself otherwise. Clients of 2025-11-25 see
// execution.taskSupport in tools/list all the same.
func (s *Service) Declare(tools ...server.ServerTool) []server.ServerTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]server.ServerTool, len(tools))
	for i, t := range tools {
		if e := t.Tool.Execution; e != nil {
			p := Policy{Support: e.TaskSupport}
			if m := t.Tool.Meta; m != nil {
				p.InputFirst = m.AdditionalFields[MetaInput] == "before"
			}
			s.tools[t.Tool.Name] = p
			t.Tool.Execution = nil
		}
		out[i] = t
	}
	return out
}

// policy is that of a tool; its Support is never "".
func (s *Service) policy(tool string) Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.tools[tool]
	if !ok {
		p = s.o.Default
	}
	p.Support = cmp.Or(p.Support, mcp.TaskSupportForbidden)
	return p
}

// Open makes ready what the store has: tasks that a restart interrupted become failed, and those whose time is over go. Close
// ends what it starts where replicas share a table.
func (s *Service) Open(ctx context.Context) error {
	if err := s.table.open(ctx, s.replica, s); err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	first, err := s.table.expire(store.Derived(ctx))
	if err != nil {
		return fmt.Errorf("tasks: %w", err)
	}
	if s.table.isShared() {
		if err := s.heartbeat(); err != nil {
			return fmt.Errorf("tasks: %w", err)
		}
		s.work.Go(s.runHeartbeats)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !first.IsZero() {
		s.arm(first)
	}
	return nil
}

// Close ends what still runs, which is reported as interrupted, and returns when it has ended, or a second after ctx has
// with an error. Call it after the queue was drained, and before the store closes.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	if s.sweeper != nil && s.sweeper.Stop() {
		s.work.Done()
	}
	runs := maps.Clone(s.runs)
	s.mu.Unlock()
	for t := range runs {
		t.cancel(errInterrupted())
	}
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		s.leave.Do(s.table.close)
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case <-done:
		return nil
	case <-grace.C:
		return fmt.Errorf("tasks: %d calls still running: %w", len(runs), context.Cause(ctx))
	}
}

// errInterrupted is how a task ends that nobody runs any more. Nobody knows how far it came, so the text says to look before it is called again.
func errInterrupted() *jsonrpc.RequestError {
	return jsonrpc.Errorf(jsonrpc.KindInterrupted, "interrupted: the agent stopped before the task was done; check what it did before calling again")
}

// arm makes the sweeper run at the given time, unless it does so earlier; s.mu is held.
func (s *Service) arm(at time.Time) {
	if s.closed || !s.next.IsZero() && !at.Before(s.next) {
		return
	}
	if s.sweeper == nil || !s.sweeper.Stop() {
		s.work.Add(1)
	}
	s.next = at
	s.sweeper = time.AfterFunc(max(at.Sub(s.table.now()), time.Second), s.sweep)
}

// sweep removes the tasks whose time is over.
func (s *Service) sweep() {
	defer s.work.Done()
	s.mu.Lock()
	s.next = time.Time{}
	s.mu.Unlock()
	now := s.table.now()
	next := s.forget(now)
	ctx, cancel := statement()
	defer cancel()
	first, err := s.table.expire(ctx)
	if err != nil {
		s.o.Logger.Error("cannot remove expired tasks", "err", err)
		first = now.Add(time.Minute)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range []time.Time{next, first} {
		if !at.IsZero() {
			s.arm(at)
		}
	}
}

// forget removes the live tasks whose time is over, and tells when the next one's is.
func (s *Service) forget(now time.Time) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.live {
		if now.Before(t.rec.Expires) {
			if next.IsZero() || t.rec.Expires.Before(next) {
				next = t.rec.Expires
			}
			continue
		}
		s.drop(id, t)
		t.cancel(jsonrpc.Errorf(jsonrpc.KindTimeout, "the task's ttl has expired").With("phase", "running"))
	}
	return next
}
