package conform

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	ext "github.com/mcphud/mcphud/session/offer/tasks"
)

// tasks try the rules of tasks: those of 2025-11-25, which are experimental, and the extension of the modern era. Which of the two a trial is about
// conform.yaml says by since and until; those without either try both.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
var tasks = []trial{
	{"task-unknown", shared, tryTaskUnknown},
	{"task-undeclared", shared, tryTaskUndeclared},
	{"task-list", shared, tryTaskList},
	{"task-life", shared, tryTaskLife},
	{"task-forbidden", shared, tryTaskForbidden},
	{"task-required", shared, tryTaskRequired},
	{"task-capability", shared, tryTaskCapability},
}

// withTasks is what a client of the modern era declares that knows the extension.
const withTasks = `{"extensions":{"` + ext.Extension + `":{}}}`

// requireTasks returns a skip where the server does not declare tasks.
func (p *probe) requireTasks() error {
	if p.conn.isModern() {
		return p.require("extensions", ext.Extension)
	}
	return p.require("tasks")
}

// taskRequest makes a request about tasks, with the capability that a client has to declare for it: in the modern era each request does.
func (p *probe) taskRequest(method, params string) (answer, error) {
	if !p.conn.isModern() {
		return p.call(method, params)
	}
	with, err := jsonrpc.Update([]byte(params), jsonrpc.Set([]byte("{"+metaOf(p.revision, withTasks)+"}"), "_meta"))
	if err != nil { // it is an object
		return answer{}, err
	}
	return p.exchange(string(jsonrpc.NewRequest(p.conn.id(), method, with)))
}

// tryTaskUnknown goes easy on tasks/cancel of the extension: what clients do for ever is tasks/get.
func tryTaskUnknown(p *probe) error {
	if err := p.requireTasks(); err != nil {
		return err
	}
	methods := []string{"tasks/get", "tasks/cancel"}
	if !p.conn.isModern() {
		methods = []string{"tasks/get", "tasks/result"}
		if p.declares("tasks", "cancel") {
			methods = append(methods, "tasks/cancel")
		}
	}
	for _, m := range methods {
		a, err := p.taskRequest(m, `{"taskId":"`+jsonrpc.UUID()+`"}`)
		if err != nil {
			return err
		}
		if err := expectError(a, m+" of an unknown task", -32602); err != nil {
			if p.conn.isModern() && m != "tasks/get" {
				return violatedAs(check.Warning, "%v", err)
			}
			return err
		}
	}
	return nil
}

// tryTaskUndeclared: a server that knows that there is no such task has the method.
func tryTaskUndeclared(p *probe) error {
	if p.requireTasks() == nil {
		return skip("the server declares tasks")
	}
	a, err := p.taskRequest("tasks/get", `{"taskId":"`+jsonrpc.UUID()+`"}`)
	if err != nil {
		return err
	}
	if a.result() != nil || a.code() == -32602 {
		return newViolation("tasks/get: %s, and tasks are not declared", a.summary())
	}
	return nil
}

// tryTaskList takes an empty list: no task need have been made.
func tryTaskList(p *probe) error {
	if err := p.require("tasks", "list"); err != nil {
		return err
	}
	a, err := p.call("tasks/list", "{}")
	if err != nil {
		return err
	}
	if err := expectResult(a, "tasks/list"); err != nil {
		return err
	}
	if l := jsonrpc.Get(a.result(), "tasks"); len(l) == 0 || l[0] != '[' {
		return newViolation("the result of tasks/list has no array tasks")
	}
	if a, err = p.call("tasks/list", `{"cursor":"mcphud-never-given"}`); err != nil {
		return err
	}
	return expectError(a, "tasks/list with a cursor that was never given", -32602)
}

// taskSupport returns the taskSupport of tools by their names, without those that do not say, which is "forbidden". It reads the list again: what
// the session keeps of a tool does not have it.
func (p *probe) taskSupport() (map[string]string, error) {
	all, params := map[string]string{}, "{}"
	for range maxPages {
		a, err := p.call("tools/list", params)
		if err != nil {
			return nil, err
		}
		_ = jsonrpc.Elements(jsonrpc.Get(a.result(), "tools"), func(t []byte) bool { // anything but an array has none
			if s := jsonrpc.GetString(t, "execution", "taskSupport"); s != "" {
				all[jsonrpc.GetString(t, "name")] = s
			}
			return true
		})
		next := nextCursor(a)
		if next == "" {
			break
		}
		params = `{"cursor":` + next + `}`
	}
	return all, nil
}

