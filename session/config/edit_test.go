package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// A file whose entry changed after it was read is left as it is, without a copy beside it.
func TestSaveOfAChangedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	write := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(`{"mcpServers": {"a": {"command": "x"}}}`)
	p, err := config.Options{Cwd: dir}.FindEntry(path, "a")
	require.NoError(t, err)
	p.Prefix("/bin/tap", "--")
	other := `{"mcpServers": {"a": {"command": "x", "cwd": "/tmp"}}}`
	write(other)
	var why *config.EditError
	if _, err := p.Save(); !errors.As(err, &why) || !strings.Contains(why.Message, "changed while it was edited") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != other {
		t.Errorf("%s, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// A symbolic link stays one: what it leads to is changed.
func TestSaveThroughALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "mcp.json")
	require.NoError(t, os.WriteFile(real, []byte(`{"servers": {"a": {"command": "x", "args": ["1"]}}}`), 0o600))
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here: ", err)
	}
	p, err := config.Options{Cwd: dir}.FindEntry(link, "a")
	require.NoError(t, err)
	p.Prefix("tap", "--")
	if _, err := p.Save(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(real); err != nil || string(b) != `{"servers": {"a": {"command": "tap", "args": ["--", "x", "1"]}}}` {
		t.Errorf("%s, %v", b, err)
	}
	if to, err := os.Readlink(link); err != nil || to != real {
		t.Errorf("%s, %v", to, err)
	}
}
