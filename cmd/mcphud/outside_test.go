package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/charmbracelet/x/exp/golden" // declares -update

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// outside is what users, their scripts and their files see of the program: each file of testdata/outside, and what makes its text now.
// No move of code from one package to another changes any of it.
var outside = map[string]func(t *testing.T, folder string) string{
	"actions.txt": outsideActions,
	"errors.txt":  outsideErrors,
	"help.txt":    outsideHelp,
	"rules.txt":   outsideRules,
	"schemas.txt": outsideSchemas,
}

// written are the files of the folder that people write.
var written = []string{"README.md", recording}

// What the program shows to the outside is what was agreed on: testdata/outside has it. No test beside this one runs meanwhile, since
// each reads the environment.
func TestOutside(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("paths, errors of the system and some flags are others; what moves of code change, Linux shows")
	}
	dir := outsideFolder(t)
	emptyEnvironment(t)
	var names []string
	for name, text := range outside {
		names = append(names, name)
		t.Run(name, func(t *testing.T) { outsideIs(t, filepath.Join(dir, name), text(t, dir)) })
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if !slices.Contains(append(names, written...), e.Name()) {
			t.Errorf("testdata/outside/%s belongs to no test any more; remove it, or add what makes it to the table in outside_test.go", e.Name())
		}
	}
}

// The message has the first difference, also where it is far to the right in a long line, and says what to do.
func TestOutsideMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 500)
	for _, c := range []struct{ want, got, message string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\nc\n", "a\nB\nc\n", "line 2:\n  was  b\n  is   B\n"},
		{"a\n", "a\nb\n", "line 2:\n  was  (the end of the file)\n  is   b\n"},
		{"a\nb\n", "a\n", "line 2:\n  was  b\n  is   (the end of the file)\n"},
		{"a", "a\n", "line 1:\n  was  a (no line break)\n  is   a\n"},
		{long + "ä1" + long, long + "ä2" + long, "x1"},
	} {
		got := outsideDifference("f.txt", c.want, c.got)
		if c.message == "x1" {
			if !strings.Contains(got, "xxxä1xxx") || !strings.Contains(got, "xxxä2xxx") || len(got) > 1000 {
				t.Errorf("of long lines: %s", got)
			}
			continue
		}
		helps := strings.Contains(got, "-update") && strings.Contains(got, "CHANGELOG.md") && strings.Contains(got, "f.txt")
		if (got == "") != (c.message == "") || !strings.Contains(got, c.message) || got != "" && !helps {
			t.Errorf("%q and %q: %s", c.want, c.got, got)
		}
	}
}

// outsideIs compares text with the file, which -update writes.
func outsideIs(t *testing.T, file, text string) {
	t.Helper()
	if f := flag.Lookup("update"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./cmd/mcphud -run TestOutside -update writes it", err)
	}
	assert.Equal(t, outsideDifference(filepath.Base(file), string(want), text), "")
}

// outsideDifference says where two texts differ first, "" if they do not.
func outsideDifference(name, want, got string) string {
	if want == got {
		return ""
	}
	before, now := slices.Collect(strings.Lines(want)), slices.Collect(strings.Lines(got))
	line := func(lines []string, i, col int) string {
		if i >= len(lines) {
			return "(the end of the file)"
		}
		const around = 80
		text := []rune(strings.TrimSuffix(lines[i], "\n"))
		from, to := max(0, min(col, len(text))-around), min(len(text), col+2*around)
		cut := string(text[from:to])
		if from > 0 {
			cut = "…" + cut
		}
		if to < len(text) {
			cut += "…"
		}
		if !strings.HasSuffix(lines[i], "\n") {
			cut += " (no line break)"
		}
		return cut
	}
	i, col := 0, 0
	for i < len(before) && i < len(now) && before[i] == now[i] {
		i++
	}
	if i < len(before) && i < len(now) {
		a, b := []rune(before[i]), []rune(now[i])
		for col < len(a) && col < len(b) && a[col] == b[col] {
			col++
		}
	}
	return fmt.Sprintf("what users see is not what it was: testdata/outside/%s differs first in line %d:\n  was  %s\n  is   %s\n"+
		"if this was meant: go test ./cmd/mcphud -run TestOutside -update, look at the whole difference, and say so in CHANGELOG.md",
		name, i+1, line(before, i, col), line(now, i, col))
}

// outsideFolder is the folder of the files, wherever the test runs.
func outsideFolder(t *testing.T) string {
	t.Helper()
	start, err := os.Getwd()
	require.NoError(t, err)
	_, source, _, _ := runtime.Caller(0)
	for _, dir := range []string{start, filepath.Dir(source)} {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if found := filepath.Join(dir, "testdata", "outside"); contents(filepath.Join(found, "README.md")) != "" {
				return found
			}
		}
	}
	t.Fatalf("there is no testdata/outside above %s", start)
	return ""
}

// emptyEnvironment gives the test an empty home and working folder, no settings of whoever runs it, and UTC.
func emptyEnvironment(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{
			"MCP", "ROUTER_", "AGENT_", "OTEL_", "HTTP", "http", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
			"COLUMNS", "LINES", "EDITOR", "VISUAL", "PAGER",
		} {
			if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "MCPHUD_TEST") {
				t.Setenv(name, "") // to have it back afterwards
				_ = os.Unsetenv(name)
			}
		}
	}
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": home + "/.config", "XDG_STATE_HOME": home + "/.state", "XDG_CACHE_HOME": home + "/.cache",
		"XDG_DATA_HOME": home + "/.data", "XDG_RUNTIME_DIR": home + "/.run",
		"MCPHUD_TAP_DIR": home + "/.tap", "MCPHUD_CREDENTIALS": "file", cli.NoHistory: "off", "NO_COLOR": "1", "LANG": "C.UTF-8",
	} {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
}
