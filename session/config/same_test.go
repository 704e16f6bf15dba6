package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A target is the same under other names, variables and spellings, and another one where the words mean something else.
func TestTarget(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "server.js"), nil, 0o600))
	run := func(cwd string, words ...string) Server {
		s := OfCommand(words[0], words[1:]...)
		s.Cwd = cwd
		return s
	}
	named := run(dir, "node", "server.js")
	named.Name, named.Unnamed, named.Env = "x", false, map[string]string{"A": "b"}
	for _, c := range []struct {
		a, b Server
		same bool
	}{
		{run(dir, "node", "server.js"), named, true},
		{run(dir, "node", "server.js"), run(t.TempDir(), "node", "server.js"), false},
		{run(dir, "npx", "a-server"), run(t.TempDir(), "npx", "a-server"), true},
		{run(dir, "npx", "a-server"), run(dir, "npx", "b-server"), false},
		{run(dir, "a b"), run(dir, "a", "b"), false},
		{Server{URL: "http://localhost:3000/mcp"}, Server{URL: "http://127.0.0.1:3000/mcp/", Name: "x"}, true},
		{Server{URL: "http://127.0.0.1:3000/mcp"}, Server{URL: "http://127.0.0.1:3001/mcp"}, false},
		{Server{URL: "https://Host.example/mcp?a=1"}, Server{URL: "https://host.example/mcp?a=2"}, false},
		{Server{URL: "https://Host.example/mcp"}, Server{URL: "https://host.example/mcp"}, true},
		{Server{URL: "https://host.example/mcp"}, Server{URL: "https://host.example/MCP"}, false},
	} {
		if (c.a.Target() == c.b.Target()) != c.same {
			t.Errorf("%+v, %+v: not %v", c.a, c.b, c.same)
		}
	}
	assert.Equal(t, (Server{Name: "x"}).Target(), "")
}
