package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const (
	echoSchema = `{"type":"object","properties":{"text":{"type":"string","description":"x"}},"required":["text"]}`
	askSchema  = `{"type":"object","properties":{
		"tenant_id":{"type":"string","minLength":1},
		"query":{"type":"string","maxLength":5},
		"limit":{"type":"integer","minimum":1,"maximum":20,"default":5},
		"kind":{"type":"string","enum":["general","codebase"]},
		"on":{"type":"boolean"},
		"filters":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},
		"a/b":{"type":"string"}
	},"required":["tenant_id"],"additionalProperties":false}`
)

// ran is the answer of a tool that was reached.
const ran = `{"content":[]}`

func engine(_ context.Context, _ *front.Exchange) (json.RawMessage, error) {
	return json.RawMessage(ran), nil
}

func lookup(name string) (Tool, bool) {
	t, ok := map[string]Tool{
		"echo":   {Input: json.RawMessage(echoSchema)},
		"ask":    {Input: json.RawMessage(askSchema)},
		"shaped": {Input: json.RawMessage(askSchema), Output: true},
		"remote": {Input: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`)},
		"broken": {Input: json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"(","type":"string"}}}`)},
		"free":   {},
	}[name]
	return t, ok
}

func call(t *testing.T, version string, modern bool, params string) (json.RawMessage, error) {
	t.Helper()
	x := &front.Exchange{ID: []byte("1"), Method: "tools/call", Params: []byte(params), Version: version, Modern: modern}
	return Middleware(lookup, nil)(engine)(t.Context(), x)
}

func TestA5_D7_BadArguments(t *testing.T) {
	for _, c := range []struct{ args, message, field, reason string }{
		{``, "Invalid params: tenant_id is required", "tenant_id", "Field required"},
		{`null`, "Invalid params: tenant_id is required", "tenant_id", "Field required"},
		{`{}`, "Invalid params: tenant_id is required", "tenant_id", "Field required"},
		{`{"tenant_id":5}`, "Invalid params: tenant_id must be a string", "tenant_id", "must be a string"},
		{`{"tenant_id":null}`, "Invalid params: tenant_id must be a string", "tenant_id", "must be a string"},
		{`{"tenant_id":""}`, "Invalid params: tenant_id must have at least 1 character, has 0", "tenant_id", "must have at least 1 character, has 0"},
		{`{"tenant_id":"a","limit":21}`, "Invalid params: limit must be at most 20", "limit", "must be at most 20"},
		{`{"tenant_id":"a","limit":0}`, "Invalid params: limit must be at least 1", "limit", "must be at least 1"},
		{`{"tenant_id":"a","limit":1.5}`, "Invalid params: limit must be a whole number", "limit", "must be a whole number"},
		{`{"tenant_id":"a","kind":"z"}`, `Invalid params: kind must be one of "general", "codebase"`, "kind", `must be one of "general", "codebase"`},
		{`{"tenant_id":"a","on":1}`, "Invalid params: on must be true or false", "on", "must be true or false"},
		{`{"tenant_id":"a","extra":1}`, "Invalid params: extra is not a property the schema allows", "extra", "is not a property the schema allows"},
		{`{"tenant_id":"a","query":"123456"}`, "Invalid params: query must have at most 5 characters, has 6", "query", "must have at most 5 characters, has 6"},
		{`{"tenant_id":"a","filters":[{"name":"x"},{}]}`, "Invalid params: filters/1/name is required", "filters/1/name", "Field required"},
		{`{"tenant_id":"a","a/b":1}`, "Invalid params: a/b must be a string", "a/b", "must be a string"},
		{`{"tenant_id":"a","tenant_id":"b"}`, "Invalid params: tenant_id is given more than once", "tenant_id", "is given more than once"},
		{`{"tenant_id":"a","Tenant_id":"b"}`, "Invalid params: Tenant_id differs from tenant_id only in letter case", "Tenant_id", "differs from tenant_id only in letter case"},
		{`{"tenant_id":"a","filters":[{"name":"x"},{"name":"x","Name":7}]}`, "Invalid params: filters/1/Name differs from name only in letter case", "filters/1/Name", "differs from name only in letter case"},
		{`[]`, "Invalid params: arguments must be an object", "arguments", "must be an object"},
		{`"x"`, "Invalid params: arguments must be an object", "arguments", "must be an object"},
	} {
		params := `{"name":"ask"}`
		if c.args != "" {
			params = `{"name":"ask","arguments":` + c.args + `}`
		}
		for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", ""} {
			_, err := call(t, version, false, params)
			f, ok := jsonrpc.AsRequestError(err)
			if !ok || f.Code(false) != -32602 || f.Kind != jsonrpc.KindInvalidParams || f.Message != c.message || f.Data["field"] != c.field || f.Data["reason"] != c.reason {
				t.Errorf("%s %s: %+v", version, c.args, err)
			}
		}
		if c.field == "arguments" {
			continue // no arguments at all: malformed params in every version
		}
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			raw, err := call(t, version, version > "2026", params)
			var got struct {
				IsError    bool
				Content    []struct{ Type, Text string }
				Structured struct{ Field, Reason, Kind string } `json:"structuredContent"`
				ResultType string
			}
			if err != nil || json.Unmarshal(raw, &got) != nil || !got.IsError || len(got.Content) != 1 || got.Content[0].Text != c.message ||
				got.Structured.Field != c.field || got.Structured.Reason != c.reason || got.Structured.Kind != "invalid_params" ||
				(got.ResultType == "complete") != (version > "2026") {
				t.Errorf("%s %s: %s %v", version, c.args, raw, err)
			}
		}
	}
}

