package aggregate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// tasking is an agent whose calls become tasks with ids that anybody could guess.
func tasking(modern bool) *script {
	caps := `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	if modern {
		caps = `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	}
	task := `"taskId":"1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":1000`
	s := &script{modern: modern, caps: caps}
	s.answer = func(a asked, say func(string, ...any)) string {
		mine := a.param("taskId") == `"1"`
		switch {
		case a.Method == "tools/call" && modern && strings.Contains(a.param("_meta"), "io.modelcontextprotocol/tasks"):
			return `{"resultType":"task",` + task + `}`
		case a.Method == "tools/call" && !modern && a.param("task") != "":
			return `{"task":{` + task + `}}`
		case a.Method == "tools/call":
			return `{"content":[{"type":"text","text":"at once"}]}`
		case strings.HasPrefix(a.Method, "tasks/") && a.Method != "tasks/list" && !mine:
			return `!{"code":-32602,"message":"no task ` + strings.ReplaceAll(a.param("taskId"), `"`, "") + `"}`
		case a.Method == "tasks/get" && modern:
			if name := a.r.Header.Get("Mcp-Name"); name != "" && name != "1" {
				return `!{"code":-32020,"message":"header"}`
			}
			return `{"resultType":"complete",` + task + `,"result":{"content":[]}}`
		case a.Method == "tasks/get", a.Method == "tasks/cancel" && !modern:
			return `{` + task + `}`
		case a.Method == "tasks/result" && !modern:
			say(`{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"message":"?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}}`)
			for got := range s.notes {
				if got.Method == "" { // the answer
					break
				}
			}
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":7}}`, s.token())
			return `{"content":[{"type":"text","text":"late"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}`
		case a.Method == "tasks/list" && !modern && a.param("cursor") == "":
			return `{"tasks":[{` + task + `}],"nextCursor":"own"}`
		case a.Method == "tasks/list" && !modern && a.param("cursor") == `"own"`:
			return `{"tasks":[{` + strings.Replace(task, `"1"`, `"2"`, 1) + `}]}`
		case a.Method == "tasks/update", a.Method == "tasks/cancel":
			return `{"resultType":"complete"}`
		}
		return ""
	}
	inner := s.answer
	s.answer = func(a asked, say func(string, ...any)) string {
		if a.Method == "tools/call" && a.param("task") != "" {
			s.mu.Lock()
			s.progress = a.param("_meta", "progressToken")
			s.mu.Unlock()
		}
		return inner(a, say)
	}
	return s
}

