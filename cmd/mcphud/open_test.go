//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What was recorded comes out as lines of the same format, which open as the same bytes again, as lines for people, and as the
// frames alone.
func TestOpenPrints(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	whole := mcphud(t, "open", name).ok(t)
	if n := strings.Count(contents(name), "\n"); n < 8 || strings.Count(whole, "\n") != n || !strings.Contains(whole, `"id":"4","tool":"echo","peer":11,`) {
		t.Errorf("%d lines as\n%s", n, whole)
	}
	again := filepath.Join(t.TempDir(), "again.jsonl")
	write(t, again, whole)
	assert.Equal(t, mcphud(t, "open", again).ok(t), whole)
	text := mcphud(t, "open", name, "--format", "text").ok(t)
	assert.Contains(t, text, "tools/call echo", " ok ")
	raw := mcphud(t, "open", name, "--format", "raw").ok(t)
	assert.Contains(t, raw, "\n{\"jsonrpc\":\"2.0\",")
	assert.NotContains(t, raw, `"kind"`)
}

// A line that is broken is shown as such, counted and named, and a last line that was cut is told; the others are as they were.
func TestOpenCutFile(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	whole := mcphud(t, "open", name).ok(t)
	write(t, name, whole+"{\"seq\":99,\"time\":\"2026\n{\"seq")
	o := mcphud(t, "open", name)
	if o.code != 0 || !strings.HasPrefix(o.out, whole) || !strings.Contains(o.out, `"kind":"bad"`) ||
		!strings.Contains(o.stderr, "1 part that cannot be read; the first: ") || !strings.Contains(o.stderr, "session.jsonl:13: ") ||
		!strings.Contains(o.stderr, "the last line is not complete (5 B)") {
		t.Errorf("exit %d, stderr %s", o.code, o.stderr)
	}
}

// What other programs recorded is shown as well, and what is none of it is refused with a reason.
func TestOpenForeignFile(t *testing.T) {
	t.Parallel()
	const testdata = "../../session/traffic/importer/testdata/"
	o := mcphud(t, "open", testdata+"browser.har", "--format", "text")
	if o.ok(t); !strings.Contains(o.out, "localhost:3001 tools/call longRunning #3 ok 2.01") || !strings.Contains(o.stderr, "1 HTTP request not about MCP left out") {
		t.Error(o.out, o.stderr)
	}
	assert.Contains(t, mcphud(t, "open", testdata+"mcpsnoop.jsonl", "--format", "text").ok(t), "tools/call echo #4 ok")
	if e := mcphud(t, "open", "--format", "json", "open_test.go").errorLine(t); !strings.Contains(e.Message, "open_test.go: not recorded traffic: expected ") {
		t.Errorf("%+v", e)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"open"}, "one file"},
		{[]string{"open", "a", "b"}, "one file"},
		{[]string{"open", "--url", "http://h", "a"}, "--url does not apply to open"},
		{[]string{"open", filepath.Join(dir, "nowhere.jsonl")}, "nowhere.jsonl"},
		{[]string{"open", dir}, "folder"},
	} {
		o := mcphud(t, append(c.args, "--format", "json")...)
		if e := o.errorLine(t); o.code != 1 || !strings.Contains(e.Message, c.says) {
			t.Errorf("%v: exit %d, %+v", c.args, o.code, e)
		}
	}
}

// On a terminal it is the traffic screen, read-only: there is no server.
func TestOpenScreen(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	ui := startUI(t, "open", name)
	ui.shows("tools/call echo")
	ui.shows("open session.jsonl")
	if _, err := ui.f.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if code := ui.exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	ui = startUI(t, "open", empty)
	ui.shows("No entries in empty.jsonl.")
}

// A disk that is full ends no session: the screen goes on and says so, and a command says so when it is done.
func TestJournalOnAFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	o := mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=hello", "--journal", "/dev/full")...)
	if !strings.Contains(o.out, "hello") || o.code != 1 || !strings.Contains(o.errorLine(t).Message, "no space left on device") {
		t.Errorf("exit %d, %s, %s", o.code, o.out, o.stderr)
	}
	ui := startUI(t, fake(t, behave.Good, "--journal", "/dev/full")...)
	ui.shows("no space left on device")
	ui.shows("echo") // the tools are listed all the same
}
