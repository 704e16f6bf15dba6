package views_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// worker is a server whose tool "work" runs as a task of so many seconds; "index" asks a question before it ends, and "quick" never
// becomes a task.
type worker struct {
	modern bool
	took   time.Duration
	plain  bool // it offers no tasks

	mu   sync.Mutex
	runs []*run
	log  []string // methods about tasks
}

type run struct {
	id, tool, status string
	began            time.Time
	answered         bool
}

func (k *worker) serve(_ context.Context, in io.Reader, out io.Writer) error {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		env, err := jsonrpc.Scan(lines.Bytes())
		if err != nil || env.Kind != jsonrpc.Request {
			continue
		}
		frame := jsonrpc.NewError(env.ID, jsonrpc.CodeMethodNotFound, "Method not found", nil)
		if result := k.answer(env); result == "unknown" {
			frame = jsonrpc.NewError(env.ID, jsonrpc.CodeInvalidParams, "Task not found", nil)
		} else if result != "" {
			frame = jsonrpc.NewResult(env.ID, []byte(result))
		}
		if _, err := out.Write(append(frame, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (k *worker) answer(env jsonrpc.Envelope) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if strings.HasPrefix(env.Method, "tasks/") {
		k.log = append(k.log, env.Method)
	}
	const done = `{"content":[{"type":"text","text":"the work is done"}]}`
	id := jsonrpc.GetString(env.Params, "taskId")
	var r *run
	for _, one := range k.runs {
		if one.id == id {
			r = one
		}
	}
	switch env.Method {
	case "server/discover":
		if k.modern {
			return `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"worker","version":"1"}}}`
		}
	case "initialize":
		if !k.modern {
			offer := `,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
			if k.plain {
				offer = ""
			}
			return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}` + offer + `},"serverInfo":{"name":"worker","version":"1"}}`
		}
	case "tools/list":
		return `{"tools":[{"name":"index","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},{"name":"quick","inputSchema":{"type":"object"}},{"name":"work","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`
	case "tools/call":
		tool := jsonrpc.GetString(env.Params, "name")
		if tool == "quick" || !k.modern && jsonrpc.Get(env.Params, "task") == nil {
			return done
		}
		r = &run{id: fmt.Sprintf("task-%d", len(k.runs)+1), tool: tool, status: "working", began: time.Now()}
		k.runs = append(k.runs, r)
		if k.modern {
			return `{"resultType":"task",` + k.describe(r) + `}`
		}
		return `{"task":{` + k.describe(r) + `}}`
	case "tasks/list":
		var all []string
		for _, r := range k.runs {
			all = append(all, "{"+k.describe(r)+"}")
		}
		return `{"tasks":[` + strings.Join(all, ",") + `]}`
	}
	switch {
	case r == nil && id != "":
		return "unknown"
	case r == nil:
		return ""
	}
	k.step(r)
	switch env.Method {
	case "tasks/get":
		out := k.describe(r)
		if k.modern && r.status == "completed" {
			out += `,"result":` + done
		}
		if k.modern && r.status == "input_required" {
			out += `,"inputRequests":{"who":{"method":"elicitation/create","params":` + person + `}}`
		}
		return `{` + out + `}`
	case "tasks/result":
		return done
	case "tasks/update":
		r.answered = true
		return `{}`
	case "tasks/cancel":
		r.status = "cancelled"
		if k.modern {
			return `{}`
		}
		return `{` + k.describe(r) + `}`
	}
	return ""
}

func (k *worker) step(r *run) {
	switch {
	case r.status == "cancelled":
	case r.tool == "index" && k.modern && !r.answered:
		r.status = "input_required"
	case time.Since(r.began) >= k.took:
		r.status = "completed"
	default:
		r.status = "working"
	}
}

func (k *worker) describe(r *run) string {
	at := r.began.UTC().Format(time.RFC3339)
	ttl, poll := "ttl", "pollInterval"
	if k.modern {
		ttl, poll = "ttlMs", "pollIntervalMs"
	}
	return fmt.Sprintf(`"taskId":%q,"status":%q,"statusMessage":"%d of %d rows","createdAt":%q,"lastUpdatedAt":%q,%q:3600000,%q:1000`,
		r.id, r.status, int(time.Since(r.began).Seconds()), int(k.took.Seconds()), at, at, ttl, poll)
}

func (k *worker) asked(method string) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.log {
		if m == method {
			n++
		}
	}
	return n
}

// workers is a server whose tools run as tasks.
func workers() []tuitest.Option {
	return []tuitest.Option{tuitest.Peer("worker", func(ctx context.Context, in io.Reader, out io.Writer) error {
		return (&worker{took: 5 * time.Second}).serve(ctx, in, out) // which numbers its tasks: each picture has its own
	})}
}

// workshop starts the UI on a worker.
func workshop(t *testing.T, k *worker, more ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("worker", k.serve), tuitest.At("tools", nil), attended(), tuitest.Size(80, 24)}, more...)...)
}

