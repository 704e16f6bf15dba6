package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// manyServers writes 500 servers into files of five dialects, and returns the flags that name them.
func manyServers(t *testing.T) (flags []string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []struct{ path, head, entry, tail string }{
		{".mcp.json", `{"mcpServers": {`, `"json-%03d": {"command": "npx", "args": ["-y", "server-%[1]d"], "env": {"API_KEY": "${HOME}"}}`, "}}"},
		{".vscode/mcp.json", `{"servers": {`, `"vscode-%03d": {"type": "http", "url": "https://example.com/%[1]d", "headers": {"X": "${env:HOME}"}}`, "}}"},
		{"mcphud.yaml", "servers:\n", "  yaml-%03d: {command: npx, args: [-y, server-%[1]d], env: {API_KEY: \"${HOME}\"}}\n", ""},
		{".codex/config.toml", "", "[mcp_servers.toml-%03d]\ncommand = \"npx\"\nargs = [\"-y\", \"server-%[1]d\"]\nenv = { A = \"b\" }\n", ""},
		{"goose/config.yaml", "extensions:\n", "  goose-%03d: {type: stdio, cmd: npx, args: [-y, server-%[1]d], envs: {A: b}}\n", ""},
	} {
		entries := make([]string, 100)
		for i := range entries {
			entries[i] = fmt.Sprintf(f.entry, i)
		}
		sep := ""
		if strings.HasSuffix(f.path, ".json") {
			sep = ",\n"
		}
		path := filepath.Join(dir, f.path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(f.head+strings.Join(entries, sep)+f.tail), 0o600))
		flags = append(flags, "--config", path)
	}
	return flags
}

// The servers that the budget opens are all of them.
func TestManyServersAreListed(t *testing.T) {
	t.Parallel()
	o := mcphud(t, append([]string{"servers", "list", "--format", "json"}, manyServers(t)...)...)
	if n := strings.Count(o.out, `"trusted":true`); o.code != 0 || n != 500 || strings.Contains(o.out, `"problem"`) {
		t.Errorf("exit %d, %d servers: %.2000s", o.code, n, o.out+o.stderr)
	}
}
