package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const anyObject = `{"type":"object"}`

// fixture is a server with one tool for each thing that a transport has to carry.
type fixture struct {
	*Server
	engine  *server.MCPServer
	url     string
	started chan string   // the tool "block" sends its argument here when it runs
	ended   chan error    // and the cause of its end here
	release chan struct{} // lets "stubborn" go
	calls   atomic.Int64
	running atomic.Int64 // calls of "notify"
}

func tool(name string, h server.ToolHandlerFunc) server.ServerTool {
	return kit.Tool(name, name, name, kit.ReadOnly, h, anyObject, "")
}

func newEngine(f *fixture) *server.MCPServer {
	opts := append(EngineOptions(), server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true), server.WithLogging())
	e := server.NewMCPServer("fixture-agent", "1.0.0", opts...)
	e.AddTools(
		tool("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f.calls.Add(1)
			return mcp.NewToolResultText(string(kit.RawArguments(r))), nil
		}),
		tool("notify", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f.running.Add(1)
			defer f.running.Add(-1)
			for i := range arg(r, "n", 20) {
				if err := kit.Notify(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i}); err != nil {
					return nil, err
				}
			}
			return mcp.NewToolResultText("done"), nil
		}),
		tool("engine_notify", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 20 {
				if err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/x", map[string]any{"i": i}); err != nil {
					return nil, err
				}
			}
			return mcp.NewToolResultText("done"), nil
		}),
		tool("log", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("logged"), errors.Join(
				kit.Log(ctx, mcp.LoggingLevelDebug, "fixture", "fine"), kit.Log(ctx, mcp.LoggingLevelError, "fixture", "grave"))
		}),
		tool("block", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f.started <- r.GetString("name", "")
			<-ctx.Done()
			f.ended <- context.Cause(ctx)
			return nil, ctx.Err()
		}),
		tool("stubborn", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_ = kit.Notify(ctx, "notifications/begun", nil)
			f.started <- "stubborn"
			<-f.release
			_ = kit.Notify(ctx, "notifications/released", nil)
			return mcp.NewToolResultText("late"), nil
		}),
		tool("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret stack") }),
		tool("broken", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("secret cause")
		}),
		tool("full", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.RequestError{Kind: jsonrpc.KindQueueFull, Message: "Task queue at capacity", RetryAfter: 1500 * time.Millisecond}
		}),
		tool("ask", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			//lint:ignore SA1019 the legacy era still has it, and clients of it
			res, err := server.ServerFromContext(ctx).RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{
				Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("who?")}}, MaxTokens: 5,
			}})
			if err != nil {
				return nil, err
			}
			return mcp.NewToolResultText(fmt.Sprint(res.Content.(mcp.TextContent).Text, " by ", res.Model)), nil
		}),
		tool("input", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if roots := server.RootsResponse(r.Params.InputResponses, "r"); roots != nil {
				return mcp.NewToolResultText(fmt.Sprint(len(roots.Roots), " roots, state ", r.Params.RequestState)), nil
			}
			return server.NewInputRequestBuilder("s1").Roots("r").ToolResult(), nil
		}),
		tool("hangup", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ok := From(ctx).Hangup(10 * time.Millisecond)
			if ok {
				<-f.release
			}
			return mcp.NewToolResultText(fmt.Sprint("hung up: ", ok)), nil
		}),
	)
	e.AddResource(mcp.NewResource("test://a", "a"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://a", Text: "A"}}, nil
	})
	return e
}

func start(t testing.TB, change func(*Options)) *fixture {
	t.Helper()
	f := &fixture{started: make(chan string, 100), ended: make(chan error, 100), release: make(chan struct{})}
	f.engine = newEngine(f)
	o := Options{Engine: f.engine, Direct: true}
	if change != nil {
		change(&o)
	}
	f.Server = New(o)
	web := httptest.NewUnstartedServer(f.Handler())
	listen.Harden(web.Config, time.Second)
	web.Start()
	f.url = web.URL + Path
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_ = f.Close(ctx)
		web.CloseClientConnections()
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return f
}

// got is one HTTP answer, read whole.
type got struct {
	status int
	header http.Header
	body   string
}

func (f *fixture) do(t testing.TB, method, body string, headers ...string) got {
	t.Helper()
	r := f.open(t, context.Background(), method, body, headers...)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return got{r.StatusCode, r.Header, string(b)}
}

func (f *fixture) open(t testing.TB, ctx context.Context, method, body string, headers ...string) *http.Response {
	t.Helper()
	var rd io.Reader
	if body != "" {
		rd = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, f.url, rd)
	require.NoError(t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
		if headers[i] == "Accept" || headers[i] == "Content-Type" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return res
}

func (f *fixture) post(t testing.TB, body string, headers ...string) got {
	t.Helper()
	return f.do(t, http.MethodPost, body, headers...)
}

// login opens a session of the legacy era and gives its header.
func (f *fixture) login(t testing.TB, version, caps string) []string {
	t.Helper()
	g := f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, version, caps))
	id := g.header.Get("Mcp-Session-Id")
	if g.status != 200 || id == "" || !strings.Contains(g.body, `"protocolVersion":"`+version+`"`) {
		t.Fatalf("initialize: %+v", g)
	}
	h := []string{"Mcp-Session-Id", id}
	if g := f.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, h...); g.status != 202 || g.body != "" {
		t.Fatalf("initialized: %+v", g)
	}
	return h
}

// call is the body of a legacy tools/call.
func call(id, name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":"p"}}}`, id, name, args)
}

// modern is a request of 2026-07-28 with its headers.
func modern(id, method, params, name string) (string, []string) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}`
	if params != "" {
		meta = params + "," + meta
	}
	h := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		h = append(h, "Mcp-Name", name)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, meta), h
}

// events reads an event stream as its data and ids.
type eventStream struct {
	*bufio.Scanner
	body io.Closer
}

type sseEvent struct{ id, data string }

func eventsOf(r *http.Response) *eventStream {
	s := bufio.NewScanner(r.Body)
	s.Buffer(nil, 1<<24)
	return &eventStream{s, r.Body}
}

func (e *eventStream) next() (ev sseEvent, ok bool) {
	some := false
	for e.Scan() {
		key, value, _ := strings.Cut(e.Text(), ": ")
		switch key {
		case "id":
			ev.id, some = value, true
		case "data":
			ev.data, some = value, true
		case "retry":
			ev.data, some = "retry "+value, true
		case "":
			if some {
				return ev, true
			}
		}
	}
	return ev, false
}

func wait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func arg(r mcp.CallToolRequest, name string, def int) int {
	var in map[string]int
	if kit.Arguments(r, &in) == nil && in[name] > 0 {
		return in[name]
	}
	return def
}

func mcpPrompt(name string) mcp.Prompt { return mcp.NewPrompt(name) }
