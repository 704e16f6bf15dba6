package userconfig

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

var update = flag.Bool("update", false, "write the reference of README.md and the schema")

func load(t *testing.T, body string) Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	c, err := Load(path)
	require.NoError(t, err)
	for i := range c.Warnings {
		c.Warnings[i].File = filepath.Base(c.Warnings[i].File)
	}
	return c
}

func TestLoad(t *testing.T) {
	c := load(t, `$schema: ./schema.json
theme: light
keys:
  app.zoom: [z, f11]
  app.theme: []
  app.mouse: f2
  app.quit:
mouse: false
layout: {split: 30, second: below, wrap: false, which_key: 300ms, borders: double}
editor: code --wait
images: sixel
redaction:
  names: X-Corp-*
  patterns: ['corp_[0-9a-f]{4}']
history: {enabled: false, days: 7, size: 5MB, calls: 20}
registry: {url: "https://registry.example.com/"}
format: json
timeout: 45s
network: {proxy: "http://p:1", ca: corp.pem}
model: {url: "https://m/v1", name: tiny, ca: /m.pem, client_cert: me/cert.pem, insecure: false}
`)
	if len(c.Warnings) > 0 {
		t.Fatal(c.Warnings)
	}
	want := Default()
	switch {
	case c.Theme != "light", c.Mouse, c.Split != 30, c.Second != "below", c.Wrap, c.WhichKey != 300*time.Millisecond, c.Borders != "double", c.Editor != "code --wait",
		c.Images != "sixel", len(c.RedactNames) != 1, !c.RedactPatterns[0].MatchString("corp_00ff"), c.History, c.HistoryDays != 7, c.HistorySize != 5_000_000, c.HistoryCalls != 20,
		c.RegistryURL != "https://registry.example.com", c.Format != "json", c.Timeout != 45*time.Second, c.MaxTimeout != want.MaxTimeout:
		t.Errorf("%+v", c)
	}
	dir := filepath.Dir(c.File)
	if m := c.Model; c.Proxy != "http://p:1" || c.CA != filepath.Join(dir, "corp.pem") || m.URL != "https://m/v1" || m.Name != "tiny" || m.Via.CA != "/m.pem" || m.Via.ClientCert != filepath.Join(dir, "me", "cert.pem") {
		t.Errorf("%+v", c)
	}
	keys := c.Bindings()
	if len(keys) != 4 || strings.Join(keys["app.zoom"], " ") != "z f11" || len(keys["app.theme"]) != 0 || keys["app.mouse"][0] != "f2" || len(keys["app.quit"]) != 0 {
		t.Errorf("%v", keys)
	}
	if at := c.Given["layout.split"]; at.Line != 9 || at.Texts[0] != "30" {
		t.Errorf("%+v", at)
	}
}

// What is wrong is said with line, column and what was expected; all else holds.
func TestWrongValues(t *testing.T) {
	for body, want := range map[string]string{
		"thme: dark":                           `:1:1: unknown key "thme" is ignored; did you mean theme?`,
		"split: 30":                            `:1:1: unknown key "split" is ignored; did you mean layout.split?`,
		"layout: {spilt: 30}":                  `:1:10: unknown key "layout.spilt" is ignored; did you mean layout.split?`,
		"qqqqqq: 1":                            `:1:1: unknown key "qqqqqq" is ignored; the keys are theme, keys, mouse,`,
		"layout: 3":                            `:1:9: layout is a number or boolean, and must be an object such as layout: {borders: …}`,
		"layout: {split: 95}":                  `:1:17: layout.split is "95", and must be a whole number from 20 to 80; the default is used`,
		"mouse: on":                            `:1:8: mouse is "on", and must be true or false`,
		"mouse: [true]":                        `:1:8: mouse is a list, and must be true or false`,
		"images: kity":                         `:1:9: images is "kity", and must be one of auto, kitty, iterm2, sixel, blocks or none`,
		"editor: \"vi 'x\"":                    `and must be a command line such as`,
		"timeout: 30":                          `timeout is "30", and must be a duration such as 30s`,
		"timeout: 0s":                          `timeout is "0s"`,
		"history: {size: lots}":                `and must be a size such as 100MB`,
		"registry: {url: ftp://x}":             `and must be an http or https URL`,
		"registry: {url: 'http://u:pw@ /'}":    `must be an http or https URL`,
		"network: {proxy: 'ftp://u:secret@h'}": `must be the URL of a proxy such as http://host:port, or none`,
		"network: {ca: ''}":                    `must be the name of a file`,
		"model: {insecure: 'yes'}":             `must be true or false`,
		"redaction: {patterns: ['(']}":         `redaction.patterns is "(", and must be a list of regular expressions; it is ignored`,
		"redaction: {patterns: ['x*']}":        `redaction.patterns is "x*"`,
		"redaction: {names: ['*']}":            `redaction.names is "*"`,
		"keys: x":                              `keys is a string, and must be an object`,
		"keys: {app.zoom: {a: b}}":             `the keys of "app.zoom" are an object, and must be a key or a list of keys`,
		"mouse: true\nmouse: false":            `:2:1: "mouse" is given twice`,
		"- a":                                  `the file is a list; it must be an object`,
		"theme: \"\"":                          `theme is "", and must be a word`,
		"registry: {url: 'http://u:secret@'}":  `registry.url is`,
	} {
		c := load(t, body+map[bool]string{true: "\nlinear: true\n"}[!strings.HasPrefix(body, "-")])
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].String(), want) || strings.Contains(c.Warnings[0].String(), "secret") {
			t.Errorf("%s: %v, want %s", body, c.Warnings, want)
		}
		if !c.Linear && !strings.HasPrefix(body, "-") {
			t.Errorf("%s: the rest is lost", body)
		}
	}
}

