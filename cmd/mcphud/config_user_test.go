package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	verbconfig "github.com/mcphud/mcphud/cmd/verb/config"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// withConfig prepares a run in a home whose config.yaml has this text.
func withConfig(t *testing.T, body string, args ...string) (cmd *exec.Cmd, file string) {
	t.Helper()
	cmd = command(t, args...)
	file = filepath.Join(cmd.Dir, ".config", "mcphud", "config.yaml")
	writeText(t, file, body)
	return cmd, file
}

func writeText(t *testing.T, file, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
}

// config.yaml says how commands print and how long they wait, where no flag does; what is wrong in it is on stderr, with its line.
func TestUserConfigOfCommands(t *testing.T) {
	t.Parallel()
	url := faketest.HTTP(t, behave.Good, behave.Fault{}).URL
	cmd, file := withConfig(t, "format: jsonl\nthme: dark\n", "tools", "list", "--url", url)
	got := finish(t, cmd)
	if got.code != 0 || !strings.HasPrefix(got.out, "{") || !strings.Contains(got.stderr, file+`:2:1: unknown key "thme" is ignored; did you mean theme?`) {
		t.Errorf("%+v", got)
	}
	cmd, _ = withConfig(t, "format: json\n", "tools", "list", "--url", url, "--format", "text")
	if got := finish(t, cmd); got.code != 0 || strings.HasPrefix(got.out, "{") || got.stderr != "" {
		t.Errorf("a flag does not come first: %+v", got)
	}
	cmd, _ = withConfig(t, "timeout: [", "tools", "list", "--url", url)
	finish(t, cmd).exits(t, 0, "config.yaml:1:")
}

func TestUserConfigTimeout(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	cmd, _ := withConfig(t, "connect_timeout: 200ms\n", "ping", "--url", "http://"+silent.Addr().String()+"/mcp", "--transport", "http")
	if got := finish(t, cmd); got.code != cli.ExitTimeout && got.code != cli.ExitUnreachable || !strings.Contains(got.stderr, "200ms") {
		t.Errorf("%+v", got)
	}
}

// The budget of the file is that of a check which has no other.
func TestUserConfigBudget(t *testing.T) {
	t.Parallel()
	url := faketest.HTTP(t, behave.Good, behave.Fault{}).URL
	for want, body := range map[string]string{"more than 7": "token_budget: 7\n", "": "token_budget: 1000000\n"} {
		cmd, _ := withConfig(t, body, "check", "cost", "--format", "text", "--url", url)
		if got := finish(t, cmd); strings.Contains(got.out, "over-budget") != (want != "") || !strings.Contains(got.out, want) || (got.code == cli.ExitAssertion) != (want != "") {
			t.Errorf("%s: %+v", body, got)
		}
	}
	cmd, _ := withConfig(t, "token_budget: 7\n", "check", "cost", "--format", "text", "--url", url, "--budget", "0")
	if got := finish(t, cmd); got.code != 0 || strings.Contains(got.out, "over-budget") {
		t.Errorf("a flag does not come first: %+v", got)
	}
}

// What the file calls a secret is one everywhere: here in a recording.
func TestUserConfigRedacts(t *testing.T) {
	t.Parallel()
	url := faketest.HTTP(t, behave.Good, behave.Fault{}).URL
	cmd, _ := withConfig(t, "redaction: {names: [X-Corp-*, pin], patterns: ['corp_[0-9a-f]{4}']}\n",
		"raw", "tools/list", `{"pin":"4711-2580-1379","note":"corp_00ff","plain":"kept"}`, "--url", url, "-H", "X-Corp-Id: 0815-X-0815", "--journal", "j.jsonl")
	dir := cmd.Dir
	finish(t, cmd)
	b, err := os.ReadFile(filepath.Join(dir, "j.jsonl"))
	require.NoError(t, err)
	for _, secret := range []string{"4711-2580-1379", "corp_00ff", "0815-X-0815"} {
		assert.NotContains(t, string(b), secret)
	}
	assert.Contains(t, string(b), "kept")
}

