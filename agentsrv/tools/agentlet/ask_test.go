package agentlet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/test/require"
)

func asking(agent, prompt string) map[string]any {
	return map[string]any{"agent_uri": agent, "tenant_id": "default", "prompt": prompt}
}

const fine = `{"answer":"Forty-two.","confidence":0.9,"tags":["numbers"]}`

func TestT2_AskAgentWithAModel(t *testing.T) {
	f := fakeModel(t, replyText(fine))
	var spans []string
	r := serve(t, "", Options{Model: f.model(), Trace: func(ctx context.Context, name string, a map[string]string) (context.Context, func(error)) {
		spans = append(spans, name+" "+a["agent.uri"]+" "+a["mcp.tenant_id"]+" "+a["mcp.user_id"])
		return ctx, func(error) {}
	}})
	got := r.call(t, "", "ask_agent", map[string]any{
		"agent_uri": "researcher", "tenant_id": "acme", "prompt": "How many?", "user_id": "ada", "session_id": "s1", "model": "large",
	})
	var response any
	s := got.Result.StructuredContent
	if json.Unmarshal(s.Response, &response) != nil || string(s.Response) != fine || s.Status != "success" || s.Model != "tiny-7b" || len(s.Trace) != 32 {
		t.Fatal(got.raw)
	}
	q := f.requests()
	if len(q) != 1 || q[0].auth != "Bearer sk-secret" || q[0].body.Model != "large" || q[0].body.Stream {
		t.Errorf("%+v", q)
	}
	if m := q[0].body.Messages; len(m) != 2 || m[0].Role != "system" || !strings.Contains(m[0].Content, `"confidence"`) || m[1].Role != "user" || m[1].Content != "How many?" {
		t.Errorf("%+v", m)
	}
	if fmt.Sprint(spans) != "[agent.run agentlet://system/researcher acme ada]" {
		t.Errorf("%q", spans)
	}
}

