package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A host that starts its servers itself reaches every route by one command. Nothing but MCP is on stdout.
func TestR19_RouterOverStdio(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "routes.json")
	text := `{"routes":{"demo":{"command":` + strconv.Quote(self) + `,"args":["agent","--stdio","--ephemeral"],"env":{"` + asMain + `":"1"}}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := ownProcess(t, "tools", "call", "mcp__demo__add", "a=40", "b=2", "-e", asMain+"=1", "--", self, "router", "--stdio", "--routes", file)
	if got.code != 0 || !strings.Contains(got.out, `"sum":42`) {
		t.Fatalf("%d %s %s", got.code, got.out, got.stderr)
	}
	cmd := routerCommand(t, "", nil, "--stdio", "--routes", file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // what it says unasked
	_ = in.Close()
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("%v %s", err, out.String())
	}
	if got := ownProcess(t, "router", "--stdio", "--tokens", file); got.code != 1 || !strings.Contains(got.stderr, "--tokens does not apply with --stdio") {
		t.Errorf("tokens: %d %s", got.code, got.stderr)
	}
}