func (s *script) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// A call that becomes a task is asked about at the merged endpoint, by an id that is the caller's own.
func TestR19_TasksOfTheLegacyEra(t *testing.T) {
	a, b := tasking(false), tasking(false)
	plain := living(false, "t")
	s := router(t, map[string]string{"a": a.serve(t), "b": b.serve(t), "plain": plain.serve(t)}, nil)
	id, hello := s.open(`{"elicitation":{}}`, "2025-11-25")
	assert.Contains(t, hello.raw, `"tasks":{"requests":{"tools":{"call":{}}},"list":{},"cancel":{}}`)
	if _, hello := s.open("{}", "2025-06-18"); strings.Contains(hello.raw, `"tasks"`) {
		t.Error(hello.raw)
	}
	stream := s.general(id)
	start := func(session, name string) string {
		t.Helper()
		var r struct {
			Result struct{ Task struct{ TaskID string } }
		}
		got := s.ask(session, "tools/call", `{"name":"`+name+`","task":{"ttl":60000},"_meta":{"progressToken":"mine"}}`)
		if err := json.Unmarshal([]byte(got.raw), &r); err != nil || r.Result.Task.TaskID == "" || r.Result.Task.TaskID == "1" {
			t.Fatal(got.raw)
		}
		return r.Result.Task.TaskID
	}
	one, two := start(id, "mcp__a__t"), start(id, "mcp__b__t")
	if one == two || start(id, "mcp__a__t") != one {
		t.Error(one, two)
	}
	assert.Contains(t, s.ask(id, "tools/call", `{"name":"mcp__a__t"}`).raw, "at once")
	if got := s.ask(id, "tools/call", `{"name":"mcp__plain__t","task":{}}`); got.Error != nil {
		t.Error(got.raw)
	}
	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		got := s.ask(id, method, `{"taskId":"`+two+`"}`)
		if got.Error != nil || !strings.Contains(got.raw, `"taskId":"`+two+`"`) || a.count(method) != 0 || b.count(method) != 1 {
			t.Errorf("%s: %s", method, got.raw)
		}
	}
	// What is asked and said while the result is waited for is about the same task, in the client's own words.
	wait := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":{"taskId":"`+one+`"}}`))
	var q struct{ ID json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(wait.next("elicitation/create", `"taskId":"`+one+`"`)), &q))
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"action":"decline"}}`)
	_ = res.Body.Close()
	wait.next("notifications/progress", `"progressToken":"mine"`, `"progress":7`)
	wait.next("late", `related-task":{"taskId":"`+one+`"}`)
	b.tell(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"1","status":"completed"}}`)
	stream.next("notifications/tasks/status", `"taskId":"`+two+`"`)
	var listed []string
	params := "{}"
	for range 10 {
		var r struct {
			Result struct {
				Tasks      []struct{ TaskID string }
				NextCursor string
			}
		}
		got := s.ask(id, "tasks/list", params)
		if err := json.Unmarshal([]byte(got.raw), &r); err != nil || got.Error != nil {
			t.Fatal(got.raw)
		}
		for _, task := range r.Result.Tasks {
			listed = append(listed, task.TaskID)
		}
		if params = `{"cursor":"` + r.Result.NextCursor + `"}`; r.Result.NextCursor == "" {
			break
		}
	}
	if len(listed) != 4 || listed[0] != one || listed[2] != two || !strings.HasSuffix(listed[3], ".2") {
		t.Error(listed)
	}
	// Nobody else has the task, whatever they make of its id.
	forged := strings.Replace(one, "a.", "b.", 1)
	for _, bad := range []string{"1", "a.1", forged, one + "1", "", strings.Repeat("a.", 5000)} {
		if got := s.ask(id, "tasks/get", `{"taskId":"`+bad+`"}`); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("%.80s: %s", bad, got.raw)
		}
	}
	for _, cursor := range []string{"x", "dGFza3M"} {
		if got := s.ask(id, "tasks/list", `{"cursor":"`+cursor+`"}`); got.Error == nil || got.Error.Code != -32602 {
			t.Error(got.raw)
		}
	}
	if got := s.ask("", "tasks/get", `{"taskId":"`+one+`"}`, "X-Only", "a"); got.Error == nil || got.Error.Code != -32602 || !strings.Contains(got.Error.Message, "Task not found") {
		t.Errorf("another principal: %s", got.raw)
	}
	assert.Contains(t, s.ask("", "tasks/list", "").raw, `"tasks":[]`)
}

// The same for the extension of the modern era, for those who declare it.
func TestR19_TasksOfTheModernEra(t *testing.T) {
	a, old := tasking(true), tasking(false)
	s := router(t, map[string]string{"a": a.serve(t), "old": old.serve(t)}, nil)
	if got := s.modernAsk("server/discover", "", "", ""); !strings.Contains(got.raw, `"extensions":{"io.modelcontextprotocol/tasks":{}}`) || strings.Contains(got.raw, `"tasks":{"requests`) {
		t.Error(got.raw)
	}
	caps := `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	for _, name := range []string{"mcp__a__t", "mcp__old__t"} {
		if got := s.modernAsk("tools/call", name, `,"name":"`+name+`"`, map[bool]string{true: caps}[name != "mcp__a__t"]); !strings.Contains(got.raw, "at once") {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
	got := s.modernAsk("tools/call", "mcp__a__t", `,"name":"mcp__a__t"`, caps)
	var r struct {
		Result struct{ ResultType, TaskID string }
	}
	if err := json.Unmarshal([]byte(got.raw), &r); err != nil || r.Result.ResultType != "task" || !strings.HasPrefix(r.Result.TaskID, "a.") {
		t.Fatal(got.raw)
	}
	id := r.Result.TaskID
	if got := s.modernAsk("tasks/get", id, `,"taskId":"`+id+`"`, ""); got.Error == nil || got.Error.Code != -32021 || !strings.Contains(got.raw, "requiredCapabilities") {
		t.Errorf("a client without the extension: %s", got.raw)
	}
	for method, want := range map[string]string{"tasks/get": fmt.Sprintf(`"taskId":%q`, id), "tasks/update": "complete", "tasks/cancel": "complete"} {
		got := s.modernAsk(method, id, `,"taskId":"`+id+`","inputResponses":{}`, caps)
		if got.Error != nil || !strings.Contains(got.raw, want) || a.count(method) != 1 {
			t.Errorf("%s: %s", method, got.raw)
		}
	}
	if got := s.modernAsk("tasks/get", "other", `,"taskId":"`+id+`"`, caps); got.Error == nil || got.Error.Code != -32020 {
		t.Error(got.raw)
	}
	for _, method := range []string{"tasks/result", "tasks/list"} {
		if got := s.modernAsk(method, "", `,"taskId":"`+id+`"`, caps); got.Error == nil || got.Error.Code != -32601 {
			t.Error(got.raw)
		}
	}
	none := router(t, map[string]string{"plain": living(true, "t").serve(t)}, nil)
	if got := none.modernAsk("server/discover", "", "", ""); strings.Contains(got.raw, "extensions") {
		t.Error(got.raw)
	}
}
