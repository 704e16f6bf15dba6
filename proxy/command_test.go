package proxy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestR3_ACommandIsAnAgent(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-session", "shared"} {
		t.Run(mode, func(t *testing.T) {
			f := start(t, Options{}, fmt.Sprintf(`"c":{"command":%q,"env":{%q:"stdio"},"session":%q}`, os.Args[0], childEnv, mode))
			id := f.open(t, "/mcps/c/mcp")
			for _, headers := range [][]string{{"Mcp-Session-Id", id}, {}} {
				got := f.post(t, "/mcps/c/mcp", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`, headers...)
				if got.status != 200 || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":"x","result":`) || !strings.Contains(got.body, `"hi"`) {
					t.Errorf("%v: %+v", headers, got)
				}
			}
			if got := f.send(t, "DELETE", "/mcps/c/mcp", "", "Mcp-Session-Id", id); got.status != 204 {
				t.Errorf("%+v", got)
			}
			f.post(t, "/mcps/c/mcp", callEcho, "Mcp-Session-Id", id).check(t, 404, -32000, noSession)
		})
	}
	f := start(t, Options{}, `"gone":{"command":"/nowhere/at/all"}`)
	if got := f.post(t, "/mcps/gone/mcp", callEcho); got.status != 502 || got.rpcError(t).Error.Code != -32603 {
		t.Errorf("%+v", got)
	}
}

// What a command wrote to stderr is for who may call all agents.
func TestStderrInStatus(t *testing.T) {
	f := start(t, Options{Tokens: tokens(t, token("all-secret", "all", `["*"]`), token("c-secret", "c", `["c"]`))},
		`"c":{"command":"sh","args":["-c","echo overheard ghp_0123456789abcdefghij >&2; exit 3"]}`)
	f.post(t, "/mcps/c/mcp", callEcho, "Authorization", "Bearer c-secret")
	status := func(who string) string { return f.send(t, "GET", "/status", "", "Authorization", "Bearer "+who).body }
	require.Eventually(t, "the process to end", func() bool { return strings.Contains(status("all-secret"), "overheard ***") })
	if all := status("all-secret"); strings.Contains(all, "ghp_") || !strings.Contains(all, "exited with status 3") {
		t.Error(all)
	}
	if some := status("c-secret"); strings.Contains(some, "overheard") || !strings.Contains(some, "exited with status 3") {
		t.Error(some)
	}
}
