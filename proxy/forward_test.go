package proxy

import (
	"fmt"
	"strings"
	"testing"
)

func TestR1_AliasesLeadToTheAgent(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, path := range []string{"/mcps/a/mcp", "/mcp/a/mcp", "/agent/a/mcp"} {
		got := f.post(t, path, callEcho)
		if got.status != 200 || got.body != `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"up-1"}]}}` {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestP1_IDsAreEchoedByteForByte(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, id := range []string{"9007199254740993", `"a"`, `"é"`, `"\u00e9"`, "1.0", "-0"} {
		got := f.post(t, "/mcps/a/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/list"}`, id))
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":`; got.status != 200 || !strings.HasPrefix(got.body, want) {
			t.Errorf("id %s: %+v", id, got)
		}
		if got = f.post(t, "/mcps/ghost/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/list"}`, id)); !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":`+id+`,"error":`) {
			t.Errorf("id %s: %+v", id, got)
		}
	}
}

func TestE13_UnknownAgent(t *testing.T) {
	f := start(t, Options{})
	f.post(t, "/mcps/ghost/mcp", callEcho).check(t, 404, -32601, "Agent 'ghost' not found")
}

func TestR11_R12_InitializeIsForwardedUnderOurName(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	got := f.post(t, "/mcps/a/mcp", initialize, "Accept", accept)
	want := `{"jsonrpc":"2.0","id":1,"result":` + strings.Replace(initResult, `"inner"`, `"mcphud-router-proxy:a"`, 1) + `}`
	if got.status != 200 || got.body != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	id := got.header.Get("Mcp-Session-Id")
	if len(id) != 36 || id[14] != '4' || strings.HasPrefix(id, "up-") || got.header.Get("Mcp-Protocol-Version") != "2025-06-18" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", got.header)
	}
	in := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id)
	if !strings.Contains(in.body, `"up-1"`) || in.header.Get("Mcp-Protocol-Version") != "2025-06-18" {
		t.Errorf("%+v", in)
	}
}
