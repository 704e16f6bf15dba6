package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// tooled is an agent that has tools of these names.
func tooled(t *testing.T, names ...string) *agent {
	a := newAgent(t)
	var tools []string
	for _, n := range names {
		tools = append(tools, `{"name":"`+n+`","inputSchema":{"type":"object"}}`)
	}
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		if e.Method == "tools/list" {
			reply(w, e.ID, `{"tools":[`+strings.Join(tools, ",")+`]}`)
			return
		}
		_, _ = w.Write(jsonrpc.NewError(e.ID, jsonrpc.CodeMethodNotFound, "no", nil))
	}
	return a
}

// What lists do not have is said at /health, to those who may know of all agents, and at /status.
func TestR19_HealthSaysWhatIsLeftOut(t *testing.T) {
	a, b := tooled(t, "one", "both"), tooled(t, "two", "both")
	f := start(t, Options{Prefix: toolset.Never, Tokens: tokens(t, token("one", "alpha", `["*"]`), token("two", "beta", `["a"]`))}, route("a", a.at(), ""), route("b", b.at(), ""))
	all, some := []string{"Authorization", "Bearer one"}, []string{"Authorization", "Bearer two"}
	assert.Equalf(t, f.send(t, "GET", "/health", "", all...).body, `{"status":"ok"}`, "before a list")
	if got := f.post(t, "/mcp", listTools, all...); !strings.Contains(got.body, `"one"`) || strings.Contains(got.body, `"name":"both","inputSchema"`) {
		t.Errorf("%s", got.body)
	}
	if got := f.send(t, "GET", "/health", "", all...); strings.TrimSpace(got.body) != `{"left_out":["2 tools left out: both is a name of a and b"],"status":"ok"}` {
		t.Errorf("%s", got.body)
	}
	for _, who := range [][]string{nil, some} {
		if got := f.send(t, "GET", "/health", "", who...); got.status != 200 || got.body != `{"status":"ok"}` {
			t.Errorf("%v: %+v", who, got)
		}
	}
	for who, want := range map[*[]string]int{&all: 1, &some: 0} {
		var s Status
		if err := json.Unmarshal([]byte(f.send(t, "GET", "/status", "", *who...).body), &s); err != nil || len(s.Merged.LeftOut) != want {
			t.Errorf("%v: %v %+v", *who, err, s.Merged)
		}
	}
	// Who may call one of the two agents has no conflict.
	assert.Contains(t, f.post(t, "/mcp", listTools, some...).body, `"name":"both","inputSchema"`)
}

// What tools were is kept by their agents' own names, whatever they are called at /mcp.
func TestR19_ToolPinsWithoutPrefix(t *testing.T) {
	a := newAgent(t)
	var changed atomic.Bool
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		about := map[bool]string{false: "first", true: "changed"}[changed.Load()]
		reply(w, e.ID, `{"tools":[{"name":"one","description":"`+about+`","inputSchema":{"type":"object"}}]}`)
	}
	f := start(t, Options{Prefix: toolset.Never}, route("a", a.at(), ""))
	if got := f.post(t, "/mcp", listTools); !strings.Contains(got.body, `"name":"one"`) {
		t.Fatal(got.body)
	}
	changed.Store(true)
	f.merged.RoutesChanged() // lists are had again
	for end := time.Now().Add(30 * time.Second); len(f.Status().Agents["a"].Pins.Changed) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no change is reported: %+v", f.Status().Agents["a"].Pins)
		}
		f.post(t, "/mcp", listTools)
	}
	if got := f.Status().Agents["a"].Pins.Changed; len(got) != 1 || got[0].Tool != "one" {
		t.Errorf("%+v", got)
	}
}
