package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// beyond is what a server may reach for: a file that is not its own, one to write, and a listener.
func beyond(t *testing.T) (args []string, read, write string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	dir := t.TempDir()
	read, write = filepath.Join(dir, "secret"), filepath.Join(dir, "out", "file")
	require.NoError(t, os.WriteFile(read, []byte("x"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Dir(write), 0o700))
	call, err := json.Marshal(map[string]any{"name": "reach", "arguments": map[string]string{"read": read, "write": write, "dial": l.Addr().String()}})
	require.NoError(t, err)
	return []string{"raw", "tools/call", string(call), "--format", "json"}, read, write
}

// saidBy is the text of an answer.
func saidBy(t *testing.T, answer string) string {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(answer), &r); err != nil || len(r.Content) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	return r.Content[0].Text
}

// A server that reads a file and opens a socket: without the flag it may, with it both are denied, and each is allowed by a list.
func TestX5b_SandboxOfACommandLine(t *testing.T) {
	t.Parallel()
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
	args, read, write := beyond(t)
	for _, c := range []struct {
		name  string
		flags []string
		want  string
	}{
		{"off", nil, "read: allowed\nwrite: allowed\ndial: allowed"},
		{"on", []string{"--sandbox"}, "read: open … permission denied\nwrite: open … permission denied\ndial: dial … permission denied"},
		{"a file", []string{"--sandbox=read=" + read}, "read: allowed\nwrite: open … permission denied\ndial: dial … permission denied"},
		{"a folder", []string{"--sandbox=write=" + filepath.Dir(write)}, "read: open … permission denied\nwrite: allowed\ndial: dial … permission denied"},
		{"network", []string{"--sandbox=network"}, "read: open … permission denied\nwrite: open … permission denied\ndial: allowed"},
		{"all", []string{"--sandbox=network", "--sandbox=read=" + read, "--sandbox=write=" + filepath.Dir(write)}, "read: allowed\nwrite: allowed\ndial: allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := saidBy(t, mcphud(t, fake(t, behave.Good, append(append([]string{}, args...), c.flags...)...)...).ok(t))
			if !lined(said, c.want) {
				t.Errorf("%q, want %q", said, c.want)
			}
		})
	}
}

// lined compares line by line; … stands for anything.
func lined(text, want string) bool {
	lines, wanted := strings.Split(strings.TrimSpace(text), "\n"), strings.Split(want, "\n")
	if len(lines) < len(wanted) {
		return false
	}
	for i, w := range wanted {
		before, after, _ := strings.Cut(w, "…")
		if !strings.HasPrefix(lines[i], before) || !strings.HasSuffix(lines[i], after) {
			return false
		}
	}
	return true
}

// An entry's sandbox holds in every verb, the flag only adds to it, and what cannot be enforced is refused.
func TestX5b_SandboxOfAnEntry(t *testing.T) {
	t.Parallel()
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
	args, read, _ := beyond(t)
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	entry := "servers:\n  shut:\n    command: " + faketest.Binary(t) + "\n    sandbox: {read: [" + read + "]}\n  bad:\n    command: x\n    sandbox: {hosts: [a]}\n  gone:\n    command: " +
		faketest.Binary(t) + "\n    sandbox: {read: [/nowhere/at/all]}\n"
	require.NoError(t, os.WriteFile(file, []byte(entry), 0o600))
	on := func(server string, more ...string) []string {
		return append(append(append([]string{}, args...), "--config", file, "--server", server), more...)
	}
	if said := saidBy(t, mcphud(t, on("shut")...).ok(t)); !lined(said, "read: allowed\nwrite: … denied\ndial: … denied") {
		t.Error(said)
	}
	if said := saidBy(t, mcphud(t, on("shut", "--sandbox=network")...).ok(t)); !lined(said, "read: allowed\nwrite: … denied\ndial: allowed") {
		t.Error(said)
	}
	for server, want := range map[string]string{
		"bad": "sandbox.hosts: is nothing that a sandbox can enforce", "gone": "its sandbox cannot allow to read /nowhere/at/all: no such file or directory",
	} {
		if r := mcphud(t, on(server)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d, %s", server, r.code, r.stderr)
		}
	}
}

// What cannot be shut in says so, and is never started without.
func TestX5b_SandboxDoesNotApply(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"a server that is reached by its URL":    {"tools", "list", "--sandbox", "--url", "http://127.0.0.1:1/mcp"},
		"--sandbox does not apply to the router": {"router", "--sandbox"},
		"--sandbox does not apply to up":         {"up", "--sandbox"},
		"write network, read=PATH or write=PATH": {"tools", "list", "--sandbox=hosts=example.com", "--", "x"},
		"--sandbox names one":                    {"tools", "list", "--all", "--sandbox"},
	} {
		if r := mcphud(t, args...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %d, %s", args, r.code, r.stderr)
		}
	}
}

// What is published can be opened in a sandbox, which --print shows; servers add and edit write it, and take it away.
func TestX5b_SandboxIsShownAndWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	description, file := filepath.Join(dir, "server.json"), filepath.Join(dir, "mcphud.yaml")
	text := `{"name":"io.example/one","description":"d","version":"1.0.0","packages":[{"registryType":"npm","identifier":"one","version":"1.0.0","transport":{"type":"stdio"}}]}`
	require.NoError(t, os.WriteFile(description, []byte(text), 0o600))
	shown := mcphud(t, "open", description, "--print", "--format", "text", "--sandbox=read=/data").ok(t)
	assert.Contains(t, shown, "no network, reads /data")
	if shown = mcphud(t, "open", description, "--print", "--format", "text").ok(t); strings.Contains(shown, "sandbox") {
		t.Error(shown)
	}
	mcphud(t, "servers", "add", "one", "--to", file, "--sandbox=network", "--sandbox=write=/out", "--", "serve").ok(t)
	assert.Contains(t, contents(file), "network: true", "/out")
	mcphud(t, "servers", "edit", "one", "--config", file, "--sandbox=read=/more").ok(t)
	assert.Contains(t, contents(file), "network: true", "/more")
	assert.Contains(t, mcphud(t, "servers", "list", "--config", file, "--format", "json").ok(t), `"sandbox":{"read":["/more"],"write":["/out"],"network":true}`)
	mcphud(t, "servers", "edit", "one", "--config", file, "--unset", "sandbox").ok(t)
	if got := contents(file); strings.Contains(got, "sandbox") || !strings.Contains(got, "serve") {
		t.Error(got)
	}
}
