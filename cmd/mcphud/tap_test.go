//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// watched is mcphud tap on its way, without a terminal.
type watched struct {
	t           *testing.T
	cmd         *exec.Cmd
	out, stderr *faketest.Buffer
}

func watchTap(t *testing.T, args ...string) *watched {
	t.Helper()
	return watchTapIn(t, os.Getenv("MCPHUD_TAP_DIR"), args...)
}

// watchTapIn watches what is tapped in a directory, for tests that run side by side.
func watchTapIn(t *testing.T, dir string, args ...string) *watched {
	t.Helper()
	w := &watched{t: t, cmd: command(t, append([]string{"tap"}, args...)...), out: &faketest.Buffer{}, stderr: &faketest.Buffer{}}
	if dir != "" {
		w.cmd.Env = append(w.cmd.Env, "MCPHUD_TAP_DIR="+dir)
	}
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.stderr
	require.NoError(t, w.cmd.Start())
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

// looks waits until it looks for what comes, where nothing is yet: what is over sooner nobody sees.
func (w *watched) looks() {
	w.t.Helper()
	require.Eventually(w.t, "the advice of tap", func() bool { return strings.Contains(w.stderr.String(), "mcphud tap -- before the command") })
}

func (w *watched) shows(text string) {
	w.t.Helper()
	require.Eventually(w.t, "tap to print "+text, func() bool { return strings.Contains(w.out.String(), text) })
}

// stop interrupts it and returns what it printed.
func (w *watched) stop() string {
	w.t.Helper()
	_ = w.cmd.Process.Signal(os.Interrupt)
	_ = w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Errorf("exit %d: %s", code, w.stderr)
	}
	return w.out.String()
}

// watchedFirst is the server, which begins when it is watched by all of them: on a busy machine a short session is over before that.
func watchedFirst(t *testing.T, s config.Server, by ...*watched) config.Server {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	s.Command, s.Args = "sh", append([]string{"-c", `until [ -e "$0" ]; do sleep 0.02; done; exec "$@"`, ready, s.Command}, s.Args...)
	var watching sync.WaitGroup
	watching.Go(func() {
		waits := func(w *watched) bool { return !strings.Contains(w.out.String(), "joined: ") }
		for end := time.Now().Add(time.Minute); slices.ContainsFunc(by, waits) && time.Now().Before(end); {
			time.Sleep(2 * time.Millisecond)
		}
		_ = os.WriteFile(ready, nil, 0o600) // without it the client reports what did not come
	})
	t.Cleanup(watching.Wait)
	return s
}

// wrapping is a server in the config of a client, with mcphud tap before its command.
func wrapping(t *testing.T, s config.Server, args ...string) config.Server {
	t.Helper()
	exe := ownProgram(t)
	s.Args = append(append(append([]string{"tap"}, args...), "--", s.Command), s.Args...)
	s.Command = exe
	env := map[string]string{asMain: "1", "GORACE": os.Getenv("GORACE")}
	for k, v := range s.Env {
		env[k] = v
	}
	s.Env = env
	return s
}

