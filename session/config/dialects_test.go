package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/mcphud/mcphud/session/test/require"
)

// Each folder of testdata/dialects has the files of one program, as people have them.
func TestDialects(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join("testdata", "dialects"))
	require.NoError(t, err)
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) {
			o, root := fixture(t, "dialects/"+f.Name(), "API_TOKEN=s3cret value", "CLIENT=c", "DB_CONNECTION_STRING=postgres://u:p@h/d", "EXTERNAL_API_KEY=k3y-of-mine",
				"PORT_OF_MINE=8080", "FIGMA_OAUTH_TOKEN=figd_0000", "EXTRA_HEADER=more")
			s, err := Load(o)
			require.NoError(t, err)
			if !strings.HasPrefix(f.Name(), s.Servers[0].Source.Dialect) {
				t.Errorf("the first server is of %s", s.Servers[0].Source.Dialect)
			}
			golden.RequireEqual(t, show(t, s, root))
		})
	}
}

// What is wrong in a file of each dialect is said with its place, and the other entries and files load.
func TestMalformedFilesOfEachDialect(t *testing.T) {
	const broken = "broken file" // nothing of it can be read
	for _, c := range []struct{ dialect, path, content, want string }{
		{"mcphud", "mcphud.yaml", "servers:\n  good: {command: x}\n  a: {command: [y]}\n", `server "a": command: is a list; write a string (%s:3:16)`},
		{"mcphud", "mcphud.yaml", "servers: {a: {command: x}\n", broken + `:1:10: is not valid YAML`},
		{"claude-code", ".mcp.json", `{"mcpServers": {"good": {"command": "x"}, "a": {"type": "pigeon", "url": "http://h"}}}`, `type: "pigeon" is not a transport; write stdio, ` + strings.Join(URLTransports(), ", ") + ` (%s:1:57)`},
		{"claude-code", ".mcp.json", "{\n\"mcpServers\": {]}", broken + `:2:16: is not valid JSON`},
		{"cursor", ".cursor/mcp.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"command\": \"x\", \"args\": \"-y\"}}}", `args: is a string; write a list of strings (%s:2:32)`},
		{"cursor", ".cursor/mcp.json", "{\"mcpServers\": ", broken + `:1:16: is not valid JSON`},
		{"vscode", ".vscode/mcp.json", "{\"servers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"command\": \"${input:no}\"}}}", `command: no input has the id no; declare it in inputs (%s:2:19)`},
		{"vscode", ".vscode/mcp.json", "{\"inputs\": {},\n\"servers\": {\"good\": {\"command\": \"x\"}}}", `%s:1:12: inputs is an object; write a list of objects with id and type`},
		{"vscode", ".vscode/mcp.json", "{\"inputs\": [\n{\"type\": \"promptString\"}],\"servers\": {\"good\": {\"command\": \"x\"}}}", `%s:2:1: an input has no id and is ignored`},
		{"vscode", ".vscode/mcp.json", "{\"inputs\": [{\"id\": \"i\", \"type\": \"ask\"}],\n\"servers\": {\"good\": {\"command\": \"x\"}}}", `%s:1:13: input "i" has the type "ask"; write promptString, pickString or command`},
		{"vscode", ".vscode/mcp.json", "// only\n", broken + `:2:1: is not valid JSON`},
		{"zed", ".zed/settings.json", "{\"context_servers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"command\": {\"path\": 1.5e3, \"what\": 2, \"args\": 7}}}}", `args: is a number or boolean; write a list of strings (%s:2:54)`},
		{"zed", ".zed/settings.json", "{\"context_servers\": {\"a\": {\"command\": \"x}}", broken + `:1:`},
		{"gemini", ".gemini/settings.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"httpUrl\": \"localhost\"}}}", `url: does not start with http://`},
		{"gemini", ".gemini/settings.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"}, \"a\": 7}}", `server "a": is a number or boolean; write an object with command or url (%s:1:48)`},
		{"gemini", ".gemini/settings.json", "[]", broken + `:1:1: holds a list; write an object`},
		{"continue", ".continue/mcpServers/a.yaml", "mcpServers:\n- name: good\n  command: x\n- command: y\n", `%s:4:3: a server of mcpServers has no id and is ignored`},
		{"continue", ".continue/mcpServers/a.yaml", "mcpServers:\n- name: good\n  command: x\n- name: a\n  url: http://h\n  requestOptions: {timout: 3}\n", `%s:6:20: server "a": unknown key "timout" of requestOptions is ignored`},
		{"continue", ".continue/mcpServers/a.yaml", "mcpServers:\n- name: a\n   command: x\n", broken + `:`},
		{"codex", ".codex/config.toml", "[mcp_servers.good]\ncommand = \"x\"\n[mcp_servers.a]\nurl = \"http://h\"\nbearer_token_env_var = \"Bearer abc\"\n", `bearer_token_env_var: "Bearer abc" cannot be the name of a variable (%s:5:24)`},
		{"codex", ".codex/config.toml", "[mcp_servers.good]\ncommand = \"x\"\n[mcp_servers.a]\ncommand = \"y\"\ntool_timeout_sec = \"1m\"\n", `tool_timeout_sec: 1m is not a number of seconds (%s:5:20)`},
		{"codex", ".codex/config.toml", "[mcp_servers.a]\ncommand = x\n", broken + `:2:11: is not valid TOML`},
		{"opencode", "opencode.json", "{\"mcp\": {\"good\": {\"command\": [\"x\"]},\n \"a\": {\"type\": \"far\", \"command\": [\"x\"]}}}", `type: "far" is neither local nor remote (%s:2:16)`},
		{"opencode", "opencode.json", "{\"mcp\": \"all\"}", `%s:1:9: mcp is a string; write an object of servers`},
		{"opencode", "opencode.json", "{\"mcp\" {}}", broken + `:1:8: is not valid JSON`},
		{"goose", "goose/config.yaml", "extensions:\n  good: {type: stdio, cmd: x}\n  a: {type: stdio, cmd: y, timeout: 5m}\n", `timeout: 5m is not a number of seconds (%s:3:37)`},
		{"goose", "goose/config.yaml", "extensions:\n\ta: {type: stdio}\n", broken + `:2:`},
		{"cline", "cline_mcp_settings.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"command\": \"x\", \"disabled\": \"yes\"}}}", `disabled: is neither true nor false (%s:2:36)`},
		{"cline", "cline_mcp_settings.json", "{}}", broken + `:1:3: is not valid JSON`},
		{"windsurf", "mcp_config.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"serverUrl\": \"ftp://h\"}}}", `url: does not start with http://`},
		{"windsurf", "mcp_config.json", "{\"mcpServers\"}", broken + `:1:14: is not valid JSON`},
		{"inspector", ".mcp-inspector/mcp.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"command\": \"x\", \"protocolEra\": \"old\"}}}", `protocolEra: "old" is not an era; write legacy, modern or auto (%s:2:39)`},
		{"inspector", ".mcp-inspector/mcp.json", "", broken + `: is empty`},
		{"claude-desktop", "claude_desktop_config.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {\"command\": \"x\", \"env\": [1]}}}", `has no '='; write NAME=value (%s:2:32)`},
		{"claude-desktop", "claude_desktop_config.json", "\"text\"", broken + `:1:1: holds a string`},
		{"mcpServers", "other.json", "{\"mcpServers\": {\"good\": {\"command\": \"x\"},\n \"a\": {}}}", `command: nothing to start: the entry has no command and no url (%s:2)`},
	} {
		dir := t.TempDir()
		good := write(t, filepath.Join(dir, "good.json"), `{"mcpServers": {"other": {"command": "x"}}}`)
		path := write(t, filepath.Join(dir, filepath.FromSlash(c.path)), c.content)
		s, err := Load(Options{Files: []string{path, good}, Home: dir, Cwd: dir})
		var said []string
		for _, w := range s.Warnings {
			said = append(said, w.String())
		}
		for _, v := range s.Servers {
			if v.Problem != nil {
				said = append(said, v.Problem.Error())
			}
		}
		all := strings.Join(said, "\n")
		want := strings.NewReplacer(broken, path, "%s", path).Replace(c.want)
		if !strings.Contains(all, want) {
			t.Errorf("%s: said %q\nwant %q", c.dialect, all, want)
		}
		if (err != nil) != strings.HasPrefix(c.want, broken) {
			t.Errorf("%s: error %v", c.dialect, err)
		}
		if f := s.Files[0]; f.Dialect != c.dialect {
			t.Errorf("%s is taken for %s", c.path, f.Dialect)
		}
		if _, ok := s.Server("other"); !ok {
			t.Errorf("%s: the other file did not load", c.dialect)
		}
		if v, ok := s.Server("good"); strings.Contains(c.content, "good") && (!ok || v.Problem != nil) {
			t.Errorf("%s: the other entry did not load: %v", c.dialect, v.Problem)
		}
	}
}