// eras runs a test in both eras, in virtual time.
func eras(t *testing.T, f func(t *testing.T, k *worker)) {
	for name, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, &worker{modern: modern, took: 5 * time.Second}) })
		})
	}
}

// TestTaskFromTheForm: a call is started as a task, runs on while other screens are looked at, and its result is opened.
func TestTaskFromTheForm(t *testing.T) {
	eras(t, func(t *testing.T, k *worker) {
		app := workshop(t, k)
		fillIn(app, "work").Press("ctrl+t").View("tasks").Pane("list").Focused().Some(tuitest.Contains("… working   work"))
		app.Sleep(2 * time.Second)
		app.Pane("detail").Has("task-1", "ttl          1h0m0s, 59m", "every 1s", "2 of 5 rows")
		app.Press("enter").Toast("the task is not over yet")
		app.Press("2").Sleep(3 * time.Second).Toast("task work: completed")
		app.Press("8", "]").View("tasks").Pane("list").Some(tuitest.Contains("✓ completed work"))
		app.Press("enter").Pane("detail").Has("the work is done")
		app.Press("tab", ":forget").Pane("list").Has("No tasks yet")
		app.Pane("detail").HasNot("the work is done")
	})
}

// TestCallBecomesATask: an ordinary call waits for the task that it became, says so, and can be left.
func TestCallBecomesATask(t *testing.T) {
	eras(t, func(t *testing.T, k *worker) {
		app := workshop(t, k)
		tool := "work"
		if !k.modern {
			tool = "index" // has to run as a task
		}
		fillIn(app, tool).Press("ctrl+g").Sleep(1500 * time.Millisecond)
		app.Pane("result").Has("… working", "made a task of the call: task-1", "1 of 5 rows", "ctrl+t leaves it to Tasks")
		app.Sleep(5 * time.Second).Pane("result").Has("the work is done")

		fillIn(app, tool).Press("ctrl+g").Sleep(1500 * time.Millisecond).Press("ctrl+t").View("tasks").Pane("list").Some(tuitest.Contains("… working   " + tool).Selected())
		assert.Equalf(t, k.asked("tasks/cancel"), 0, "tasks were cancelled")
		app.Sleep(5 * time.Second).Press("enter").Pane("detail").Has("the work is done")

		fillIn(app, tool).Press("ctrl+g").Sleep(1500 * time.Millisecond).Press("x").Sleep(time.Second).Pane("result").Has("⊘ cancelled")
		assert.Equalf(t, k.asked("tasks/cancel"), 1, "tasks were cancelled")
	})
}

// TestCancelATask asks before a task is cancelled.
func TestCancelATask(t *testing.T) {
	eras(t, func(t *testing.T, k *worker) {
		app := workshop(t, k)
		fillIn(app, "work").Press("ctrl+t").View("tasks").Press("x")
		app.Confirm("Cancel the task task-1?").Says("work at worker").Yes()
		app.Toast("was asked to cancel").Sleep(2 * time.Second).Pane("list").Some(tuitest.Contains("⊘ cancelled work"))
	})
}

