package wrap

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
)

// child is the wrapped server, in a process group of its own: what a terminal sends to the whole foreground group reaches
// it once, through us, and not twice.
type child struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed when it has exited

	mu     sync.Mutex
	reaped bool // its number may be somebody else's
}

func start(path string, argv []string, std [3]*os.File) (*child, error) {
	c := &child{gone: make(chan struct{})}
	c.cmd = &exec.Cmd{Path: path, Args: argv, Stdin: std[0], Stdout: std[1], Stderr: std[2], SysProcAttr: attributes()}
	started := make(chan error)
	go func() {
		// A death signal comes when the thread that started the child ends, so that thread stays with the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		awaitExit(c.cmd.Process.Pid)
		c.mu.Lock()
		c.reaped = reserves
		c.mu.Unlock()
		_ = c.cmd.Wait() // the state says it better
		c.mu.Lock()
		c.reaped = true
		c.mu.Unlock()
		close(c.gone)
	}()
	return c, <-started
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// how says how it ended.
func (c *child) how() string {
	select {
	case <-c.gone:
		return "ended: " + c.cmd.ProcessState.String()
	default:
		return "left behind by a signal"
	}
}

// send passes a signal on, to the child alone or to its group. After one that is to end it, what is stopped goes on, or it
// would not notice: a server that reads the terminal is stopped by the system, since the foreground is its client's, and
// ours, and stays so.
func (c *child) send(s os.Signal) (ends bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return false
	}
	if ends = deliver(c.cmd.Process, s); ends {
		resume(c.cmd.Process)
	}
	return ends
}

// wake lets the child go on if it is stopped.
func (c *child) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped && stopped(c.pid()) {
		resume(c.cmd.Process)
	}
}
