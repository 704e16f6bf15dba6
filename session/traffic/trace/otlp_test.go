package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// collected is a request of OTLP/HTTP as a collector reads it.
type collected struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []otlpAttribute }
		ScopeSpans []struct{ Spans []otlpSpan }
	}
}

// exported are the spans that are written of a journal, by service and name.
func exported(t *testing.T, j *journal.Journal, keep func(*journal.Entry) bool) (by map[string]otlpSpan, n int) {
	t.Helper()
	var b bytes.Buffer
	n, err := WriteOTLP(&b, j, keep)
	require.NoError(t, err)
	var got collected
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, &b)
	}
	by = map[string]otlpSpan{}
	for _, r := range got.ResourceSpans {
		for _, s := range r.ScopeSpans[0].Spans {
			by[fmt.Sprint(r.Resource.Attributes[0].Value["stringValue"], ": ", s.Name)] = s
		}
	}
	return by, n
}

func TestJournalAsOTLP(t *testing.T) {
	r := newRig(t)
	delegated(r, nil)
	got, n := exported(t, r.Journal, nil)
	call := got["mcphud client: tools/call call_agent"]
	if call.TraceID != traceID || call.SpanID != id(1) || call.Kind != 3 || call.Start != fmt.Sprint(noon.UnixNano()) || call.End != fmt.Sprint(noon.Add(20*ms).UnixNano()) {
		t.Errorf("%+v", call)
	}
	attrs := map[string]any{}
	for _, a := range call.Attributes {
		attrs[a.Key] = a.Value["stringValue"]
	}
	if attrs["mcp.method.name"] != "tools/call" || attrs["gen_ai.tool.name"] != "call_agent" || attrs["gen_ai.operation.name"] != "execute_tool" || attrs["jsonrpc.request.id"] != "7" {
		t.Errorf("%v", attrs)
	}
	if s := got["mcphud router: mcp.router.forward"]; s.Parent == "" || s.Kind != 2 {
		t.Errorf("%+v", s)
	}
	if s := got["mcphud agent everything: run"]; s.Parent != id(40) || s.Kind != 1 {
		t.Errorf("%+v", s)
	}
	if n != 15 { // 14 spans, and the client's own call; not what the router saw of it
		t.Error(n)
	}
	if got, n := exported(t, r.Journal, func(e *journal.Entry) bool { return e.Hop == "" }); n != 1 || len(got) != 1 {
		t.Error(n, got)
	}
	if got, n := exported(t, r.Journal, func(*journal.Entry) bool { return false }); n != 0 || len(got) != 0 {
		t.Error(n, got)
	}
}

// A call without a trace context is a trace of its own, the same each time; what failed says how.
func TestExchangesWithoutTrace(t *testing.T) {
	j := journal.New(journal.Options{})
	defer j.Close()
	add := func(id, method, params, answer string) {
		e := journal.Entry{Server: "s", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: id, Method: method, Time: noon}
		j.Append(e, []byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`))
		if answer == "" {
			return
		}
		e.Dir, e.Kind, e.Method, e.Time = journal.In, journal.Response, "", noon.Add(ms)
		if answer[:8] == `{"error"` {
			e.Kind = journal.ErrorResponse
		}
		j.Append(e, []byte(answer))
	}
	add("1", "tools/call", `{"name":"a"}`, `{"result":{"isError":true}}`)
	add("2", "tools/call", `{"name":"b"}`, `{"error":{"code":-32602,"message":"no"}}`)
	add(`"x"`, "resources/read", `{"uri":"https://u:hunter2@h/x"}`, `{"result":{}}`)
	add("4", "tools/call", `{"name":"pending"}`, "")
	first, n := exported(t, j, nil)
	again, _ := exported(t, j, nil)
	if n != 3 || first["mcphud client: tools/call a"].TraceID != again["mcphud client: tools/call a"].TraceID || !span.IsTrace(first["mcphud client: tools/call a"].TraceID) ||
		first["mcphud client: tools/call a"].TraceID == first["mcphud client: tools/call b"].TraceID {
		t.Errorf("%d %+v", n, first)
	}
	attr := func(name, key string) any {
		for _, a := range first["mcphud client: "+name].Attributes {
			if a.Key == key {
				return a.Value["stringValue"]
			}
		}
		return nil
	}
	if attr("tools/call a", "error.type") != "tool_error" || attr("tools/call b", "error.type") != "-32602" || attr("tools/call b", "rpc.response.status_code") != "-32602" {
		t.Errorf("%+v", first)
	}
	if attr("resources/read", "jsonrpc.request.id") != "x" || attr("resources/read", "mcp.resource.uri") == "https://u:hunter2@h/x" || attr("resources/read", "error.type") != nil {
		t.Errorf("%+v", first["mcphud client: resources/read"])
	}
}

// Many spans are written in parts, none is lost.
func TestManySpansAsOTLP(t *testing.T) {
	r := newRig(t)
	for i := range 3*otlpBatch + 5 {
		r.span(span.Agent, "a", i+1, 0, fmt.Sprint("s", i), "", 0, 5, 0)
	}
	if got, n := exported(t, r.Journal, nil); n != 3*otlpBatch+5 || len(got) != n {
		t.Error(n, len(got))
	}
}
