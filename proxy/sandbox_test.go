package proxy

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A command of a route is shut in as the route says, and one whose list cannot be kept is not started.
func TestX5b_SandboxOfARoute(t *testing.T) {
	t.Parallel()
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	read := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(read, []byte("x"), 0o600))
	of := func(name, more string) string {
		return fmt.Sprintf(`%q:{"command":%q%s}`, name, faketest.Binary(t), more)
	}
	f := start(t, Options{}, of("open", ""), of("shut", `,"sandbox":true`), of("false", `,"sandbox":false`),
		of("lists", fmt.Sprintf(`,"sandbox":{"read":[%q],"network":true}`, read)), of("gone", `,"sandbox":{"write":["/nowhere/at/all"]}`))
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reach","arguments":{"read":%q,"dial":%q}}}`, read, l.Addr().String())
	for name, want := range map[string][2]string{
		"open": {"allowed", "allowed"}, "false": {"allowed", "allowed"}, "shut": {"permission denied", "permission denied"}, "lists": {"allowed", "allowed"},
	} {
		got := f.post(t, "/mcps/"+name+"/mcp", call)
		var r struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(got.body), &r); err != nil || len(r.Result.Content) == 0 {
			t.Fatalf("%s: %+v", name, got)
		}
		lines := strings.Split(r.Result.Content[0].Text, "\n")
		if len(lines) != 2 || !strings.HasSuffix(lines[0], want[0]) || !strings.HasSuffix(lines[1], want[1]) {
			t.Errorf("%s: %q", name, lines)
		}
	}
	if got := f.post(t, "/mcps/gone/mcp", call); got.status != 502 || !strings.Contains(f.send(t, "GET", "/status", "").body+got.body, "cannot allow to write /nowhere/at/all") {
		t.Errorf("%+v", got)
	}
}
