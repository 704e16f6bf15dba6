package agentlet

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/check"
	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// rig is a registry behind the HTTP transport. Who sends "Authorization: Bearer T/U" has a token for tenant T, user U.
type rig struct {
	*Registry
	url    string
	server *server.MCPServer
	front  *front.Server
}

func serve(t *testing.T, path string, o Options) *rig {
	t.Helper()
	db, err := store.Open(pgtest.Path(t, path))
	require.NoError(t, err)
	o.DB = db
	r := &rig{}
	o.Updated = func(tenant, uri string) { r.front.ResourceUpdatedOf(tenant, uri) }
	o.ListChanged = func(tenant string) { r.front.BroadcastOf(tenant, "notifications/resources/list_changed", nil) }
	if r.Registry, err = New(o); err != nil {
		t.Fatal(err)
	}
	hooks := &server.Hooks{}
	hooks.AddAfterListResources(r.AfterList)
	r.server = server.NewMCPServer("agents", "1", append(front.EngineOptions(), server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true), server.WithCompletions(), server.WithPromptCompletionProvider(r), server.WithResourceCompletionProvider(r), server.WithHooks(hooks))...)
	r.server.AddTools(r.Tools()...)
	r.server.AddResources(r.Resources()...)
	r.server.AddResourceTemplates(r.Templates()...)
	r.server.AddPrompts(r.Prompts()...)
	r.front = front.New(front.Options{Engine: r.server, Use: []front.Middleware{check.Middleware(check.Engine(r.server), nil)}, Authenticate: func(req *http.Request) (kit.Identity, error) {
		tenant, user, _ := strings.Cut(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "), "/")
		return kit.Identity{Tenant: tenant, User: user, Principal: tenant + user}, nil
	}})
	s := httptest.NewServer(r.front.Handler())
	r.url = s.URL + front.Path
	t.Cleanup(func() {
		assert.NoError(t, r.front.Close(context.Background()))
		s.Close()
		http.DefaultClient.CloseIdleConnections()
		r.Close()
		assert.NoError(t, db.Close())
	})
	return r
}

// reply is a response to any request, and the progress messages before it.
type reply struct {
	Result struct {
		ResultType        string
		InputRequests     map[string]json.RawMessage
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent struct {
			Status, Message, Model string
			AgentURI               string `json:"agent_uri"`
			Trace                  string `json:"trace_id"`
			Response               json.RawMessage
		}
		Contents   []struct{ URI, MIMEType, Text string }
		Resources  []struct{ URI, Name string }
		Templates  []struct{ URITemplate string } `json:"resourceTemplates"`
		Messages   json.RawMessage
		Completion struct{ Values []string }
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
	progress []string
	counts   []float64
	steps    []step
	raw      string
}

// answer is the response.answer of a result of ask_agent.
func (r reply) answer() string {
	var x struct{ Answer string }
	_ = json.Unmarshal(r.Result.StructuredContent.Response, &x)
	return x.Answer
}

const modern = "2026-07-28"

// post sends one request without a session; who is "TENANT/USER" of the token, version the protocol revision.
func (r *rig) post(t *testing.T, who, version, method string, params map[string]any) reply {
	t.Helper()
	p := map[string]any{}
	for k, v := range params {
		p[k] = v
	}
	head := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if who != "" {
		head.Set("Authorization", "Bearer "+who)
	}
	if version == modern {
		meta, _ := p["_meta"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = modern
		if meta["io.modelcontextprotocol/clientCapabilities"] == nil {
			meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		}
		p["_meta"] = meta
		head.Set("MCP-Protocol-Version", modern)
		head.Set("Mcp-Method", method)
		for _, k := range []string{"name", "uri"} {
			if v, ok := p[k].(string); ok {
				head.Set("Mcp-Name", v)
			}
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": p})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header = head
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var out reply
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(res.Body)
		if err == nil {
			err = json.Unmarshal(raw, &out)
		}
		if out.raw = string(raw); err != nil {
			t.Fatalf("%s: %v: %s", method, err, raw)
		}
		return out
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "" {
			continue
		}
		var n struct {
			Method string
			Params struct {
				Message  string
				Progress float64
				Meta     struct {
					Call *step `json:"mcphud/call"`
				} `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(data), &n); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if n.Method == "notifications/progress" {
			out.counts = append(out.counts, n.Params.Progress)
			if n.Params.Meta.Call == nil {
				out.progress = append(out.progress, n.Params.Message)
			} else {
				out.steps = append(out.steps, *n.Params.Meta.Call)
			}
		}
		if n.Method == "" {
			require.NoError(t, json.Unmarshal([]byte(data), &out))
			out.raw = data
		}
	}
	return out
}

func (r *rig) call(t *testing.T, who, tool string, args map[string]any) reply {
	t.Helper()
	return r.post(t, who, "", "tools/call", map[string]any{"name": tool, "arguments": args})
}

func (r *rig) read(t *testing.T, who, uri string) reply {
	t.Helper()
	return r.post(t, who, "", "resources/read", map[string]any{"uri": uri})
}

var anySchema = map[string]any{
	"type": "object", "required": []string{"answer"},
	"properties": map[string]any{"answer": map[string]any{"type": "string"}},
}

func (r *rig) make(t *testing.T, tenant, user, name string, tools ...string) {
	t.Helper()
	got := r.call(t, "", "create_agent", map[string]any{
		"tenant_id": tenant, "user_id": user, "agent_name": name, "description": "You count things for " + tenant + ".", "output_schema": anySchema, "tools": append([]string{}, tools...),
	})
	if got.Error != nil || got.Result.StructuredContent.Status != "success" {
		t.Fatalf("create_agent: %s", got.raw)
	}
}

func noTools(string) (mcp.Tool, bool) { return mcp.Tool{}, false }