// The history is as long as the file says, and off where it says so; a variable comes first.
func TestUserConfigHistory(t *testing.T) {
	t.Parallel()
	url := faketest.HTTP(t, behave.Good, behave.Fault{}).URL
	for body, want := range map[string]bool{"history: {enabled: false}\n": false, "history: {days: 3}\n": true} {
		for _, env := range []string{"", "on", "off"} {
			cmd, _ := withConfig(t, body, "tools", "call", "echo", "message=x", "--url", url)
			cmd.Env = append(cmd.Env, cli.NoHistory+"="+env)
			dir := cmd.Dir
			if got := finish(t, cmd); got.code == cli.ExitFailure {
				t.Fatalf("%+v", got)
			}
			_, err := os.Stat(filepath.Join(dir, ".state", "mcphud", "calls.db"))
			if kept := err == nil; kept != (env == "on" || want && env == "") {
				t.Errorf("%s with %s=%s: kept %v", body, cli.NoHistory, env, kept)
			}
		}
	}
}

func TestConfigExplainUserConfig(t *testing.T) {
	t.Parallel()
	cmd, file := withConfig(t, "theme: light\nlayout: {split: 95, wrap: false}\nkeys: {app.zoom: [f11], app.zom: x}\nimages: none\n", "config", "explain", "--format", "json")
	cmd.Env = append(cmd.Env, "MCPHUD_THEME=dark", "MCPHUD_IMAGES=", "MCPHUD_REGISTRY=")
	got := finish(t, cmd)
	var e struct {
		General struct {
			File     settings.File
			Settings []settings.ExplainedSetting
			Warnings []config.Warning
		}
	}
	if err := json.Unmarshal([]byte(got.out), &e); err != nil {
		t.Fatal(err, got)
	}
	if !e.General.File.Found || e.General.File.Path != file {
		t.Errorf("%+v", e.General.File)
	}
	want := map[string]string{
		"theme": "dark environment", "layout.split": "each screen's own default", "layout.wrap": "false file", "keys": "app.zoom: [f11], app.zom: [x] file",
		"images": "none file", "history.days": "90 default", "registry.url": "https://registry.modelcontextprotocol.io default",
	}
	for _, s := range e.General.Settings {
		if w, ok := want[s.Name]; ok {
			assert.Equalf(t, s.Value+" "+s.Source, w, "%s", s.Name)
			delete(want, s.Name)
		}
		if s.Name == "theme" && (len(s.Overridden) != 1 || s.Overridden[0].Line != 1) {
			t.Errorf("the theme of the file is lost: %+v", s)
		}
	}
	if len(want) > 0 || len(e.General.Warnings) != 2 || !strings.Contains(e.General.Warnings[1].Message, "did you mean app.zoom?") {
		t.Errorf("left %v; warnings %+v", want, e.General.Warnings)
	}
}

