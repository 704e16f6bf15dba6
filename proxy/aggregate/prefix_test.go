package aggregate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// settings puts other members beside the routes.
func (s *setup) settings(agents map[string]string, top map[string]any) {
	s.t.Helper()
	s.top = top
	s.reload(agents)
}

// calls calls a tool that echo made, and says whose it is.
func (s *setup) calls(session, name, want string, head ...string) {
	s.t.Helper()
	a := s.ask(session, "tools/call", `{"name":"`+name+`","arguments":{"text":"x"}`+`}`, head...)
	if a.Error != nil || len(a.Result.Content) == 0 || a.Result.Content[0].Text != want {
		s.t.Errorf("%s: %s; want %s", name, a.raw, want)
	}
}

// says are tools that answer with their agent's name and their own.
func says(agent string, tools ...string) func(*server.MCPServer) {
	return func(m *server.MCPServer) {
		for _, n := range tools {
			m.AddTool(mcp.NewTool(n), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(agent + "/" + n), nil
			})
		}
	}
}

func prompts(m *server.MCPServer, names ...string) {
	for _, n := range names {
		m.AddPrompt(mcp.NewPrompt(n), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult(n, nil), nil
		})
	}
}

// In each mode a list's names can be called, and the names with a prefix too, in sessions and without.
func TestR19_N4_PrefixModes(t *testing.T) {
	agents := map[string]string{
		"a": agent(t, "a", func(m *server.MCPServer) { says("a", "read", "search")(m); prompts(m, "hi", "only") }),
		"b": agent(t, "b", func(m *server.MCPServer) { says("b", "search", "write", "mcp__a__read")(m); prompts(m, "hi") }),
	}
	s := router(t, agents, nil)
	for _, c := range []struct {
		top            map[string]any
		tools, prompts string
	}{
		{map[string]any{}, "mcp__a__read mcp__a__search mcp__b__mcp__a__read mcp__b__search mcp__b__write", "mcp__a__hi mcp__a__only mcp__b__hi"},
		{map[string]any{"separator": "-"}, "a-read a-search b-mcp__a__read b-search b-write", "a-hi a-only b-hi"},
		{map[string]any{"prefix": "conflict"}, "read mcp__a__search mcp__b__mcp__a__read mcp__b__search write", "mcp__a__hi only mcp__b__hi"},
		{map[string]any{"prefix": "conflict", "separator": "_"}, "read a_search b_mcp__a__read b_search write", "a_hi only b_hi"},
		{map[string]any{"prefix": "never"}, "read write", "only"},
		{map[string]any{"prefix": "never", "exclude": []string{"b/*"}}, "read search", "hi only"},
		{map[string]any{"include": []string{"*/*e*", "b/hi"}, "exclude": []string{"a/search"}}, "mcp__a__read mcp__b__mcp__a__read mcp__b__search mcp__b__write", "mcp__b__hi"},
	} {
		s.settings(agents, c.top)
		id, _ := s.open("{}", "2025-11-25")
		for _, session := range []string{id, ""} {
			list := s.ask(session, "tools/list", "")
			if got := strings.Join(names(list), " "); got != c.tools {
				t.Errorf("%v: tools %s; want %s", c.top, got, c.tools)
			}
			if got := strings.Join(names(s.ask(session, "prompts/list", "")), " "); got != c.prompts {
				t.Errorf("%v: prompts %s; want %s", c.top, got, c.prompts)
			}
			var whose map[string]struct{ Agent, Name string }
			_ = json.Unmarshal(list.Result.Meta["mcphud/names"], &whose) // there may be none
			for _, name := range names(list) {
				who, tool, _ := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
				if w, ok := whose[name]; ok {
					who, tool = w.Agent, w.Name
				}
				s.calls(session, name, who+"/"+tool)
			}
			if fmt.Sprint(c.top["exclude"]) != "[b/*]" {
				s.calls(session, "mcp__b__write", "b/write")
				s.calls(session, "mcp:b:search", "b/search")
			}
			for _, name := range names(s.ask(session, "prompts/list", "")) {
				if a := s.ask(session, "prompts/get", `{"name":"`+name+`"}`); a.Error != nil {
					t.Errorf("%v: %s: %s", c.top, name, a.raw)
				}
			}
		}
	}
	if a := s.ask("", "tools/call", `{"name":"mcp__a__search"}`); a.Error == nil || !strings.Contains(a.Error.Message, "not found") {
		t.Errorf("an excluded tool is called: %s", a.raw)
	}
}

