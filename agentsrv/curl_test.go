package agentsrv_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/peertest"
)

// reply is what curl got.
type reply struct {
	status int
	header http.Header
	body   string
	rpc    struct {
		JSONRPC string
		ID      json.RawMessage
		Result  json.RawMessage
		Error   *struct {
			Code    int
			Message string
			Data    map[string]any
		}
	}
}

// curl posts a body with the given headers and no others than curl's own, except that Accept is left out, as in the
// requests of people who never read the specification.
func curl(t *testing.T, url, body string, headers ...string) reply {
	t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		if os.Getenv(peertest.RequireEnv) == "required" {
			t.Fatalf("no curl: %v; install it", err)
		}
		t.Skip("curl is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"--silent", "--show-error", "--max-time", "30", "--dump-header", "/dev/stderr", "--header", "Accept:", "--data-binary", "@-"}
	for _, h := range headers {
		args = append(args, "--header", h)
	}
	cmd := exec.CommandContext(ctx, path, append(args, url)...)
	cmd.Stdin = strings.NewReader(body)
	var head bytes.Buffer
	cmd.Stderr = &head
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("curl: %v\n%s", err, head.String())
	}
	r := reply{header: http.Header{}, body: string(out)}
	for i, line := range strings.Split(strings.ReplaceAll(head.String(), "\r", ""), "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			r.header.Add(name, value)
		} else if i == 0 {
			fields := strings.Fields(line)
			if len(fields) < 2 {
				t.Fatalf("status line %q", line)
			}
			if r.status, err = strconv.Atoi(fields[1]); err != nil {
				t.Fatalf("status line %q", line)
			}
		}
	}
	if len(out) > 0 {
		if err := json.Unmarshal(out, &r.rpc); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if kind := r.header.Get("Content-Type"); len(out) > 0 && kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
	return r
}

// object is the result, whose first text is decoded into v.
func (r reply) object(t *testing.T, v any) {
	t.Helper()
	var res toolResult
	if err := json.Unmarshal(r.rpc.Result, &res); err != nil || res.IsError || len(res.Content) == 0 {
		t.Fatalf("%v: %s", err, r.body)
	}
	if err := json.Unmarshal([]byte(res.Content[0].Text), v); err != nil {
		t.Fatalf("%v: %s", err, res.Content[0].Text)
	}
}

const asJSON = "Content-Type: application/json"

// A client that fetches without a handshake, a session or an Accept header, with a UUID as id and a token that nobody
// asked for: agents call each other like this.
func TestPeerCurl_V2_WithoutSession(t *testing.T) {
	url := start(t, agentsrv.Options{})
	const id = `"0191d3a0-7c4e-4b6f-9a55-2f1f4f0a6c11"`
	send := func(method, params string) reply {
		t.Helper()
		r := curl(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params), asJSON, "Authorization: Bearer undefined")
		if r.status != http.StatusOK || string(r.rpc.ID) != id || r.rpc.JSONRPC != "2.0" || r.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d %v %s", method, r.status, r.header, r.body)
		}
		return r
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(send("tools/list", `{}`).rpc.Result, &list); err != nil || len(list.Tools) < 10 {
		t.Errorf("%v: %+v", err, list)
	}
	var called toolResult
	if err := json.Unmarshal(send("tools/call", `{"name":"execute_code","arguments":{"code":"1 + 1"}}`).rpc.Result, &called); err != nil || called.IsError || len(called.Content) == 0 || !strings.Contains(called.Content[0].Text, "2") {
		t.Errorf("%v: %+v", err, called)
	}
	var resources struct{ Resources []struct{ URI string } }
	if err := json.Unmarshal(send("resources/list", `{}`).rpc.Result, &resources); err != nil || len(resources.Resources) == 0 {
		t.Errorf("%v: %+v", err, resources)
	}
	var read struct{ Contents []contents }
	if err := json.Unmarshal(send("resources/read", `{"uri":"system-agents://list"}`).rpc.Result, &read); err != nil || len(read.Contents) != 1 || read.Contents[0].Text == "" {
		t.Errorf("%v: %+v", err, read)
	}
}

