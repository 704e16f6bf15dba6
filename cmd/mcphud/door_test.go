package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic"
)

// A client that is named without a server is answered with the servers that it has.
func TestTapWrapListsServers(t *testing.T) {
	home := ownFolder(t)
	writeText(t, filepath.Join(home, ".cursor", "mcp.json"), `{"mcpServers":{"tiny":{"command":"x"},"github":{"command":"y"}}}`)
	for _, verb := range []string{"wrap", "unwrap"} {
		o := mcphud(t, "tap", verb, "cursor")
		o.exits(t, cli.ExitFailure, "has github, tiny", "write mcphud tap "+verb+" cursor github")
	}
	mcphud(t, "tap", "wrap", "cursr").exits(t, cli.ExitFailure, "unknown client")
	mcphud(t, "tap", "wrap").exits(t, cli.ExitFailure, "takes a client and a server")
}

// The manual of tap names every client that the program takes. With -update they are written.
func TestTapManualNamesEveryClient(t *testing.T) {
	t.Parallel()
	all := config.ClientNames()
	last := len(all) - 1
	names := "Clients are `" + strings.Join(all[:last], "`, `") + "` and `" + all[last] + "`"
	text := regexp.MustCompile("Clients are `.*`").ReplaceAllString(traffic.README, names)
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "session", "traffic", "README.md"), []byte(text), 0o600))
	} else if text != traffic.README || !strings.Contains(text, names) {
		t.Errorf("the manual of traffic does not say: %s\ngo test ./cmd/mcphud -run TestTapManual -update", names)
	}
}

// A file that is not there is said to be missing, whatever else was asked of it.
func TestOpenOfNoFile(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--print"}, {"--list"}, {}} {
		o := mcphud(t, append([]string{"open", "./no-such-server.json"}, args...)...)
		if o.code != cli.ExitFailure || !strings.Contains(o.stderr, "no such file") && !strings.Contains(o.stderr, "cannot find the file") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.stderr)
		}
	}
	there := filepath.Join(t.TempDir(), "x.json")
	write(t, there, "{}")
	if o := mcphud(t, "open", there, "--print"); !strings.Contains(o.stderr, "not the description of a server") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// A fuzzer that may call nothing says so first, and how it may.
func TestCheckFuzzWithoutPermission(t *testing.T) {
	t.Parallel()
	s := writeConfig(t, "", [2]string{"tiny", string(behave.Good)})
	o := mcphud(t, "check", "fuzz", "tiny", "--config", s, "--only", "add", "--failures", "", "--format", "text")
	if o.code != 0 || !strings.Contains(o.out, "nothing was called: ") || strings.Contains(o.out, "0 passed") || strings.Contains(o.out, "answered") || !strings.Contains(o.stderr, "--allow '*'") {
		t.Errorf("exit %d:\n%s\n%s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, "check", "fuzz", "tiny", "--config", s, "--only", "add", "--allow", "add", "--runs", "3", "--failures", "", "--fail-on", "never", "--format", "text"); strings.Contains(o.out+o.stderr, "nothing") || !strings.Contains(o.out, "answered") {
		t.Errorf("exit %d:\n%s\n%s", o.code, o.out, o.stderr)
	}
}

// The topics of help stand in columns.
func TestHelpTopicsAreAligned(t *testing.T) {
	t.Parallel()
	_, list, _ := strings.Cut(mcphud(t, "help").ok(t), "\nTopics:\n")
	row := regexp.MustCompile(`(?m)^  (\S+ +)\S`)
	width := 0
	for _, m := range row.FindAllStringSubmatch(list, -1) {
		if width == 0 {
			width = len(m[1])
		}
		if len(m[1]) != width {
			t.Errorf("%q is not aligned in\n%s", m[0], list)
		}
	}
	if width == 0 {
		t.Errorf("no topics: %s", list)
	}
}

// The settings file of an agent is found where its manual says.
func TestAgentManualSaysWhereSettingsAre(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../agentsrv/README.md")
	require.NoError(t, err)
	_, own, _ := strings.Cut(string(manual), "## Tools of your own\n")
	own, _, _ = strings.Cut(own, "\n## ")
	before, _, _ := strings.Cut(own, "```yaml")
	assert.Contains(t, before, "~/.config/mcphud/agent.yaml", "--config FILE")
}