func TestNothingToRead(t *testing.T) {
	for _, body := range []string{"", "# only this\n", "layout:\n", "theme:\n", string(Template())} {
		if c := load(t, body); len(c.Warnings) > 0 || len(c.Given) > 0 || c.Borders != "rounded" {
			t.Errorf("%q: %+v", body, c)
		}
	}
	c, err := Load(filepath.Join(t.TempDir(), "missing.yaml"))
	if err != nil || c.Found || c.HistoryDays != 90 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
	if c, err := Parse("config.yaml", []byte("theme: [")); err == nil || c.HistoryDays != 90 || !strings.Contains(err.Error(), "config.yaml:1:") {
		t.Errorf("%v", err)
	}
}

// The defaults of the table are those of the parts.
func TestDefaults(t *testing.T) {
	c := Default()
	if c.HistoryCalls != calls.UsualLimits.Calls || c.HistorySize != calls.UsualLimits.Bytes || time.Duration(c.HistoryDays)*24*time.Hour != calls.UsualLimits.Age {
		t.Errorf("%+v is not %+v", c, calls.UsualLimits)
	}
	for _, s := range Table() {
		if s.Default == "" && s.Without == "" || s.Help == "" {
			t.Errorf("%s: no default or no help", s.Key)
		}
	}
}

// Every line of the template is what the reader takes, once its # is gone.
func TestTemplate(t *testing.T) {
	var live []string
	for line := range strings.Lines(string(Template())) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(strings.TrimLeft(rest, " "), "# ") && (!strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "  ")) {
			live = append(live, rest)
		}
	}
	c := load(t, strings.Join(live, ""))
	if len(c.Warnings) > 0 {
		t.Error(c.Warnings)
	}
	for _, s := range Table() {
		if _, ok := c.Given[s.Key]; !ok && s.Kind != Bindings {
			t.Errorf("the template does not have %s", s.Key)
		}
	}
}

// The schema takes what the reader takes, and refuses what it warns about.
func TestSchema(t *testing.T) {
	var doc any
	require.NoError(t, yaml.Unmarshal(Schema(), &doc))
	comp := jsonschema.NewCompiler()
	comp.AssertFormat()
	require.NoError(t, comp.AddResource("config.json", doc))
	schema, err := comp.Compile("config.json")
	require.NoError(t, err)
	for _, body := range []string{
		"theme: x", "keys: {a.b: [x], c.d: , e.f: y}", "mouse: true", "layout: {borders: ascii, split: 20, second: below, wrap: false, which_key: 1m30s}", "editor: code -w", "images: none",
		"redaction: {names: X-A, patterns: [a+]}", "history: {enabled: false, days: 1, calls: 2, size: 3MiB}", "history: {size: 1000}", "registry: {url: http://localhost:1}", "$schema: x", "format: raw",
		"timeout: 1.5s", "layout:", "thme: x", "mouse: 1", "layout: {split: 19}", "layout: {split: 30, x: 1}", "layout: {split: x}", "images: x", "redaction: {patterns: ['(']}", "redaction: {names: ['*']}", "timeout: 3", "history: {size: x}", "history: {size: 0}", "registry: {url: x}", "keys: 3", "format: x", "theme: ''",
	} {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(body), &v))
		valid, warned := schema.Validate(v), load(t, body).Warnings
		if (valid == nil) != (len(warned) == 0) {
			t.Errorf("%s: the schema says %v, the reader %v", body, valid, warned)
		}
	}
}

// TestManual: the reference of README.md and the schema are those of the table. With -update they are written.
func TestManual(t *testing.T) {
	const begin, end = "<!-- settings: made by go generate -->\n", "<!-- end of settings -->\n"
	before, rest, ok := strings.Cut(README, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the reference")
	}
	for file, text := range map[string]string{"README.md": before + begin + Reference() + end + after, "config.schema.json": string(Schema())} {
		have, err := os.ReadFile(file)
		switch {
		case *update:
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		case err != nil || string(have) != text:
			t.Errorf("%s is not what go generate makes (%v)", file, err)
		}
	}
}
