package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// fullDisk is a folder on a disk that has no room, where a file is that can be read.
func fullDisk(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skip("no file system of a few pages here: ", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	fill, err := os.Create(filepath.Join(dir, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	_ = fill.Close() // it is full
	return dir
}

// A full disk is said to be full by whatever writes to it, with what to do, and as what it is: no fault of a server, and none of the program.
// What was there stays.
func TestAFullDiskIsSaidToBeFull(t *testing.T) {
	t.Parallel()
	const entry = `{"mcpServers": {"a": {"command": "true"}}}`
	dir := fullDisk(t, "mcp.json", entry)
	at := func(name string) string { return filepath.Join(dir, name) }
	url := agent(t, agentsrv.Options{})
	whole := filepath.Join(t.TempDir(), "j.jsonl")
	mcphud(t, "tools", "call", "echo", "message=hi", "--journal", whole, "--url", url).ok(t)
	catalog := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(catalog, []byte(entry), 0o600))
	for what, c := range map[string]struct {
		env  []string
		args []string
	}{
		"configuration":   {nil, []string{"servers", "add", "b", "--to", at("mcp.json"), "--", "true"}},
		"new file":        {nil, []string{"servers", "add", "b", "--to", at("new.json"), "--", "true"}},
		"entry of tap":    {nil, []string{"tap", "wrap", at("mcp.json"), "a"}},
		"journal":         {nil, []string{"tools", "list", "--url", url, "--journal", at("j.jsonl")}},
		"export":          {nil, []string{"journal", "export", whole, "--format", "har", "-o", at("j.har")}},
		"redacted":        {nil, []string{"journal", "redact", whole, "-o", at("r.jsonl")}},
		"store":           {nil, []string{"agent", "--store", at("a.db"), "--port", "0"}},
		"history":         {[]string{"XDG_STATE_HOME=" + dir, cli.NoHistory + "="}, []string{"tools", "call", "echo", "message=hi", "--url", url}},
		"report of check": {nil, []string{"check", "lint", "--report", "junit=" + at("c.xml"), "--url", url}},
		"lock":            {nil, []string{"check", "contract", "--accept", "--lock", at("mcp.lock.json"), "--url", url}},
		"metrics":         {nil, []string{"status", "--metrics", at("m.prom"), "--config", catalog}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, append(c.args, "--format", "json")...)
			if c.args[0] == "agent" || slices.Contains(c.args, "har") {
				cmd = command(t, c.args...)
			}
			cmd.Env = append(cmd.Env, c.env...)
			o := finish(t, cmd)
			if !strings.Contains(o.stderr, "no space left") || strings.Contains(o.stderr, "report it") {
				t.Errorf("exit %d: %s%s", o.code, o.stderr, o.out)
			}
			switch {
			case what == "history": // the call was made, and is printed
				o.prints(t, cli.ExitOK, "hi")
			case c.args[0] == "agent":
				o.exits(t, cli.ExitFailure, "make room")
			default:
				if e := o.errorLine(t); o.code != cli.ExitFailure || e.Kind != "Usage" || !strings.Contains(e.Message, "make room") {
					t.Errorf("exit %d: %+v", o.code, e)
				}
			}
		})
	}
	kept := credstore.Inputs{Store: credstore.Open(credstore.File, dir)} // of an opened server, which only somebody at a terminal is asked to keep
	err := kept.Keep(t.Context(), "b", []setup.Input{{Name: "K", Secret: true}}, map[string]string{"K": strings.Repeat("v", 9000)})
	assert.ErrorContains(t, err, "no space left")
	t.Cleanup(func() { // before the disk is gone, and after them
		assert.Equalf(t, contents(at("mcp.json")), entry, "what was there")
		if _, err := os.Stat(at("new.json")); err == nil {
			t.Error("a file is there that could not be written")
		}
	})
}
