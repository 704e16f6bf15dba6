package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// In linear mode a server is added to a file, opened in the form and not removed after all, by lines.
func TestLinearAddsToAFile(t *testing.T) {
	t.Parallel()
	cmd := command(t, "--linear")
	file := filepath.Join(cmd.Dir, ".config", "mcphud", "mcphud.yaml")
	cmd.Stdin = strings.NewReader(strings.Join([]string{
		"a", "1", "API_TOKEN=s3cret-s3cret no-such-command-of-anybody here", "3", "mine", "y", // mcphud's own file is the first of the files
		"e", "servers", ":remove", "n", "y v", "q", "",
	}, "\n"))
	o := finish(t, cmd)
	for _, want := range []string{
		"command, URL or JSON:", "3) Or in a file: ~/.config/mcphud/mcphud.yaml (mcphud, a new file)", "name: [no-such-command-of-anybody]",
		"Add mine to mcphud?", "+  mine:", "y) save and open", "saved to ~/.config/mcphud/mcphud.yaml",
		"== Servers ▸ Entry", "entry mine, ~/.config/mcphud/mcphud.yaml:3", `1) name (required) = "mine"`, "Remove mine?", "-  mine:",
	} {
		assert.Contains(t, o.out, want)
	}
	assert.NotContains(t, o.out, "s3cret")
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "  mine:") || !strings.Contains(string(b), "s3cret-s3cret") {
		t.Errorf("the file is %s, %v", b, err)
	}
	if t.Failed() {
		t.Logf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}

// In linear mode a number picks what is listed on the screen where servers are added, and the list of servers says which cannot start and why.
func TestLinearListsWhatCannotStart(t *testing.T) {
	t.Parallel()
	cmd := command(t, "--linear")
	file := filepath.Join(cmd.Dir, ".cursor", "mcp.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	write(t, file, `{"mcpServers": {"broken": {"command": "x", "args": ["${env:NOT_SET_ANYWHERE}"]}}}`)
	cmd.Stdin = strings.NewReader("a\n2\n.\nq\n")
	o := finish(t, cmd)
	for _, want := range []string{
		"broken  cannot start  x", "from ~/.cursor/mcp.json:1", "environment variable NOT_SET_ANYWHERE is not set", "1) broken  cannot start",
		"2) Or begin with: a template", "template (filesystem, github, github-container, postgres, slack, memory, ",
	} {
		assert.Contains(t, o.out, want)
	}
	if t.Failed() {
		t.Logf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}