// config edit makes the file, keeps the old one where the new one cannot be read, and says what is wrong.
func TestConfigEdit(t *testing.T) {
	t.Parallel()
	edit := func(dir, script string) outcome {
		cmd := command(t, "config", "edit")
		if dir == "" {
			dir = cmd.Dir
		}
		tool := filepath.Join(t.TempDir(), "editor")
		writeText(t, tool, "#!/bin/sh\n"+script+"\n")
		require.NoError(t, os.Chmod(tool, 0o700))
		cmd.Env = append(cmd.Env, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "EDITOR="+tool, "VISUAL=")
		return finish(t, cmd)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mcphud", "config.yaml")
	if got := edit(dir, `grep -q yaml-language-server "$1" && sed -i 's/^#mouse: true/mouse: false/' "$1"`); got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "\nmouse: false\n") {
		t.Fatalf("%v\n%s", err, b)
	}
	edit(dir, `echo "theme: [" >> "$1"`).exits(t, cli.ExitFailure, "config.draft.yaml", "config.yaml:")
	if after, _ := os.ReadFile(file); string(after) != string(b) {
		t.Error("a broken file took the place of the old one")
	}
	edit(dir, `echo "imges: none" >> "$1"`).exits(t, 0, "did you mean images?")
	edit(dir, `true`).exits(t, 0, "nothing was changed")
	edit(dir, `exit 3`).exits(t, cli.ExitFailure, "the editor")
	if left, _ := filepath.Glob(filepath.Join(dir, "mcphud", "*draft*")); len(left) > 0 {
		t.Errorf("%v is left over", left)
	}
	dots := filepath.Join(t.TempDir(), "dots.yaml") // where the user keeps it
	writeText(t, dots, "mouse: true\n")
	require.NoError(t, errors.Join(os.Chmod(dots, 0o640), os.Remove(file), os.Symlink(dots, file)))
	edit(dir, `echo "images: none" >> "$1"`).exits(t, 0)
	info, err := os.Lstat(file)
	if b, _ := os.ReadFile(dots); err != nil || info.Mode()&os.ModeSymlink == 0 || string(b) != "mouse: true\nimages: none\n" {
		t.Errorf("behind the link is %q; %v %v", b, info.Mode(), err)
	}
	if info, err := os.Stat(dots); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	edit(dir, `echo "theme: dark" >> "`+dots+`"; echo "images: auto" >> "$1"`).exits(t, cli.ExitFailure, "changed while it was edited")
	if b, _ := os.ReadFile(dots); !strings.HasSuffix(string(b), "theme: dark\n") {
		t.Errorf("what another program wrote is lost: %q", b)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "mcphud", "config.draft.yaml")); err != nil || !strings.Contains(string(b), "images: auto") {
		t.Errorf("the draft is lost: %q %v", b, err)
	}
}

// config check finds what is wrong in each kind of file, with its line and column.
func TestConfigCheck(t *testing.T) {
	t.Parallel()
	cmd, _ := withConfig(t, "theme: dark\nkeys: {app.zoom: M}\n", "config", "check", "--format", "json")
	dir := cmd.Dir
	for name, body := range map[string]string{
		".config/mcphud/themes/night.yaml": "extends: dark\ncolors:\n  accent: 77\n",
		".config/mcphud/agent.yaml":        "port: 7000\nqueueCapacity: many\nprot: 1\n",
		"mcphud.yaml":                      "$schema: x\nservers:\n  a:\n    command: x\n    comand: y\n  b: {}\n",
		".mcp.json":                        "{\n  \"mcpServers\": {\n    \"c\": {\"args\": []}\n  }\n}",
		"routing.json":                     "{\"$schema\": \"x\",\n \"routes\": {\"a\": {\"hostPort\": 7000,\n  \"tmeout\": \"3s\"}}}",
		"mcphud.stack.yaml":                "$schema: x\nagents:\n  a:\n    prot: 7000\n",
	} {
		writeText(t, filepath.Join(dir, name), body)
	}
	got := finish(t, cmd)
	var all struct{ Files []verbconfig.Checked }
	if err := json.Unmarshal([]byte(got.out), &all); err != nil || got.code != cli.ExitStrict || got.stderr != "" {
		t.Fatal(err, got)
	}
	said := map[string]string{}
	for _, c := range all.Files {
		for _, w := range c.Findings {
			said[filepath.Base(c.File)] += strings.TrimPrefix(w.String(), w.File) + "\n"
		}
	}
	for file, want := range map[string][]string{
		"config.yaml":       {`:2:`, "app.zoom (M) and app.mouse (M) clash"},
		"night.yaml":        {`:3:11: accent is "77"`},
		"agent.yaml":        {`:2:1: queueCapacity is "many"`, `:3:1: unknown key "prot"`},
		"mcphud.yaml":       {`:5:5: `, "comand", ":6"},
		".mcp.json":         {`:3`},
		"routing.json":      {`:3:13: routes.a.tmeout`},
		"mcphud.stack.yaml": {`:4:5: `, "prot"},
	} {
		for _, w := range want {
			if !strings.Contains(said[file], w) {
				t.Errorf("%s: %q does not have %q", file, said[file], w)
			}
		}
	}
	assert.NotContains(t, got.out, "$schema")
	good := command(t, "config", "check", "good.json", "--kind", "servers")
	writeText(t, filepath.Join(good.Dir, "good.json"), `{"mcpServers": {"a": {"command": "x"}}}`)
	finish(t, good).exits(t, 0)
	ownProcess(t, "config", "check", "missing.yaml").exits(t, cli.ExitFailure)
}

