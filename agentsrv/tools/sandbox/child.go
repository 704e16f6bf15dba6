package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/wire/process"
)

const (
	startTime = 30 * time.Second // at most this long may a worker take to be ready
	stderrMax = 4 << 10          // bytes of a worker's stderr that are kept
)

// child is the agent's side of one worker process.
type child struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	frames *bufio.Reader
	stderr headBuffer
	calls  int
	timer  *time.Timer // ends the worker when it was idle for long

	mu     sync.Mutex
	reaped bool
}

// start runs a worker and waits until it is ready. The caller must close it.
func start(ctx context.Context, program string) (_ *child, err error) {
	// The working directory is removed once the worker is in it: there is nothing in it, nothing can be put in it, and
	// nothing is left of it however the agent ends.
	dir, err := os.MkdirTemp("", "mcphud-sandbox-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(dir) }()
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirIn.Close() }()
	out, theirOut, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	defer func() { _ = theirOut.Close() }()
	c := &child{in: in, out: out, frames: bufio.NewReader(out)}
	c.cmd = &exec.Cmd{
		Path: program, Args: []string{program, workerArgument}, Env: environment(), Dir: dir,
		Stdin: theirIn, Stdout: theirOut, Stderr: &c.stderr,
	}
	process.Group(c.cmd)
	if err := c.cmd.Start(); err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, c.kill)
	_, _ = theirIn.Close(), theirOut.Close() // or its end would go unnoticed
	err = readFrame(c.frames, frameReady, nil)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("worker did not start: %w%s", err, c.stderrText())
	}
	return c, nil
}

// environment is all that a worker gets to see: nothing of the agent's but, where it cannot do without, the system's folder.
func environment() []string {
	env := []string{workerEnv + "=1", "TZ=UTC", "GOMAXPROCS=2"}
	if runtime.GOOS == "windows" {
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	return env
}

// errStale says that a worker was gone before it had begun a call.
var errStale = errors.New("the worker had exited before the call")

// call runs one request. When ctx ends first the worker is killed, and the error is that of the pipe. A child whose
// call failed is of no further use.
func (c *child) call(ctx context.Context, q request) (res outcome, err error) {
	c.calls++
	stop := context.AfterFunc(ctx, c.kill)
	defer func() {
		if !stop() && err == nil {
			c.calls = maxInt // it was killed right after it had answered
		}
	}()
	if err := writeFrame(c.in, frameRun, q); err != nil {
		return res, errStale
	}
	if err := readFrame(c.frames, frameStarted, nil); err != nil {
		return res, errStale
	}
	err = readFrame(c.frames, frameDone, &res)
	return res, err
}

const maxInt = int(^uint(0) >> 1)

// kill ends the process at once. It may be called at any time, by anyone.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		process.SignalGroup(c.cmd.Process.Pid, process.Kill)
	}
}

// close ends the process and frees what it took. It returns when both are done and says how the process ended.
func (c *child) close() string {
	c.kill()
	_, _ = c.in.Close(), c.out.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return ""
	}
	// Killed, it does not keep Wait waiting, and its number is not given away before.
	_ = c.cmd.Wait()
	c.reaped = true
	return c.cmd.ProcessState.String()
}

// stderrText is what the worker wrote to stderr, for logs.
func (c *child) stderrText() string {
	if s := strings.TrimSpace(c.stderr.String()); s != "" {
		return ": " + s
	}
	return ""
}

// headBuffer keeps the first bytes written to it: of a crash they say most.
type headBuffer struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails, so that a worker that says much goes on.
func (t *headBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[:min(len(p), stderrMax-len(t.buf))]...)
	return len(p), nil
}

func (t *headBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

var _ io.Writer = (*headBuffer)(nil)
