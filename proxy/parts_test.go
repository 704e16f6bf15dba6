package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Agents that are commands are served like any other, at their own address and at the one for all: in sessions and without,
// with the processes that the route asks for, to those who may call them.
func TestR3_R19_CommandsBehindOneAddress(t *testing.T) {
	t.Parallel()
	exe := faketest.Binary(t)
	at := func(name, mode string) string {
		return fmt.Sprintf(`%q:{"command":%q,"args":["good"],"session":%q,"stream":true}`, name, exe, mode)
	}
	f := start(t, Options{Tokens: tokens(t, token("all-secret", "all", `["*"]`), token("b-secret", "b", `["b"]`))}, at("a", "per-session"), at("b", "shared"))
	auth := []string{"Authorization", "Bearer all-secret", "Accept", accept}
	echo := func(name string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hello"}}}`, name)
	}
	for _, path := range []string{"/mcps/a/mcp", "/mcps/b/mcp"} {
		one, two := f.open(t, path, auth...), f.open(t, path, auth...)
		for _, id := range []string{one, two, ""} {
			head := auth
			if id != "" {
				head = append([]string{"Mcp-Session-Id", id}, auth...)
			}
			got := f.post(t, path, echo("echo"), head...)
			if got.status != 200 || !strings.Contains(got.body, "hello") || !strings.Contains(got.body, `"id":9007199254740993`) {
				t.Errorf("%s: %+v", path, got)
			}
		}
		got := f.post(t, path, echo("crash"), append([]string{"Mcp-Session-Id", one}, auth...)...)
		if e := got.rpcError(t); got.status != http.StatusBadGateway || e.Error.Code != -32603 || !strings.HasPrefix(e.Error.Message, "Failed to reach agent: ") ||
			string(e.ID) != "9007199254740993" || strings.Contains(got.body, "on purpose") { // which is from stderr, and not for callers
			t.Errorf("%s: %+v", path, got)
		}
		require.Eventually(t, "the session ends with its process", func() bool {
			return f.post(t, path, echo("echo"), append([]string{"Mcp-Session-Id", one}, auth...)...).status == http.StatusNotFound
		})
		if got := f.post(t, path, echo("echo"), auth...); got.status != 200 || !strings.Contains(got.body, "hello") {
			t.Errorf("%s without a session, after a process died: %+v", path, got)
		}
		if got := f.send(t, http.MethodDelete, path, "", append([]string{"Mcp-Session-Id", two}, auth...)...); got.status != http.StatusNoContent {
			t.Errorf("%s: %+v", path, got)
		}
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	got := f.post(t, "/mcp", list, auth...)
	if !strings.Contains(got.body, `"name":"mcp__a__echo"`) || !strings.Contains(got.body, `"name":"mcp__b__echo"`) {
		t.Errorf("%+v", got)
	}
	if got := f.post(t, "/mcp", echo("mcp:a:echo"), auth...); !strings.Contains(got.body, "hello") || !strings.Contains(got.body, `"id":9007199254740993`) {
		t.Errorf("%+v", got)
	}
	got = f.post(t, "/mcp", list, "Authorization", "Bearer b-secret")
	if strings.Contains(got.body, "mcp__a__") || !strings.Contains(got.body, "mcp__b__echo") {
		t.Errorf("%+v", got)
	}
	if got := f.post(t, "/mcp", list); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("%+v", got)
	}
	st := f.Status()
	if p := st.Agents["b"].Process; p == nil || len(p.Processes) != 1 || p.Mode != "shared" || st.Agents["a"].Process == nil || st.Merged == nil {
		t.Errorf("%+v", st)
	}
}
