package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// dialectFile is a file of a program as its users have it, below the folder of a test.
type dialectFile struct{ dialect, path, text string }

var dialectFiles = []dialectFile{
	{"mcphud", "mcphud.yaml", "# mine\nservers:\n  one: # first\n    command: run\n    args: [a, 'b c']\n\n# how often\nmax_retries: 3\n"},
	{"mcphud", "list.yaml", "mcp:\n  servers:\n    - id: one\n      command: run\n      env: [A=b]\n  auto_discover: true\n"},
	{"claude-code", ".mcp.json", "{\n  \"mcpServers\": {\n    \"one\": {\"type\": \"stdio\", \"command\": \"run\", \"args\": []}\n  }\n}\n"},
	{"claude-code", ".claude.json", "{\n  \"numStartups\": 12345678901234567890,\n  \"mcpServers\": {},\n  \"projects\": {\"/x\": {\"mcpServers\": {\"y\": {\"command\": \"z\"}}}}\n}"},
	{"claude-desktop", "claude_desktop_config.json", "{\r\n\t\"globalShortcut\": \"\",\r\n\t\"mcpServers\": {\r\n\t\t\"one\": {\r\n\t\t\t\"command\": \"run\"\r\n\t\t}\r\n\t}\r\n}"},
	{"cursor", ".cursor/mcp.json", `{"mcpServers":{"one":{"command":"run","env":{"A":"b"}}}}`},
	{"vscode", ".vscode/mcp.json", "{\n\t// servers of this project\n\t\"servers\": {\n\t\t\"one\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"run\", // trailing\n\t\t},\n\t},\n\t\"inputs\": [ {\"type\": \"promptString\", \"id\": \"t\", \"password\": true} ],\n}\n"},
	{"windsurf", "mcp_config.json", "{\n    \"mcpServers\": {\n        \"one\": {\n            \"serverUrl\": \"https://x.example/mcp\"\n        }\n    }\n}\n"},
	{"zed", "zed/settings.json", "// Zed settings\n{\n  \"theme\": \"One\",\n  \"context_servers\": {\n    \"one\": {\n      \"source\": \"custom\",\n      \"command\": \"run\"\n    }\n  },\n  \"vim_mode\": true\n}\n"},
	{"gemini", ".gemini/settings.json", "{\n  \"mcpServers\": {\n    \"one\": {\n      \"command\": \"run\",\n      \"trust\": true\n    }\n  },\n  \"ui\": {\"theme\": \"x\"}\n}\n"},
	{"continue", ".continue/config.yaml", "name: Local\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: m\n    apiKey: geheim-geheim\nmcpServers:\n  - name: one\n    command: run\n    # with one\n    args:\n      - a\n"},
	{"codex", ".codex/config.toml", "model = \"o\" # mine\n\n[mcp_servers.one]\ncommand = \"run\"\nargs = [\n  \"a\", # first\n]\n\n[mcp_servers.one.env]\nA = 'b'\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"},
	{"opencode", "opencode.jsonc", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"one\": {\n      \"type\": \"local\",\n      \"command\": [\"run\", \"a\"],\n      \"enabled\": true\n    }\n  }\n}\n"},
	{"cline", "cline_mcp_settings.json", "{\n  \"mcpServers\": {\n    \"one\": {\n      \"command\": \"run\",\n      \"autoApprove\": [\"x\"],\n      \"timeout\": 60\n    }\n  }\n}\n"},
	{"goose", "goose/config.yaml", "GOOSE_MODEL: x\nextensions:\n  one:\n    type: stdio\n    cmd: run\n    args: []\n    enabled: true\n    bundled: false\n    timeout: 300\n"},
	{"inspector", ".mcp-inspector/mcp.json", "{\"mcpServers\": {\"one\": {\"command\": \"run\", \"args\": [\"a\"]}}}\n"},
	{"mcpServers", "other.json", "{\n \"mcpServers\": {\n  \"one\": {\"url\": \"https://x.example\"} /* there */\n }\n}"},
}

