package session_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// TestModernRequests: what the modern era wants in each request is there, over HTTP in the headers as well.
func TestModernRequests(t *testing.T) {
	var called jsonrpc.Envelope
	var headers http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		env, scanErr := jsonrpc.Scan(body)
		if err != nil || scanErr != nil {
			t.Error(err, scanErr)
		}
		w.Header().Set("Content-Type", "application/json")
		result := `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{}}}`
		switch env.Method {
		case "tools/list":
			result = `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}`
		case "tools/call":
			called, headers = env, r.Header.Clone()
			result = `{"content":[]}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, result)
	}))
	t.Cleanup(srv.Close)
	_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, ClientInfo: session.Implementation{Name: "i", Version: "1"}}, config.Server{URL: srv.URL, Transport: config.HTTP})
	if _, err := s.List(t.Context(), offer.Tools); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, s.SetLevel(t.Context(), "debug"))
	if _, err := s.CallTool(t.Context(), "t", json.RawMessage(`{"region":"eu"}`), session.CallOptions{}); err != nil {
		t.Fatal(err)
	}
	want := `{"name":"t","arguments":{"region":"eu"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"i","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"io.modelcontextprotocol/logLevel":"debug","progressToken":` + string(called.ID) + `}}`
	assert.Equal(t, string(called.Params), want)
	for k, v := range map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "t", "Mcp-Param-Region": "eu"} {
		assert.Equalf(t, headers.Get(k), v, "%s", k)
	}
}

// TestBarredTool: a tool whose x-mcp-header annotations are not allowed is listed with the reason and never called over HTTP; the
// other tools of the list are not affected.
func TestBarredTool(t *testing.T) {
	var calls []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		env, scanErr := jsonrpc.Scan(body)
		if err != nil || scanErr != nil {
			t.Error(err, scanErr)
		}
		w.Header().Set("Content-Type", "application/json")
		result := `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
		switch env.Method {
		case "tools/list":
			result = `{"tools":[
				{"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Region"}}}},
				{"name":"empty","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}},
				{"name":"object","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},
				{"name":"twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}},
				{"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}}]}`
		case "tools/call":
			calls = append(calls, jsonrpc.GetString(env.Params, "name"))
			result = `{"content":[]}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, result)
	}))
	t.Cleanup(srv.Close)
	_, s := sessiontest.Open(t, session.Options{HealthInterval: -1}, config.Server{URL: srv.URL, Transport: config.HTTP})
	l, err := s.List(t.Context(), offer.Tools)
	require.NoError(t, err)
	for i, it := range l.Items {
		if barred := i > 0; (it.Barred != nil) != barred || (it.Flaw != nil) != barred {
			t.Errorf("%s: barred %v, flaw %v", it.Name, it.Barred, it.Flaw)
		}
		if i == len(l.Items)-1 {
			break // another one of the first's name
		}
		_, err := s.CallTool(t.Context(), it.Name, json.RawMessage(`{"a":"x"}`), session.CallOptions{})
		if i == 0 {
			assert.NoError(t, err)
		} else if failure.KindOf(err) != failure.Protocol || !strings.Contains(err.Error(), "x-mcp-header") {
			t.Errorf("%s: %v", it.Name, err)
		}
	}
	if !slices.Equal(calls, []string{"good"}) {
		t.Errorf("called %v", calls)
	}
}