// Where the user's files are depends on the system.
func TestFilesOnEachSystem(t *testing.T) {
	for goos, want := range map[string][]string{
		"linux": {
			"/h/.config/Claude/claude_desktop_config.json", "/h/.config/Code/User/mcp.json", "/h/.config/zed/settings.json", "/h/.config/goose/config.yaml",
			"/h/.config/opencode/opencode.json", "/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
		},
		"darwin": {
			"/h/Library/Application Support/Claude/claude_desktop_config.json", "/h/Library/Application Support/Code/User/mcp.json", "/h/.config/zed/settings.json",
			"/h/.config/goose/config.yaml", "/h/Library/Application Support/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
		},
		"windows": {
			"/a/Claude/claude_desktop_config.json", "/a/Code/User/mcp.json", "/a/Zed/settings.json", "/a/Block/goose/config/config.yaml",
			"/a/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
		},
	} {
		var have []string
		for _, c := range (Options{Home: "/h", OS: goos, LookupEnv: env("APPDATA=/a")}).candidates() {
			have = append(have, filepath.ToSlash(c.path))
		}
		want = append(want, "/h/.claude.json", "/h/.cursor/mcp.json", "/h/.codeium/windsurf/mcp_config.json", "/h/.gemini/settings.json", "/h/.continue/config.yaml",
			"/h/.codex/config.toml", "/h/.cline/data/settings/cline_mcp_settings.json", "/h/.mcp-inspector/mcp.json")
		for _, f := range want {
			if !slices.Contains(have, f) {
				t.Errorf("%s: %s is not looked for", goos, f)
			}
		}
	}
	moved := Options{Home: "/h", OS: "linux", LookupEnv: env("CODEX_HOME=/c", "XDG_CONFIG_HOME=/x", "MCP_CATALOG_PATH=/i.json", "CLINE_MCP_SETTINGS_PATH=/l.json")}
	for _, f := range []string{"/c/config.toml", "/x/zed/settings.json", "/x/Code/User/mcp.json", "/i.json", "/l.json"} {
		if !slices.ContainsFunc(moved.candidates(), func(c candidate) bool { return c.path == f }) {
			t.Errorf("%s is not looked for", f)
		}
	}
}