// In every dialect: an entry is added, read back, changed, disabled and removed, and the file is what it was to the last byte.
func TestChangesOfEveryDialect(t *testing.T) {
	for _, c := range dialectFiles {
		t.Run(c.path, func(t *testing.T) {
			o := config.Options{Cwd: t.TempDir(), Literal: true}
			path := filepath.Join(o.Cwd, c.path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			o.Files = []string{path}
			find := func(name string) (config.Server, bool) {
				t.Helper()
				set, err := config.Load(o)
				require.NoError(t, err)
				return set.Server(name)
			}
			save := func(change *config.Change, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%v\n%s", err, content(t, path))
				}
				if _, err := change.Save(); err != nil {
					t.Fatal(err)
				}
				if change.Diff() == "" {
					t.Error("no difference is shown")
				}
			}
			to, err := o.Destination(path)
			if err != nil || to.Dialect != c.dialect || !to.Exists {
				t.Fatalf("%+v, %v", to, err)
			}
			added := config.Server{Name: "new", Transport: config.Stdio, Command: "npx", Args: []string{"-y", "server", "a b"}, Env: map[string]string{"LEVEL": "debug"}}
			save(o.AddEntry(to, added))
			got, ok := find("new")
			if !ok || got.Command != "npx" || strings.Join(got.Args, "|") != "-y|server|a b" || got.Env["LEVEL"] != "debug" || got.Problem != nil {
				t.Fatalf("%+v, %v\n%s", got, got.Problem, content(t, path))
			}
			if _, err := o.AddEntry(to, added); err == nil {
				t.Error("added twice")
			}
			got.Args, got.Env = []string{"-y", "server", "c"}, map[string]string{"LEVEL": "info", "MORE": "x: y"}
			save(o.EditEntry(got.Source, "new", got))
			got, _ = find("new")
			if strings.Join(got.Args, "|") != "-y|server|c" || got.Env["LEVEL"] != "info" || got.Env["MORE"] != "x: y" {
				t.Fatalf("%+v\n%s", got, content(t, path))
			}
			before := content(t, path)
			save(o.DuplicateEntry(got.Source, "new", "twin"))
			if twin, ok := find("twin"); !ok || twin.Command != got.Command || !reflect.DeepEqual(twin.Args, got.Args) || !reflect.DeepEqual(twin.Env, got.Env) || twin.Problem != nil {
				t.Fatalf("%+v, %v\n%s", twin, twin.Problem, content(t, path))
			} else if _, err := o.DuplicateEntry(got.Source, "new", "twin"); err == nil {
				t.Error("duplicated twice")
			} else {
				save(o.RemoveEntry(twin.Source, "twin"))
			}
			if now := content(t, path); now != before {
				t.Errorf("the duplicate removed:\n%q\nwas\n%q", now, before)
			}
			got, _ = find("new")
			save(o.RenameEntry(got.Source, "new", "a name"))
			if got, ok = find("a name"); !ok {
				t.Fatal(content(t, path))
			}
			edited := content(t, path)
			if change, err := o.EnableEntry(got.Source, "a name", false); err == nil {
				save(change, nil)
				if got, _ = find("a name"); !got.Disabled {
					t.Fatal(content(t, path))
				}
				save(o.EnableEntry(got.Source, "a name", true))
				if content(t, path) != edited {
					t.Errorf("enabled again:\n%s\nwas\n%s", content(t, path), edited)
				}
				save(o.EnableEntry(got.Source, "a name", false))
			} else if !strings.Contains(err.Error(), "no way to disable") {
				t.Fatal(err)
			}
			save(o.RemoveEntry(got.Source, "a name"))
			if now := content(t, path); now != c.text {
				t.Errorf("removed:\n%q\nwas\n%q", now, c.text)
			}
		})
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// A file that somebody made read-only is not replaced by another one.
func TestReadOnlyFilesStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	const text = `{"mcpServers": {"a": {"command": "x"}}}`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o400))
	t.Cleanup(func() { _ = os.Chmod(path, 0o600) }) // or Windows keeps it
	change, err := config.Options{Literal: true}.RemoveEntry(config.Source{File: path, Dialect: "claude-code", Line: 1}, "a")
	require.NoError(t, err)
	var refused *config.EditError
	if backup, err := change.Save(); !errors.As(err, &refused) || backup != "" || content(t, path) != text {
		t.Errorf("%v, a copy in %q\n%s", err, backup, content(t, path))
	}
}

// A link that leads nowhere is said to be one: nobody else has changed the file.
func TestALinkThatLeadsNowhere(t *testing.T) {
	o := config.Options{Cwd: t.TempDir(), LookupEnv: environment}
	path := filepath.Join(o.Cwd, "mcphud.yaml")
	if err := os.Symlink(filepath.Join(o.Cwd, "none", "x.yaml"), path); err != nil {
		t.Skip(err)
	}
	to, err := o.Destination(path)
	require.NoError(t, err)
	change, err := o.AddEntry(to, config.OfCommand("true"))
	require.NoError(t, err)
	if _, err := change.Save(); err == nil || !strings.Contains(err.Error(), "is a symbolic link to "+filepath.Join(o.Cwd, "none", "x.yaml")+", which does not exist") {
		t.Error(err)
	}
}

// A duplicate has what only its program knows of the entry, as it is written.
func TestDuplicateKeepsUnknownMembers(t *testing.T) {
	for name, c := range map[string]struct{ dialect, text, want string }{
		"config.toml":         {"codex", "[mcp_servers.a]\ncommand = 'npx'\nenv_vars = [\"HOME\"]\nstartup_timeout_sec = 2.5\nnew_flag = true\n", "[mcp_servers.b]\ncommand = 'npx'\nenv_vars = [\"HOME\"]\nstartup_timeout_sec = 2.5\nnew_flag = true\n"},
		"cline_settings.json": {"cline", `{"mcpServers": {"a": {"command": "x\u0041", "alwaysAllow": ["t"], "n": 1e3, "z": null}}}`, `"b": {"command": "x\u0041", "alwaysAllow": ["t"], "n": 1e3, "z": null}`},
		"goose.yaml":          {"goose", "extensions:\n  a:\n    enabled: true\n    type: stdio\n    name: a\n    cmd: uvx\n    args: []\n    bundled: false\n", "  b:\n    enabled: true\n    type: stdio\n    name: b\n    cmd: uvx\n    args: []\n    bundled: false\n"},
		"mcp.yaml":            {"mcphud", "mcp:\n  servers:\n    - id: a\n      command: x\n      mine: {k: 'v'}\n", "    - id: b\n      command: x\n      mine:\n        k: 'v'\n"},
	} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		change, err := config.Options{}.DuplicateEntry(config.Source{File: path, Dialect: c.dialect}, "a", "b")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if now := string(change.After); !strings.Contains(now, c.want) || !strings.HasPrefix(now, strings.TrimRight(c.text, "}\n")) {
			t.Errorf("%s:\n%s", name, now)
		}
	}
}
