package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file that cannot be read is one warning; the others load.
func TestMalformedFileIsOneWarning(t *testing.T) {
	for what, c := range map[string]struct{ name, content, want string }{
		"json":      {".mcp.json", "{\n \"mcpServers\": nope\n}", ".mcp.json:2:16: is not valid JSON"},
		"cut":       {".mcp.json", `{"mcpServers": {"a"`, ".mcp.json:1:20: is not valid JSON"},
		"empty":     {".mcp.json", "", "is empty"},
		"list":      {".mcp.json", "[]", ".mcp.json:1:1: holds a list"},
		"utf8":      {".mcp.json", "{\n\"a\": \"\xff\"}", ".mcp.json:2:7: is not UTF-8"},
		"utf16":     {".mcp.json", "\xff\xfe{\x00}\x00", "is not UTF-8"},
		"deep":      {".mcp.json", strings.Repeat("[", 1e6), ":1:201: nests more than 200"},
		"yaml":      {"mcp.yaml", "servers:\n  a: [\n", "mcp.yaml:2:6: is not valid YAML"},
		"yaml tabs": {"mcp.yaml", "servers:\n\ta: b\n", "mcp.yaml:2:"},
		"yaml deep": {"mcp.yaml", "a: " + strings.Repeat("{b: ", 1000), "nests more than 200"},
		"yaml dash": {"mcp.yaml", strings.Repeat("- ", 10000), "nests more than 200"},
		"yaml big":  {"mcp.yaml", strings.Repeat("# comment\n", 1e5), "is larger than the limit of 65.5 kB"},
		"yaml text": {"mcp.yaml", "just text", "mcp.yaml:1:1: holds a string"},
	} {
		home, cwd := t.TempDir(), t.TempDir()
		write(t, filepath.Join(home, ".cursor", "mcp.json"), `{"mcpServers":{"good":{"command":"x"}}}`)
		write(t, filepath.Join(cwd, c.name), c.content)
		s, err := Load(Options{Home: home, Cwd: cwd})
		if err != nil || len(s.Servers) != 1 {
			t.Errorf("%s: %d servers, %v; want the good one", what, len(s.Servers), err)
		}
		if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].String(), c.want) {
			t.Errorf("%s: warnings %v, want one with %q", what, s.Warnings, c.want)
		}
		if _, err := Load(Options{Files: []string{filepath.Join(cwd, c.name)}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: as --config: %v, want an error with %q", what, err, c.want)
		}
	}
}

// Aliases that double nine times nine levels deep cost what is read of them.
func TestYAMLBombs(t *testing.T) {
	var list, merge strings.Builder
	list.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	merge.WriteString("m0: &m0 {k0: v, k1: v, k2: v, k3: v, k4: v, k5: v, k6: v, k7: v}\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&list, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
		fmt.Fprintf(&merge, "m%d: &m%d\n  <<: [%s*m%d]\n", i, i, strings.Repeat(fmt.Sprintf("*m%d,", i-1), 8), i-1)
	}
	for what, y := range map[string]string{
		"lists":    list.String() + "servers:\n  a: {command: x, args: *a11}\n",
		"merges":   merge.String() + "servers:\n  a:\n    <<: *m11\n    command: x\n",
		"loop":     "servers: &s\n  a: *s\n",
		"self":     "servers: &s [*s]\n",
		"merge":    "servers: &s\n  <<: *s\n  a: {command: x}\n",
		"servers":  "x: &x {command: y}\nservers: {" + strings.Repeat("a: *x, ", 5000) + "}\n",
		"undefine": "servers: *nobody\n",
	} {
		start := time.Now()
		f := write(t, filepath.Join(t.TempDir(), "mcp.yaml"), y)
		s, _ := Load(Options{Files: []string{f}})
		// Generous: unbounded, these take hours or all memory.
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s took %v", what, d)
		}
		if len(s.Warnings) > maxWarn+1 {
			t.Errorf("%s: %d warnings", what, len(s.Warnings))
		}
	}
}

func TestYAMLAnchorsAndMerges(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), "mcp.yaml"), "base: &base\n  command: npx\n  env: {A: 1, B: null}\nservers:\n  a:\n    <<: *base\n    args: &args [-y, one]\n  b:\n    <<: [*base]\n    command: node\n    args: *args\n    description: |\n      two\n      lines\n")
	s, err := Load(Options{Files: []string{f}})
	if err != nil || len(s.Servers) != 2 {
		t.Fatal(err, s)
	}
	a, b := s.Servers[0], s.Servers[1]
	if a.Command != "npx" || a.Env["A"] != "1" || b.Command != "node" || b.Env["A"] != "1" || b.Args[1] != "one" || a.Problem != nil || b.Problem != nil {
		t.Errorf("a = %+v\nb = %+v", a, b)
	}
}