func TestTapPrintsWhatAWrappedServerSays(t *testing.T) {
	runtimeDir(t)
	lines, text := watchTap(t), watchTap(t, "--format", "text")
	lines.looks()
	text.looks()
	s := wrapping(t, watchedFirst(t, faketest.Stdio(t, behave.Good), lines, text), "--name", "good")
	cmd := command(t, append([]string{"tools", "list", "--protocol", "2025-11-25", "--", s.Command}, s.Args...)...)
	if finish(t, cmd).ok(t) == "" {
		t.Error("nothing came through")
	}
	lines.shows(`"note":"ended"`)
	text.shows("← response     good tools/list #")
	methods := map[string]string{}
	for line := range strings.Lines(lines.stop()) {
		var e struct {
			Server, Method, Kind, Status string
			Frame                        json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Server != "good" {
			t.Errorf("of another server: %s", line)
		}
		if e.Kind == "response" {
			methods[e.Method] = e.Status
		}
	}
	if methods["initialize"] != "ok" || methods["tools/list"] != "ok" {
		t.Errorf("%v", methods)
	}
	assert.Contains(t, text.stop(), "→ request      good initialize #", "← response     good tools/list #")
}

// In plain lines there is what a server writes to stderr, on a line of its own.
func TestTapTextHasStderr(t *testing.T) {
	t.Parallel()
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer func() { _ = j.Close() }()
	j.Append(journal.Entry{Kind: journal.Stderr, Dir: journal.In, Server: "files"}, []byte("no such\x1b[2Jfolder\n"))
	var out strings.Builder
	require.NoError(t, (&cli.Follower{J: j, Out: &output.Printer{W: &out, Tty: true, Format: output.FormatText}}).Drain())
	if got := out.String(); !strings.Contains(got, "files") || !strings.Contains(got, "no such") || !strings.HasSuffix(got, "folder\n") || strings.ContainsRune(got, '\x1b') {
		t.Errorf("%q", got)
	}
}

func TestTapOnATerminal(t *testing.T) {
	runtimeDir(t)
	ui := startUI(t, "tap")
	ui.shows("No router or wrapped server is running.")
	p, err := tap.Open(tap.Options{Name: "files", Kind: tap.Wrapped})
	require.NoError(t, err)
	defer p.Close()
	p.Append(journal.Entry{Dir: journal.Out}, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_\u001b[31mfile"}}`))
	ui.shows("tools/call")
	ui.shows("files")
	if _, err := io.WriteString(ui.f, "q"); err != nil {
		t.Fatal(err)
	}
	if code := ui.exit(); code != 0 || !ui.restored() {
		t.Errorf("exit %d, terminal restored: %v", code, ui.restored())
	}
	lines := startUI(t, "tap", "--format", "text")
	lines.shows("read_")
	lines.signal(os.Interrupt)
	if code := lines.exit(); code != 0 || strings.Contains(lines.written(), "\x1b") {
		t.Errorf("exit %d: %q", code, lines.written())
	}
}

// Through the command line: exit codes, signals, and nothing of ours on stdout.
func TestTapWrapsACommand(t *testing.T) {
	runtimeDir(t)
	for args, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -TERM $$": 143, "kill -KILL $$": 137, "printf 'a\\r\\n\\377'; echo err >&2; exit 130": 130} {
		cmd := command(t, "tap", "--", "sh", "-c", args)
		o := finish(t, cmd)
		o.exits(t, want)
		if strings.HasPrefix(args, "printf") && (o.out != "a\r\n\xff" || o.stderr != "err\n") {
			t.Errorf("%s: %q, %q", args, o.out, o.stderr)
		}
	}
	// A second signal is the server's too.
	cmd := command(t, "tap", "--", "sh", "-c", `trap 'echo int' INT; trap 'echo term; exit 9' TERM; echo ready; while :; do sleep 0.05; done`)
	var out, stderr faketest.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	require.NoError(t, cmd.Start())
	for i, sig := range []os.Signal{nil, syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM} {
		if sig != nil {
			_ = cmd.Process.Signal(sig)
		}
		if i < 3 {
			require.Eventually(t, "the server", func() bool { return strings.Count(out.String(), "\n") == i+1 })
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 || out.String() != "ready\nint\nint\nterm\n" {
		t.Errorf("exit %d, %q, %s", code, out.String(), stderr.String())
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"tap", "--"}, 1, "nothing follows"},
		{[]string{"tap", "x"}, 1, "before the double dash"},
		{[]string{"tap", "--url", "http://h"}, 1, "--url does not apply to tap"},
		{[]string{"tap", "--name", "x"}, 1, "--name is for a wrapped server"},
		{[]string{"tap", "--format", "text", "--", "true"}, 1, "--format does not apply to a wrapped server"},
		{[]string{"tap", "--", "no-such-command"}, 4, "no-such-command"},
	} {
		if o := ownProcess(t, c.args...); o.code != c.code || !strings.Contains(o.stderr, c.says) || o.out != "" {
			t.Errorf("%q: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
}

// A client sees no difference: what it gets through the wrapper is, byte for byte, what it gets without.
func TestTapWrappedServerIsTheSameServer(t *testing.T) {
	runtimeDir(t)
	for i, mode := range []behave.Mode{behave.Good, behave.BadUTF8, behave.Modern, behave.Noise, behave.ManyTools, behave.Big, behave.HalfFrameExit, behave.FloodStderr} {
		if i > 1 && !budget.All() {
			break
		}
		t.Run(string(mode), func(t *testing.T) { same(t, faketest.Stdio(t, mode), true) })
	}
}

func TestPeerTapWrappedServerIsTheSameServer(t *testing.T) {
	runtimeDir(t)
	for _, s := range []config.Server{peertest.Everything(t), peertest.Filesystem(t, t.TempDir()), peertest.GoSDKEverything(t)} {
		t.Run(s.Name, func(t *testing.T) { same(t, s, false) })
	}
}

// same feeds a server directly and wrapped with the same bytes, and compares all that it says. How much real servers still
// log when they are told to end is a matter of luck, with or without a wrapper, so that their stderr is not compared.
func same(t *testing.T, s config.Server, stderr bool) {
	t.Helper()
	input := `{"jsonrpc":"2.0","id":"é\u00e9","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\r\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	say := func(s config.Server) (out []byte, stderr string, code int) {
		cmd := exec.Command(s.Command, s.Args...)
		cmd.Env = os.Environ()
		for k, v := range s.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		var b, e faketest.Buffer
		cmd.Stdout, cmd.Stderr = &b, &e
		require.NoError(t, cmd.Start())
		exited := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(exited)
		}()
		_, _ = io.WriteString(in, input) // some exit before they have read it
		require.Eventually(t, "the list of tools, or the end", func() bool {
			select {
			case <-exited:
				return true
			default:
			}
			out := b.String()
			return strings.Contains(out, `"id":2`) && strings.HasSuffix(out, "\n")
		})
		_ = in.Close()
		require.Eventually(t, "the end", func() bool {
			select {
			case <-exited:
				return true
			default:
				_ = cmd.Process.Signal(syscall.SIGTERM) // some do not leave when their input ends
				return false
			}
		})
		return []byte(b.String()), e.String(), cmd.ProcessState.ExitCode()
	}
	want, wantErr, _ := say(s)
	got, gotErr, _ := say(wrapping(t, s))
	if !bytes.Equal(got, want) || stderr && gotErr != wantErr {
		t.Errorf("%d bytes instead of %d, stderr %d instead of %d: %.300q", len(got), len(want), len(gotErr), len(wantErr), gotErr)
	}
}

// A whole session through the wrapper, with a server that does everything.
func TestPeerTapSession(t *testing.T) {
	runtimeDir(t)
	s := wrapping(t, peertest.Everything(t), "--name", "everything")
	w := watchTap(t)
	m := session.NewManager(session.Options{})
	defer m.Close()
	c, err := m.Register(s)
	require.NoError(t, err)
	require.NoError(t, c.Connect(t.Context()))
	r, err := c.CallTool(t.Context(), "echo", []byte(`{"message":"through the wrapper"}`), session.CallOptions{})
	if err != nil || !strings.Contains(string(r.Result), "through the wrapper") {
		t.Errorf("%s %v", r.Result, err)
	}
	w.shows("through the wrapper")
	assert.Contains(t, w.stop(), fmt.Sprintf(`"server":%q`, "everything"))
}

// What goes through a router is shown under the agents' names, and a router that cannot be watched still routes.
func TestTapShowsWhatARouterCarries(t *testing.T) {
	runtimeDir(t)
	dir := t.TempDir()
	routing := fmt.Sprintf(`{"routes":{"kb":{"url":%q},"files":{"url":"http://127.0.0.1:1/mcp"},`+
		`"cmd":{"command":"sh","args":["-c","echo Bearer hunter2hunter2 said aside >&2; exit 3"]}}}`, agent(t, agentsrv.Options{}))
	file := filepath.Join(dir, "routing.json")
	require.NoError(t, os.WriteFile(file, []byte(routing), 0o600))
	router := command(t, "router", "--port", "0", "--routes", file)
	var log faketest.Buffer
	router.Stderr = &log
	require.NoError(t, router.Start())
	t.Cleanup(func() {
		_ = router.Process.Signal(os.Interrupt)
		_ = router.Wait()
		if code := router.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the router ended with %d: %s", code, log.String())
		}
	})
	require.Eventually(t, "the router", func() bool { return strings.Contains(log.String(), "listening on ") })
	_, rest, _ := strings.Cut(log.String(), "listening on ")
	url := strings.Fields(rest)[0]
	mcphud(t, "tools", "list", "--url", url+"/mcps/kb/mcp").ok(t) // before anybody watches
	w := watchTap(t)
	w.shows(`"method":"tools/list"`)
	mcphud(t, "tools", "call", "echo", "message=now", "--url", url+"/mcps/kb/mcp", "-H", "Authorization: Bearer hunter2hunter2").ok(t)
	mcphud(t, "tools", "list", "--url", url+"/mcps/files/mcp", "--protocol", "2025-11-25")
	mcphud(t, "tools", "list", "--url", url+"/mcps/cmd/mcp", "--protocol", "2025-11-25")
	w.shows("said aside")
	w.shows("exited with status 3")
	w.shows(`"server":"files"`)
	w.shows(`"kind":"error"`)
	out := w.stop()
	assert.NotContains(t, out, "hunter2")
	for _, want := range []string{`"server":"kb"`, `"method":"tools/call"`, `"tool":"echo"`, `POST /mcps/kb/mcp HTTP/1.1`, `Bearer ***`, `"status":"ok"`} {
		assert.Contains(t, out, want)
	}
}
