package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

func contents(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// TestInterrupt sends a signal while a call runs: the server is told, in every way the protocol has for it.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	wait := []string{"tools", "call", "wait", "--timeout", "10m"}
	sleep := []string{"tools", "call", "sleep", "seconds=600", "--url", url, "--timeout", "10m"}
	for _, c := range []struct {
		name   string
		args   []string
		signal syscall.Signal
		told   string // what the journal has to hold, "" if closing the stream is what tells
	}{
		{"stdio legacy", fake(t, behave.Good, append(wait, "--protocol", "2025-11-25")...), syscall.SIGINT, "notifications/cancelled"},
		{"stdio modern", fake(t, behave.Modern, wait...), syscall.SIGTERM, "notifications/cancelled"},
		{"http legacy", append(sleep, "--protocol", "2025-11-25"), syscall.SIGINT, "notifications/cancelled"},
		{"http modern", append(sleep, "--protocol", "2026-07-28"), syscall.SIGHUP, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "j.jsonl")
			cmd := command(t, append([]string{"--journal", journal}, c.args...)...)
			var out, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &stderr
			require.NoError(t, cmd.Start())
			require.Eventually(t, "the call", func() bool { return strings.Contains(contents(journal), `"tools/call"`) })
			start := time.Now()
			require.NoError(t, cmd.Process.Signal(c.signal))
			o := wait2(t, cmd, &out, &stderr)
			if o.code != cli.ExitInterrupted || o.errorLine(t).Kind != "Interrupted" || o.out != "" {
				t.Errorf("exit %d, stdout %q, stderr %s", o.code, o.out, o.stderr)
			}
			if took := time.Since(start); took > 30*time.Second { // far from 10 minutes
				t.Errorf("took %v", took)
			}
			if j := contents(journal); c.told != "" && !strings.Contains(j, c.told) {
				t.Errorf("the server was not told: %s", j)
			}
		})
	}
}

// A server that ignores everything does not keep a user who insists.
func TestSecondInterruptExitsAtOnce(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "j.jsonl")
	cmd := command(t, fake(t, behave.IgnoreTerm, "tools", "call", "wait", "--journal", journal)...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	require.NoError(t, cmd.Start())
	require.Eventually(t, "the call", func() bool { return strings.Contains(contents(journal), `"tools/call"`) })
	for range 2 {
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	wait2(t, cmd, &out, &stderr).exits(t, cli.ExitInterrupted)
}

// An interrupt while a package runner installs waits for it, and says so: to end it breaks its cache.
func TestAnInterruptSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	dir := t.TempDir()
	said := filepath.Join(dir, "stderr")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npx"), []byte("#!/bin/sh\ntrap '' TERM INT\necho installing >&2\nwhile :; do sleep 0.2; done\n"), 0o700))
	f, err := os.Create(said)
	require.NoError(t, err)
	defer f.Close()
	cmd := command(t, "tools", "list", "--", filepath.Join(dir, "npx"), "-y", "some-server")
	cmd.Stderr = f
	require.NoError(t, cmd.Start())
	require.Eventually(t, "the installation", func() bool { return strings.Contains(contents(said), "installing\n") })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	require.Eventually(t, "what it waits for", func() bool { return strings.Contains(contents(said), "interrupt again to kill it") })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != cli.ExitInterrupted {
		t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), contents(said))
	}
}

func TestNoChildIsLeft(t *testing.T) {
	t.Parallel()
	for _, mode := range []behave.Mode{behave.Good, behave.IgnoreTerm, behave.Fork} {
		t.Run(string(mode), func(t *testing.T) {
			var r struct {
				StructuredContent struct{ Server, Child int }
			}
			require.NoError(t, json.Unmarshal([]byte(mcphud(t, fake(t, mode, "tools", "call", "pids")...).ok(t)), &r))
			for _, pid := range []int{r.StructuredContent.Server, r.StructuredContent.Child} {
				if pid != 0 && faketest.Alive(pid) {
					faketest.EndProcess(t, pid)
					t.Errorf("process %d is alive", pid)
				}
			}
			if r.StructuredContent.Server == 0 {
				t.Error("the server told no process id")
			}
		})
	}
}

