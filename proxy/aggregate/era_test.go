package aggregate_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// inRegion is a tool one of whose parameters travels in a header as well.
func inRegion(m *server.MCPServer) {
	t := mcp.NewToolWithRawSchema("go", "", []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`))
	m.AddTool(t, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("in " + r.GetString("region", "")), nil
	})
}

// modernOnly has a server refuse to be initialized.
func modernOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte(`"initialize"`)) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"there is no initialize"}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// What a modern caller says in headers is compared by the agent, as it would be without a router.
func TestP3_ParametersInHeadersArePassedOn(t *testing.T) {
	s := router(t, map[string]string{"a": agent(t, "a", inRegion)}, nil)
	const name, more = "mcp__a__go", `,"name":"mcp__a__go","arguments":{"region":"eu"}`
	if a := s.modernAsk("tools/call", name, more, "", "Mcp-Param-Region", "eu"); a.Error != nil || a.Result.Content[0].Text != "in eu" {
		t.Error(a.raw)
	}
	for _, wrong := range [][]string{{"Mcp-Param-Region", "us"}, nil} {
		if a := s.modernAsk("tools/call", name, more, "", wrong...); a.Error == nil || a.Error.Code != -32020 {
			t.Errorf("%q: %s", wrong, a.raw)
		}
	}
}

// What only the modern era has in its results is not for callers of the legacy one.
func TestP3_ResultsAreOfTheCallersEra(t *testing.T) {
	s := router(t, map[string]string{"a": served(t, "a", func(m *server.MCPServer) {
		echo(m, "one")
		m.AddResource(mcp.NewResource("a://b", "b"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "a://b", Text: "text"}}, nil
		})
	}, modernOnly)}, nil)
	id, _ := s.open("{}", "2025-11-25")
	for method, params := range map[string]string{"tools/call": `{"name":"mcp__a__one","arguments":{"text":"m"}}`, "resources/read": `{"uri":"a://b"}`} {
		a := s.ask(id, method, params)
		if a.Error != nil || !strings.Contains(a.raw, `"content`) || strings.Contains(a.raw, "resultType") || strings.Contains(a.raw, "ttlMs") {
			t.Errorf("%s: %s", method, a.raw)
		}
	}
	if a := s.modernAsk("resources/read", "a://b", `,"uri":"a://b"`, ""); a.Error != nil || !strings.Contains(a.raw, `"resultType":"complete"`) {
		t.Error(a.raw)
	}
}

// Callers of the older era know nothing of such headers, and agents of the modern one want them nevertheless.
func TestP3_ParametersInHeadersAreMadeForLegacyCallers(t *testing.T) {
	s := router(t, map[string]string{"a": served(t, "a", inRegion, modernOnly)}, nil)
	id, _ := s.open("{}", "2025-11-25")
	a := s.ask(id, "tools/call", `{"name":"mcp__a__go","arguments":{"region":"eu"}}`)
	if a.Error != nil || len(a.Result.Content) == 0 || !strings.Contains(a.raw, "in eu") {
		t.Error(a.raw)
	}
}

// spaced makes a header's name one that is not allowed, which mcp-go would not take.
type spaced struct{ http.ResponseWriter }

func (w spaced) Write(b []byte) (int, error) {
	return w.ResponseWriter.Write(bytes.ReplaceAll(b, []byte(`"a_b"`), []byte(`"a b"`)))
}

// What must not be called over HTTP is not offered to callers either, whatever they speak.
func TestBarredToolsAreNotOffered(t *testing.T) {
	s := router(t, map[string]string{"a": served(t, "a", func(m *server.MCPServer) {
		inRegion(m)
		m.AddTool(mcp.NewToolWithRawSchema("bad", "", []byte(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a_b"}}}`)), nil)
	}, func(h http.Handler) http.Handler {
		return modernOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(spaced{w}, r) }))
	})}, nil)
	id, _ := s.open("{}", "2025-11-25")
	if a := s.ask(id, "tools/list", `{}`); strings.Contains(a.raw, "mcp__a__bad") || !strings.Contains(a.raw, "mcp__a__go") {
		t.Error(a.raw)
	}
	if a := s.ask(id, "tools/call", `{"name":"mcp__a__bad","arguments":{"a":"x"}}`); a.Error == nil {
		t.Error(a.raw)
	}
}

// A number that moved for the modern era is what it was for a caller of the legacy one.
func TestE7_E8_ErrorsAreNumberedForTheCallersEra(t *testing.T) {
	s := router(t, map[string]string{"a": served(t, "a", func(m *server.MCPServer) { echo(m, "one") }, func(h http.Handler) http.Handler {
		return modernOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || !bytes.Contains(body, []byte(`"tools/call"`)) {
				r.Body = io.NopCloser(bytes.NewReader(body))
				h.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(jsonrpc.Get(body, "id"))+
				`,"error":{"code":-31002,"message":"Rate limit exceeded","data":{"kind":"rate_limited","legacyCode":-32002,"retryAfterMs":7}}}`)
		}))
	})}, nil)
	id, _ := s.open("{}", "2025-11-25")
	for _, session := range []string{id, ""} {
		a := s.ask(session, "tools/call", `{"name":"mcp__a__one","arguments":{"text":"m"}}`)
		if a.Error == nil || a.Error.Code != -32002 || !strings.Contains(a.raw, `{"kind":"rate_limited","retryAfterMs":7}`) {
			t.Errorf("session %q: %s", session, a.raw)
		}
	}
	if a := s.modernAsk("tools/call", "mcp__a__one", `,"name":"mcp__a__one","arguments":{"text":"m"}`, ""); a.Error == nil || a.Error.Code != -31002 || !strings.Contains(a.raw, "legacyCode") {
		t.Error(a.raw)
	}
}