func TestA5_GoodArguments(t *testing.T) {
	for _, params := range []string{
		`{"name":"echo","arguments":{"text":"a"}}`,
		`{"arguments":{"text":"a","more":[1]},"name":"echo","_meta":{"progressToken":1}}`,
		`{"name":"echo","arguments":{"te\u0078t":"a"}}`,
		`{"name":"ask","arguments":{"tenant_id":"a","limit":1e1,"filters":[{"name":"x"}]}}`,
		`{"name":"ask","arguments":{"tenant_id":"a","limit":20,"on":true,"kind":"general"}}`,
		`{"name":"free"}`, `{"name":"free","arguments":null}`,
	} {
		if got, err := call(t, "2025-06-18", false, params); string(got) != ran || err != nil {
			t.Errorf("%s: %s %v", params, got, err)
		}
	}
}

// Clients hold structuredContent against the tool's outputSchema, also when isError is set.
func TestD7_DetailsDoNotBreakAPromisedShape(t *testing.T) {
	raw, err := call(t, "2025-11-25", false, `{"name":"shaped"}`)
	var got map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &got) != nil || got["structuredContent"] != nil ||
		!strings.Contains(string(got["_meta"]), `"field":"tenant_id"`) {
		t.Errorf("%s %v", raw, err)
	}
}

func TestD7_FurtherProblemsAreListed(t *testing.T) {
	_, err := call(t, "", false, `{"name":"ask","arguments":{"tenant_id":"a","limit":0,"on":1,"kind":"z"}}`)
	f, _ := jsonrpc.AsRequestError(err)
	if details, ok := f.Data["details"].([]string); !ok || len(details) != 2 {
		t.Errorf("%+v", f)
	}
	many := `{"name":"ask","arguments":{"tenant_id":"a"`
	for i := range 5000 {
		many += fmt.Sprintf(`,"x%d":1`, i)
	}
	_, err = call(t, "", false, many+"}}")
	f, _ = jsonrpc.AsRequestError(err)
	if details := f.Data["details"].([]string); len(details) != maxDetails {
		t.Errorf("%d details", len(details))
	}
}

func TestE6_UnknownTool(t *testing.T) {
	for _, modern := range []bool{false, true} {
		_, err := call(t, "2025-11-25", modern, `{"name":"nope","arguments":{}}`)
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.Code(modern) != -32602 || f.Message != "Tool 'nope' not found" || !strings.Contains(string(f.RPC(modern).Data), `"kind":"tool_not_found"`) {
			t.Errorf("%+v", err)
		}
	}
	_, err := call(t, "", false, `{"name":"`+strings.Repeat("n", 1<<20)+`"}`)
	if f, _ := jsonrpc.AsRequestError(err); len(f.Message) > 300 {
		t.Errorf("%d bytes of the name came back", len(f.Message))
	}
}