// TestTasksLinear: in linear mode tasks have numbers, and a filter that leaves none says so.
func TestTasksLinear(t *testing.T) {
	k := &worker{runs: []*run{{id: "task-1", tool: "work", status: "working"}}}
	inLinear(t, k.serve, func(c *console) {
		c.enter("")
		c.enter(":tasks")
		assert.Contains(t, c.enter("r"), "1) task-1  … working")
		assert.Contains(t, c.enter("/nomatch"), `nothing matches "nomatch"`)
	})
}

// TestTaskWaitsForAnAnswer: what a task asks is in the inbox, and it goes on with the answer.
func TestTaskWaitsForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &worker{modern: true, took: 5 * time.Second}
		app := workshop(t, k)
		fillIn(app, "index").Press("ctrl+t").View("tasks").Sleep(2 * time.Second)
		app.Pane("list").Some(tuitest.Contains("? asks      index"))
		app.Pane("detail").Has("waits for an answer: press 8")
		wait := 2 * config.DefaultMaxTimeout // which bounds a call; a screen that draws its clock each second takes a while for an hour
		if budget.All() {
			wait = time.Hour
		}
		app.Sleep(wait).Press("8").View("inbox").Pane("list").Has("elicitation", "index")
		app.Sleep(time.Second).Press("f6").Sleep(5 * time.Second)
		if n := k.asked("tasks/update"); n != 1 {
			t.Errorf("answered %d times", n)
		}
		app.Press("8", "]").View("tasks").Pane("list").Some(tuitest.Contains("✓ completed index"))
	})
}

// TestTasksStates: without a task the screen says how to get one; one of another session has a clear message.
func TestTasksStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := workshop(t, &worker{plain: true})
		fillIn(app, "work").Press("ctrl+t").Toast("does not run as a task")
		app.Press("q", "8", "]").View("tasks").Pane("list").Has("does not offer any", "Press 2")
	})
	eras(t, func(t *testing.T, k *worker) {
		k.runs = []*run{{id: "from-elsewhere", tool: "work", status: "working", began: time.Now()}}
		app := workshop(t, k)
		app.Press("8", "]").View("tasks").Pane("list").Has("No tasks yet", "ctrl+t", "a to take up")
		app.Press("a").Type("of-another-session").Press("enter").Toast("the server knows no such task").Press("esc")
		if k.modern {
			app.Press("a").Type("from-elsewhere").Press("enter")
		} else {
			app.Press("r")
		}
		app.Pane("list").Some(tuitest.Contains("… working   from-elsewhere"))
		app.Press("/").Type("zebra").Press("enter").Pane("list").Has("Nothing matches")
		app.Press("esc").Sleep(6 * time.Second).Press("enter").Pane("detail").Has("the work is done")
	})
	synctest.Test(t, func(t *testing.T) {
		app := workshop(t, &worker{}, tuitest.NoConnect())
		app.Press("8", "]").View("tasks").Pane("list").Has("not connected; press 1")
	})
}

// TestE2ETasks: server-everything's research is a task by itself; what it asks is answered in the inbox meanwhile.
func TestE2ETasks(t *testing.T) {
	for name, server := range map[string]func(*testing.T) config.Server{
		"stdio": func(t *testing.T) config.Server { return peertest.Everything(t) },
		"http":  func(t *testing.T) config.Server { return peertest.EverythingHTTP(t).Server },
	} {
		t.Run(name, func(t *testing.T) {
			app := open(t, server(t), attended())
			form(app, "simulate-research-query")
			app.Press("ctrl+r", "delete", "delete").Type(`{"topic":"mcp","ambiguous":true}`).Press("ctrl+t").View("tasks")
			app.Pane("list").Some(tuitest.Contains("? asks      simulate-research-query"))
			app.Press("8").View("inbox").Pane("list").Has("elicitation", "simulate-res")
			time.Sleep(2 * time.Second) // keys that come too soon answer nothing
			app.Press("f6").Press("8", "]").View("tasks").Pane("list").Some(tuitest.Contains("✓ completed simulate-research-query"))
			app.Press("enter").Pane("detail").Has("Research Report: mcp")
			intact(t, app)
		})
	}
}
