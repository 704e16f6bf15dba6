package aggregate_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // most tests wait for time limits
	leaktest.Main(m)
}

// agent is an MCP server with what a test puts into it.
func agent(t *testing.T, name string, fill func(*server.MCPServer)) string {
	t.Helper()
	return served(t, name, fill, func(h http.Handler) http.Handler { return h })
}

// agentWithoutStream has no general stream: mcp-go would let that and the stream of a call take the call's notifications in
// turns, so that their order is a matter of luck before they get to the router.
func agentWithoutStream(t *testing.T, name string, fill func(*server.MCPServer)) string {
	t.Helper()
	return served(t, name, fill, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
}

func served(t *testing.T, name string, fill func(*server.MCPServer), wrap func(http.Handler) http.Handler) string {
	t.Helper()
	s := server.NewMCPServer(name, "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true), server.WithCompletions(), server.WithLogging())
	s.EnableSampling()
	fill(s)
	web := httptest.NewServer(wrap(server.NewStreamableHTTPServer(s)))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL + "/mcp"
}

func echo(s *server.MCPServer, names ...string) {
	for _, n := range names {
		s.AddTool(mcp.NewTool(n, mcp.WithString("text")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(n + ":" + r.GetString("text", "")), nil
		})
	}
}

type setup struct {
	URL  string
	top  map[string]any // more members of the routes' file
	agg  *aggregate.Server
	t    *testing.T
	file string
	r    *proxy.Router
}

// write writes the routes to agents.
func (s *setup) write(agents map[string]string) {
	s.t.Helper()
	table := map[string]any{}
	for n, u := range agents {
		table[n] = map[string]any{"url": u, "stream": true}
	}
	file := map[string]any{"routes": table}
	maps.Copy(file, s.top)
	text, err := json.Marshal(file)
	require.NoError(s.t, err)
	require.NoError(s.t, os.WriteFile(s.file, text, 0o600))
}

// reload puts other agents in place of those that there are.
func (s *setup) reload(agents map[string]string) {
	s.t.Helper()
	s.write(agents)
	require.NoError(s.t, s.r.Reload())
	s.agg.RoutesChanged()
}

// router serves agents, by name, and all of them at /mcp.
func router(t *testing.T, agents map[string]string, change func(*aggregate.Options)) *setup {
	t.Helper()
	s := &setup{t: t, file: filepath.Join(t.TempDir(), "routing.json")}
	s.write(agents)
	var err error
	var r *proxy.Router
	o := aggregate.Options{
		Router:   http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.Handler().ServeHTTP(w, q) }),
		Direct:   func(c *flow.Call) { r.Serve(c) },
		Agents:   func() []string { return r.Routes().Names() },
		Merged:   func() *routes.Merged { return &r.Routes().Merged },
		Selects:  func(agent, name string) bool { return r.Routes().Selects(agent, name) },
		Patience: 30 * time.Second,
		Identify: func(_ http.ResponseWriter, q *http.Request) (aggregate.Caller, bool) {
			only := q.Header.Get("X-Only")
			return aggregate.Caller{Principal: only, May: func(a string) bool { return only == "" || a == only }}, true
		},
	}
	if change != nil {
		change(&o)
	}
	agg := aggregate.New(o)
	r, err = proxy.New(proxy.Options{Routes: s.file, RoutesMust: true, Handlers: map[string]http.Handler{"/mcp": agg}})
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context()))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		assert.NoError(t, agg.Close())
		assert.NoError(t, r.Close(context.Background()))
	})
	s.URL, s.agg, s.r = r.URL()+"/mcp", agg, r
	return s
}

