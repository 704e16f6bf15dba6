package views_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// TestCopyTheEntryInAShape: the entry is copied as its file has it, in the shape that is chosen, with variables as that has them and
// without the secrets that stand in the file; what the shape cannot hold is said.
func TestCopyTheEntryInAShape(t *testing.T) {
	t.Parallel()
	app, c := first(t, nil)
	path := filepath.Join(c.Where.Cwd, "mcphud.yaml")
	require.NoError(t, os.WriteFile(path, []byte("servers:\n  files:\n    command: run\n    cwd: /srv\n    env: {LEVEL: \"${LEVEL}\", API_KEY: geheim-1234}\n"), 0o600))
	set, err := config.Load(c.Where)
	require.NoError(t, err)
	if _, err := app.Manager().Register(set.Servers[0]); err != nil {
		t.Fatal(err)
	}
	app.Idle()
	app.Pane("list").Has("files")
	app.Press("y", "m").Overlay("Shape of the entry").Has("mcphud", "claude-code", "codex")
	app.Type("cursor").Press("enter").Toast("left out: cwd: Cursor has no such setting")
	if got := app.Copied(1); !strings.Contains(got, `"LEVEL": "${env:LEVEL}"`) || !strings.Contains(got, `"API_KEY": "***"`) || strings.Contains(got, "geheim") {
		t.Error(got)
	}
	app.Press("y", "m").Type("codex").Press("enter").Toast("copied entry for Codex")
	if got := app.Copied(2); got != "[mcp_servers.files]\nenv_vars = [\"LEVEL\"]\ncommand = \"run\"\ncwd = \"/srv\"\n\n[mcp_servers.files.env]\nAPI_KEY = \"***\"\n" {
		t.Error(got)
	}
}
