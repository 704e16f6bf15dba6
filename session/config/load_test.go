package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/mcphud/mcphud/session/test/require"
)

// env is a LookupEnv of pairs.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

// fixture copies testdata/name to a folder of its own, with $PROJECT and $HOME
// in its files replaced, and returns Options for it.
func fixture(t *testing.T, name string, vars ...string) (Options, string) {
	t.Helper()
	root := t.TempDir()
	o := Options{Home: filepath.Join(root, "home"), Cwd: filepath.Join(root, "project"), OS: "linux", LookupEnv: env(vars...)}
	require.NoError(t, os.CopyFS(root, os.DirFS(filepath.Join("testdata", name))))
	claude := filepath.Join(o.Home, ".claude.json")
	if b, err := os.ReadFile(claude); err == nil {
		write(t, claude, strings.ReplaceAll(string(b), "$PROJECT", o.Cwd))
	}
	return o, root
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// show is a Set as text, for goldens.
func show(t *testing.T, s Set, root string) []byte {
	t.Helper()
	var b strings.Builder
	for _, v := range s.Servers {
		j, err := json.MarshalIndent(v, "", "  ")
		require.NoError(t, err)
		b.Write(j)
		if v.Problem != nil {
			b.WriteString("\nproblem: " + v.Problem.Error())
		}
		for _, in := range v.Inputs {
			j, err := json.Marshal(in)
			require.NoError(t, err)
			b.WriteString("\ninput: " + string(j))
		}
		b.WriteString("\n")
	}
	j, err := json.MarshalIndent(s.Settings, "", "  ")
	require.NoError(t, err)
	b.WriteString("settings: " + string(j) + "\n")
	for _, w := range s.Warnings {
		b.WriteString("warning: " + w.String() + "\n")
	}
	return []byte(strings.ReplaceAll(b.String(), root, ""))
}

func TestLoadMergesEveryFile(t *testing.T) {
	o, root := fixture(t, "everything", "GITHUB_TOKEN=ghp_0000", "API_TOKEN=s3cret value", "SLACK_CLIENT_ID=7")
	s, err := Load(o)
	require.NoError(t, err)
	golden.RequireEqual(t, show(t, s, root))
}

// A value with spaces and shell characters stays one argument.
func TestExpansionNeverYieldsMoreArguments(t *testing.T) {
	dir := t.TempDir()
	f := write(t, filepath.Join(dir, "c.json"), `{"mcpServers":{"a":{"command":"c","args":["${X}","${Y:-p q}","$X"]}}}`)
	s, err := Load(Options{Files: []string{f}, LookupEnv: env("X=a b; rm -rf '/' ${Y}")})
	require.NoError(t, err)
	want := []string{"a b; rm -rf '/' ${Y}", "p q", "$X"}
	if got := s.Servers[0].Args; strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		t.Errorf("args = %q, want %q", got, want)
	}
}

func TestC6_UnsetVariableIsNamedAndTheRestLoads(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), "c.json"), "{\"mcpServers\":{\n\"a\":{\"command\":\"c\",\n\"env\":{\"T\":\"${NOT_SET_ANYWHERE}\"}},\n\"b\":{\"command\":\"d\"}}}")
	o := Options{Files: []string{f}}
	s, err := Load(o)
	if err != nil || len(s.Servers) != 2 {
		t.Fatalf("Load = %d servers, %v; want both", len(s.Servers), err)
	}
	a, b := s.Servers[0], s.Servers[1]
	if a.Problem == nil || !strings.Contains(a.Problem.Error(), "NOT_SET_ANYWHERE") || !strings.Contains(a.Problem.Error(), "c.json:3") {
		t.Errorf("problem = %v, want the variable and its line", a.Problem)
	}
	if b.Problem != nil {
		t.Errorf("the other server has the problem %v", b.Problem)
	}
	o.AllowUnset = true
	if s, err = Load(o); err != nil || s.Servers[0].Problem != nil || s.Servers[0].Env["T"] != "${NOT_SET_ANYWHERE}" {
		t.Errorf("with AllowUnset: env %q, problem %v; want it literal", s.Servers[0].Env, s.Servers[0].Problem)
	}
}

// Whatever is wrong with an expanded value, the message does not hold it.
func TestC6_ProblemsHoldNoExpandedValue(t *testing.T) {
	const secret = "s3cret:value\n\x00"
	f := write(t, filepath.Join(t.TempDir(), "c.json"), `{"mcpServers":{
"a":{"url":"${V}"}, "b":{"url":"http://h/${V}","headers":{"X":"${V}"}}, "c":{"command":"${V}","args":["${V}"],"env":{"A":"${V}"},"cwd":"${V}"}, "d":{"url":"ftp://${V}@"}}}`)
	s, err := Load(Options{Files: []string{f}, LookupEnv: env("V=" + secret)})
	require.NoError(t, err)
	for _, v := range s.Servers {
		if v.Problem == nil {
			t.Errorf("%s has no problem", v.Name)
		} else if strings.Contains(v.Problem.Error(), "s3cret") {
			t.Errorf("%s: %v", v.Name, v.Problem)
		}
	}
}

