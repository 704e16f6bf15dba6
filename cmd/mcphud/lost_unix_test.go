//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Whoever changes a file that has another name is told on stderr that the other one stays as it was; a dry run tells it before.
func TestOtherNamesOfAFileAreSaid(t *testing.T) {
	t.Parallel()
	const entry = `{"mcpServers": {"a": {"command": "true"}}}`
	for name, args := range map[string][]string{
		"add":  {"servers", "add", "b", "--format", "json", "--to", "FILE", "--", "true"},
		"dry":  {"servers", "add", "b", "--dry-run", "--to", "FILE", "--", "true"},
		"wrap": {"tap", "wrap", "FILE", "a"},
	} {
		dir := t.TempDir()
		file, other := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "other.json")
		require.NoError(t, os.WriteFile(file, []byte(entry), 0o600))
		if err := os.Link(file, other); err != nil {
			t.Skip("no hard links here: ", err)
		}
		o := mcphud(t, strings.Split(strings.ReplaceAll(strings.Join(args, "\x00"), "FILE", file), "\x00")...)
		o.ok(t)
		if !strings.Contains(o.stderr, "warning: "+file+" is one of 2 names of a file (hard links)") {
			t.Errorf("%s: %s", name, o.stderr)
		}
		if contents(other) != entry || (contents(file) == entry) != (name == "dry") {
			t.Errorf("%s: %s, %s", name, contents(file), contents(other))
		}
		if name == "add" && !strings.Contains(o.out, `"lost":["`+file+" is one of 2") {
			t.Errorf("%s: %s", name, o.out)
		}
	}
}