// compiled is a schema that the program prints.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	got := mcphud(t, "config", "schema", name)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got.out))
	if err != nil || got.code != 0 {
		t.Fatal(err, got)
	}
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// fenced are the blocks of a document in that language, which hold this text.
func fenced(t *testing.T, file, lang, with string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	for i, part := range strings.Split(string(b), "```") {
		if body, ok := strings.CutPrefix(part, lang+"\n"); ok && i%2 == 1 && strings.Contains(body, with) {
			all = append(all, body)
		}
	}
	return all
}

// The schemas take the examples of the manuals, and refuse what the programs do.
func TestConfigSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		examples []string
		wrong    []string
	}{
		{"config", append(fenced(t, "../../session/config/userconfig/README.md", "yaml", "theme:"), "$schema: x"), []string{"layout: {split: 3}", "thme: x"}},
		{
			"mcphud", append(fenced(t, "../../session/config/README.md", "yaml", "servers:"), "$schema: x\nservers: {a: {command: x, env: {A: 1}}}\npool: {max_connections: 3}", "mcp: {servers: [{id: a, command: b, env: [A=b]}], auto_discover: true}"),
			[]string{"servers: {a: {command: 3}}", "pool: {x: 1}", "servrs: {}", "servers: {a: {type: carrier-pigeon}}"},
		},
		{
			"routing", append(fenced(t, "../../proxy/README.md", "json", `"routes"`), `{"$schema": "x", "routes": {"a": {"url": "http://h/mcp", "timeout": 3000, "fault": {"dropPercent": 3}}}}`),
			[]string{`{"routes": {"a": {}}}`, `{"routes": {"a": {"hostPort": 1, "url": "http://h"}}}`, `{"port": 70000}`, `{"routes": {"a": {"command": "x", "session": "mine"}}}`},
		},
		{
			"stack", append(fenced(t, "../../proxy/README.md", "yaml", "agents:"), "$schema: x\nagents: {a: }\nrouter: false"),
			[]string{"version: 2", "servers: {a: {}}", "agents: []"},
		},
	} {
		s := compiled(t, c.name)
		if len(c.examples) < 2 {
			t.Errorf("%s: the manual has no example", c.name)
		}
		for i, body := range append(c.examples, c.wrong...) {
			var v any
			if std, err := hujson.Standardize([]byte(body)); err == nil {
				body = string(std)
			}
			if err := yaml.Unmarshal([]byte(body), &v); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			b, err := json.Marshal(v)
			require.NoError(t, err)
			if v, err = jsonschema.UnmarshalJSON(strings.NewReader(string(b))); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); (err == nil) != (i < len(c.examples)) {
				t.Errorf("%s: %v:\n%s", c.name, err, body)
			}
		}
	}
	mcphud(t, "config", "schema", "routng").exits(t, cli.ExitFailure, "did you mean routing?")
}

// The schemas have every key that the readers know.
func TestSchemasAreComplete(t *testing.T) {
	t.Parallel()
	has := func(name, key string) {
		if !strings.Contains(string(verbconfig.Schemas()[name]), `"`+key+`"`) {
			t.Errorf("the schema %s does not have %s", name, key)
		}
	}
	for _, name := range config.SettingNames() {
		block, inner, ok := strings.Cut(name, ".")
		if has("mcphud", block); ok {
			has("mcphud", inner)
		}
	}
	for _, s := range options.AgentSources {
		if s.Key != "" && s.Key != "host" {
			has("stack", s.Key)
		}
	}
}

