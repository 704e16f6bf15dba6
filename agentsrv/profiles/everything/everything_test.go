package everything

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fixture is a server that has the features and nothing else.
func fixture(t *testing.T) (*server.MCPServer, *[]string) {
	t.Helper()
	var updated []string
	s := server.NewMCPServer("fixture", "1", server.WithToolCapabilities(true), server.WithPromptCapabilities(true),
		server.WithResourceCapabilities(true, true), server.WithCompletions())
	f := New(Options{Registry: s, Updated: func(uri string) { updated = append(updated, uri) }})
	s.AddTools(f.Tools()...)
	s.AddResources(f.Resources()...)
	s.AddResourceTemplates(f.Templates()...)
	s.AddPrompts(f.Prompts()...)
	return s, &updated
}

// ask sends one request of the modern era with the given client capabilities, and returns the answer.
func ask(t *testing.T, s *server.MCPServer, method, capabilities string, params map[string]any) map[string]any {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": json.RawMessage(capabilities),
	}
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s.HandleMessage(context.Background(), frame))
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

const all = `{"elicitation":{},"sampling":{},"roots":{}}`

// call calls a tool and returns its result.
func call(t *testing.T, s *server.MCPServer, tool string, arguments map[string]any, more map[string]any) map[string]any {
	t.Helper()
	params := map[string]any{"name": tool, "arguments": arguments}
	for k, v := range more {
		params[k] = v
	}
	a := ask(t, s, "tools/call", all, params)
	res, ok := a["result"].(map[string]any)
	if !ok {
		t.Fatalf("%s: %v", tool, a)
	}
	return res
}

// firstText is the first text of a result.
func firstText(t *testing.T, res map[string]any) string {
	t.Helper()
	content, _ := res["content"].([]any)
	if len(content) == 0 {
		t.Fatalf("no content: %v", res)
	}
	block, _ := content[0].(map[string]any)
	s, _ := block["text"].(string)
	return s
}

func accept(content map[string]any) map[string]any {
	return map[string]any{"action": "accept", "content": content}
}

func TestD1_ToolsKeepTheirSchemas(t *testing.T) {
	s, _ := fixture(t)
	list := ask(t, s, "tools/list", all, nil)["result"].(map[string]any)["tools"].([]any)
	seen := map[string]bool{}
	for _, x := range list {
		tool := x.(map[string]any)
		name := tool["name"].(string)
		if seen[name] || tool["description"] == "" || tool["title"] == "" || tool["inputSchema"] == nil {
			t.Errorf("%v", tool)
		}
		seen[name] = true
		if name == "json_schema_2020_12_tool" {
			var want any
			if err := json.Unmarshal([]byte(modernSchema), &want); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(tool["inputSchema"]) != fmt.Sprint(want) {
				t.Errorf("listed as %v", tool["inputSchema"])
			}
		}
	}
	resources := fmt.Sprint(ask(t, s, "resources/list", all, nil))
	for _, want := range []string{"size:48", "lastModified:2026-07-28T00:00:00Z", "audience:[user assistant]", "icons:[map[", "title:Static text"} {
		if !strings.Contains(resources, want) {
			t.Errorf("no %q in %s", want, resources)
		}
	}
	for _, want := range []string{"icons:[map[", "mcphud/example:any value may stand here", "outputSchema:map["} {
		if !strings.Contains(fmt.Sprint(list), want) {
			t.Errorf("no tool has %q", want)
		}
	}
	if len(seen) < 35 {
		t.Errorf("%d tools", len(seen))
	}
}

func TestRoundsAskUntilTheyAreAnswered(t *testing.T) {
	s, _ := fixture(t)
	const tool = "test_input_required_result_elicitation"
	for _, responses := range []map[string]any{
		nil,
		{"wrong_key": accept(map[string]any{"name": "x"})},
		{"user_name": 12345},
		{"user_name": accept(map[string]any{"other": "x"})},
		{"user_name": map[string]any{"action": "perhaps"}},
		{"user_name": map[string]any{"action": "accept"}},
	} {
		res := call(t, s, tool, nil, map[string]any{"inputResponses": responses})
		if res["resultType"] != "input_required" || res["inputRequests"].(map[string]any)["user_name"] == nil {
			t.Errorf("%v: %v", responses, res)
		}
	}
	for want, response := range map[string]map[string]any{
		"Hello, Ada!":             accept(map[string]any{"name": "Ada"}),
		"Hello, whoever you are!": {"action": "decline"},
	} {
		res := call(t, s, tool, nil, map[string]any{"inputResponses": map[string]any{"user_name": response}})
		if got := firstText(t, res); got != want {
			t.Errorf("%v: %q", response, got)
		}
	}
}

func TestRoundsRememberThroughTheClient(t *testing.T) {
	s, _ := fixture(t)
	const tool = "test_input_required_result_multi_round"
	one := call(t, s, tool, nil, nil)
	two := call(t, s, tool, nil, map[string]any{"requestState": one["requestState"], "inputResponses": map[string]any{"step1": accept(map[string]any{"name": "Ada"})}})
	if two["resultType"] != "input_required" || two["requestState"] == one["requestState"] {
		t.Fatalf("%v", two)
	}
	three := call(t, s, tool, nil, map[string]any{"requestState": two["requestState"], "inputResponses": map[string]any{"step2": accept(map[string]any{"color": "blue"})}})
	if got := firstText(t, three); got != "name=Ada, color=blue" {
		t.Errorf("%q", got)
	}
}

