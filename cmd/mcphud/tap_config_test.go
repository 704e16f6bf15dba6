//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	verbtraffic "github.com/mcphud/mcphud/cmd/verb/traffic"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// clientFile writes a client's configuration below a home folder of the test.
func clientFile(t *testing.T, path, text string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	path = filepath.Join(home, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

const desktopFile = "{\r\n  // what I use\r\n  \"mcpServers\": {\r\n    \"github\": {\r\n      \"command\": \"npx\", // runner\r\n      \"args\": [\r\n        \"-y\", /* yes */\r\n        \"@modelcontextprotocol/server-github\"\r\n      ],\r\n" +
	"      \"env\": { \"TOKEN\": \"geheim\" },\r\n    },\r\n    \"bare\": {\"command\":\"/opt/my server\",\"env\":{}},\r\n    \"lines\": {\r\n      \"env\": {},\r\n      \"command\": \"serve\"\r\n    },\r\n" +
	"    \"list\": {\"args\": [], \"command\": \"serve\"},\r\n    \"web\": {\"url\": \"https://x.example/mcp\"}\r\n  },\r\n  \"other\": 1.0e5\r\n}"

// The entry runs below tap, all else stays, and unwrap takes it back to the last byte; a second time changes nothing.
func TestTapWrapChangesOneEntry(t *testing.T) {
	path := clientFile(t, ".config/Claude/claude_desktop_config.json", desktopFile)
	exe, err := os.Executable()
	require.NoError(t, err)
	for server, argv := range map[string]string{
		"github": `npx -y @modelcontextprotocol/server-github`, "bare": "/opt/my server", "lines": "serve", "list": "serve",
	} {
		var got verbtraffic.ChangedEntry
		o := mcphud(t, "tap", "wrap", "claude-desktop", server)
		if err := json.Unmarshal([]byte(o.ok(t)), &got); err != nil || !got.Changed || !got.Wrapped || strings.Join(got.Command, " ") != argv || !strings.Contains(got.Next, "Claude Desktop") {
			t.Errorf("%s: %v, %+v", server, err, got)
		}
		assert.Equalf(t, content(t, got.Backup), desktopFile, "the copy differs")
		wrapped := content(t, path)
		want := strings.Count(desktopFile, "\n")
		if server == "lines" {
			want++
		}
		if n := strings.Count(wrapped, "\r\n"); n != want || !strings.Contains(wrapped, fmt.Sprintf(`"tap", "--name", %q, "--", "`, server)) || !strings.Contains(wrapped, fmt.Sprintf(`"command": %q`, exe)) && !strings.Contains(wrapped, fmt.Sprintf(`"command":%q`, exe)) {
			t.Errorf("%s: %d lines:\n%s", server, n, wrapped)
		}
		o = mcphud(t, "tap", "wrap", "claude-desktop", server, "--format", "text")
		if !strings.Contains(o.ok(t), server+" is wrapped already") || content(t, path) != wrapped {
			t.Errorf("again: %s\n%s", o.out, content(t, path))
		}
		o = mcphud(t, "tap", "unwrap", "claude-desktop", server, "--format", "text")
		if !strings.Contains(o.ok(t), "unwrapped "+server) || content(t, path) != desktopFile {
			t.Errorf("unwrapped: %s\n%s", o.out, content(t, path))
		}
		if o = mcphud(t, "tap", "unwrap", "claude-desktop", server, "--format", "text"); !strings.Contains(o.ok(t), server+" is not wrapped") {
			t.Error(o.out)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What a client starts by a wrapped entry is what it started before, and tap sees what is said.
func TestTapSeesAWrappedEntry(t *testing.T) {
	runtimeDir(t)
	lines := watchTap(t)
	lines.looks()
	s := watchedFirst(t, faketest.Stdio(t, behave.Good), lines)
	env := map[string]string{asMain: "1"}
	for k, v := range s.Env {
		env[k] = v
	}
	file, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"good": map[string]any{"command": s.Command, "args": s.Args, "env": env}}})
	require.NoError(t, err)
	path := clientFile(t, "client.json", string(file))
	mcphud(t, "tap", "wrap", path, "good").ok(t)
	if got := finish(t, command(t, "tools", "list", "--config", path, "--server", "good", "--protocol", "2025-11-25")).ok(t); got == "" {
		t.Error("nothing came through")
	}
	lines.shows(`"server":"good"`)
	lines.shows(`"method":"tools/list"`)
	lines.stop()
}

// What cannot be changed is left as it is, and the reason says where and what to do.
func TestTapWrapRefuses(t *testing.T) {
	path := clientFile(t, ".cursor/mcp.json", `{"mcpServers": {"a": {"command": "x", "args": "not a list"}, "b": {"url": "https://user:geheim@x.example/mcp"}, "twice": {"command": "x", "command": "y"}}}`)
	broken := filepath.Join(filepath.Dir(path), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"mcpServers": {`), 0o600))
	before := content(t, path)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"cursor"}, "has a, b, twice; write mcphud tap wrap cursor a"},
		{[]string{"cursor", "a", "b"}, "takes a client and a server"},
		{[]string{"nobody", "a"}, "unknown client: nobody; write mcphud, claude-code"},
		{[]string{"cursor", "nothing"}, "no server nothing; it has a, b, twice"},
		{[]string{"cursor", "a"}, "args is not a list"},
		{[]string{"cursor", "twice"}, "command is given twice"},
		{[]string{"cursor", "b"}, "run mcphud tap --http https://"},
		{[]string{"windsurf", "a"}, "no servers in"},
		{[]string{broken, "a"}, "is not valid JSON"},
	} {
		o := mcphud(t, append([]string{"tap", "wrap"}, c.args...)...)
		if o.code != 1 || !strings.Contains(o.stderr, c.says) || strings.Contains(o.stderr, "geheim") {
			t.Errorf("%q: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
	assert.Equalf(t, content(t, path), before, "the file changed")
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Claude Code has servers of a project in the user's file, which count before the others.
func TestTapWrapClaudeCodeProject(t *testing.T) {
	path := clientFile(t, ".claude.json", "")
	dir := t.TempDir()
	t.Chdir(dir)
	cwd, err := os.Getwd()
	require.NoError(t, err)
	text := fmt.Sprintf(`{"numStartups": 12345678901234567890, "mcpServers": {"a": {"command": "user"}}, "projects": {%q: {"mcpServers": {"a": {"command": "local"}}}}}`, cwd)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	mcphud(t, "tap", "wrap", "claude-code", "a").ok(t)
	assert.Contains(t, content(t, path), `"tap", "--name", "a", "--", "local"]`, `{"command": "user"}`)
}

// Files of YAML and TOML are wrapped as those of JSON are, and so is a byte order mark no reason against it.
func TestTapWrapEveryFormat(t *testing.T) {
	for path, c := range map[string]struct{ before, after string }{
		".config/mcphud/mcphud.yaml": {"servers:\n  a: # mine\n    command: 'run' # it\n    args:\n      - x\n  b: {command: c}\n", "command: "},
		".codex/config.toml":         {"[mcp_servers.a]\ncommand = 'run' # it\nargs = [\n  \"x\", # one\n]\n\n[mcp_servers.b]\ncommand = \"c\"\n", "command = "},
		"opencode.json":              {"{\n  \"mcp\": {\n    \"a\": {\"type\": \"local\", \"command\": [\"run\", \"x\"]}\n  }\n}", `"command": [`},
		"marked.json":                {"\xef\xbb\xbf{\"mcpServers\": {\"a\": {\"command\": \"r\\u0075n\", \"args\": [\"\\/x\"]}}}\r\n", `"command": `},
	} {
		path := clientFile(t, path, c.before)
		var got verbtraffic.ChangedEntry
		if err := json.Unmarshal([]byte(mcphud(t, "tap", "wrap", path, "a").ok(t)), &got); err != nil || !got.Changed || len(got.Command) != 2 || got.Command[0] != "run" {
			t.Errorf("%s: %v %+v", path, err, got)
		}
		wrapped := content(t, path)
		if !strings.Contains(wrapped, c.after) || !strings.Contains(wrapped, "tap") || wrapped == c.before {
			t.Errorf("%s: %s", path, wrapped)
		}
		mcphud(t, "tap", "unwrap", path, "a").ok(t)
		if now := content(t, path); now != c.before {
			t.Errorf("%s:\n%q\nwas\n%q", path, now, c.before)
		}
	}
}
