package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a server writes for each of many calls would hide what is found; the journal has it, and --verbose prints it.
func TestCheckKeepsTheServersStderrApart(t *testing.T) {
	t.Parallel()
	exe := ownProgram(t)
	server := []string{"--", "env", asMain + "=1", exe, "agent", "--stdio", "--ephemeral"}
	file := filepath.Join(t.TempDir(), "j.jsonl")
	const said = "MCP tool called"
	args := []string{"check", "fuzz", "--runs", "2", "--only", "echo", "--failures=", "--fail-on", "never", "--journal", file}
	if o := mcphud(t, append(args, server...)...); o.code != 0 || strings.Contains(o.stderr, said) {
		t.Errorf("exit %d: %.400s", o.code, o.stderr)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), said) {
		t.Errorf("the journal has nothing of it: %v", err)
	}
	if o := mcphud(t, append(append(args, "--verbose"), server...)...); !strings.Contains(o.stderr, said) {
		t.Errorf("exit %d: %.400s", o.code, o.stderr)
	}
}
