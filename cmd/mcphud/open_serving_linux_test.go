package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/process"
)

// ownPort is an address of this machine that nobody else takes, neither before nor after.
func ownPort(t *testing.T) (host string, port int) {
	t.Helper()
	host = fmt.Sprintf("127.%d.%d.%d", 10+rand.IntN(200), rand.IntN(256), 1+rand.IntN(250))
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	return host, l.Addr().(*net.TCPAddr).Port
}

// A package that serves a URL by itself is saved with its command line, started and contacted when it is used, and gone afterwards. What
// listens there already is not taken for it, and one that ends is said to have ended.
func TestOpenServingPackage(t *testing.T) {
	dir := t.TempDir()
	host, port := ownPort(t)
	agent := command(t, "agent")
	pid := filepath.Join(dir, "pid")
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	// npx -y notes@1.0.0 --port N, which is an agent of ours.
	write("npx", "#!/bin/sh\necho $$ >'"+pid+"'\n[ \"$4\" = 1 ] && { echo 'no such port' >&2; exit 3; }\n"+asMain+"=1 exec '"+agent.Path+"' agent --host "+host+" --port \"$4\" --ephemeral\n", 0o700)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("XDG_STATE_HOME", dir)
	description := write("server.json", `{"name":"com.example/notes","description":"d","version":"1.0.0","packages":[{"registryType":"npm","identifier":"notes","version":"1.0.0",
		"transport":{"type":"streamable-http","url":"http://`+host+`:{port}/mcp"},
		"packageArguments":[{"type":"named","name":"--port","description":"where it listens","format":"number","default":"3000"}]}]}`, 0o600)
	if o := mcphud(t, "open", description, "--print", "--format", "text"); !strings.Contains(o.ok(t), "npx -y notes@1.0.0 --port 3000") || !strings.Contains(o.out, "http://"+host+":3000/mcp") {
		t.Errorf("%s", o.out)
	}
	file := filepath.Join(dir, "mcphud.yaml")
	mcphud(t, "open", description, "--save", file, "--set", "port="+strconv.Itoa(port)).ok(t)
	list := []string{"tools", "list", "--config", file, "--server", "notes"}
	if o := mcphud(t, list...); !strings.Contains(o.ok(t), `"name"`) {
		t.Errorf("%s", o.out)
	}
	gone := func() { t.Helper(); processEnds(t, pid) }
	gone()
	taken, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	require.NoError(t, err)
	defer taken.Close()
	mcphud(t, list...).exits(t, cli.ExitUnreachable, "another program listens at "+taken.Addr().String())
	ended := filepath.Join(dir, "ended.yaml")
	mcphud(t, "open", description, "--save", ended, "--set", "port=1").ok(t)
	mcphud(t, "tools", "list", "--config", ended, "--server", "notes").exits(t, cli.ExitUnreachable, "exited with status 3", "no such port")
	gone()
	// Other programs would not start it: their file has the URL alone.
	if o := mcphud(t, "open", description, "--save", filepath.Join(dir, ".mcp.json")); !strings.Contains(o.ok(t), "start it yourself") || strings.Contains(contents(filepath.Join(dir, ".mcp.json")), "npx") {
		t.Errorf("%s", o.out)
	}
}

// A process that does not listen is said to run without an answer, not to be no MCP server, and it is gone afterwards; doctor says the
// same, and does not want of one that listens that the end of its input ends it.
func TestServingPackageThatDoesNotListen(t *testing.T) {
	long(t, "TestOpenServingPackage")
	dir := t.TempDir()
	host, port := ownPort(t)
	agent := command(t, "agent")
	pid := filepath.Join(dir, "pid")
	at := net.JoinHostPort(host, strconv.Itoa(port))
	file := filepath.Join(dir, "mcphud.yaml")
	write(t, file, "servers:\n  deaf: {command: sh, args: [-c, 'echo $$ >"+pid+"; exec sleep 600'], url: 'http://"+at+"/mcp', launch: true, connect_timeout: 1s}\n"+
		"  good: {command: '"+agent.Path+"', args: [agent, --ephemeral, --host, "+host+", --port, '"+strconv.Itoa(port)+"'], env: {"+asMain+": '1'}, url: 'http://"+at+"/mcp', launch: true}\n")
	said := "the process runs, and nothing answered at http://" + at + "/mcp within 1s; see in its output where it listens"
	for _, verb := range []string{"ping", "doctor"} {
		if o := mcphud(t, verb, "--config", file, "--server", "deaf"); o.code != cli.ExitTimeout || !strings.Contains(strings.Join(strings.Fields(o.out+o.stderr), " "), strings.Split(said, ";")[0]) {
			t.Errorf("%s: exit %d %s%s", verb, o.code, o.out, o.stderr)
		}
		processEnds(t, pid)
	}
	if o := mcphud(t, "doctor", "--config", file, "--server", "good", "--format", "text"); o.code != cli.ExitOK || !strings.Contains(o.out, "TERM ended it") || strings.Contains(o.out, "warning") {
		t.Errorf("exit %d %s%s", o.code, o.out, o.stderr)
	}
}

// processEnds waits until the process whose id is in a file does not run any more.
func processEnds(t *testing.T, pid string) {
	t.Helper()
	raw, err := os.ReadFile(pid)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(t, err)
	require.Eventually(t, "it to end", func() bool { return !process.Alive(n) })
}
