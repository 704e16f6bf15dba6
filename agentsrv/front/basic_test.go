package front

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/serve/ingress"
)

func TestP1_IDsAreByteExact(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-06-18", "{}")
	longest := `"` + strings.Repeat("x", ingress.MaxID-2) + `"`
	for _, id := range []string{"9007199254740993", `"a"`, `"é"`, `"\u00e9"`, "1.0", "-0", "1e400", longest} {
		if g := f.post(t, call(id, "echo", `{"x":9007199254740993}`), s...); g.status != 200 || !strings.HasPrefix(g.body, `{"jsonrpc":"2.0","id":`+id+`,"result"`) || !strings.Contains(g.body, "9007199254740993") {
			t.Errorf("id %.40s: %+v", id, g)
		}
		body, h := modern(id, "tools/call", `"name":"echo","arguments":{}`, "echo")
		if g := f.post(t, body, h...); g.status != 200 || !strings.HasPrefix(g.body, `{"jsonrpc":"2.0","id":`+id+`,"result"`) {
			t.Errorf("modern id %.40s: %+v", id, g)
		}
		if g := f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"foo/bar"}`, id), s...); !strings.HasPrefix(g.body, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601`) {
			t.Errorf("id %.40s of an error: %+v", id, g)
		}
	}
	if g := f.post(t, call(`"x`+longest[1:], "echo", "{}"), s...); g.status != 400 || !strings.HasPrefix(g.body, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600`) {
		t.Errorf("an id that is too long: %+v", g)
	}
}

func TestP3_C5_Negotiation(t *testing.T) {
	f := start(t, nil)
	for asked, want := range map[string]string{
		`{"protocolVersion":"2024-11-05"}`: "2024-11-05", `{"protocolVersion":"2025-03-26"}`: "2025-03-26",
		`{"protocolVersion":"2025-06-18"}`: "2025-06-18", `{"protocolVersion":"2025-11-25"}`: "2025-11-25",
		`{"protocolVersion":"1999-01-01"}`: "2025-11-25", `{"protocolVersion":"2026-07-28"}`: "2025-11-25",
		`{}`: "2025-06-18", ` { "capabilities":{} }`: "2025-06-18",
	} {
		g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+asked+`}`)
		var r struct {
			Result struct {
				ProtocolVersion string
				ServerInfo      struct{ Name, Version string }
			}
		}
		if err := json.Unmarshal([]byte(g.body), &r); err != nil || r.Result.ProtocolVersion != want || r.Result.ServerInfo.Name != "fixture-agent" || g.header.Get("Mcp-Session-Id") == "" {
			t.Errorf("%s: %+v", asked, g)
		}
	}
	if g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`); !strings.Contains(g.body, `"protocolVersion":"2025-06-18"`) {
		t.Errorf("no params: %+v", g)
	}
	body, h := modern("1", "server/discover", "", "")
	if g := f.post(t, body, h...); g.status != 200 || !strings.Contains(g.body, `"supportedVersions":["2026-07-28","2025-11-25"`) || g.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("discover: %+v", g)
	}
	if g := f.post(t, call("1", "echo", "{}"), "MCP-Protocol-Version", "banana"); g.status != 400 || !strings.Contains(g.body, "-32600") {
		t.Errorf("unknown version: %+v", g)
	}
}
