package wrap

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/session/test/require"
)

// A server that reads the terminal is stopped, since the foreground is not its own. What is to end it does.
func TestTapWrapServerAsksAtTheTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*run, *os.File)
		code int
	}{
		"ctrl+c":  {func(_ *run, terminal *os.File) { _, _ = terminal.WriteString("\x03") }, 128 + int(syscall.SIGINT)},
		"ctrl+\\": {func(_ *run, terminal *os.File) { _, _ = terminal.WriteString("\x1c") }, 2}, // with which Go programs exit then
		"TERM":    {func(r *run, _ *os.File) { r.signal(syscall.SIGTERM) }, 128 + int(syscall.SIGTERM)},
		"HUP":     {func(r *run, _ *os.File) { r.signal(syscall.SIGHUP) }, 128 + int(syscall.SIGHUP)},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepare(t, "wrapper", "tty")
			terminal, theirs, err := pty.Open()
			require.NoError(t, err)
			t.Cleanup(func() { _ = terminal.Close() })
			r.cmd.Stdin, r.cmd.SysProcAttr = theirs, &syscall.SysProcAttr{Setsid: true, Setctty: true}
			out, err := r.cmd.StdoutPipe()
			require.NoError(t, err)
			err = r.cmd.Start()
			_ = theirs.Close()
			require.NoError(t, err)
			late := time.AfterFunc(90*time.Second, func() { _ = r.cmd.Process.Kill() })
			t.Cleanup(func() {
				late.Stop()
				_ = r.cmd.Process.Kill() // and the server with it
				_ = r.cmd.Wait()
			})
			r.out = bufio.NewReader(out)
			var pid int
			if _, err := fmt.Sscanf(r.line(), "asking %d", &pid); err != nil {
				t.Fatal(err)
			}
			require.Eventually(t, "the server to be stopped", func() bool {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				return err == nil && strings.Contains(string(stat), ") T ")
			})
			c.end(r, terminal)
			if code := r.wait(); code != c.code {
				t.Errorf("exit %d: %s", code, r.stderr)
			}
		})
	}
}