// TestBudgetExit measures from the last byte on stdout to the exit, for servers that leave when their input ends and for
// those that have to be made to.
func TestBudgetExit(t *testing.T) {
	budget.Skip(t)
	url := agent(t, agentsrv.Options{})
	for _, c := range []struct {
		name string
		args []string
	}{
		{"stdio", fake(t, behave.Good, "tools", "list")},
		{"stdio, ignores TERM", fake(t, behave.IgnoreTerm, "tools", "list")},
		{"stdio, with a child of its own", fake(t, behave.Fork, "tools", "list")},
		{"a call that is kept", fake(t, behave.Good, "tools", "call", "echo", "text=x")},
		{"http", []string{"tools", "list", "--url", url}},
		{"http, legacy", []string{"tools", "list", "--url", url, "--protocol", "2025-11-25"}},
	} {
		budget.Ceiling(t, "exit after the last byte: "+c.name, budget.Best(func() time.Duration { return afterLastByte(t, c.args) }), 60*time.Millisecond)
	}
}

func afterLastByte(t *testing.T, args []string) time.Duration {
	t.Helper()
	cmd := command(t, args...)
	cmd.Env = append(cmd.Env, cli.NoHistory+"=")
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var last time.Time
	buf := make([]byte, 1<<16)
	for err == nil {
		var n int
		if n, err = pipe.Read(buf); n > 0 {
			last = time.Now()
		}
	}
	require.NoError(t, cmd.Wait())
	return time.Since(last)
}

func TestBrokenPipeIsQuiet(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"tools list", "tools list --format jsonl", "--linear"} {
		t.Run(args, func(t *testing.T) {
			leaveEarly(t, command(t, fake(t, behave.ManyTools, strings.Fields(args)...)...))
		})
	}
}

// leaveEarly reads one byte of what cmd writes to stdout, no more, and wants it to end well and in silence.
func leaveEarly(t *testing.T, cmd *exec.Cmd) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = w
	require.NoError(t, cmd.Start())
	_ = w.Close()
	if _, err := bufio.NewReader(r).ReadByte(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, stderr.String())
	}
}

// onTerminal runs the program on a pseudo terminal and returns everything it wrote there.
func onTerminal(t *testing.T, args ...string) (string, int) {
	t.Helper()
	cmd := command(t, args...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	defer f.Close()
	var b bytes.Buffer
	_, _ = io.Copy(&b, f) // ends with EIO when the program is gone
	_ = cmd.Wait()
	return strings.ReplaceAll(b.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func TestOnATerminal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no pseudo terminals")
	}
	url := agent(t, agentsrv.Options{})
	out, code := onTerminal(t, "tools", "list", "--url", url)
	if code != 0 || !strings.Contains(out, "Adds two numbers") || strings.Contains(out, `"tools"`) {
		t.Errorf("exit %d: %s", code, out)
	}
	for l := range strings.Lines(out) {
		if len([]rune(strings.TrimRight(l, "\n"))) > 80 {
			t.Errorf("wider than the terminal: %q", l)
		}
	}
	out, _ = onTerminal(t, "tools", "show", "ask_agent_stream", "--url", url)
	said, _, _ := strings.Cut(out, "\narguments:")
	for l := range strings.Lines(said) {
		if len([]rune(l)) > 81 || strings.HasPrefix(l, " ") || !strings.Contains(strings.Join(strings.Fields(said), " "), "put together they are response.answer of the result") {
			t.Errorf("%q of\n%s", l, said)
		}
	}
	for version, want := range map[string]string{"2025-11-25": "/3 (", "2026-07-28": "\x1b[Ktask: working"} { // there it becomes a task
		out, code = onTerminal(t, "tools", "call", "sleep", "seconds=0.6", "steps=3", "--url", url, "--protocol", version)
		if code != 0 || !strings.Contains(out, "slept 600ms in 3 steps") || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %q, want %q in it", version, code, out, want)
		}
	}
	out, code = onTerminal(t, "tools", "call", "fail", "--url", url)
	if code != 5 || !strings.Contains(out, "error: the tool reported an error") {
		t.Errorf("exit %d: %q", code, out)
	}
}

// Whatever a server says: on a terminal only line ends act.
func TestHostileTextOnATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"tools", "list"}, {"resources", "list"}, {"prompts", "list"}, {"prompts", "get", "simple"}, {"info"}} {
		out, _ := onTerminal(t, fake(t, behave.HostileText, args...)...)
		for _, r := range out {
			if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0xe0000 && r <= 0xe007f {
				t.Fatalf("%v: %U reached the terminal", args, r)
			}
		}
		if len(out) < 100 {
			t.Errorf("%v printed only %q", args, out)
		}
	}
	out, _ := onTerminal(t, fake(t, behave.Good, "tools", "call", "hostile")...)
	if strings.ContainsRune(out, 0x1b) {
		t.Error("an escape sequence reached the terminal")
	}
}
