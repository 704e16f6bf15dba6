package main

import (
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Replicas stand behind one route, and one that dies is missed by nobody.
func TestUpRunsReplicas(t *testing.T) {
	long(t, "TestUp")
	t.Parallel()
	u := stackOf(t, "agents: {one: {replicas: 2, ephemeral: true}}\nauth: off\nrouter: {}\n", "mcphud.stack.yaml")
	if len(u.Servers) != 2 || len(u.Processes) != 3 || u.Servers[0].Name != "one-1" || u.Servers[1].Name != "one-2" || u.Servers[0].URL == u.Servers[1].URL ||
		u.Servers[0].Routed != u.Servers[1].Routed || !strings.HasSuffix(u.Servers[0].Routed, "/mcps/one/mcp") {
		t.Fatalf("%+v", u.upSummary)
	}
	call := func() {
		t.Helper()
		if out := mcphud(t, "tools", "call", "add", "a=1", "b=2", "--url", u.Servers[0].Routed, "--format", "json").ok(t); !strings.Contains(out, "3") {
			t.Error(out)
		}
	}
	// Calls that need no session: each replica has one of the first few, between which the router asks for lists of its own.
	u.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	had := func(i int) bool {
		r, err := u.send(http.MethodGet, strings.TrimSuffix(u.Servers[i].URL, "/mcp")+"/metrics", "")
		return err == nil && strings.Contains(r.body, `mcp_tool_name="add"`)
	}
	for n := 0; !had(0) || !had(1); n++ {
		if n == 10 {
			t.Fatalf("one of the replicas had none of %d calls", n)
		}
		r, err := u.send(http.MethodPost, u.Servers[0].Routed, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "add")
		if err != nil || r.status != http.StatusOK || !strings.Contains(r.body, "3") {
			t.Errorf("%v %+v", err, r)
		}
	}
	require.NoError(t, syscall.Kill(u.Processes[0].PID, syscall.SIGKILL))
	require.Eventually(t, "the replica to be gone", func() bool { return syscall.Kill(u.Processes[0].PID, 0) != nil })
	for range 4 {
		call()
	}
	// At its port, or at another if somebody took that one in the meantime: it was not asked for in the file.
	ready := regexp.MustCompile(`one-1        ready      at (http://127\.0\.0\.1:\d+/mcp)`)
	require.Eventually(t, "the replica to come back", func() bool { return len(ready.FindAllString(u.log(), -1)) == 2 })
	u.Servers[0].URL = ready.FindAllStringSubmatch(u.log(), -1)[1][1]
	require.Eventually(t, "the replica to be called again", func() bool {
		call()
		return had(0)
	})
}
