package proxy

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The endpoint of all agents follows the rules of each.

func TestR13_DeleteAtTheEndpointOfAllAgents(t *testing.T) {
	f := start(t, Options{Tokens: tokens(t, token("one", "alpha", `["*"]`), token("two", "beta", `["*"]`))})
	one, two := []string{"Authorization", "Bearer one"}, []string{"Authorization", "Bearer two"}
	id := f.open(t, "/mcp", one...)
	if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("%q is no UUID", id)
	}
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{append([]string{"Mcp-Session-Id", id}, two...), 404},
		{append([]string{"Mcp-Session-Id", id}, one...), 204},
		{append([]string{"Mcp-Session-Id", id}, one...), 204},
		{append([]string{"Mcp-Session-Id", "nobody"}, one...), 204},
		{one, 204},
	} {
		if got := f.send(t, "DELETE", "/mcp", "", c.headers...); got.status != c.want {
			t.Errorf("%v: %+v", c.headers, got)
		}
	}
	if got := f.post(t, "/mcp", ping, append([]string{"Mcp-Session-Id", id}, one...)...); got.status != 404 {
		t.Errorf("an ended session is served: %+v", got)
	}
}

func TestR14_ToolsThatARouteDoesNotServeAreNotListed(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		if e.Method == "tools/list" {
			reply(w, e.ID, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"add","inputSchema":{"type":"object"}}]}`)
			return
		}
		_, _ = w.Write(jsonrpc.NewError(e.ID, jsonrpc.CodeMethodNotFound, "no", nil))
	}
	f := start(t, Options{}, route("all", a.at(), ""), route("some", a.at(), `"tools":["echo"]`), route("none", a.at(), `"tools":[]`))
	got := f.post(t, "/mcp", listTools)
	for name, there := range map[string]bool{"mcp__all__echo": true, "mcp__all__add": true, "mcp__some__echo": true, "mcp__some__add": false, "mcp__none__": false} {
		if strings.Contains(got.body, `"`+name) != there {
			t.Errorf("%s is listed: %t; %s", name, !there, got.body)
		}
	}
	assert.NotContains(t, got.body, "mcphud/missing")
}

func TestR8_AStreamOfAllAgentsEndsWithItsToken(t *testing.T) {
	t.Parallel()
	one, two := token("one", "alpha", `["*"]`), token("two", "beta", `["*"]`)
	file := tokens(t, one, two)
	f := start(t, Options{Tokens: file})
	id := f.open(t, "/mcp", "Authorization", "Bearer two")
	get := f.stream(t.Context(), t, "GET", "/mcp", "", "Mcp-Session-Id", id, "Authorization", "Bearer two")
	defer func() { _ = get.Body.Close() }()
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	modern := f.stream(t.Context(), t, "POST", "/mcp", listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen", "Authorization", "Bearer two")
	defer func() { _ = modern.Body.Close() }()
	r := bufio.NewReader(modern.Body)
	if line, err := r.ReadString('\n'); get.StatusCode != 200 || modern.StatusCode != 200 || err != nil || line != "event: message\n" {
		t.Fatalf("%d, %d %q %v", get.StatusCode, modern.StatusCode, line, err)
	}
	retoken(t, file, one)
	for what, from := range map[string]io.Reader{"GET": get.Body, "listen": r} {
		if rest, err := io.ReadAll(from); err != nil {
			t.Errorf("%s: %q %v", what, rest, err)
		}
	}
}

// A call at the endpoint of all agents is decided on, written down and counted once, as one at the agent's own address is.
func TestR18_R19_ACallOfAllAgentsIsAuditedOnce(t *testing.T) {
	a := newAgent(t)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	f := start(t, Options{Audit: audit.Options{File: file}}, route("a", a.at(), `"tools":["echo"]`))
	id := f.open(t, "/mcp")
	call := func(tool string) string {
		return f.post(t, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__`+tool+`","arguments":{}}}`, "Mcp-Session-Id", id).body
	}
	f.post(t, "/mcp", listTools, "Mcp-Session-Id", id) // has the session with the agent opened
	counted := f.policy.metrics.Agent("a").Requests.Load()
	if got := call("echo"); !strings.Contains(got, `"result"`) {
		t.Fatal(got)
	}
	if got := call("other"); !strings.Contains(got, "not found") {
		t.Fatal(got)
	}
	if counted = f.policy.metrics.Agent("a").Requests.Load() - counted; counted != 2 {
		t.Errorf("%d requests counted", counted)
	}
	require.NoError(t, f.Close(t.Context()))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var calls []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"tools/call"`) {
			calls = append(calls, line)
		}
	}
	if len(calls) != 2 || !strings.Contains(calls[0], `"agent":"a"`) || !strings.Contains(calls[0], `"tool":"echo","decision":"allowed"`) || !strings.Contains(calls[1], `"tool":"other","decision":"denied"`) {
		t.Errorf("%q", calls)
	}
}

// A call at the endpoint of all agents is also written down where no agent was asked: the token does not name it, or there is no
// session with it.
func TestR18_R19_ACallThatReachesNoAgentIsAuditedOnce(t *testing.T) {
	t.Parallel()
	a, gone := newAgent(t), newAgent(t)
	gone.Close()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	f := start(t, Options{Tokens: tokens(t, token("one", "alpha", `["a","down"]`)), Audit: audit.Options{File: file}},
		route("a", a.at(), ""), route("b", a.at(), ""), route("down", gone.at(), ""))
	id := f.open(t, "/mcp", "Authorization", "Bearer one")
	for _, agent := range []string{"b", "down", "nobody", "a"} {
		got := f.post(t, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__`+agent+`__echo","arguments":{"x":"private"}}}`,
			"Mcp-Session-Id", id, "Authorization", "Bearer one")
		if (agent == "a") != strings.Contains(got.body, `"result"`) {
			t.Errorf("%s: %+v", agent, got)
		}
	}
	assert.Equalf(t, f.policy.metrics.Agent("b").Denied.Load(), 1, "denied calls of b are counted")
	require.NoError(t, f.Close(t.Context()))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var calls []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"tools/call"`) {
			calls = append(calls, line)
		}
	}
	for i, want := range []string{
		`"principal":"alpha","agent":"b","http":"POST","method":"tools/call","tool":"mcp__b__echo","decision":"denied","why":"tool_not_found"`,
		`"principal":"alpha","agent":"down","http":"POST","method":"tools/call","tool":"mcp__down__echo","decision":"allowed","why":"`,
		`"principal":"alpha","http":"POST","method":"tools/call","tool":"mcp__nobody__echo","decision":"denied"`,
		`"principal":"alpha","agent":"a","http":"POST","method":"tools/call","tool":"echo","decision":"allowed"`,
	} {
		if len(calls) != 4 || !strings.Contains(calls[i], want) || strings.Contains(calls[i], "private") {
			t.Fatalf("line %d is not %s in %q", i, want, calls)
		}
	}
}
