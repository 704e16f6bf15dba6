package mcpb

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const full = `{"manifest_version":"0.4","name":"my notes","display_name":"My Notes","version":"1.2.3","description":"d","author":{"name":"Ann"},
	"server":{"type":"binary","entry_point":"server/run","mcp_config":{"command":"server/run",
		"args":["--dirs","${user_config.dirs}","--one=${user_config.one}","${user_config.none}","${HOME}/x","${__dirname}${/}y","${SHELL} $(id) ${user_config.one}"],
		"env":{"TOKEN":"${user_config.token}","UNSET":"${user_config.none}","N":"${user_config.n}"},
		"platform_overrides":{"win32":{"command":"server/run.exe","args":["w"]},"darwin":{"env":{"D":"1"}}}}},
	"user_config":{
		"token":{"type":"string","title":"Token","description":"t","sensitive":true,"required":true},
		"dirs":{"type":"directory","title":"Dirs","description":"t","multiple":true,"required":true,"default":["${HOME}/Desktop","${DOCUMENTS}"]},
		"one":{"type":"file","title":"One","description":"t","default":"${HOME}/one"},
		"none":{"type":"string","title":"None","description":"t"},
		"n":{"type":"number","title":"N","description":"t","min":1,"max":9,"default":3}},
	"compatibility":{"platforms":["linux","darwin","win32"]}}`

// Values are put in once, each as one argument, and several of one setting as several.
func TestServerOfABundle(t *testing.T) {
	b := open(t, pack(t, good(full)...))
	host := Host{Platform: "linux", Home: "/home/ann"}
	in := b.Inputs(host)
	var names []string
	for _, i := range in {
		names = append(names, i.Name)
	}
	if !slices.Equal(names, []string{"token", "dirs", "one", "none", "n"}) || !in[0].Secret || !in[1].Repeated || in[2].Default != "/home/ann/one" || *in[4].Max != 9 {
		t.Errorf("%+v", in)
	}
	values, err := setup.Read(in, map[string]string{"token": "t0p-secret-value", "one": "a b ${user_config.token} ${HOME}"})
	require.NoError(t, err)
	s, err := b.Server(host, "/cache/dir", values)
	require.NoError(t, err)
	one := "a b ${user_config.token} ${HOME}"
	args := []string{
		"--dirs", "/home/ann/Desktop", "/home/ann/Documents", "--one=" + one, "/home/ann/x", "/cache/dir/y", "${SHELL} $(id) " + one,
	}
	if s.Command != "/cache/dir/server/run" || !slices.Equal(s.Args, args) || fmt.Sprint(s.Env) != "map[N:3 TOKEN:t0p-secret-value]" || s.Cwd != "/cache/dir" || s.Name != "my-notes" {
		t.Errorf("%s %q in %s, %v", s.Command, s.Args, s.Cwd, s.Env)
	}
	if !s.Source.NeedsTrust() || strings.Contains(fmt.Sprint(config.Describe(s), s.Masked()), "t0p-secret") {
		t.Errorf("%v", config.Describe(s))
	}
	other, err := b.Server(host, "/cache/dir", setup.Values{"token": {"another-secret"}, "dirs": values["dirs"], "one": values["one"], "n": values["n"]})
	if err != nil || other.Fingerprint() != s.Fingerprint() {
		t.Errorf("another token needs new trust: %v", err)
	}
	moved, err := b.Server(host, "/cache/dir", setup.Values{"token": {"another-secret"}, "one": {"x"}})
	if err != nil || moved.Fingerprint() == s.Fingerprint() {
		t.Errorf("another file needs no trust: %v", err)
	}
	mac, err := b.Server(Host{Platform: "darwin", Home: "/h"}, "/c", values)
	if err != nil || fmt.Sprint(mac.Env) != "map[D:1]" || len(mac.Args) != len(args) {
		t.Errorf("%v %v", mac, err)
	}
	win, err := b.Server(Host{Platform: "win32", Home: "/h"}, "/c", values)
	if err != nil || fmt.Sprint(win.Args) != "[w]" {
		t.Errorf("%v %v", win, err)
	}
	if _, err := b.Server(Host{Platform: "freebsd"}, "/c", values); err == nil || !strings.Contains(err.Error(), "made for linux, darwin, win32, and this is freebsd") {
		t.Error(err)
	}
}

