package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// spans is a collector that keeps what it is sent, as OTLP's JSON has it.
type spans struct {
	*httptest.Server
	mu  sync.Mutex
	all []span
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue string }
	}
}

func (s span) attr(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

func collector(t *testing.T) *spans {
	s := &spans{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			return
		}
		var in struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []span }
			}
		}
		assert.NoError(t, json.Unmarshal(raw, &in))
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, rs := range in.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				s.all = append(s.all, ss.Spans...)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestO1_O2_O5_ForwardingIsASpan(t *testing.T) {
	sink, a := collector(t), newAgent(t)
	f := start(t, Options{OTLP: sink.URL, Tokens: tokens(t, token("one", "alpha", `["*"]`))}, route("a", a.at(), ""))
	auth := []string{"Authorization", "Bearer one"}
	id := f.open(t, "/mcps/a/mcp", auth...)
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	send := func(body string, headers ...string) (traceparent string) {
		t.Helper()
		if got := f.post(t, "/mcps/a/mcp", body, append(append(headers, auth...), "Mcp-Session-Id", id)...); got.status != 200 {
			t.Fatalf("%+v", got)
		}
		h, sent := a.seen()
		assert.Equalf(t, sent, body, "the body was rewritten")
		return h.Get("Traceparent")
	}
	byHeader := send(callEcho, "Traceparent", "00-"+parent+"-00f067aa0ba902b7-01", "Tracestate", "vendor=1")
	if h, _ := a.seen(); h.Get("Tracestate") != "vendor=1" {
		t.Errorf("tracestate %q", h.Get("Tracestate"))
	}
	byMeta := send(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"p","_meta":{"traceparent":"00-` + parent + `-00f067aa0ba902b8-01"}}}`)
	alone := send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x://u:secret@h/y"}}`)
	require.NoError(t, f.Close(t.Context()))
	sink.mu.Lock()
	defer sink.mu.Unlock()
	var got []span
	for _, s := range sink.all {
		if s.Name == "mcp.router.forward" && s.attr("mcp.method") != "initialize" {
			got = append(got, s)
		}
	}
	if len(got) != 3 {
		t.Fatalf("%+v", sink.all)
	}
	for i, w := range []struct{ header, parent, key, value string }{
		{byHeader, "00f067aa0ba902b7", "mcp.tool.name", "echo"},
		{byMeta, "00f067aa0ba902b8", "mcp.prompt.name", "p"},
		{alone, "", "mcp.resource.uri", ""},
	} {
		s := got[i]
		if !strings.EqualFold(s.ParentSpanID, w.parent) || w.parent != "" && !strings.EqualFold(s.TraceID, parent) || !strings.EqualFold(w.header, "00-"+s.TraceID+"-"+s.SpanID+"-01") {
			t.Errorf("span %d: %+v, but the agent saw %s", i, s, w.header)
		}
		if v := s.attr(w.key); v == "" || w.value != "" && v != w.value || strings.Contains(v, "secret") {
			t.Errorf("span %d: %s is %q", i, w.key, v)
		}
		if s.attr("mcp.agent") != "a" || s.attr("mcp.user_id") != "alpha" || len(s.attr("mcp.session_id")) != 8 {
			t.Errorf("span %d: %+v", i, s)
		}
	}
}

// Without a collector the agent finds what the caller wrote.
func TestO5_TheTraceIsPassedOn(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	f.post(t, "/mcps/a/mcp", ping, "Traceparent", parent)
	if h, _ := a.seen(); h.Get("Traceparent") != parent {
		t.Errorf("%q", h.Get("Traceparent"))
	}
	f.post(t, "/mcps/a/mcp", ping)
	if h, _ := a.seen(); h.Get("Traceparent") != "" {
		t.Errorf("%q was made up", h.Get("Traceparent"))
	}
	call := strings.Replace(callEcho, "echo", "mcp__a__echo", 1)
	for _, session := range [][]string{nil, {"Mcp-Session-Id", f.open(t, "/mcp")}} {
		f.post(t, "/mcp", call, append(session, "Traceparent", parent, "Tracestate", "a=b")...)
		if h, body := a.seen(); h.Get("Traceparent") != parent || h.Get("Tracestate") != "a=b" {
			t.Errorf("by way of all agents: %q in %v of %s", h.Get("Traceparent"), h, body)
		}
	}
}
