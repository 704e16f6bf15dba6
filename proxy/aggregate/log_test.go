package aggregate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// loud is an agent that logs when its tool is called.
func loud(modern bool) *script {
	return &script{modern: modern, caps: `{"tools":{},"logging":{}}`, answer: func(a asked, say func(string, ...any)) string {
		switch a.Method {
		case "tools/list":
			return `{"tools":[{"name":"t","inputSchema":{}}]}`
		case "logging/setLevel":
			return `{}`
		case "tools/call":
			if !modern || a.param("_meta", "io.modelcontextprotocol/logLevel") != "" {
				say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"small"}}`)
				say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"db","data":"of %s"}}`, strings.Trim(a.param("arguments", "n"), `"`))
			}
			return `{"content":[{"type":"text","text":"done"}]}`
		}
		return ""
	}}
}

// The log level is told to all agents that log, to those too that come later; what they log comes with the call that it is
// about, or over the general stream, and names the agent.
func TestR19_LogLevelsReachAllAgents(t *testing.T) {
	a, b, c, quiet := loud(false), loud(false), loud(false), &script{caps: `{"tools":{}}`}
	agents := map[string]string{"a": a.serve(t), "b": b.serve(t), "quiet": quiet.serve(t)}
	s := router(t, agents, nil)
	id, _ := s.open("{}", "2025-11-25")
	stream := s.general(id)
	if got := s.ask(id, "logging/setLevel", `{"level":"warning"}`); got.Error != nil {
		t.Fatal(got.raw)
	}
	if a.count("logging/setLevel") != 1 || b.count("logging/setLevel") != 1 || quiet.count("logging/setLevel") != 0 {
		t.Error(a.seen, b.seen, quiet.seen)
	}
	agents["c"] = c.serve(t)
	s.reload(agents)
	require.Eventually(t, "the new agent is told", func() bool { return c.count("logging/setLevel") == 1 })
	call := s.events(s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__b__t","arguments":{"n":"b"}}}`))
	if got := call.next("notifications/message"); !strings.Contains(got, `"logger":"b/db"`) || strings.Contains(got, "small") {
		t.Error(got)
	}
	call.next("done", `"id":1`)
	require.Eventually(t, "the agents' general streams are open", func() bool { return a.streams() > 0 })
	a.tell(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"by itself"}}`)
	assert.Contains(t, stream.next("by itself"), `"logger":"a"`)
	for _, bad := range []string{`{"level":"loud"}`, `{}`} {
		if got := s.ask(id, "logging/setLevel", bad); got.Error == nil || got.Error.Code != -32602 {
			t.Error(got.raw)
		}
	}
}

// In the modern era each request says what it wants to have of the log, of agents of either era, and gets no other's.
func TestR19_ModernCallersGetTheLogTheyAskFor(t *testing.T) {
	old, new := loud(false), loud(true)
	s := router(t, map[string]string{"old": old.serve(t), "new": new.serve(t)}, nil)
	for _, agent := range []string{"old", "new"} {
		name := "mcp__" + agent + "__t"
		plain := s.events(s.modern("1", "tools/call", name, `,"name":"`+name+`","arguments":{"n":"plain"}`, ""))
		plain.not("notifications/message", `"id":"1"`)
		logs := s.events(s.modern("2", "tools/call", name, `,"name":"`+name+`","arguments":{"n":"logs"}`, `{},"io.modelcontextprotocol/logLevel":"error"`))
		assert.Contains(t, logs.next(`"level":`), `"logger":"`+agent+`/db"`, "of logs")
		logs.not("notifications/message", "done", `"id":"2"`)
	}
	if old.count("logging/setLevel") != 1 || new.count("logging/setLevel") != 0 {
		t.Error(old.seen, new.seen)
	}
}