func TestConfigListings(t *testing.T) {
	t.Parallel()
	cmd, file := withConfig(t, "keys: {app.zoom: [f11]}\n", "config", "keys", "app.zoom", "--format", "text")
	if got := finish(t, cmd); got.code != 0 || !strings.HasPrefix(got.out, "app.zoom") || !strings.Contains(got.out, " f11 ") {
		t.Errorf("%+v", got)
	}
	cmd, _ = withConfig(t, "", "config", "themes", "--format", "json")
	writeText(t, filepath.Join(cmd.Dir, ".config/mcphud/themes/mine.yaml"), "title: Mine\n")
	finish(t, cmd).prints(t, 0, `"name":"mine","title":"Mine"`, `"dark"`)
	cmd = command(t, "config", "path")
	if got := finish(t, cmd); strings.TrimSpace(got.out) != filepath.Join(cmd.Dir, ".config", "mcphud", "config.yaml") || filepath.Base(file) != "config.yaml" {
		t.Errorf("%+v", got)
	}
}

// A running UI follows the file and the themes; what is wrong is said, and what was goes on.
func TestConfigIsFollowed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "mcphud", "config.yaml")
	writeText(t, file, "keys: {app.zom: x}\n")
	s := startUIWith(t, []string{"XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "MCPHUD_THEME=", "NO_COLOR=", "COLORTERM=truecolor"})
	s.shows("─")
	s.shows("app.zoom?")
	writeText(t, file, "layout: {borders: double}\n")
	s.shows("═")
	writeText(t, filepath.Join(home, "mcphud", "themes", "mine.yaml"), "colors: {border: '#0a141e', border_focus: '#0a141e', text: '#0a141e'}\n")
	writeText(t, file, "layout: {borders: double}\ntheme: mine\n")
	s.shows("38;2;10;20;30")
	writeText(t, file, "theme: [\n")
	s.shows("YAML")
	writeText(t, file, "keys: {app.quit: [Z]}\nlayout: {borders: ascii}\n")
	s.shows("---")
	s.types(t, "Z")
	if code := s.exit(); code != 0 || !s.restored() {
		t.Errorf("exit %d, restored %v", code, s.restored())
	}
}

// The screen of the settings says which flag and which variable come before the file in this run.
func TestSettingsSayWhatComesFirst(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeText(t, filepath.Join(home, "mcphud", "config.yaml"), "timeout: 9s\ntheme: dark\nmax_timeout: 20m\nnetwork: {proxy: 'http://127.0.0.1:1'}\n")
	s := startUIWith(t, []string{"XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "MCPHUD_THEME=light"}, "--timeout", "7s")
	s.shows("Servers")
	s.types(t, ":settings\r")
	s.shows("config.yaml")
	for _, c := range [][2]string{{"timeout", "--timeout"}, {"theme", "$MCPHUD_THEME"}, {"max_timeout", "config.yaml:3"}, {"network.proxy", "config.yaml:4"}} {
		s.types(t, "/")
		s.types(t, "\x15"+c[0]+"\r")
		s.shows(c[1])
	}
	s.types(t, "q")
	s.shows("No servers")
	s.types(t, "q")
	if code := s.exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// Keys of screens that a UI does not have are nothing to warn about there.
func TestKeysOfOtherScreens(t *testing.T) {
	t.Parallel()
	has := map[string]bool{"app.zoom": true}
	u, err := userconfig.Parse("config.yaml", []byte("keys: {app.zoom: f11, tools.all: [C], tools.al: C}"))
	require.NoError(t, err)
	s, warnings := cli.UISettings(&u, has)
	if len(s.Keys) != 1 || s.Keys["app.zoom"][0] != "f11" || len(warnings) != 1 || !strings.Contains(warnings[0].Message, "tools.al") {
		t.Errorf("%v, %v", s.Keys, warnings)
	}
}