func (s *setup) do(method, session, body string, head ...string) *http.Response {
	s.t.Helper()
	q, err := http.NewRequestWithContext(s.t.Context(), method, s.URL, strings.NewReader(body))
	require.NoError(s.t, err)
	q.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	if session != "" {
		q.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i+1 < len(head); i += 2 {
		q.Header.Set(head[i], head[i+1])
	}
	res, err := http.DefaultClient.Do(q)
	require.NoError(s.t, err)
	return res
}

type answer struct {
	Result struct {
		Tools, Prompts, Resources []struct{ Name, URI string }
		NextCursor                string
		Content                   []struct{ Text string }
		Contents                  []struct{ URI, Text string }
		ProtocolVersion           string
		SupportedVersions         []string
		Meta                      map[string]json.RawMessage `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
	raw string
}

func (s *setup) ask(session, method, params string, head ...string) answer {
	s.t.Helper()
	if params == "" {
		params = "{}"
	}
	res := s.do(http.MethodPost, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params), head...)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	var a answer
	if i := strings.LastIndex(string(text), "data: "); i >= 0 {
		text = text[i+6:]
	}
	if err := json.Unmarshal(text, &a); err != nil || !strings.Contains(string(text), `"id":"q"`) {
		s.t.Fatalf("%s: %d %s", method, res.StatusCode, text)
	}
	a.raw = string(text)
	return a
}

func (s *setup) open(caps, version string) (id string, a answer) {
	s.t.Helper()
	res := s.do(http.MethodPost, "", `{"jsonrpc":"2.0","id":"q","method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":`+caps+`,"clientInfo":{"name":"t","version":"1"}}}`)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(text, &a) != nil || res.Header.Get("Mcp-Session-Id") == "" {
		s.t.Fatal(res.StatusCode, err)
	}
	a.raw = string(text)
	return res.Header.Get("Mcp-Session-Id"), a
}

func names(a answer) (out []string) {
	for _, x := range append(append(a.Result.Tools, a.Result.Prompts...), a.Result.Resources...) {
		out = append(out, x.Name)
	}
	return out
}

// All agents' tools are listed and called at one address, by either spelling of their names, in sessions and without.
func TestR19_N1_N2_AllAgentsAtOneAddress(t *testing.T) {
	s := router(t, map[string]string{
		"b": agent(t, "b", func(m *server.MCPServer) { echo(m, "two", "one") }),
		"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "one") }),
	}, nil)
	id, _ := s.open("{}", "2025-11-25")
	for _, session := range []string{id, ""} {
		first := s.ask(session, "tools/list", "")
		assert.Equal(t, strings.Join(names(first), " "), "mcp__a__one mcp__b__one mcp__b__two")
		assert.Equal(t, s.ask(session, "tools/list", "").raw, first.raw)
		for name, want := range map[string]string{"mcp__b__one": "one:x", "mcp:b:two": "two:x", "mcp__a__one": "one:x"} {
			a := s.ask(session, "tools/call", `{"name":"`+name+`","arguments":{"text":"x"}}`)
			if a.Error != nil || a.Result.Content[0].Text != want {
				t.Errorf("%s: %s", name, a.raw)
			}
		}
		for _, name := range []string{"one", "mcp__c__one", "mcp:b"} {
			if a := s.ask(session, "tools/call", `{"name":"`+name+`"}`); a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, "Tool '"+name+"' not found") {
				t.Errorf("%s: %s", name, a.raw)
			}
		}
		if a := s.ask(session, "foo/bar", ""); a.Error == nil || a.Error.Code != -32601 {
			t.Error(a.raw)
		}
	}
	res := s.do(http.MethodDelete, id, "")
	_ = res.Body.Close()
	after := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	_ = after.Body.Close()
	if res.StatusCode != 204 || after.StatusCode != 404 {
		t.Error(res.StatusCode, after.StatusCode)
	}
}

// A definition is the agent's own text but for the name, also where that is not what a typed client would write.
func TestD1_DefinitionsAreTheAgentsBytes(t *testing.T) {
	raw := `{ "x-y": 1.0, "name":"t" , "big":9007199254740993,"inputSchema":{"type":["object","null"],"$schema":"u"},"annotations":{}}`
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		result := `{"tools":[` + raw + `]}`
		switch {
		case m.ID == nil:
			w.WriteHeader(202)
			return
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case m.Method != "tools/list":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	defer web.Close()
	s := router(t, map[string]string{"a": web.URL + "/mcp", "b": agent(t, "b", func(*server.MCPServer) {})}, nil)
	if a := s.ask("", "tools/list", ""); !strings.Contains(a.raw, strings.Replace(raw, `"t"`, `"mcp__a__t"`, 1)) {
		t.Error(a.raw)
	}
	// Every agent has to speak the version that the client is given.
	for asked, want := range map[string]string{"2025-11-25": "2025-03-26", "2024-11-05": "2024-11-05"} {
		if _, a := s.open("{}", asked); a.Result.ProtocolVersion != want {
			t.Errorf("%s: %s", asked, a.Result.ProtocolVersion)
		}
	}
}

// A name that can mean two tools reaches neither.
func TestN3_AmbiguousNamesAreNeverGuessed(t *testing.T) {
	s := router(t, map[string]string{
		"git":      agent(t, "git", func(m *server.MCPServer) { echo(m, "hub__x", "hub__y") }),
		"git__hub": agent(t, "hub", func(m *server.MCPServer) { echo(m, "x", "z") }),
	}, nil)
	a := s.ask("", "tools/call", `{"name":"mcp__git__hub__x"}`)
	if a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, "'hub__x' of agent 'git'") || !strings.Contains(a.Error.Message, "'x' of agent 'git__hub'") ||
		len(a.Error.Data["candidates"].([]any)) != 2 {
		t.Error(a.raw)
	}
	// Each is listed under a name of its own.
	listed := s.ask("", "tools/list", "")
	var mapping map[string]map[string]string
	if err := json.Unmarshal(listed.Result.Meta["mcphud/names"], &mapping); err != nil || len(mapping) != 2 {
		t.Error(listed.raw)
	}
	for _, name := range names(listed) {
		own, hashed := mapping[name]
		if name == "mcp__git__hub__x" || hashed != strings.HasPrefix(name, "mcp__git__hub__x_") {
			t.Error(name)
		}
		if a := s.ask("", "tools/call", `{"name":"`+name+`"}`); hashed && (a.Error != nil || a.Result.Content[0].Text != own["name"]+":") {
			t.Errorf("%s: %s", name, a.raw)
		}
	}
	for name, want := range map[string]string{"mcp__git__hub__y": "hub__y:", "mcp__git__hub__z": "z:", "mcp:git__hub:x": "x:"} {
		if a := s.ask("", "tools/call", `{"name":"`+name+`"}`); a.Error != nil || a.Result.Content[0].Text != want {
			t.Errorf("%s: %s", name, a.raw)
		}
	}
}

// Long names are shortened the same way each time, and can be called by either.
func TestN4_LongNames(t *testing.T) {
	long := strings.Repeat("very_long_", 7)
	s := router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) { echo(m, long, long+"2", "dot.ted") })}, nil)
	a := s.ask("", "tools/list", "")
	var mapping map[string]map[string]string
	if err := json.Unmarshal(a.Result.Meta["mcphud/names"], &mapping); err != nil || len(mapping) != 3 {
		t.Fatal(a.raw)
	}
	for _, n := range names(a) {
		own := mapping[n]["name"]
		if len(n) > 64 || strings.Contains(n, ".") || n != (toolset.Naming{}).Prefixed("a", own) {
			t.Errorf("%s of %s", n, own)
		}
		for _, name := range []string{n, "mcp__a__" + own} {
			if a := s.ask("", "tools/call", `{"name":"`+name+`"}`); a.Error != nil || a.Result.Content[0].Text != own+":" {
				t.Errorf("%s: %s", name, a.raw)
			}
		}
	}
}

// Prompts are named as tools are; resources keep their URIs, and one that two agents have is asked for with its agent.
func TestN5_PromptsAndResources(t *testing.T) {
	fill := func(name string) func(*server.MCPServer) {
		return func(m *server.MCPServer) {
			m.AddPrompt(mcp.NewPrompt("p"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Description: "from " + name}, nil
			})
			read := func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, Text: name}}, nil
			}
			m.AddResource(mcp.NewResource("same://uri", "same"), read)
			m.AddResource(mcp.NewResource(name+"://uri", "own"), read)
			m.AddResourceTemplate(mcp.NewResourceTemplate(name+"-t://{x}", "t"), func(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return read(ctx, r)
			})
		}
	}
	s := router(t, map[string]string{"a": agent(t, "a", fill("a")), "b": agent(t, "b", fill("b"))}, nil)
	assert.Equal(t, strings.Join(names(s.ask("", "prompts/list", "")), " "), "mcp__a__p mcp__b__p")
	if a := s.ask("", "prompts/get", `{"name":"mcp__b__p"}`); !strings.Contains(a.raw, "from b") {
		t.Error(a.raw)
	}
	a := s.ask("", "resources/list", "")
	if len(a.Result.Resources) != 4 || string(a.Result.Meta["mcphud/collisions"]) != `[{"uri":"same://uri","agents":["a","b"]}]` {
		t.Error(a.raw)
	}
	if st := s.agg.Status(); len(st.Collisions) != 1 || st.Collisions[0].URI != "same://uri" || st.Principals != 1 {
		t.Errorf("%+v", st)
	}
	for uri, want := range map[string]string{"a://uri": "a", "b://uri": "b", "mcp:a:same://uri": "a", "mcp:b:same://uri": "b", "b-t://7": "b"} {
		if a := s.ask("", "resources/read", `{"uri":"`+uri+`"}`); a.Error != nil || a.Result.Contents[0].Text != want {
			t.Errorf("%s: %s", uri, a.raw)
		}
	}
	a = s.ask("", "resources/read", `{"uri":"same://uri"}`)
	if a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, "mcp:a:same://uri, mcp:b:same://uri") {
		t.Error(a.raw)
	}
	if a := s.ask("", "resources/read", `{"uri":"none://x"}`); a.Error == nil || a.Error.Code != -32001 {
		t.Error(a.raw)
	}
	if a := s.ask("", "completion/complete", `{"ref":{"type":"ref/prompt","name":"mcp__a__p"},"argument":{"name":"x","value":""}}`); !strings.Contains(a.raw, `"completion"`) {
		t.Error(a.raw)
	}
}

// One agent that does not answer keeps no other from being listed and called; the list says who is missing.
func TestS15_OneOfThreeIsBroken(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-hang:
		case <-q.Context().Done():
		}
	}))
	defer web.Close()
	defer close(hang)
	s := router(t, map[string]string{
		"dead": "http://127.0.0.1:1/mcp", "hung": web.URL + "/mcp", "good": agent(t, "good", func(m *server.MCPServer) { echo(m, "one") }),
	}, func(o *aggregate.Options) { o.Patience = 5 * time.Second })
	start := time.Now()
	a := s.ask("", "tools/list", "")
	if took := time.Since(start); strings.Join(names(a), " ") != "mcp__good__one" || took > 30*time.Second {
		t.Errorf("%v %s", took, a.raw)
	}
	var missing []aggregate.Missing
	if err := json.Unmarshal(a.Result.Meta["mcphud/missing"], &missing); err != nil || len(missing) != 2 || missing[0].Agent != "dead" || missing[1].Agent != "hung" || missing[0].Error == "" {
		t.Error(a.raw)
	}
	if a := s.ask("", "tools/call", `{"name":"mcp__good__one"}`); a.Error != nil {
		t.Error(a.raw)
	}
	if a := s.ask("", "tools/call", `{"name":"mcp__dead__one"}`); a.Error == nil || !strings.HasPrefix(a.Error.Message, "Failed to reach agent:") {
		t.Error(a.raw)
	}
}

// Pages hold what was asked for, in order, each item once, whatever comes or goes between them.
func TestP5_Pages(t *testing.T) {
	s := router(t, map[string]string{
		"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "1", "2", "3") }),
		"b": agent(t, "b", func(m *server.MCPServer) { echo(m, "1", "2") }),
	}, func(o *aggregate.Options) { o.Page = 2 })
	var got []string
	params := "{}"
	for range 10 {
		a := s.ask("", "tools/list", params)
		got = append(got, names(a)...)
		if a.Result.NextCursor == "" {
			break
		}
		if len(a.Result.Tools) != 2 {
			t.Error(a.raw)
		}
		params = `{"cursor":"` + a.Result.NextCursor + `"}`
	}
	if strings.Join(got, " ") != "mcp__a__1 mcp__a__2 mcp__a__3 mcp__b__1 mcp__b__2" {
		t.Error(got)
	}
	if a := s.ask("", "tools/list", `{"cursor":"nonsense"}`); a.Error == nil || a.Error.Code != -32602 {
		t.Error(a.raw)
	}
}

// What a principal may not call it does not see, and cannot call.
func TestR9_OnlyAllowedAgents(t *testing.T) {
	s := router(t, map[string]string{
		"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "one") }), "b": agent(t, "b", func(m *server.MCPServer) { echo(m, "one") }),
	}, nil)
	assert.Equal(t, strings.Join(names(s.ask("", "tools/list", "", "X-Only", "b")), " "), "mcp__b__one")
	if a := s.ask("", "tools/call", `{"name":"mcp__a__one"}`, "X-Only", "b"); a.Error == nil || a.Error.Code != -32602 {
		t.Error(a.raw)
	}
	id, _ := s.open("{}", "2025-11-25")
	res := s.do(http.MethodPost, id, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "X-Only", "b")
	_ = res.Body.Close()
	assert.Equalf(t, res.StatusCode, 404, "another principal's session is served")
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// Clients of the modern era are served too, with agents of either.
func TestP3_ModernEra(t *testing.T) {
	s := router(t, map[string]string{"a": agent(t, "a", func(m *server.MCPServer) { echo(m, "one") })}, nil)
	head := func(method string, more ...string) []string {
		return append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, more...)
	}
	a := s.ask("", "server/discover", "{"+modernMeta+"}}", head("server/discover")...)
	if len(a.Result.SupportedVersions) == 0 || a.Result.SupportedVersions[0] != "2026-07-28" {
		t.Error(a.raw)
	}
	if a := s.ask("", "tools/list", "{"+modernMeta+"}}", head("tools/list")...); strings.Join(names(a), " ") != "mcp__a__one" || !strings.Contains(a.raw, `"ttlMs":0`) {
		t.Error(a.raw)
	}
	a = s.ask("", "tools/call", `{"name":"mcp__a__one","arguments":{"text":"m"},`+modernMeta+"}}", head("tools/call", "Mcp-Name", "mcp__a__one")...)
	if a.Error != nil || a.Result.Content[0].Text != "one:m" {
		t.Error(a.raw)
	}
}