// Files that a pattern finds are noticed when they come and go, and those that cannot be read keep what they had.
func TestFollow(t *testing.T) {
	o := Options{Home: t.TempDir(), Cwd: t.TempDir()}
	first, err := Load(o)
	if err != nil || len(first.Servers) > 0 {
		t.Fatal(err, first.Servers)
	}
	names := make(chan []string, 10)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Follow(ctx, o, first, func(_, now Set) {
			all := []string{}
			for _, s := range now.Servers {
				all = append(all, s.Name)
			}
			names <- all
		})
	}()
	defer func() { stop(); <-done }()
	path := filepath.Join(o.Cwd, ".continue", "mcpServers", "new.yaml")
	for _, c := range []struct {
		what string
		do   func()
		want []string
	}{
		{"made", func() { write(t, path, "mcpServers: [{name: a, command: x}, {name: b, command: y}]\n") }, []string{"a", "b"}},
		{"broken", func() { write(t, path, "mcpServers: [\n") }, []string{"a", "b"}},
		{"mended", func() { write(t, path, "mcpServers: [{name: b, command: y}]\n# mended\n") }, []string{"b"}},
		{"removed", func() {
			require.NoError(t, os.Remove(path))
		}, []string{}},
	} {
		c.do()
		late := time.After(time.Minute)
		for got := []string(nil); !slices.Equal(got, c.want) || got == nil; {
			select {
			case got = <-names:
			case <-late:
				t.Fatalf("%s: not %v within a minute", c.what, c.want)
			}
		}
	}
}