func TestE4_MissingToolName(t *testing.T) {
	for _, params := range []string{`{}`, `{"arguments":{}}`, `{"name":""}`, ``} {
		x := &front.Exchange{Method: "tools/call", Params: []byte(params)}
		if params == "" {
			x.Params = nil
		}
		_, err := Middleware(lookup, nil)(engine)(t.Context(), x)
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.Code(false) != -32602 || f.Message != "Missing tool name" {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// Two readers must not disagree about which tool is called with what.
func TestX9_SmuggledMembers(t *testing.T) {
	for _, params := range []string{
		`{"name":"free","Name":"echo"}`, `{"Name":"free","name":"echo","arguments":{"text":""}}`, `{"name":"free","name":"echo"}`,
		`{"name":"free","argument\u017f":{}}`, `{"name":"free","arguments":{},"arguments":{}}`, `{"name":"free","_META":{}}`,
		`{"name":7}`, `[]`, `{"name":"free","_meta":[]}`,
	} {
		got, err := call(t, "", false, params)
		if f, ok := jsonrpc.AsRequestError(err); !ok || f.Code(false) != -32602 || got != nil {
			t.Errorf("%s: %s %v", params, got, err)
		}
	}
}

func TestX4_ASchemaNeverFetchesAndNeverBlocksACall(t *testing.T) {
	var log bytes.Buffer
	m := Middleware(lookup, slog.New(slog.NewJSONHandler(&log, nil)))(engine)
	for _, tool := range []string{"remote", "broken", "remote", "broken"} {
		x := &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"` + tool + `","arguments":{"a":"v"}}`)}
		if got, err := m(t.Context(), x); string(got) != ran || err != nil {
			t.Errorf("%s: %s %v", tool, got, err)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d lines of log: %s", n, &log)
	}
}

func TestA4_AChangedSchemaCounts(t *testing.T) {
	schema := echoSchema
	m := Middleware(func(string) (Tool, bool) { return Tool{Input: json.RawMessage(schema)}, true }, nil)(engine)
	x := &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"echo","arguments":{"text":"a"}}`)}
	if _, err := m(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	schema = askSchema
	if _, err := m(t.Context(), x); err == nil {
		t.Error("the schema from before was used")
	}
}

func TestEngineLookup(t *testing.T) {
	s := server.NewMCPServer("x", "1")
	s.AddTools(
		kit.Tool("raw", "", "", kit.ReadOnly, nil, echoSchema, `{"type":"object"}`),
		server.ServerTool{Tool: mcp.NewTool("typed", mcp.WithString("text", mcp.Required()))},
	)
	find := Engine(s)
	if got, ok := find("raw"); !ok || string(got.Input) != echoSchema || !got.Output {
		t.Errorf("%+v %v", got, ok)
	}
	got, ok := find("typed")
	if !ok || got.Output || newValidators(slog.New(slog.DiscardHandler)).of("typed", got.Input).check(nil) == nil {
		t.Errorf("%+v %v", got, ok)
	}
	if _, ok := find("nope"); ok {
		t.Error("nope was found")
	}
}

// What the fast path lets through, the validator lets through too.
func FuzzFlatAgrees(f *testing.F) {
	for _, s := range []string{echoSchema, askSchema, `{"type":"object","properties":{"a":{},"b":{"type":"integer"},"c":{"type":"number"},"d":{"type":"boolean"}},"required":["b"]}`} {
		for _, a := range []string{`{"text":"a"}`, `{"b":1,"c":-1.5,"d":true,"a":null}`, `{"b":1,"b":2}`, `{"b":-}`, `{"tenant_id":"\ud800"}`, `{"text":"a","text":"b"}`} {
			f.Add(s, a)
		}
	}
	f.Fuzz(func(t *testing.T, schema, args string) {
		fast := newFlat([]byte(schema))
		if fast == nil || !json.Valid([]byte(args)) || !json.Valid([]byte(schema)) || !fast.allows([]byte(args)) {
			return
		}
		v := newValidators(slog.New(slog.DiscardHandler)).of("t", []byte(schema))
		v.fast = nil
		if bad := v.check([]byte(args)); bad != nil {
			t.Errorf("schema %s, arguments %s: %v", schema, args, bad)
		}
	})
}

func BenchmarkEcho(b *testing.B) {
	m := Middleware(registry(), nil)(engine)
	x := &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"echo","arguments":{"text":"hello"}}`)}
	for b.Loop() {
		if _, err := m(b.Context(), x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidator(b *testing.B) {
	m := Middleware(lookup, nil)(engine)
	x := &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"ask","arguments":{"tenant_id":"hello","limit":3}}`)}
	for b.Loop() {
		if _, err := m(b.Context(), x); err != nil {
			b.Fatal(err)
		}
	}
}

func registry() Lookup {
	s := server.NewMCPServer("x", "1")
	s.AddTools(kit.Tool("echo", "", "", kit.ReadOnly, nil, echoSchema, ""))
	return Engine(s)
}