// Where names have no prefix, a name of two agents reaches neither, and it is said which names that are.
func TestR19_N3_ConflictsWithoutPrefix(t *testing.T) {
	agents := map[string]string{"a": agent(t, "a", says("a", "one", "search")), "b": agent(t, "b", says("b", "search", "mcp__a__one"))}
	s := router(t, agents, nil)
	s.settings(agents, map[string]any{"prefix": "never"})
	list := s.ask("", "tools/list", "")
	var left []struct {
		Name   string
		Count  int
		Agents []string
	}
	if err := json.Unmarshal(list.Result.Meta["mcphud/leftOut"], &left); err != nil || len(left) != 2 || left[0].Name != "search" || left[0].Count != 2 || len(left[0].Agents) != 2 || left[1].Name != "mcp__a__one" {
		t.Errorf("%v %s", err, list.raw)
	}
	a := s.ask("", "tools/call", `{"name":"search"}`)
	if a.Error == nil || !strings.Contains(a.Error.Message, "ambiguous: 'search' of agent 'a', or 'search' of agent 'b'; call one of mcp:a:search, mcp:b:search") {
		t.Error(a.raw)
	}
	var said []string
	for _, o := range s.agg.Status().LeftOut {
		said = append(said, o.String())
	}
	if got := strings.Join(said, "; "); got != "1 tools left out: mcp__a__one of b reads like another agent's name; 2 tools left out: search is a name of a and b" {
		t.Error(got)
	}
}

// A conflict that appears changes names, clients are told, and what they were told before goes where it went.
func TestR19_N4_NamesOfEarlierListsWork(t *testing.T) {
	a, b := agent(t, "a", says("a", "search")), agent(t, "b", says("b", "search", "other"))
	s := router(t, map[string]string{"a": a}, nil)
	conflict := map[string]any{"prefix": "conflict"}
	s.settings(map[string]string{"a": a}, conflict)
	id, _ := s.open("{}", "2025-11-25")
	late, _ := s.open("{}", "2025-11-25") // has seen no list
	events := s.general(id)
	if got := names(s.ask(id, "tools/list", "")); len(got) != 1 || got[0] != "search" {
		t.Fatal(got)
	}
	changed := func() { t.Helper(); events.next("tools/list_changed") }
	s.settings(map[string]string{"a": a, "b": b}, conflict)
	changed()
	s.calls(id, "search", "a/search")
	if r := s.ask(late, "tools/call", `{"name":"search"}`); r.Error == nil || !strings.Contains(r.Error.Message, "ambiguous") {
		t.Error(r.raw)
	}
	if got := strings.Join(names(s.ask(id, "tools/list", "")), " "); got != "mcp__a__search other mcp__b__search" && got != "mcp__a__search mcp__b__search other" {
		t.Error(got)
	}
	s.calls(id, "search", "a/search")
	s.calls(id, "mcp__b__search", "b/search")
	s.settings(map[string]string{"b": b}, conflict)
	changed()
	assert.Equal(t, strings.Join(names(s.ask(id, "tools/list", "")), " "), "other search")
	s.calls(id, "search", "b/search")
	s.calls(id, "mcp__b__search", "b/search")
}

