package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// onNATS is a rig with its table at a server, and the connection of that.
func onNATS(t *testing.T, srv *natstest.Server, o options) (*rig, *natsconn.Conn) {
	t.Helper()
	conn := connect(t, srv.URL)
	o.table = NATS(conn, "rig", quiet)
	return newRig(t, o), conn
}

// A job that others may still run is not interrupted.
func TestTasksWhoseJobsAreThereAreNotInterrupted(t *testing.T) {
	t.Parallel()
	srv := natstest.Run(t)
	var mu sync.Mutex
	asked := map[string]int{}
	o := options{tasks: Options{ReplicaTimeout: 500 * time.Millisecond}}
	o.tasks.Queued = func(_ context.Context, id string) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[id]++
		return asked[id] < 5, nil
	}
	a, conn := onNATS(t, srv, o)
	id := a.task(a.login(), "gate", map[string]any{"name": "lost"})
	<-a.started
	b, _ := onNATS(t, srv, o)
	there := b.login()
	conn.Close()
	b.until("it was asked for, and then interrupted", func() bool { return b.status(there, id) == "failed" })
	mu.Lock()
	defer mu.Unlock()
	if asked[id] < 5 {
		t.Errorf("interrupted after asking %d times", asked[id])
	}
}

func TestOutageOfTheServerLosesNoEnd(t *testing.T) {
	t.Parallel()
	srv := natstest.Run(t)
	var log bytes.Buffer
	var mu sync.Mutex
	a, conn := onNATS(t, srv, options{queue: queue.Options{Concurrency: 2}, tasks: Options{Logger: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))}})
	a.tasks.table.(*kvTable).await = time.Millisecond
	s := a.login()
	id := a.task(s, "gate", map[string]any{"name": "1"})
	<-a.started
	srv.Kill()
	a.until("the connection is gone", func() bool { return !conn.Up() })
	if got := a.tool(s, "echo", nil, "task", map[string]any{}); got.Error == nil || got.Error.Code != -32603 || !strings.Contains(got.Error.Message, "cannot keep the task") || got.Error.Data["retryAfterMs"] == nil {
		t.Errorf("a task that cannot be kept: %+v", got)
	}
	if got := a.tool(s, "echo", map[string]any{"x": 2}); resultText(got.Result) != `{"x":2}` {
		t.Errorf("a plain call: %+v", got)
	}
	if got := a.call(s, "tasks/get", map[string]any{"taskId": "UNKNOWN"}); got.Error == nil || !strings.Contains(got.Error.Message, "cannot read the task") {
		t.Errorf("one that cannot be looked up: %+v", got)
	}
	if status, page := a.get("/tasks/UNKNOWN"); status != 500 || !strings.Contains(fmt.Sprint(page["detail"]), "cannot read the task") {
		t.Errorf("its page: %d %v", status, page)
	}
	a.gate("1") <- "done"
	a.until("the handler ended", func() bool { return a.queue.Status().Running == 0 })
	assert.Equalf(t, a.status(s, id), "working", "before its end is stored")
	mu.Lock()
	if !strings.Contains(log.String(), "the connection is lost: "+srv.URL) || strings.Contains(log.String(), "buffer") {
		t.Errorf("the log: %s", log.String())
	}
	mu.Unlock()
	srv.Restart()
	if got := a.call(s, "tasks/result", map[string]any{"taskId": id}); resultText(got.Result) != "done" {
		t.Errorf("afterwards: %+v", got)
	}
	b, _ := onNATS(t, srv, options{})
	if _, page := b.get("/tasks/" + id); page["status"] != "completed" {
		t.Errorf("at another replica: %v", page)
	}
	a.until("new tasks are taken", func() bool { return a.tool(s, "echo", nil, "task", map[string]any{}).Error == nil })
}

// A new task waits for a server that is away, as other calls do.
func TestNewTaskWaitsForTheServer(t *testing.T) {
	t.Parallel()
	srv := natstest.Run(t)
	a, conn := onNATS(t, srv, options{tasks: Options{TaskAfter: time.Nanosecond}})
	a.tasks.table.(*kvTable).await = time.Minute
	srv.Kill()
	a.until("the connection is gone", func() bool { return !conn.Up() })
	got := make(chan answer, 1)
	go func() { got <- a.tool(tasking, "gate", map[string]any{"name": "1"}) }()
	<-a.started
	select {
	case early := <-got:
		t.Fatalf("it did not wait: %+v", early)
	case <-time.After(2 * pause):
	}
	srv.Restart()
	r := <-got
	id, _ := r.Result["taskId"].(string)
	if id == "" {
		t.Fatalf("%+v", r)
	}
	a.gate("1") <- "done"
	a.until("its end is stored", func() bool {
		end, err := a.tasks.table.get(t.Context(), id)
		return err == nil && end != nil && end.State == completed
	})
}

