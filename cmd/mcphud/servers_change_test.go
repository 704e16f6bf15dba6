//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	verbservers "github.com/mcphud/mcphud/cmd/verb/servers"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// changes are what a command that changes entries printed.
func (o outcome) changes(t *testing.T) []verbservers.ChangedServer {
	t.Helper()
	var out struct{ Changes []verbservers.ChangedServer }
	if err := json.Unmarshal([]byte(o.ok(t)), &out); err != nil || len(out.Changes) == 0 {
		t.Fatalf("%v: %s", err, o.out)
	}
	return out.Changes
}

// What makes a program read its file again is said, and nothing where it does by itself.
func TestServersAddSaysWhatIsNext(t *testing.T) {
	ownFolder(t)
	for to, next := range map[string]bool{"mcphud": false, "zed": false, "cline": false, "cursor": true} {
		o := mcphud(t, "servers", "add", "other", "--to", to, "--format", "text", "--", "x").ok(t)
		if strings.Contains(o, "\nnext ") != next || strings.Contains(o, "nothing") {
			t.Errorf("%s: %s", to, o)
		}
	}
}

// A server is added to mcphud's own file, which is made for its owner only, and changed there until it is removed.
func TestServersAreAddedChangedAndRemoved(t *testing.T) {
	home := ownFolder(t)
	path := filepath.Join(home, ".config", "mcphud", "mcphud.yaml")
	dry := mcphud(t, "servers", "add", "files", "--dry-run", "--", "npx", "-y", "server", ".").changes(t)[0]
	if dry.Changed || !strings.Contains(dry.Diff, `+    args: [-y, server, .]`) {
		t.Errorf("%+v", dry)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("--dry-run wrote the file")
	}
	first := mcphud(t, "servers", "add", "files", "-e", "API_TOKEN=geheim-1234", "--", "npx", "-y", "server", ".")
	if c := first.changes(t)[0]; !c.Changed || c.File != path || c.Line != 3 || c.Backup != "" || strings.Contains(first.out, "geheim") || !strings.Contains(c.Diff, "API_TOKEN: ***") {
		t.Errorf("%s", first.out)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	was := content(t, path)
	mcphud(t, "servers", "add", "reports", "https://example.com/mcp", "-H", "Authorization: Bearer ${REPORTS_TOKEN}", "--transport", "sse").changes(t)
	if now := content(t, path); !strings.HasPrefix(now, was) || !strings.Contains(now, `Authorization: "Bearer ${REPORTS_TOKEN}"`) || !strings.Contains(now, "type: sse") {
		t.Error(now)
	}
	added := content(t, path)
	c := mcphud(t, "servers", "edit", "reports", "-H", "X-Team: a", "--unset", "header.Authorization").changes(t)[0]
	if now := content(t, path); !c.Changed || content(t, c.Backup) != added || !strings.Contains(now, "X-Team: a") || strings.Contains(now, "Authorization") {
		t.Errorf("%+v\n%s", c, now)
	}
	mcphud(t, "servers", "edit", "files", "--", "uvx", "other").changes(t)
	mcphud(t, "servers", "disable", "files").changes(t)
	assert.Contains(t, content(t, path), "command: uvx\n    args: [other]\n    env:\n      API_TOKEN: geheim-1234\n    enabled: false\n")
	mcphud(t, "servers", "disable", "files").exits(t, 1, "disabled already")
	mcphud(t, "servers", "enable", "files").changes(t)
	mcphud(t, "servers", "duplicate", "files", "more").changes(t)
	mcphud(t, "servers", "edit", "more", "--rename", "most").changes(t)
	if listed := mcphud(t, "servers", "list").ok(t); !strings.Contains(listed, `"name":"most"`) || strings.Contains(listed, `"name":"more"`) {
		t.Error(listed)
	}
	mcphud(t, "servers", "remove", "most").changes(t)
	mcphud(t, "servers", "remove", "reports").changes(t)
	mcphud(t, "servers", "edit", "files", "--", "npx", "-y", "server", ".").changes(t)
	assert.Equal(t, content(t, path), was)
}

// What cannot be done says why, and leaves the file as it is.
func TestServersRefusals(t *testing.T) {
	home := ownFolder(t)
	path := filepath.Join(home, ".cursor", "mcp.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	text := "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	for _, c := range []struct {
		args string
		says string
		code int
	}{
		{"servers add", "say in one way what to add", 1},
		{"servers add b", "say in one way what to add", 1},
		{"servers add b https://x.example -- run", "say in one way what to add", 1},
		{"servers add b https://x.example -e A=b", "--env does not apply", 1},
		{"servers add a --to cursor -- run", "there is a server a already", 1},
		{"servers add b --to nowhere -- run", "unknown client: nowhere", 1},
		{"servers add b --template nothing", "unknown template: nothing; write filesystem, github", 1},
		{"servers add b --template filesystem", "required and not given: folder", 8},
		{"servers add --paste {}", "has no servers", 1},
		{"servers disable a", "Cursor has no way to disable a server", 1},
		{"servers edit a", "nothing says what to change", 1},
		{"servers edit a --unset env.X", "has no such field", 1},
		{"servers remove nobody", "no such server", 4},
		{"servers remove a --read-only", "does not apply", 1},
		{"config convert --to nothing", "unknown dialect", 1},
		{"config convert", "--to names no dialect", 1},
	} {
		o := mcphud(t, strings.Fields(c.args)...)
		o.exits(t, c.code, c.says)
	}
	assert.Equal(t, content(t, path), text)
	note := mcphud(t, "servers", "add", "b", "--to", "cursor", "-e", "API_KEY=geheim-1234", "--", "run").changes(t)[0]
	if len(note.Notes) != 1 || !strings.Contains(note.Notes[0], "others can read") || strings.Contains(note.Diff, "geheim") {
		t.Errorf("%+v", note)
	}
}

// What was pasted is written as it was, variables included.
func TestServersPaste(t *testing.T) {
	home := ownFolder(t)
	t.Setenv("C", "not to be written")
	got := mcphud(t, "servers", "add", "--paste", `{"mcpServers": {"one": {"command": "x", "env": {"A": "${C}"}}, "two": {"serverUrl": "https://x.example/mcp"}}}`, "--to", "vscode").changes(t)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	want := "{\n  \"servers\": {\n    \"one\": {\n      \"type\": \"stdio\",\n      \"command\": \"x\",\n      \"env\": {\n        \"A\": \"${env:C}\"\n      }\n    },\n" +
		"    \"two\": {\n      \"type\": \"http\",\n      \"url\": \"https://x.example/mcp\"\n    }\n  }\n}\n"
	assert.Equal(t, content(t, filepath.Join(home, ".config", "Code", "User", "mcp.json")), want)
}

// Servers of all configs are printed as another program's file; what it cannot say is said, and is an error if asked for.
func TestConfigConvert(t *testing.T) {
	ownFolder(t)
	require.NoError(t, os.WriteFile("mcphud.yaml", []byte("servers:\n  a:\n    command: run\n    cwd: /srv\n    env: {TOKEN: '${TOKEN}', API_KEY: geheim-1234, LEVEL: '${LEVEL:-info}'}\n  b:\n    url: https://x.example\n    headers: {Authorization: 'Bearer ${B}'}\n"), 0o600))
	o := mcphud(t, "config", "convert", "--to", "cursor")
	if !strings.Contains(o.ok(t), `"TOKEN": "${env:TOKEN}"`) || !strings.Contains(o.out, `"API_KEY": "***"`) || !strings.Contains(o.stderr, "secrets are masked") ||
		!strings.Contains(o.stderr, "lost: a: cwd: Cursor has no such setting") || !strings.Contains(o.stderr, "lost: a: env.LEVEL: Cursor has no default values") {
		t.Errorf("%s%s", o.out, o.stderr)
	}
	if o = mcphud(t, "config", "convert", "--to", "cursor", "--strict"); o.code != 1 || !strings.Contains(o.stderr, "2 settings cannot be written for Cursor") || o.out != "" {
		t.Errorf("%d %s %s", o.code, o.out, o.stderr)
	}
	out := filepath.Join(t.TempDir(), "config.toml")
	mcphud(t, "config", "convert", "--to", "codex", "--server", "b", "-o", out).ok(t)
	assert.Equal(t, content(t, out), "[mcp_servers.b]\nbearer_token_env_var = \"B\"\nurl = \"https://x.example\"\n")
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if o = mcphud(t, "config", "convert", "--to", "codex", "-o", out); o.code != 1 || !strings.Contains(o.stderr, "is there already") {
		t.Errorf("%d %s", o.code, o.stderr)
	}
}

func TestC9_ServersTemplates(t *testing.T) {
	ownFolder(t)
	if o := mcphud(t, "servers", "templates", "--format", "text"); !strings.Contains(o.ok(t), "archived in 2025") || !strings.Contains(o.out, "sequential-thinking") {
		t.Error(o.out)
	}
	got := mcphud(t, "servers", "add", "--template", "filesystem", "--set", "folder=/a", "--set", "folder=/b c", "--dry-run").changes(t)[0]
	if got.Server != "filesystem" || !strings.Contains(got.Diff, `"@modelcontextprotocol/server-filesystem", /a, "/b c"]`) {
		t.Errorf("%+v", got)
	}
	for name, set := range map[string]string{"filesystem": "folder=/a", "github": "", "postgres": "DATABASE_URI=postgres://localhost/x", "slack": "", "memory": ""} {
		args := []string{"servers", "add", name, "--template", name}
		if set != "" {
			args = append(args, "--set", set)
		}
		mcphud(t, args...).changes(t)
	}
	var list struct {
		Servers []struct{ Name, Problem string }
	}
	if err := json.Unmarshal([]byte(mcphud(t, "servers", "list").ok(t)), &list); err != nil || len(list.Servers) != 5 {
		t.Errorf("%v: %+v", err, list)
	}
}