// An agent that is away keeps its part in the others' names.
func TestR19_N4_NamesStayWhileAnAgentIsAway(t *testing.T) {
	a := agent(t, "a", says("a", "search"))
	away := &script{answer: func(a asked, _ func(string, ...any)) string {
		if a.Method == "tools/list" {
			return `{"tools":[{"name":"search","inputSchema":{"type":"object"}},{"name":"own","inputSchema":{"type":"object"}}]}`
		}
		return ""
	}, caps: `{"tools":{}}`}
	p := newPort(t)
	p.start(away)
	agents := map[string]string{"a": a, "b": p.url()}
	s := router(t, agents, nil)
	s.settings(agents, map[string]any{"prefix": "conflict"})
	if got := strings.Join(names(s.ask("", "tools/list", "")), " "); got != "mcp__a__search mcp__b__search own" {
		t.Fatal(got)
	}
	p.stop()
	s.agg.RoutesChanged() // lists are had again
	id, _ := s.open("{}", "2025-11-25")
	list := s.ask(id, "tools/list", "")
	if got := strings.Join(names(list), " "); got != "mcp__a__search" || list.Result.Meta["mcphud/missing"] == nil {
		t.Error(list.raw)
	}
}

// A client gets names that are no longer than it can take, and no more tools than that, of all agents.
func TestR19_N4_LimitsByClient(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("a_tool_with_a_rather_long_name_of_its_own_%02d", i))
	}
	agents := map[string]string{"a": agent(t, "a", says("a", many...)), "b": agent(t, "b", says("b", "x", "y"))}
	s := router(t, agents, nil)
	s.settings(agents, map[string]any{"clients": []map[string]any{{"match": "cursor*", "maxName": 40, "maxTools": 10}, {"maxTools": 31}}})
	as := func(client string) string {
		res := s.do("POST", "", `{"jsonrpc":"2.0","id":"q","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+client+`","version":"1"}}}`)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return res.Header.Get("Mcp-Session-Id")
	}
	list := s.ask(as("Cursor-vscode"), "tools/list", "")
	if got := names(list); len(got) != 10 || got[8] != "mcp__b__x" {
		t.Error(got)
	}
	for _, name := range names(list) {
		if len(name) > 40 {
			t.Errorf("%s has %d bytes", name, len(name))
		}
	}
	if !strings.Contains(string(list.Result.Meta["mcphud/leftOut"]), `{"list":"tools","count":22,"client":"cursor*","limit":10,"message":"22 tools left out for cursor*: limit 10"}`) {
		t.Error(string(list.Result.Meta["mcphud/leftOut"]))
	}
	id := as("cursor")
	s.calls(id, names(list)[0], "a/"+many[0])
	s.calls(id, "mcp__a__"+many[29], "a/"+many[29]) // what is left out can be called
	if got := names(s.ask(as("other"), "tools/list", "")); len(got) != 31 || len(got[0]) < 45 {
		t.Error(got)
	}
	// Without a session a request says who makes it.
	const meta = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"cursor","version":"1"}}}`
	if got := names(s.ask("", "tools/list", meta, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")); len(got) != 10 {
		t.Error(got)
	}
	var said []string
	for _, o := range s.agg.Status().LeftOut {
		said = append(said, o.String())
	}
	assert.Equal(t, strings.Join(said, "; "), "1 tools left out for *: limit 31; 22 tools left out for cursor*: limit 10")
}

// A call by a name without a prefix becomes a task of the agent that has it.
func TestR19_TasksWithoutPrefix(t *testing.T) {
	a := tasking(true)
	inner := a.answer
	a.answer = func(q asked, say func(string, ...any)) string {
		if q.Method == "tools/list" {
			return `{"resultType":"complete","tools":[{"name":"long","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		}
		return inner(q, say)
	}
	agents := map[string]string{"a": a.serve(t), "b": agent(t, "b", says("b", "other"))}
	s := router(t, agents, nil)
	s.settings(agents, map[string]any{"prefix": "never"})
	const caps = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	call := s.modernAsk("tools/call", "long", `,"name":"long","arguments":{}`, caps)
	var made struct{ Result struct{ TaskID string } }
	if err := json.Unmarshal([]byte(call.raw), &made); err != nil || !strings.HasPrefix(made.Result.TaskID, "a.") {
		t.Fatal(err, call.raw)
	}
	if got := s.modernAsk("tasks/get", made.Result.TaskID, `,"taskId":"`+made.Result.TaskID+`"`, caps); got.Error != nil || !strings.Contains(got.raw, `"status":"working"`) {
		t.Error(got.raw)
	}
}