// C3 and C4: the two formats of mcp.yaml load to the same model.
func TestC3_C4_BothFormatsLoadAlike(t *testing.T) {
	dir := t.TempDir()
	k := write(t, filepath.Join(dir, "k", "mcp.yaml"), "mcp:\n  servers:\n    - id: fs\n      command: mcp-server-filesystem\n      args: [--root, \"${DATA}\"]\n      env: [MODE=ro]\n")
	a := write(t, filepath.Join(dir, "a", "mcp.yaml"), "servers:\n  fs:\n    transport:\n      type: stdio\n      command: mcp-server-filesystem\n      args: [--root, \"${DATA}\"]\n    env:\n      MODE: ro\n    enabled: true\n")
	s, err := Load(Options{Files: []string{k, a}, LookupEnv: env("DATA=/data")})
	if err != nil || len(s.Warnings) > 0 {
		t.Fatalf("Load: %v, %v", err, s.Warnings)
	}
	if len(s.Servers) != 1 || len(s.Servers[0].Also) != 1 || s.Servers[0].Also[0].File != a {
		t.Fatalf("want one server with two sources, got %+v", s.Servers)
	}
	if v := s.Servers[0]; v.Transport != Stdio || v.Args[1] != "/data" || v.Env["MODE"] != "ro" {
		t.Errorf("server = %+v", v)
	}
}

func TestC4_EnabledFalse(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), "mcp.yaml"), "servers:\n  a: {transport: {type: stdio, command: x}, enabled: false}\n  b: {command: x, disabled: true}\n  c: {command: x}\n")
	s, err := Load(Options{Files: []string{f}})
	require.NoError(t, err)
	for i, want := range []bool{true, true, false} {
		if s.Servers[i].Disabled != want {
			t.Errorf("%s.Disabled = %v, want %v", s.Servers[i].Name, !want, want)
		}
	}
}

func TestC5_TransportIsAnAliasOfType(t *testing.T) {
	f := write(t, filepath.Join(t.TempDir(), "claude_desktop_config.json"), `{"mcpServers":{"p":{"url":"http://localhost:8200/mcp","transport":"http"},"c":{"command":"x","args":["y"],"env":{"A":"${B}"}}}}`)
	s, err := Load(Options{Files: []string{f}})
	if err != nil || len(s.Warnings) > 0 {
		t.Fatal(err, s.Warnings)
	}
	if p := s.Servers[0]; p.Transport != HTTP || p.URL != "http://localhost:8200/mcp" || p.Problem != nil {
		t.Errorf("p = %+v", p)
	}
	if c := s.Servers[1]; c.Transport != Stdio || c.Env["A"] != "${B}" || c.Problem != nil {
		t.Errorf("c = %+v, want its value literal", c)
	}
}

func TestOSDecidesWhereClaudeDesktopIs(t *testing.T) {
	const file = `{"mcpServers":{"d":{"command":"x"}}}`
	home, appdata := t.TempDir(), t.TempDir()
	for os, dir := range map[string]string{
		"linux":   filepath.Join(home, ".config", "Claude"),
		"darwin":  filepath.Join(home, "Library", "Application Support", "Claude"),
		"windows": filepath.Join(appdata, "Claude"),
	} {
		write(t, filepath.Join(dir, "claude_desktop_config.json"), file)
		s, err := Load(Options{Home: home, OS: os, LookupEnv: env("APPDATA=" + appdata)})
		if err != nil || len(s.Servers) != 1 || filepath.Dir(s.Servers[0].Source.File) != dir {
			t.Errorf("%s: %+v, %v; want the one in %s", os, s.Servers, err, dir)
		}
	}
}

func TestMcphudConfigReplacesTheUsersFile(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".config", "mcphud", "mcphud.yaml"), "servers: {own: {command: x}}")
	write(t, filepath.Join(cwd, "other.yaml"), "servers: {other: {command: x}}")
	s, err := Load(Options{Home: home, Cwd: cwd, LookupEnv: env("MCPHUD_CONFIG=other.yaml")})
	if err != nil || len(s.Servers) != 1 || s.Servers[0].Name != "other" || s.Servers[0].Source.Project {
		t.Errorf("servers = %+v, %v", s.Servers, err)
	}
	if _, err = Load(Options{Home: home, Cwd: cwd, LookupEnv: env("MCPHUD_CONFIG=missing.yaml")}); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("err = %v, want one that names the file", err)
	}
}

// Started in the home folder, its own Cursor file is not a project file.
func TestHomeAsWorkingFolder(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".cursor", "mcp.json"), `{"mcpServers":{"a":{"command":"x"}}}`)
	s, err := Load(Options{Home: home, Cwd: home})
	if err != nil || len(s.Servers) != 1 || s.Servers[0].Source.Project {
		t.Errorf("servers = %+v, %v", s.Servers, err)
	}
}

// TestSettingsStandInTheirBlocks: the names that this package has for settings are not keys of a file.
func TestSettingsStandInTheirBlocks(t *testing.T) {
	_, st, d, err := loadBytes(Options{}, candidate{path: "/x/mcphud.yaml", dialect: mcphudDialect}, []byte("pool.max_connections: 5\ntimeouts: {connect: 1s}\n"))
	if err != nil || st.Pool.MaxConnections != 0 || st.Timeouts.Connect != time.Second || len(d.warnings) != 1 {
		t.Errorf("%+v, %v, %v", st, d.warnings, err)
	}
}
