//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// ranBefore lists what of a project ran, by the name that it was started by and its arguments.
type ranBefore struct{ file string }

// markers puts a program that says that it ran under each of names in dir.
func (r ranBefore) markers(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+r.file+"'\necho v1.0.0\n"), 0o700))
	}
}

// lines are what ran since the last look.
func (r ranBefore) lines() []string {
	text := contents(r.file)
	_ = os.Remove(r.file)
	return strings.Split(strings.TrimSpace(text), "\n")
}

// commandNames are the names under which a manifest, a configuration or a registry entry can name a program.
var commandNames = []string{
	"node", "npx", "npm", "bun", "bunx", "deno", "python", "python3", "uv", "uvx", "pipx", "docker", "podman", "dnx", "java",
	"node-evil", "tools/node-evil", "tools/run", "evil", "helper",
}

// Whatever a project's files name, no program of the project and none by a publisher's words is started by a verb that only looks, or that
// wants trust first and gets none: the names are planted in the working folder, in folders below it and in PATH.
func TestNothingOfOthersRunsBeforeTrust(t *testing.T) {
	t.Parallel()
	run := sameHome(t)
	dir := filepath.Join(run("version").Dir, "project") // what is below the home folder itself is the user's own
	ran := ranBefore{filepath.Join(t.TempDir(), "ran")}
	bin := t.TempDir()
	ran.markers(t, dir, commandNames...)
	ran.markers(t, bin, slices.DeleteFunc(slices.Clone(commandNames), func(n string) bool { return strings.Contains(n, "/") })...)
	started := func(args ...string) []string {
		t.Helper()
		cmd := run(args...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "PATH="+bin+":.:"+os.Getenv("PATH"))
		o := finish(t, cmd)
		if strings.Contains(o.stderr, `"kind":"Usage"`) && strings.Contains(o.stderr, "see mcphud") && !strings.Contains(o.stderr, "is not trusted") { // the line is wrong, and so proves nothing
			t.Errorf("%v: %s", args, o.stderr)
		}
		if lines := ran.lines(); lines[0] != "" {
			return lines
		}
		return nil
	}

	// The test sees what runs: a server that is named on the command line does.
	if lines := started("tools", "list", "--", filepath.Join(dir, "evil")); len(lines) == 0 {
		t.Fatal("a program that ran was not seen")
	}

	servers, stack := map[string]any{}, "agents:\n  one: {}\nservers:\n"
	for i, name := range commandNames {
		for j, command := range []string{name, "./" + name, filepath.Join(dir, name)} {
			id := fmt.Sprintf("s%d%c", i, 'a'+j)
			servers[id] = map[string]any{"command": command, "args": []string{"--version"}}
			servers[id+"h"] = map[string]any{"type": "http", "url": "http://127.0.0.1:1/mcp", "headersHelper": command}
			stack += fmt.Sprintf("  %s: {command: %q}\n", id, command)
		}
	}
	entries, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(t, err)
	for _, file := range []string{".mcp.json", ".cursor/mcp.json"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700))
		write(t, filepath.Join(dir, file), string(entries))
	}
	write(t, filepath.Join(dir, "mcphud.stack.yaml"), stack)
	write(t, filepath.Join(dir, "server.json"), `{"name":"com.example/x","version":"1.0.0","packages":[
		{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeHint":"./npx"},{"registryType":"pypi","identifier":"x","version":"1.0.0"},
		{"registryType":"oci","identifier":"x/y:1.0.0"}]}`)

	for _, args := range [][]string{
		{"servers", "list"},
		{"servers", "list", "--format", "text"},
		{"config", "explain"},
		{"config", "convert", "--to", "vscode"},
		{"status"},
		{"status", "s0a"},
		{"doctor", "s0a"},
		{"doctor", "s16b"},
		{"doctor", "--all"},
		{"check", "lint", "s0a"},
		{"check", "--all"},
		{"info", "s0a"},
		{"tools", "list", "s16b"},
		{"tools", "list", "s16bh"},
		{"resources", "list", "s18c"},
		{"prompts", "list", "s18a"},
		{"ping", "s0a"},
		{"raw", "tools/list", "{}", "--server", "s0b"},
		{"run", "anything", "s0a"},
		{"history", "list"},
		{"auth", "status"},
		{"tap", "wrap", "cursor", "s0a"},
		{"tap", "unwrap", "cursor", "s0a"},
		{"up"},
		{"up", "mcphud.stack.yaml"},
		{"open", "server.json"},
		{"open", "server.json", "--print", "--package", "1"},
		{"open", "server.json", "--print", "--package", "2"},
		{"open", "server.json", "--print", "--package", "3"},
		{"__complete", "doctor", ""},
		{"__complete", "tools", "call", "--server", "s0a", ""},
		{"__complete", "open", ""},
	} {
		if lines := started(args...); lines != nil {
			t.Errorf("mcphud %s started %d programs, %q first", strings.Join(args, " "), len(lines), lines[0])
		}
	}

	for i, command := range append(slices.Clone(commandNames), "./evil", "./tools/node-evil", "tools/../evil", "../"+filepath.Base(dir)+"/evil", filepath.Join(dir, "evil")) {
		if i%4 != 0 && !budget.All() { // each is three processes
			continue
		}
		manifest, err := json.Marshal(map[string]any{
			"manifest_version": "0.3", "name": "notes", "version": "1.0.0", "description": "x", "author": map[string]any{"name": "Ann"},
			"server":        map[string]any{"type": "node", "entry_point": "server/run", "mcp_config": map[string]any{"command": command, "args": []string{"x"}}},
			"compatibility": map[string]any{"runtimes": map[string]any{"node": ">=16", "python": ">=3", "evil": "1", "e": "1", "helper": "1", "npx": "1", "docker": "1"}},
		})
		require.NoError(t, err)
		file := filepath.Join(dir, "notes.mcpb")
		require.NoError(t, os.WriteFile(file, bundleOf(t, string(manifest), "#!/bin/sh\necho run >>'"+ran.file+"'\n"), 0o600))
		for _, args := range [][]string{{"open", "notes.mcpb", "--list"}, {"open", "notes.mcpb", "--print"}} {
			if lines := started(args...); lines != nil {
				t.Errorf("mcphud %s with the command %s started %q", strings.Join(args, " "), command, lines)
			}
		}
		// Who is about to answer the question learns whether the runtime will do: that of the user, asked for its version.
		for _, line := range started("open", "notes.mcpb") {
			if path, ok := strings.CutSuffix(line, " --version"); !ok || filepath.Dir(path) != bin || !slices.Contains([]string{"node", "python", "python3"}, filepath.Base(path)) {
				t.Errorf("mcphud open with the command %s started %q", command, line)
			}
		}
	}
}
