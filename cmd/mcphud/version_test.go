package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	var v cli.Build
	if out := mcphud(t, "version").ok(t); json.Unmarshal([]byte(out), &v) != nil || v.Name != "mcphud" || v.Version == "" || v.Go == "" {
		t.Errorf("%s", out)
	}
	for _, path := range cli.Reported {
		if v.Modules[path] == "" {
			t.Errorf("it does not say which version of %s is in it: %v", path, v.Modules)
		}
	}
	flag, command := mcphud(t, "--version").ok(t), mcphud(t, "version", "--format", "text").ok(t)
	if flag != command {
		t.Errorf("version prints %q, --version %q", command, flag)
	}
	if first, rest, _ := strings.Cut(command, "\n"); first != "mcphud "+v.Version || !strings.Contains(rest, v.Go+" "+v.System) {
		t.Errorf("%s", command)
	}
}

func TestVersionsOfTheGoCommand(t *testing.T) {
	t.Parallel()
	for v, made := range map[string]bool{
		"v0.1.0": false, "v0.1.0+dirty": false, "v1.2.3-rc.1": false,
		"v0.0.0-20261123015911-937ab1f57c1b": true, "v0.1.1-0.20261123015911-937ab1f57c1b": true, "v0.1.0-rc.1.0.20261123015911-937ab1f57c1b+dirty": true,
	} {
		assert.Equalf(t, cli.Pseudo.MatchString(v), made, "%s: made up", v)
	}
	for module, want := range map[string][2]string{
		"v0.1.0": {"v0.1.0"}, "v1.2.3-rc.1": {"v1.2.3-rc.1"}, "(devel)": {cli.Release + "-dev"}, "": {cli.Release + "-dev"}, "v0.1.0+dirty": {cli.Release + "-dev"},
		"v0.1.1-0.20261123015911-937ab1f57c1b": {cli.Release + "-dev", "937ab1f57c1b"}, "v0.0.0-20261123015911-937ab1f57c1b+dirty": {cli.Release + "-dev", "937ab1f57c1b"},
	} {
		if version, commit := cli.VersionOf(module); version != want[0] || commit != want[1] {
			t.Errorf("%q: %s %q, want %q", module, version, commit, want)
		}
	}
}

// The changelog's first part with a version is about the one that the source says it is.
func TestChangelogIsAboutThisVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	if first := regexp.MustCompile(`(?m)^## (v\S+)`).FindSubmatch(text); first == nil || string(first[1]) != cli.Release {
		t.Errorf("CHANGELOG.md begins with %q, and the program says %s", first, cli.Release)
	}
}