func TestBucketThatIsGoneIsMadeAnew(t *testing.T) {
	t.Parallel()
	srv := natstest.Run(t)
	a, conn := onNATS(t, srv, options{tasks: Options{ReplicaTimeout: time.Second}})
	s := a.login()
	id := a.task(s, "gate", map[string]any{"name": "1"})
	<-a.started
	require.NoError(t, conn.JetStream().DeleteKeyValue(t.Context(), "mcphud_tasks_rig"))
	if got := a.call(s, "tasks/result", map[string]any{"taskId": id}); got.Error == nil || got.Error.Data["kind"] != "interrupted" {
		t.Errorf("a task without its record: %+v", got)
	}
	a.until("the handler ended", func() bool { return a.queue.Status().Running == 0 })
	var fresh string
	a.until("new tasks are taken", func() bool {
		got := a.tool(s, "echo", nil, "task", map[string]any{})
		if task, ok := got.Result["task"].(map[string]any); ok {
			fresh = task["taskId"].(string)
		}
		return fresh != ""
	})
	if got := a.call(s, "tasks/result", map[string]any{"taskId": fresh}); got.Error != nil {
		t.Errorf("%+v", got)
	}
}

func TestRecordOfANewerVersionIsLeftAlone(t *testing.T) {
	srv := natstest.Run(t)
	a, conn := onNATS(t, srv, options{tasks: Options{ReplicaTimeout: 100 * time.Millisecond}})
	kv, err := conn.JetStream().KeyValue(t.Context(), "mcphud_tasks_rig")
	require.NoError(t, err)
	later := fmt.Sprintf(`{"v":2,"id":"NEWER","tenant":"default","state":"running","origin":"X","expires":%d}`, time.Now().Add(time.Hour).UnixMilli())
	rev, err := kv.Put(t.Context(), "s.NEWER", []byte(later))
	require.NoError(t, err)
	if _, err := kv.Put(t.Context(), "s.BAD", []byte("}{")); err != nil {
		t.Fatal(err)
	}
	s := a.login()
	if got := a.call(s, "tasks/get", map[string]any{"taskId": "NEWER"}); got.Error == nil || !strings.Contains(got.Error.Message, "newer version of the agent: upgrade this replica") {
		t.Errorf("%+v", got)
	}
	for _, id := range []string{"NEWER", "BAD"} {
		if _, _, err := a.tasks.Over(t.Context(), id); !errors.Is(err, kit.ErrUnreadable) {
			t.Errorf("%s: %v", id, err)
		}
		if err := a.tasks.Settle(t.Context(), id, nil, nil); !errors.Is(err, kit.ErrUnreadable) {
			t.Errorf("the end of %s: %v", id, err)
		}
	}
	a.until("it counts", func() bool { n, _, _ := a.kept(); return n == 1 })
	if open, err := a.tasks.table.heartbeat(t.Context(), time.Nanosecond); err != nil || len(open) != 0 { // as if its replica was gone
		t.Errorf("to be interrupted: %v, %v", open, err)
	}
	if e, err := kv.Get(t.Context(), "s.NEWER"); err != nil || e.Revision() != rev {
		t.Errorf("it was changed: %v %v", e, err)
	}
	if id := a.task(s, "echo", nil); a.call(s, "tasks/result", map[string]any{"taskId": id}).Error != nil {
		t.Error("others do not work any more")
	}
}

func TestServerWithoutRoomOrRights(t *testing.T) {
	full := natstest.Run(t, func(o *server.Options) { o.JetStreamMaxStore = 1 << 20 })
	var log bytes.Buffer
	var mu sync.Mutex
	a, _ := onNATS(t, full, options{tasks: Options{Logger: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))}})
	s := a.login()
	var refused answer
	for i := 0; i < 40 && refused.Error == nil; i++ {
		refused = a.tool(s, "big", map[string]any{"n": 100 << 10}, "task", map[string]any{"ttl": 60000})
		if task, ok := refused.Result["task"].(map[string]any); ok {
			a.until("it is stored, or cannot be", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return a.status(s, task["taskId"].(string)) == "completed" || strings.Contains(log.String(), "no room")
			})
		}
	}
	mu.Lock()
	said := log.String()
	mu.Unlock()
	assert.Contains(t, said, "no room", "give JetStream more storage")
}

// The rights that the queue's README names are enough, and what is missing of them is said at the start.
func TestRights(t *testing.T) {
	publish := []string{"mcphud.>", "$JS.API.>", "$JS.ACK.>", "$KV.>", "$O.>", "_INBOX.>"}
	may := func(name string, deny ...string) *server.User {
		return &server.User{Username: name, Password: "hunter2", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: publish, Deny: deny},
			Subscribe: &server.SubjectPermission{Allow: []string{"mcphud.>", "_INBOX.>"}, Deny: deny},
		}}
	}
	s := natstest.Run(t, func(o *server.Options) {
		o.Users = []*server.User{may("all"), may("keys", "$KV.>"), may("answers", "mcphud.tasks.>")}
	})
	for user, want := range map[string]string{
		"all": "", "keys": "the user may not use the bucket of tasks", "answers": "the user may not subscribe to mcphud.tasks.rig.",
	} {
		conn, err := natsconn.Open(t.Context(), natsconn.Options{URL: strings.Replace(s.URL, "://", "://"+user+":hunter2@", 1), Logger: quiet})
		require.NoError(t, err)
		tasks := New(Options{Table: NATS(conn, "rig", quiet), Logger: quiet})
		err = tasks.Open(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", user, err)
		}
		assert.NoError(t, tasks.Close(t.Context()))
		conn.Close()
	}
}

type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
