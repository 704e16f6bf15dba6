// Package childtest starts the program of a test once more, as a process of its own: what it uses is not the test's, and it can be killed.
package childtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Child is such a process.
type Child struct {
	Line string // the first that it wrote to stdout
	PID  int

	cmd  *exec.Cmd
	in   io.Closer
	wait func() error
}

// Start starts a child with env ("NAME=value") added to the environment, by which its TestMain knows what it is for, and waits until it wrote a
// line. At the end of the test its stdin is closed, upon which it must end without an error, unless it was killed.
func Start(t testing.TB, env ...string) *Child {
	t.Helper()
	c := &Child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env, c.cmd.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := c.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	c.PID, c.in, c.wait = c.cmd.Process.Pid, in, sync.OnceValue(c.cmd.Wait)
	t.Cleanup(func() {
		_ = in.Close() // it may have ended
		if err := c.wait(); err != nil && !c.killed() {
			t.Errorf("the child with %q: %v", env, err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	c.Line = strings.TrimSpace(line)
	return c
}

// Kill ends the child without warning, and waits for its end.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill()
	_ = c.wait() // it was killed
}

func (c *Child) killed() bool { return c.cmd.ProcessState.ExitCode() < 0 }