func TestCallsThatNeedACapabilityAreRefusedWithoutIt(t *testing.T) {
	f := New(Options{})
	for _, st := range f.Tools() {
		var r mcp.CallToolRequest
		r.Params.Name, r.Params.Arguments = st.Tool.Name, map[string]any{"prompt": "p", "message": "m", "filename": "f", "name": "n", "seconds": 0}
		if strings.HasPrefix(st.Tool.Name, "test_trigger") {
			continue // has no server to change here
		}
		modern := server.WithRequestProtocolInfo(context.Background(), &server.RequestProtocolInfo{Modern: true, ClientCapabilities: &mcp.ClientCapabilities{}})
		res, err := st.Handler(modern, r)
		if res.NeedsInput() {
			if st.Tool.Name != "test_input_required_result_capabilities" || len(res.InputRequests) > 0 {
				t.Errorf("%s asks a client that declares nothing: %v", st.Tool.Name, res.InputRequests)
			}
			continue
		}
		e, ok := err.(*jsonrpc.Error)
		if !ok {
			continue
		}
		var data struct{ RequiredCapabilities map[string]map[string]any }
		if json.Unmarshal(e.Data, &data) != nil || e.Code != -32021 || len(data.RequiredCapabilities) == 0 {
			t.Errorf("%s: %v %s", st.Tool.Name, e, e.Data)
		}
		if res, err := st.Handler(context.Background(), r); err != nil || !res.IsError {
			t.Errorf("%s without a session: %v, %v", st.Tool.Name, res, err)
		}
	}
}

func TestA4_ChangesAddAndRemoveInTurn(t *testing.T) {
	s, updated := fixture(t)
	count := func(method, member string) int {
		return len(ask(t, s, method, all, nil)["result"].(map[string]any)[member].([]any))
	}
	for _, c := range []struct{ tool, method, member string }{
		{"test_trigger_tool_change", "tools/list", "tools"},
		{"test_trigger_prompt_change", "prompts/list", "prompts"},
		{"test_trigger_resource_change", "resources/list", "resources"},
	} {
		before := count(c.method, c.member)
		for i, want := range []int{before + 1, before, before + 1} {
			call(t, s, c.tool, nil, nil)
			if got := count(c.method, c.member); got != want {
				t.Errorf("%s, call %d: %d of %s, want %d", c.tool, i+1, got, c.member, want)
			}
		}
		var wg sync.WaitGroup
		for range 9 { // an odd number of flips takes it away again, in whatever order they come
			wg.Go(func() { s.HandleMessage(context.Background(), frameOf(c.tool)) })
		}
		wg.Wait()
		if got := count(c.method, c.member); got != before {
			t.Errorf("%s: %d of %s in the end, want %d", c.tool, got, c.member, before)
		}
	}
	call(t, s, "test_trigger_resource_update", nil, nil)
	read := fmt.Sprint(ask(t, s, "resources/read", all, map[string]any{"uri": watched}))
	if !strings.Contains(read, "changed 1 times") || len(*updated) != 1 || (*updated)[0] != watched {
		t.Errorf("updated %v, read %s", *updated, read)
	}
}

func frameOf(tool string) json.RawMessage {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool)
}

func TestTasksAskWhileTheyRun(t *testing.T) {
	s, _ := fixture(t)
	res := call(t, s, "multi_input", nil, nil)
	if n := len(res["inputRequests"].(map[string]any)); n != 2 {
		t.Fatalf("%d questions", n)
	}
	res = call(t, s, "multi_input", nil, map[string]any{"inputResponses": map[string]any{"name": accept(map[string]any{"name": "Ada"})}})
	if asked := res["inputRequests"].(map[string]any); len(asked) != 1 || asked["confirm"] == nil {
		t.Errorf("asks %v", asked)
	}
	for want, response := range map[string]map[string]any{
		"kept a.txt":                    accept(map[string]any{"confirm": false}),
		"deleted a.txt, had it existed": accept(map[string]any{"confirm": true}),
	} {
		res := call(t, s, "confirm_delete", map[string]any{"filename": "a.txt"}, map[string]any{"inputResponses": map[string]any{"confirm": response}})
		if got := firstText(t, res); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReconnectionHangsUpWhereItCan(t *testing.T) {
	for want, hangUp := range map[string]func(context.Context, time.Duration) bool{
		"Nothing to come back for: this connection cannot be resumed": nil,
		"Reconnection test completed successfully":                    func(_ context.Context, retry time.Duration) bool { return retry > 0 },
	} {
		res, err := New(Options{HangUp: hangUp}).reconnect(t.Context(), mcp.CallToolRequest{})
		if err != nil || res.Content[0].(mcp.TextContent).Text != want {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

func TestSlowComputeStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res, err := compute(ctx, mcp.CallToolRequest{}, work{Seconds: 3600}); err == nil || ctx.Err() == nil {
		t.Errorf("%v, %v", res, err)
	}
}

func TestD5_TemplateAndCompletion(t *testing.T) {
	s, _ := fixture(t)
	read := ask(t, s, "resources/read", all, map[string]any{"uri": "test://template/a%20b/data"})["result"].(map[string]any)["contents"].([]any)[0].(map[string]any)
	if read["uri"] != "test://template/a%20b/data" || read["mimeType"] != "application/json" || read["text"] != `{"id":"a b","templateTest":true,"data":"Data for ID: a b"}` {
		t.Errorf("%v", read)
	}
	f := New(Options{})
	c, err := f.CompletePromptArgument(t.Context(), "test_prompt_with_arguments", mcp.CompleteArgument{Name: "arg1", Value: "par"}, mcp.CompleteContext{})
	if err != nil || strings.Join(c.Values, " ") != "paris park party" || c.Total != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := f.CompleteResourceArgument(t.Context(), dataTemplate, mcp.CompleteArgument{Name: "id", Value: "12"}, mcp.CompleteContext{}); err != nil || len(c.Values) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}
