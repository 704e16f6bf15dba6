package aggregate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// next reads the data of one event.
func next(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}

// Progress comes with the client's own token, before the result.
func TestR19_Progress(t *testing.T) {
	s := router(t, map[string]string{"a": agentWithoutStream(t, "a", func(m *server.MCPServer) {
		m.AddTool(mcp.NewTool("p"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 3 {
				_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i})
			}
			time.Sleep(500 * time.Millisecond) // mcp-go loses what is sent just before the result
			return mcp.NewToolResultText("done"), nil
		})
	})}, nil)
	id, _ := s.open("{}", "2025-11-25")
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__p","_meta":{"progressToken":"mine"}}}`)
	defer func() { _ = res.Body.Close() }()
	events := bufio.NewReader(res.Body)
	for i := range 3 {
		assert.Contains(t, next(t, events), `"progressToken":"mine"`, fmt.Sprintf(`"progress":%d`, i))
	}
	assert.Contains(t, next(t, events), "done", `"id":1`)
}

// An agent's question reaches the client whose call caused it, and the answer goes back.
func TestR19_QuestionsReachTheClient(t *testing.T) {
	s := router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) {
		m.AddTool(mcp.NewTool("ask"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			//lint:ignore SA1019 agents of the legacy era ask so
			res, err := server.ServerFromContext(ctx).RequestSampling(ctx, mcp.CreateMessageRequest{})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText("model " + res.Model), nil
		})
	})}, nil)
	id, _ := s.open(`{"sampling":{}}`, "2025-11-25")
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__ask"}}`)
	defer func() { _ = res.Body.Close() }()
	events := bufio.NewReader(res.Body)
	var q struct {
		ID     json.RawMessage
		Method string
	}
	text := next(t, events)
	if err := json.Unmarshal([]byte(text), &q); err != nil || q.Method != "sampling/createMessage" {
		t.Fatal(text)
	}
	reply := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"role":"assistant","model":"human","content":{"type":"text","text":"x"}}}`)
	_ = reply.Body.Close()
	if got := next(t, events); reply.StatusCode != 202 || !strings.Contains(got, "model human") {
		t.Error(reply.StatusCode, got)
	}
}

// Changes of any agent's lists, and of resources that are followed, reach those who listen.
func TestR19_ChangesAreMerged(t *testing.T) {
	var b *server.MCPServer
	read := func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) { return nil, nil }
	s := router(t, map[string]string{
		"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "one") }),
		"b": agent(t, "b", func(m *server.MCPServer) { b = m; echo(m, "one"); m.AddResource(mcp.NewResource("b://r", "r"), read) }),
	}, nil)
	id, _ := s.open("{}", "2025-11-25")
	stream := s.do(http.MethodGet, id, "")
	defer func() { _ = stream.Body.Close() }()
	legacy := bufio.NewReader(stream.Body)
	listen := s.do(http.MethodPost, "", `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	defer func() { _ = listen.Body.Close() }()
	modern := bufio.NewReader(listen.Body)
	if got := next(t, modern); !strings.Contains(got, "acknowledged") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"L"`) {
		t.Fatal(got)
	}
	s.ask(id, "tools/list", "")
	s.agg.RoutesChanged()
	for _, want := range []string{"tools/list_changed", "prompts/list_changed", "resources/list_changed"} {
		assert.Contains(t, next(t, legacy), want)
	}
	if got := next(t, modern); !strings.Contains(got, "tools/list_changed") || !strings.Contains(got, `"subscriptionId":"L"`) && !strings.Contains(got, `subscriptionId":"L"`) {
		t.Error(got)
	}
	// The agent's own word; it may begin to listen to us a moment later than its lists were read.
	got := make(chan string, 1)
	go func() { got <- next(t, legacy) }()
	for deadline := time.After(30 * time.Second); ; {
		echo(b, "two")
		b.DeleteTools("two")
		select {
		case text := <-got:
			assert.Contains(t, text, "tools/list_changed")
		case <-time.After(50 * time.Millisecond):
			continue
		case <-deadline:
			t.Fatal("nothing is heard of the agent's change")
		}
		break
	}
}

// A route that leads back to the merged endpoint ends, and is missing.
func TestX_CirclesEnd(t *testing.T) {
	var s *setup
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		in, _ := http.NewRequestWithContext(q.Context(), q.Method, s.URL, strings.NewReader(string(body)))
		in.Header = q.Header.Clone()
		res, err := http.DefaultClient.Do(in)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = res.Body.Close() }()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(func() {
		back.CloseClientConnections()
		back.Close()
	})
	s = router(t, map[string]string{"self": back.URL + "/mcp"}, func(o *aggregate.Options) { o.Patience = 500 * time.Millisecond })
	a := s.ask("", "tools/list", "")
	if len(a.Result.Tools) != 0 {
		t.Error(a.raw)
	}
}
