//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// screen is the program on a terminal of 120x40 that answers no question.
type screen struct {
	t     *testing.T
	cmd   *exec.Cmd
	tty   *os.File
	out   bytes.Buffer
	start time.Time
}

// show starts the program. It is killed when the test ends, or after a minute.
func show(t *testing.T, args ...string) *screen {
	t.Helper()
	s := &screen{t: t, cmd: program(t, args...)}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "COLORTERM=truecolor")
	s.start = time.Now()
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 120})
	require.NoError(t, err)
	s.tty = tty
	overdue := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		s.end()
	})
	return s
}

// end stops the program: SIGTERM first, since it has a server to stop.
func (s *screen) end() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	late := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	for buf := make([]byte, 64<<10); ; {
		if _, err := s.tty.Read(buf); err != nil {
			break
		}
	}
	_ = s.cmd.Wait()
	_ = s.tty.Close()
}

// until reads what is drawn until it holds one of the texts, and returns the
// time since the last start of the clock.
func (s *screen) until(texts ...string) time.Duration {
	s.t.Helper()
	for buf := make([]byte, 64<<10); ; {
		for _, text := range texts {
			if bytes.Contains(s.out.Bytes(), []byte(text)) {
				return time.Since(s.start)
			}
		}
		n, err := s.tty.Read(buf)
		s.out.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("%q was not drawn: %v\n%q", texts, err, s.out.Bytes()[max(0, s.out.Len()-4000):])
		}
	}
}

// drawn measures from exec until a text is on the screen.
func drawn(t *testing.T, text string, args ...string) func() time.Duration {
	return func() time.Duration {
		s := show(t, args...)
		took := s.until(text)
		s.end()
		return took
	}
}

func TestBudgetFirstFrame(t *testing.T) {
	budget.Push(t)
	fortyline, s := faketest.Program(t, "testdata/fortyline"), faketest.Stdio(t, behave.Good)
	best := budget.Alternate(func() time.Duration {
		took, _ := lastByte(t, exec.Command(fortyline, append([]string{s.Command}, s.Args...)...))
		return took
	}, drawn(t, "mcphud"))
	budget.Ceiling(t, "exec to first frame, no server", best[1], 80*time.Millisecond)
	budget.Ratio(t, "exec to first frame, no server, against a 40-line program and its server", best[1], best[0], 7)
}

func TestBudgetManyServers(t *testing.T) {
	budget.Skip(t)
	flags := manyServers(t)
	budget.Ceiling(t, "exec to the list of 500 servers in 5 config files", budget.Best(drawn(t, "json-001", flags...)), 200*time.Millisecond)
}

func TestBudgetColdStartDrawn(t *testing.T) {
	budget.Push(t)
	fortyline, allowance := faketest.Program(t, "testdata/fortyline"), coldStart+initialisation(t)
	s := faketest.Stdio(t, behave.Good)
	got, base := budget.Pair(drawn(t, "rpc_error", target(s)...), func() time.Duration {
		took, _ := lastByte(t, exec.Command(fortyline, append([]string{s.Command}, s.Args...)...))
		return took
	})
	budget.Beyond(t, "exec to tools drawn, beyond a 40-line program", got, base, allowance)
	budget.Ratio(t, "exec to tools drawn, against a 40-line program", got, base, 7)
}

func TestBudgetManyToolsDrawn(t *testing.T) {
	budget.Push(t)
	s := faketest.Bare(t)
	got, base := budget.Pair(drawn(t, "tool_0003", target(s)...), fromExec(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	budget.Ratio(t, "5,000 tools drawn, exec to screen, against the bare server", got, base, 1.3)
}

// With a connected server and nobody at the keyboard the program sleeps.
func TestBudgetIdle(t *testing.T) {
	budget.Push(t)
	s := show(t, target(config.Server{Command: faketest.Binary(t), Args: []string{string(behave.Good)}})...)
	s.until("rpc_error")
	go func() {
		for buf := make([]byte, 64<<10); ; {
			if _, err := s.tty.Read(buf); err != nil {
				return
			}
		}
	}()
	const settle, window = time.Second, 2 * time.Second
	time.Sleep(settle) // what the start left to do is not idling
	used := func(pid int) time.Duration { return budget.Running(t, pid) }
	// On some virtual machines it costs more than a hundredth to wake up at all. So the program is compared with one that does
	// nothing else, as often as it looks whether there is a frame to draw, in the same two seconds.
	got, bare := time.Hour, time.Hour
	for range 5 {
		program, self := used(s.cmd.Process.Pid), used(os.Getpid())
		beat := time.NewTicker(time.Second / 80)
		for end := time.Now().Add(window); time.Now().Before(end); {
			<-beat.C
		}
		beat.Stop()
		got, bare = min(got, used(s.cmd.Process.Pid)-program), min(bare, used(os.Getpid())-self)
	}
	budget.Ratio(t, "CPU in 2 s of idling with a connected server, against a bare ticker or half a hundredth", got, max(bare, window/200), 2)
}