// Each type of server has a command line where the manifest gives none.
func TestTypesOfServers(t *testing.T) {
	manifest := func(version, server string) string {
		return `{"` + version + `,"name":"n","version":"1","description":"d","author":{"name":"A"},"server":` + server + `}`
	}
	for name, c := range map[string]struct{ manifest, want string }{
		"node":    {manifest(`manifest_version":"0.3"`, `{"type":"node","entry_point":"server/index.js"}`), "node /c/server/index.js"},
		"python":  {manifest(`dxt_version":"0.1"`, `{"type":"python","entry_point":"server/index.js"}`), "python3 /c/server/index.js"},
		"uv":      {manifest(`manifest_version":"0.4"`, `{"type":"uv","entry_point":"server/index.js"}`), "uv run --directory /c server/index.js"},
		"binary":  {manifest(`manifest_version":"0.2"`, `{"type":"binary","entry_point":"./server/run"}`), "/c/server/run"},
		"by path": {manifest(`manifest_version":"0.3"`, `{"type":"binary","entry_point":"server/run","mcp_config":{"command":"${__dirname}/server/run"}}`), "/c/server/run"},
		"of PATH": {manifest(`manifest_version":"0.3"`, `{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"run","args":["x"]}}`), "run x"},
		"gone":    {manifest(`manifest_version":"0.3"`, `{"type":"node","entry_point":"dist/x.js","mcp_config":{"command":"node"}}`), `its entry_point "dist/x.js" is not in it`},
		"unknown": {manifest(`manifest_version":"0.3"`, `{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["${user_config.k}"]}}`), "which it does not declare"},
		"NUL":     {manifest(`manifest_version":"0.3"`, `{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["a\u0000b"]}}`), "NUL byte"},
		"env":     {manifest(`manifest_version":"0.3"`, `{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","env":{"A=B":"x"}}}`), "cannot be the name of a variable"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t, pack(t, good(c.manifest)...)).Server(Host{Platform: "linux"}, "/c", nil)
			if got := strings.TrimSpace(s.Command + " " + strings.Join(s.Args, " ")); err == nil && got != c.want {
				t.Errorf("%q", got)
			}
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

// The runtime of this machine is asked for its version, where the bundle wants one.
func TestNeeds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for node is a script")
	}
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\necho v18.3.0\n"), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for wanted, want := range map[string]string{">=16.0.0": "", ">=20": "node is 18.3.0, and >=20 is wanted", "": "", "lots": ""} {
		b := open(t, pack(t, good(strings.Replace(minimal, `"author"`, `"compatibility":{"runtimes":{"node":"`+wanted+`"}},"author"`, 1))...))
		s, err := b.Server(Host{Platform: "linux"}, "/c", nil)
		require.NoError(t, err)
		assert.Equalf(t, strings.Join(b.Needs(t.Context(), s), "; "), want, "%s", wanted)
		s.Command = "surely-not-here"
		if got := b.Needs(t.Context(), s); len(got) != 1 || got[0] != "surely-not-here is not on this machine: install Node.js" {
			t.Errorf("%q", got)
		}
	}
	for _, c := range []struct {
		version, wanted string
		ok, known       bool
	}{
		{"18.3.0", ">= 16", true, true},
		{"18.3.0", ">=16 <18", false, true},
		{"18.3.0", "^16 || ^18.1", true, true},
		{"18.3.0", "^18.4", false, true},
		{"3.10", ">=3.9,<4", true, true},
		{"3.10", "~=3.9", true, true},
		{"3.10.2", "~3.9", false, true},
		{"0.4.1", "^0.3", false, true},
		{"18.3.0", "18.x", true, true},
		{"18.3.0", "*", true, true},
		{"18.3.0", "lts/*", false, false},
		{"18.3.0", "18.2", false, true},
		{"18", "<=18.0", true, true},
		{"19", ">18", true, true},
	} {
		if ok, known := satisfiesRange(c.version, c.wanted); ok != c.ok || known != c.known {
			t.Errorf("%s in %s: %v, %v", c.version, c.wanted, ok, known)
		}
	}
}

// What a manifest itself gives for a sensitive option is public: it is shown. What was typed is masked.
func TestDefaultsOfABundleAreShown(t *testing.T) {
	b := open(t, pack(t, good(`{"manifest_version":"0.3","name":"n","version":"1","description":"d","author":{"name":"A"},
	"server":{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["${user_config.k}","server/index.js"],"env":{"API_KEY":"${user_config.k}"}}},
	"user_config":{"k":{"type":"string","title":"K","description":"t","sensitive":true,"default":"--eval=evil"}}}`)...))
	host := Host{Platform: "linux"}
	of := func(given map[string]string) (config.Server, string) {
		values, err := setup.Read(b.Inputs(host), given)
		require.NoError(t, err)
		s, err := b.Server(host, "/c", values)
		require.NoError(t, err)
		return s, fmt.Sprint(config.Describe(s), s.Masked())
	}
	declared, got := of(nil)
	if strings.Count(got, "--eval=evil") != 4 || strings.Contains(got, "***") {
		t.Errorf("the manifest's own words: %s", got)
	}
	typed, got := of(map[string]string{"k": "hunter2"})
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "API_KEY=***") || typed.Fingerprint() == declared.Fingerprint() {
		t.Errorf("what was typed: %s", got)
	}
}
