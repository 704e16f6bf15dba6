package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// ptyRun is the program on a pseudo terminal, and everything it wrote there.
type ptyRun struct {
	t      *testing.T
	f      *os.File
	mu     sync.Mutex
	b      bytes.Buffer
	exit   func() int
	signal func(os.Signal)
	ended  func(tty *os.File) // called when the program is gone
}

// exitTime is how long the program is given to end, once it was told to.
const exitTime = 2 * time.Minute

// titles are what the program called its window, one after the other: the screens that it showed.
var titles = regexp.MustCompile(`\x1b\]2;[^\a]*`)

func startUI(t *testing.T, args ...string) *ptyRun {
	t.Helper()
	return startUIWith(t, nil, args...)
}

// startUIWith is startUI with more environment.
func startUIWith(t *testing.T, env []string, args ...string) *ptyRun {
	t.Helper()
	cmd := command(t, args...)
	cmd.Path = ownProgram(t)
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color"), env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 120})
	require.NoError(t, err)
	f = closable(t, f)
	s := &ptyRun{t: t, f: f}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s, f) // ends with EIO when the program is gone
	}()
	s.exit = sync.OnceValue(func() int {
		stuck := time.AfterFunc(exitTime, func() {
			t.Errorf("it did not end within %v", exitTime)
			_ = cmd.Process.Signal(syscall.SIGQUIT) // what it waits for is said on the terminal
		})
		_ = cmd.Wait()
		stuck.Stop()
		<-read
		if s.ended != nil {
			s.ended(f)
		}
		_ = f.Close()
		return cmd.ProcessState.ExitCode()
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen of %v:\n%s\nits titles: %q", args, s.screen(), titles.FindAllString(s.written(), -1))
		}
		_ = cmd.Process.Kill() // after a failed test; else it is gone
		s.exit()
	})
	s.signal = func(sig os.Signal) { _ = cmd.Process.Signal(sig) }
	return s
}

// closable is a pseudo terminal that a Close takes away while somebody reads it: a read that blocks would keep it.
func closable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0) // what tests beside this one start would keep it else
	if err == nil {
		err = errors.Join(f.Close(), syscall.SetNonblock(fd, true))
	}
	require.NoError(t, err)
	return os.NewFile(uintptr(fd), "terminal")
}

func (s *ptyRun) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *ptyRun) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.f, keys); err != nil {
		t.Fatal(err)
	}
}

func (s *ptyRun) shows(text string) {
	s.t.Helper()
	require.Eventually(s.t, "the screen to show "+text, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bytes.Contains(s.b.Bytes(), []byte(text))
	})
}

// written is all that was written so far.
func (s *ptyRun) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// screen is what stands on the terminal.
func (s *ptyRun) screen() string {
	em := vt.NewEmulator(120, 30)
	go func() { _, _ = io.Copy(io.Discard, em) }() // its answers, for which it waits else
	defer func() { _ = em.Close() }()
	_, _ = io.WriteString(em, s.written())
	return em.String()
}

// settle waits until nothing was written for a while.
func (s *ptyRun) settle(quiet time.Duration) {
	for last := -1; last != len(s.written()); time.Sleep(quiet) {
		last = len(s.written())
	}
}

// end is what was written after the screen was given back.
func (s *ptyRun) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, after, _ := strings.Cut(s.b.String(), "\x1b[?1049l")
	return after
}

func (s *ptyRun) restored() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.b.Bytes(), []byte("\x1b[?1049l"))
}

// The UI opens on each kind of target, and leaves nothing behind: the process checks itself for goroutines.
func TestUI(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for name, args := range map[string][]string{"demo": {"demo"}, "url": {url}, "read-only": {"--read-only", "--url", url}} {
		t.Run(name, func(t *testing.T) {
			s := startUI(t, args...)
			shown := "echo"
			if name == "demo" {
				shown = "Try first"
			}
			s.shows(shown)
			if _, err := io.WriteString(s.f, "1q"); err != nil { // quits from a tab, and goes back from a section
				t.Fatal(err)
			}
			if code := s.exit(); code != 0 || !s.restored() {
				t.Errorf("exit %d, terminal restored: %v", code, s.restored())
			}
		})
	}
}

func TestUIEndsOnASignal(t *testing.T) {
	t.Parallel()
	s := startUI(t, "demo")
	s.shows("Try first")
	s.signal(syscall.SIGTERM)
	if code := s.exit(); code != cli.ExitInterrupted || !s.restored() {
		t.Errorf("exit %d, terminal restored: %v\n%s", code, s.restored(), s.end())
	}
}

func TestDemoWithoutATerminal(t *testing.T) {
	t.Parallel()
	cmd := command(t, "demo")
	cmd.Stdin = strings.NewReader("q\n")
	if o := finish(t, cmd); o.code != 0 || !strings.Contains(o.out, "linear mode") || !strings.Contains(o.out, "demo") || strings.Contains(o.out, "\x1b[") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}

// On a terminal without a screen the tools are a numbered list, filtered as on a screen, with a prompt.
func TestLinearOnATerminal(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	s := startUIWith(t, []string{"TERM=dumb"}, url)
	defer func() {
		if t.Failed() {
			t.Logf("%s", s.written())
		}
	}()
	say := func(screen, text string) { // as a person does, at the prompt
		t.Helper()
		require.Eventually(t, "the prompt of "+screen, func() bool { return strings.HasSuffix(s.written(), "\n"+screen+"> ") })
		if _, err := io.WriteString(s.f, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	s.shows(") reset_counter — ")
	if !strings.Contains(s.written(), "\n1) ") || !strings.Contains(s.written(), "/text filters") || strings.Contains(s.written(), "No servers") {
		t.Errorf("%s", s.written())
	}
	say("tools", "/reset_c")
	s.shows("1) reset_counter — ")
	say("tools", "add")
	s.shows("3) call add")
	for _, want := range []string{"\n1) a (required) = unset", "\n2 to fill in"} {
		s.shows(want)
	}
	if got := s.written(); strings.Count(got, "1) a (required)") != 1 || strings.Contains(got, "is required") {
		t.Errorf("a form that nobody touched:\n%s", got)
	}
	say("call", "tools")
	say("tools", "1")
	s.shows("call reset_counter")
	say("call", "1")
	s.shows("reset_counter as destructive. Call it without arguments?")
	s.shows("\ns) this tool this session")
	say("call", "s")
	s.shows("reset_counter: done")
	say("call", "help")
	s.shows("app.palette [ctrl+p]")
	say("call", "app.quit")
	if code := s.exit(); code != 0 || strings.Contains(s.written(), "\x1b[?1049h") {
		t.Errorf("exit %d: %s", code, s.written())
	}
}

// The traffic in linear mode says the kind of each row once, no number where there is none, and what a child wrote to stderr.
func TestLinearTraffic(t *testing.T) {
	t.Parallel()
	cmd := command(t, "--linear", "--", "sh", "-c", `echo "one moment" >&2; exec "$0" "$@"`, faketest.Binary(t), string(behave.Good))
	cmd.Stdin = strings.NewReader("traffic\nq\n")
	o := finish(t, cmd)
	for _, want := range []string{" ← stderr sh one moment\n", " → req sh initialize #"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("exit %d, no %q in:\n%s", o.code, want, o.out)
		}
	}
	assert.NotContains(t, o.out, "req req", "# ")
}
