package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The commands of the manual, one after the other.
func TestReadmeOfMock(t *testing.T) {
	dir := t.TempDir()
	exe := ownProgram(t)
	want := []string{`"text":"hi"`, `"text":"hi"`, `"protocolVersion":"2025-11-25"`, `"mcphud/mock":{"nearest":{"arguments":{"message":"hi"}`}
	ran := 0
	for line := range strings.Lines(section(agentsrv.README, "A recording as a server")) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ mcphud ")
		if !ok {
			continue
		}
		own, server, _ := strings.Cut(args, " -- mcphud ")
		cmd := command(t, append(append(strings.Fields(own), "--", exe), strings.Fields(server)...)...)
		cmd.Dir = dir
		if out := finish(t, cmd).ok(t); ran >= len(want) || !strings.Contains(out, want[ran]) {
			t.Errorf("%s: %s", args, out)
		}
		ran++
	}
	assert.Equalf(t, ran, len(want), "commands were found")
}

const twoServers = `{"seq":1,"time":"2026-01-02T03:04:05Z","server":"b","conn":1,"dir":"out","kind":"request","method":"tools/call","id":"1","tool":"x","frame":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}}
{"seq":2,"time":"2026-01-02T03:04:05Z","server":"b","conn":1,"dir":"in","kind":"response","id":"1","frame":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"of b"}]}}}
{"seq":3,"time":"2026-01-02T03:04:05Z","server":"a","conn":1,"dir":"out","kind":"request","method":"tools/call","id":"1","tool":"y","frame":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"y"}}}
{"seq":4,"time":"2026-01-02T03:04:05Z","server":"a","conn":1,"dir":"in","kind":"response","id":"1","frame":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"of a"}]}}}
{"seq":5,"time":"2026-01-02T03:04:05Z","server":"a","conn":1,"dir":"out","ki`

func TestMockRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	two, foreign := filepath.Join(dir, "two.jsonl"), filepath.Join(dir, "foreign")
	write(t, two, twoServers)
	write(t, foreign, "not a journal\n")
	for args, want := range map[string]string{
		"":                                "takes one file",
		"nowhere.jsonl":                   "nowhere.jsonl",
		foreign:                           "foreign",
		two + " --stdio":                  "choose with --server: a, b",
		two + " --server c":               "name one of a, b",
		two + " --speed 0":                "must be a number",
		two + " --filter tool:nothing":    "no recorded request matches",
		two + " --filter text:/(/":        "column",
		two + " --stdio --port 1":         "are for HTTP",
		two + " --fault drop=1":           "is none of delay_ms",
		two + " --fault drop_percent=101": "0 to 100",
		two + " --timeout 1s":             "does not apply to mock",
		"- --stdio":                       "cannot be both",
	} {
		o := mcphud(t, append([]string{"mock"}, strings.Fields(args)...)...)
		o.exits(t, 1, want)
	}
}
