package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A host that starts its servers itself reaches every route by one command. Nothing but MCP is on stdout.
func TestR19_RouterOverStdio(t *testing.T) {
	t.Parallel()
	self := ownProgram(t)
	file := filepath.Join(t.TempDir(), "routes.json")
	text := `{"routes":{"demo":{"command":` + strconv.Quote(self) + `,"args":["agent","--stdio","--ephemeral"],"env":{"` + asMain + `":"1"}}}}`
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	got := ownProcess(t, "tools", "call", "mcp__demo__add", "a=40", "b=2", "-e", asMain+"=1", "--", self, "router", "--stdio", "--routes", file)
	if got.code != 0 || !strings.Contains(got.out, `"sum":42`) {
		t.Fatalf("%d %s %s", got.code, got.out, got.stderr)
	}
	cmd := routerCommand(t, "", nil, "--stdio", "--routes", file)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out strings.Builder
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	time.Sleep(200 * time.Millisecond) // what it says unasked
	_ = in.Close()
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("%v %s", err, out.String())
	}
	ownProcess(t, "router", "--stdio", "--tokens", file).exits(t, 1, "--tokens does not apply with --stdio")
}

// A tool whose agent starts too slowly for the first list is waited for, and is not said to be missing.
func TestR19_AToolOfAnAgentThatIsLate(t *testing.T) {
	long(t, "TestR19_RouterOverStdio")
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	slow := fmt.Sprintf(`{"routes":{"late":{"command":"sh","args":["-c","sleep 6; exec env -u %s %s=%s '%s'"]}}}`, asMain, asServer, exampleServer, os.Args[0])
	r := launch(t, routerCommand(t, slow, nil, "--port", "0"), routerReady)
	assert.Contains(t, mcphud(t, "tools", "call", "mcp__late__echo", "message=heard", "--url", r.url+"/mcp").ok(t), "heard")
	mcphud(t, "tools", "call", "mcp__late__nothing", "--url", r.url+"/mcp").exits(t, cli.ExitTool, "there is no tool")
}

// A router whose input ends lets a package runner finish, and says what it waits for.
func TestRouterOverStdioSaysWhatItWaitsFor(t *testing.T) {
	long(t, "TestR19_RouterOverStdio")
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	dir := t.TempDir()
	file, npx, gate, said := filepath.Join(dir, "routes.json"), filepath.Join(dir, "npx"), filepath.Join(dir, "gate"), filepath.Join(dir, "stderr")
	for path, text := range map[string]string{
		file: `{"routes":{"slow":{"command":` + strconv.Quote(npx) + `,"args":["-y","some-server"]}}}`,
		npx:  "#!/bin/sh\ntrap '' TERM\nuntil [ -e '" + gate + "' ]; do sleep 0.1; done\n",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	}
	stderr, err := os.Create(said)
	require.NoError(t, err)
	defer stderr.Close()
	cmd := routerCommand(t, "", nil, "--stdio", "--routes", file)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`+"\n")
	require.Eventually(t, "the package runner", func() bool { return strings.Contains(contents(said), "agent process started") })
	_ = in.Close()
	require.Eventually(t, "what it waits for", func() bool { return strings.Contains(contents(said), "waiting for the processes of servers to end") })
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, contents(said))
	}
}

// A host that knows stdio alone chooses by a flag how tools are named; the flag goes before the file.
func TestR19_StdioPrefix(t *testing.T) {
	t.Parallel()
	agent := serveAgent(t, "--ephemeral", "--port", "0")
	file := filepath.Join(t.TempDir(), "routing.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"prefix":"always","include":["demo/add"],"routes":{"demo":{"url":"`+agent.url+`"}}}`), 0o600))
	self := ownProgram(t)
	got := ownProcess(t, "tools", "call", "add", "a=40", "b=2", "-e", asMain+"=1", "--", self, "router", "--stdio", "--prefix", "never", "--routes", file)
	got.prints(t, 0, "42")
}