// The requests of a client that knows the agent tools and nothing but JSON-RPC.
func TestPeerCurl_V2_D4_D5_D7_AgentTools(t *testing.T) {
	url := start(t, agentsrv.Options{})
	r := curl(t, url, `{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "tools/call",
  "params": {
    "name": "ask_agent",
    "arguments": {
      "agent_uri": "test-agent",
      "tenant_id": "test-tenant",
      "prompt": "Analyze this document"
    }
  }
}`, asJSON)
	if r.status != http.StatusOK || len(r.rpc.Result) == 0 || r.rpc.Error != nil {
		t.Errorf("ask_agent: %d %s", r.status, r.body)
	}
	r = curl(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_knowledge_base","arguments":{"query":"session","tenant_id":"test-tenant","limit":3}}}`, asJSON)
	var found struct {
		Status  string
		Results []struct {
			Content, Source string
			Score           float64
		}
		Count int
	}
	if r.object(t, &found); found.Status != "success" || found.Count != 3 || len(found.Results) != 3 || !strings.HasPrefix(found.Results[0].Source, "resource://") {
		t.Errorf("search: %s", r.body)
	}
	r = curl(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_agent","arguments":{"agent_uri":"researcher","prompt":"Test"}}}`, asJSON)
	if e := r.rpc.Error; r.status != http.StatusOK || e == nil || e.Code != -32602 || e.Message != "Invalid params: tenant_id is required" ||
		e.Data["field"] != "tenant_id" || e.Data["reason"] != "Field required" {
		t.Errorf("without a tenant: %d %s", r.status, r.body)
	}
	r = curl(t, url, `{
  "jsonrpc": "2.0",
  "id": 5,
  "method": "resources/read",
  "params": {
    "uri": "system-agents://list"
  }
}`, asJSON)
	var read struct{ Contents []contents }
	if err := json.Unmarshal(r.rpc.Result, &read); err != nil || string(r.rpc.ID) != "5" || len(read.Contents) != 1 {
		t.Fatalf("%v: %s", err, r.body)
	}
	var agents []struct {
		Name string `json:"fully_qualified_name"`
	}
	if c := read.Contents[0]; c.URI != "system-agents://list" || c.MIMEType != "application/json" || json.Unmarshal([]byte(c.Text), &agents) != nil || len(agents) == 0 || agents[0].Name == "" {
		t.Errorf("%+v", read)
	}
}

// A handshake with nothing in it, then requests in the session that it gave, without params.
func TestPeerCurl_P11_SessionOfAnEmptyInitialize(t *testing.T) {
	url := start(t, agentsrv.Options{})
	r := curl(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, asJSON)
	var init struct {
		ProtocolVersion string
		Capabilities    map[string]any
		ServerInfo      struct{ Name, Version string }
	}
	session := r.header.Get("Mcp-Session-Id")
	if err := json.Unmarshal(r.rpc.Result, &init); err != nil || r.status != http.StatusOK || session == "" || init.ProtocolVersion != "2025-06-18" || init.Capabilities["tools"] == nil || init.ServerInfo.Name == "" {
		t.Fatalf("%v: %d %v %s", err, r.status, r.header, r.body)
	}
	r = curl(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, asJSON, "mcp-session-id: "+session)
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(r.rpc.Result, &list); err != nil || string(r.rpc.ID) != "2" || len(list.Tools) == 0 {
		t.Errorf("%v: %d %s", err, r.status, r.body)
	}
	r = curl(t, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, asJSON, "mcp-session-id: "+session)
	if r.status != http.StatusAccepted || r.body != "" {
		t.Errorf("notification: %d %q", r.status, r.body)
	}
	r = curl(t, url, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, asJSON, "mcp-session-id: 00000000-0000-4000-8000-000000000000")
	if r.status != http.StatusNotFound || r.rpc.Error == nil || r.rpc.Error.Message != "Missing or invalid MCP session" {
		t.Errorf("foreign session: %d %s", r.status, r.body)
	}
}