func TestT2_C18_EveryNameOfAnAgent(t *testing.T) {
	f := fakeModel(t, replyText(fine))
	r := serve(t, "", Options{Model: f.model()})
	r.make(t, "default", "ada", "counter")
	for _, name := range []string{
		"researcher", "system/researcher", "agentlet://system/researcher", "agentlet://researcher", "percolate-researcher", "test-agent", "percolate-test-agent",
		"counter", "user/ada/counter", "agentlet://user/ada/counter",
	} {
		if got := r.call(t, "", "ask_agent", asking(name, "x")); got.answer() != "Forty-two." {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
	for name, kind := range map[string]string{"nobody": "agent_not_found", "system/counter": "agent_not_found", "a/b/c/d": "invalid_params", "": "invalid_params", "user/ada/../x": "invalid_params"} {
		if got := r.call(t, "", "ask_agent", asking(name, "x")); got.Error == nil || got.Error.Data["kind"] != kind {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
}

func TestT2_OneRepairRound(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []string
		want  string // in the answer
		asked int
	}{
		{"fenced", []string{"```json\n" + fine + "\n```"}, "Forty-two.", 1},
		{"words first", []string{"It is 42.", fine}, "Forty-two.", 2},
		{"wrong type first", []string{`{"answer":42,"confidence":2,"tags":[]}`, fine}, "Forty-two.", 2},
		{"empty first", []string{"", fine}, "Forty-two.", 2},
		{"never", []string{"It is 42.", `{"answer":`, fine}, "gave no usable answer in two attempts", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fakeModel(t)
			for _, s := range c.turns {
				f.turns = append(f.turns, replyText(s))
			}
			r := serve(t, "", Options{Model: f.model()})
			got := r.call(t, "", "ask_agent", asking("researcher", "x"))
			if !strings.Contains(got.raw, c.want) || got.Result.IsError != (c.name == "never") {
				t.Error(got.raw)
			}
			q := f.requests()
			if len(q) != c.asked || c.asked == 2 && !strings.Contains(q[1].last(), "cannot be used") {
				t.Errorf("%d requests: %+v", len(q), q)
			}
		})
	}
}

// tools are two tools of a server: one with a tenant, one without.
func tools(name string) (mcp.Tool, bool) {
	switch name {
	case "count":
		return mcp.NewToolWithRawSchema(name, "Counts.", json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"},"tenant_id":{"type":"string"}},"required":["what","tenant_id"]}`)), true
	case "clock", "format_disk":
		return mcp.NewToolWithRawSchema(name, "A tool.", json.RawMessage(`{"type":"object"}`)), true
	}
	return mcp.Tool{}, false
}

func TestT10_AnAgentHasItsOwnToolsOnly(t *testing.T) {
	f := fakeModel(t, calls("count", `{"what":"sheep","tenant_id":"other"}`, "format_disk", `{}`, "no_such", `{}`, "count", `[1]`), replyText(`{"answer":"7"}`))
	var mu sync.Mutex
	var called []string
	r := serve(t, "", Options{Model: f.model(), Lookup: tools, Call: func(_ context.Context, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		called = append(called, name+string(args))
		return kit.JSON(map[string]int{"count": 7})
	}})
	r.make(t, "default", "ada", "shepherd", "count", "clock")
	got := r.call(t, "", "ask_agent", asking("user/ada/shepherd", "How many sheep?"))
	if got.answer() != "7" {
		t.Fatal(got.raw)
	}
	if fmt.Sprint(called) != `[count{"tenant_id":"default","what":"sheep"}]` {
		t.Errorf("%q", called)
	}
	q := f.requests()
	var offered []string
	for _, x := range q[0].body.Tools {
		offered = append(offered, x.Function.Name)
	}
	if fmt.Sprint(offered) != "[count clock]" || strings.Contains(string(q[0].body.Tools[0].Function.Parameters), "tenant_id") {
		t.Errorf("offered %q: %s", offered, q[0].body.Tools[0].Function.Parameters)
	}
	answers := q[1].body.Messages[3:]
	for i, want := range []string{`{"count":7}`, `refused: this agent may not use the tool "format_disk"; its tools are: count, clock`, "refused", "not a JSON object"} {
		if answers[i].Role != "tool" || answers[i].ToolCallID != fmt.Sprint("call", i) || !strings.Contains(answers[i].Content, want) {
			t.Errorf("%d: %+v, want %s", i, answers[i], want)
		}
	}
	r.make(t, "default", "ada", "idler")
	again := fakeModel(t, calls("count", `{"what":"x"}`), replyText(`{"answer":"none"}`))
	c, err := chat.New(again.model())
	require.NoError(t, err)
	*r.chat = *c
	if got := r.call(t, "", "ask_agent", asking("user/ada/idler", "x")); got.answer() != "none" || len(called) != 1 || !strings.Contains(again.requests()[1].last(), "its tools are: none") {
		t.Errorf("an agent without tools: %s, %q", got.raw, called)
	}
}

func TestToolLoopIsBounded(t *testing.T) {
	f := fakeModel(t, calls("clock", ""))
	r := serve(t, "", Options{Model: f.model(), Lookup: tools, Call: func(context.Context, string, json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("tick ", 100_000)), nil
	}})
	r.make(t, "default", "ada", "watch", "clock")
	got := r.call(t, "", "ask_agent", asking("watch", "x"))
	if !got.Result.IsError || !strings.Contains(got.raw, "gave no answer after 8 rounds") || len(f.requests()) != maxRounds {
		t.Errorf("%d requests: %s", len(f.requests()), got.raw)
	}
	if n := len(f.requests()[1].last()); n > maxToolText+10 {
		t.Errorf("a tool's result of %d bytes went to the model", n)
	}
}

func TestT2_WithoutAModel(t *testing.T) {
	r := serve(t, "", Options{})
	r.make(t, "default", "ada", "counter")
	for _, version := range []string{"", modern} {
		for _, tool := range []string{"ask_agent", "ask_agent_stream"} {
			got := r.post(t, "", version, "tools/call", map[string]any{"name": tool, "arguments": asking("counter", "How many?")})
			if got.Error != nil || !got.Result.IsError || !strings.HasPrefix(got.Result.StructuredContent.Message, "no model configured: ") {
				t.Errorf("%s: %s", tool, got.raw)
			}
		}
	}
}

func TestT2_BrokenModels(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	endless := func(prefix string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			if strings.HasPrefix(prefix, "data") {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			_, _ = io.WriteString(w, prefix)
			block := strings.Repeat("x", 1<<20)
			for range 1024 { // 1 GiB, if anybody reads it
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		turn   func(http.ResponseWriter, *http.Request)
		want   string
		stream string
	}{
		"hangs":        {hang, "did not answer within", ""},
		"one gigabyte": {endless(`{"choices":[{"message":{"content":"`), "more than 4.2 MB", ""},
		"endless line": {endless("data: "), "broke off", "only"},
		"not JSON":     {raw(200, "application/json", "<html>"), "did not answer with JSON", ""},
		"no choice":    {raw(200, "application/json", "{}"), "without choices", ""},
		"status 500":   {raw(500, "application/json", `{"error":{"message":"out of sk-secret memory"}}`), "HTTP status 500: out of *** memory", ""},
		"status 401":   {raw(401, "text/plain", "no"), "HTTP status 401", ""},
		"redirect":     {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "HTTP status 302", ""},
		"breaks off":   {raw(200, "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\n"), "broke off", "only"},
		"stream error": {raw(200, "text/event-stream", "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), "overloaded", "only"},
		"bad event":    {raw(200, "text/event-stream", "data: {\n\n"), "not JSON", "only"},
		"300 calls":    {calls(strings.Split(strings.Repeat("clock,{},", 300)+"clock,{}", ",")...), "more than 16", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakeModel(t, c.turn)
			m := f.model()
			if name == "hangs" {
				m.Timeout = 200 * time.Millisecond
			}
			r := serve(t, "", Options{Model: m})
			for _, tool := range []string{"ask_agent", "ask_agent_stream"} {
				if c.stream == "only" && tool == "ask_agent" {
					continue
				}
				got := r.call(t, "", tool, asking("researcher", "x"))
				if !got.Result.IsError || !strings.Contains(got.Result.StructuredContent.Message, c.want) || strings.Contains(got.raw, "sk-secret") {
					t.Errorf("%s: %s", tool, got.raw)
				}
			}
		})
	}
	gone := fakeModel(t, replyText(fine))
	gone.Close()
	r := serve(t, "", Options{Model: gone.model()})
	if got := r.call(t, "", "ask_agent", asking("researcher", "x")); !got.Result.IsError || !strings.Contains(got.raw, "cannot be reached") {
		t.Error(got.raw)
	}
}

func TestF3_ThreeAgentsAtATime(t *testing.T) {
	var mu sync.Mutex
	waiting, all := 0, make(chan struct{})
	f := fakeModel(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if waiting++; waiting == 3 {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all: // only when the model is asked three times at once
			replyText(fine)(w, r)
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	})
	r := serve(t, "", Options{Model: f.model()})
	var wg sync.WaitGroup
	for _, agent := range []string{"researcher", "summarizer", "test-agent"} {
		wg.Go(func() {
			if got := r.call(t, "", "ask_agent", asking(agent, "x")); got.answer() != "Forty-two." {
				t.Errorf("%s: %s", agent, got.raw)
			}
		})
	}
	wg.Wait()
}

func TestAgentsThatAskThemselvesEnd(t *testing.T) {
	f := fakeModel(t, calls("ask_agent", `{"agent_uri":"loop","prompt":"again"}`))
	var r *rig
	depth := 0
	lookup := func(name string) (mcp.Tool, bool) {
		if name != "ask_agent" {
			return mcp.Tool{}, false
		}
		return r.Tools()[1].Tool, true
	}
	r = serve(t, "", Options{Model: f.model(), Lookup: lookup, Call: func(ctx context.Context, _ string, args json.RawMessage) (*mcp.CallToolResult, error) {
		depth++
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = "ask_agent", args
		if depth > 3 { // the deepest answers, or each level would use up all its rounds
			f.mu.Lock()
			f.turns = []func(http.ResponseWriter, *http.Request){replyText(`{"answer":"enough"}`)}
			f.mu.Unlock()
		}
		return r.Tools()[1].Handler(ctx, req)
	}})
	r.make(t, "default", "ada", "loop", "ask_agent")
	if got := r.call(t, "", "ask_agent", asking("loop", "x")); got.answer() != "enough" {
		t.Error(got.raw)
	}
	deepest := ""
	for _, q := range f.requests() {
		if strings.Contains(q.last(), "the chain of agents is longer than") {
			deepest = q.last()
		}
	}
	if depth != maxDepth || deepest == "" {
		t.Errorf("%d levels, %q", depth, deepest)
	}
}