func TestDuplicateNamesInOneFile(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), "mcp.yaml"), "mcp:\n  servers:\n  - {id: a, command: one}\n  - {id: a, command: two}\nservers:\n  b: {command: one}\n  b: {command: two}\n")
	s, err := Load(Options{Files: []string{f}})
	if err != nil || len(s.Servers) != 2 {
		t.Fatal(err, s.Servers)
	}
	for _, v := range s.Servers {
		if v.Command != "two" {
			t.Errorf("%s runs %s, want the later one", v.Name, v.Command)
		}
	}
	if len(s.Warnings) != 2 || s.Warnings[0].Line == 0 || s.Warnings[1].Line == 0 {
		t.Errorf("warnings = %v, want one for each with its line", s.Warnings)
	}
}

// fuzzed are files of all dialects, as they are told apart.
var fuzzed = []string{
	"/w/mcp.yaml", "/w/.mcp.json", "/w/claude_desktop_config.json", "/w/.cursor/mcp.json", "/w/servers", "/w/.vscode/mcp.json", "/w/mcp_config.json",
	"/w/.zed/settings.json", "/w/.gemini/settings.json", "/w/.continue/config.yaml", "/w/.codex/config.toml", "/w/opencode.jsonc", "/w/cline_mcp_settings.json",
	"/w/goose/config.yaml", "/w/.mcp-inspector/mcp.json",
}

// FuzzLoad: no input may panic, hang, or make a server without a name; what loads must load the same again.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers":{"a":{"command":"x","args":["${A:-b}"],"env":{"K":"v"}}}}`,
		`{"mcpServers":{"a":{"url":"https://u:p@h/?token=1","headers":{"Authorization":"Bearer ${T}"},"type":"http"}}}`,
		"servers:\n  a: &a\n    transport: {type: stdio, command: x}\n    env: {A: ${B}}\n  b:\n    <<: *a\n",
		"mcp:\n  servers:\n  - id: a\n    command: |\n      x\n    env: [A=b]\n  pool: {max_idle_time: 5m}\n  auto_discover: true\n",
		"? [a]: b\n: c\n- &x !!str *x\n",
		"{\"a\":1 // x\n,/* y */}",
		"[mcp_servers.a]\ncommand = 'x'\nenv = { A = \"${B}\" }\n[[list]]\na.b = [1, 2]\n",
		`{"inputs":[{"id":"i","type":"promptString"}],"servers":{"a":{"command":"x","args":["${input:i}","${env:A}"]}}}`,
		`{"mcp":{"a":{"type":"local","command":["x","{env:A}","{file:y}"]},"servers":{"b":{"type":"remote","url":"http://h"}}}}`,
		`{"context_servers":{"a":{"command":{"path":"x"}}},"mcpServers":{"a":{"httpUrl":"http://$A"}}}`,
		"extensions:\n  a: {type: stdio, cmd: x, env_keys: [A, B]}\nmcpServers:\n- {name: a, command: x, env: {A: '${{ secrets.A }}'}}\n",
	} {
		for d := range uint8(len(fuzzed)) {
			f.Add([]byte(seed), d)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, which uint8) {
		// The fuzzer waits for ever for an input that loops; this names it.
		watch := time.AfterFunc(5*time.Minute, func() { panic(fmt.Sprintf("still busy with %d bytes: %.2000q", len(b), b)) })
		defer watch.Stop()
		path := fuzzed[int(which)%len(fuzzed)]
		c := candidate{path: path, dialect: dialectOf(path), project: which > 127}
		o := Options{Home: "/h", Cwd: "/w", LookupEnv: env("A=1", "TOKEN=t0ken")}
		servers, _, _, err := loadBytes(o, c, bytes.Clone(b))
		again, _, _, err2 := loadBytes(o, c, b)
		if fmt.Sprint(err) != fmt.Sprint(err2) || len(servers) != len(again) {
			t.Fatalf("differs the second time: %v, %v", err, err2)
		}
		var set Set
		seen := map[string][]int{}
		for i, s := range servers {
			if s.Name == "" || s.Fingerprint() != again[i].Fingerprint() {
				t.Fatalf("server %d: name %q, fingerprints %s and %s", i, s.Name, s.Fingerprint(), again[i].Fingerprint())
			}
			if s.Problem == nil && s.Command == "" && s.URL == "" {
				t.Fatalf("server %q has nothing to start and no problem", s.Name)
			}
			Describe(s)
			set.add(s, seen)
		}
		names := map[string]bool{}
		for _, s := range set.Servers {
			if names[s.Name] {
				t.Fatalf("two servers are called %q", s.Name)
			}
			names[s.Name] = true
		}
	})
}