// callParams is the params of a call; args is JSON, and more is further members with a comma before each.
func callParams(name, args, more string) string {
	return `{"name":` + string(jsonrpc.Quote(name)) + `,"arguments":` + args + more + `}`
}

// tryTaskLife makes one call as a task, and follows it to its end. A task that takes longer than the time for an answer has no verdict.
func tryTaskLife(p *probe) error {
	if err := p.requireTasks(); err != nil {
		return err
	}
	if p.conn.isModern() {
		return p.findTaskTool()
	}
	if err := p.require("tasks", "requests", "tools", "call"); err != nil {
		return err
	}
	says, err := p.taskSupport()
	if err != nil {
		return err
	}
	name, args, err := p.tool(func(it offer.Item) bool { return says[it.Name] == "optional" || says[it.Name] == "required" })
	if err != nil {
		return err
	}
	a, err := p.call("tools/call", callParams(name, args, `,"task":{"ttl":60000}`))
	if err != nil {
		return err
	}
	if err := expectResult(a, "tools/call of "+name+" as a task"); err != nil {
		return err
	}
	t := jsonrpc.Get(a.result(), "task")
	id := jsonrpc.GetString(t, "taskId")
	switch {
	case id == "":
		return newViolation("tools/call of %s as a task: the result has no task with a taskId", name)
	case jsonrpc.GetString(t, "status") != "working":
		return newViolation("the task of %s begins as %q, not as working", name, jsonrpc.GetString(t, "status"))
	}
	about := `{"taskId":` + string(jsonrpc.Quote(id)) + `}`
	got, err := p.call("tasks/get", about)
	if err != nil {
		return err
	}
	if err := expectResult(got, "tasks/get"); err != nil {
		return err
	}
	for _, at := range []string{"createdAt", "lastUpdatedAt"} {
		if _, err := time.Parse(time.RFC3339, jsonrpc.GetString(got.result(), at)); err != nil {
			return newViolation("tasks/get: %s is not a time as in ISO 8601", at)
		}
	}
	if jsonrpc.Get(got.result(), "ttl") == nil {
		return newViolation("tasks/get: there is no ttl")
	}
	if p.declares("tasks", "list") {
		if err := p.findInTaskList(id); err != nil {
			return err
		}
	}
	status, err := p.waitForTask(about, "pollInterval")
	if err != nil {
		return err
	}
	if status == "" || status == "input_required" {
		return skip("the task of " + name + " did not end in time")
	}
	r, err := p.call("tasks/result", about)
	if err != nil {
		return err
	}
	if r.result() != nil && jsonrpc.GetString(r.result(), "_meta", "io.modelcontextprotocol/related-task", "taskId") != id {
		return newViolation("tasks/result has no related-task with the task's id in _meta")
	}
	if p.declares("tasks", "cancel") {
		c, err := p.call("tasks/cancel", about)
		if err != nil {
			return err
		}
		return expectError(c, "tasks/cancel of a task that is over", -32602)
	}
	return nil
}

// findInTaskList reports as an error that the list of tasks does not have one.
func (p *probe) findInTaskList(id string) error {
	params := "{}"
	for range maxPages {
		a, err := p.call("tasks/list", params)
		if err != nil {
			return err
		}
		found := false
		_ = jsonrpc.Elements(jsonrpc.Get(a.result(), "tasks"), func(t []byte) bool { // anything but an array has none
			found = found || jsonrpc.GetString(t, "taskId") == id
			return true
		})
		if found {
			return nil
		}
		next := nextCursor(a)
		if next == "" {
			return newViolation("tasks/list does not have a task that tasks/get has")
		}
		params = `{"cursor":` + next + `}`
	}
	return nil // a list without an end is another rule
}

// waitForTask polls a task, as often as the server asks for but at least every two seconds, until it ended or waits for input, and returns its
// status; "" where it did not within the time for an answer. interval is the member with the server's wish, in milliseconds: the eras name it
// differently. about is the params of tasks/get.
func (p *probe) waitForTask(about, interval string) (status string, err error) {
	deadline := time.Now().Add(p.timeout)
	for {
		a, err := p.taskRequest("tasks/get", about)
		if err != nil {
			return "", err
		}
		if err := expectResult(a, "tasks/get"); err != nil {
			return "", err
		}
		switch status = jsonrpc.GetString(a.result(), "status"); status {
		case "completed", "failed", "cancelled", "input_required":
			return status, nil
		case "working":
		default:
			return "", newViolation("tasks/get: the status is %q", status)
		}
		every := 200
		if raw := jsonrpc.Get(a.result(), interval); raw != nil {
			if _, err := fmt.Sscan(string(raw), &every); err != nil || every < 0 {
				return "", newViolation("tasks/get: %s is %s", interval, raw)
			}
		}
		if time.Now().After(deadline) {
			return "", nil
		}
		pause(p.ctx, time.Duration(min(max(every, 20), 2000))*time.Millisecond)
		if p.ctx.Err() != nil {
			return "", p.ctx.Err()
		}
	}
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// findTaskTool calls tools until one becomes a task, and follows that. In the modern era the server decides which do, so that one has to try.
func (p *probe) findTaskTool() error {
	tried := 0
	for _, it := range p.sub.Tools {
		if it.Barred != nil || !p.sub.May(it) || tried == maxTried {
			continue
		}
		tried++
		a, err := p.taskRequest("tools/call", callParams(it.Name, argumentsOf(it), ""))
		if err != nil {
			return err
		}
		if jsonrpc.GetString(a.result(), "resultType") != "task" {
			continue
		}
		id := jsonrpc.GetString(a.result(), "taskId")
		if id == "" {
			return newViolation("the task of %s has no taskId", it.Name)
		}
		about := `{"taskId":` + string(jsonrpc.Quote(id)) + `}`
		status, err := p.waitForTask(about, "pollIntervalMs")
		if err != nil {
			return err
		}
		got, err := p.taskRequest("tasks/get", about)
		if err != nil {
			return err
		}
		switch r := got.result(); {
		case jsonrpc.GetString(r, "resultType") != "complete":
			return newViolation("tasks/get: resultType is %q, not complete", jsonrpc.GetString(r, "resultType"))
		case status == "completed" && jsonrpc.Get(r, "result") == nil:
			return newViolation("tasks/get: a completed task has no result")
		case status == "failed" && jsonrpc.Get(r, "error") == nil:
			return newViolation("tasks/get: a failed task has no error")
		}
		return nil
	}
	return skip("no tool that may be called became a task")
}

// tryTaskForbidden calls a tool that may be called anyway: a server that does not refuse does what the user has allowed.
func tryTaskForbidden(p *probe) error {
	if err := p.require("tasks", "requests", "tools", "call"); err != nil {
		return err
	}
	says, err := p.taskSupport()
	if err != nil {
		return err
	}
	name, args, err := p.tool(func(it offer.Item) bool { return says[it.Name] == "" || says[it.Name] == "forbidden" })
	if err != nil {
		return err
	}
	p.conn.unchecked.Store(true) // that it is refused says nothing of the arguments
	a, err := p.call("tools/call", callParams(name, args, `,"task":{"ttl":60000}`))
	p.conn.unchecked.Store(false)
	if err != nil {
		return err
	}
	return expectError(a, "tools/call of "+name+" as a task", -32601)
}

// tryTaskRequired takes -32600 as well: it says that the request is at fault, and not the tool.
func tryTaskRequired(p *probe) error {
	if err := p.require("tasks", "requests", "tools", "call"); err != nil {
		return err
	}
	says, err := p.taskSupport()
	if err != nil {
		return err
	}
	name, args, err := p.tool(func(it offer.Item) bool { return says[it.Name] == "required" })
	if err != nil {
		return err
	}
	a, err := p.call("tools/call", callParams(name, args, ""))
	if err != nil {
		return err
	}
	return expectError(a, "tools/call of "+name+" without a task", -32601, -32600)
}

// tryTaskCapability asks for a task that does not exist: the extension has to be looked at before the task is.
func tryTaskCapability(p *probe) error {
	if err := p.requireTasks(); err != nil {
		return err
	}
	a, err := p.call("tasks/get", `{"taskId":"`+jsonrpc.UUID()+`"}`)
	if err != nil {
		return err
	}
	what := "tasks/get without the extension"
	if err := expectError(a, what, -32021); err != nil {
		return err
	}
	if c := jsonrpc.Get(a.env.Error, "data", "requiredCapabilities"); len(c) == 0 || c[0] != '{' {
		return newViolation("%s: the error's data has no requiredCapabilities", what)
	}
	return p.badRequest(a, what)
}
