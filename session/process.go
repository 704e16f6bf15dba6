package session

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
)

// process is a child in a process group of its own.
type process struct {
	pid    int
	exited chan struct{} // closed when the child is gone, but its pid still reserved where the system can do that
	free   chan struct{} // closed to let the waiter reap it
	reaped chan struct{}
	status string // valid once reaped

	mu   sync.Mutex
	gone bool // reaped: its pid may be someone else's
}

// startProcess starts path with the three files as its standard input, output and error.
func startProcess(path string, args, env []string, cwd string, std [3]*os.File) (*process, error) {
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{path}, args...), Env: env, Dir: cwd,
		Stdin: std[0], Stdout: std[1], Stderr: std[2], SysProcAttr: groupAttr(),
	}
	p := &process{exited: make(chan struct{}), free: make(chan struct{}), reaped: make(chan struct{})}
	started := make(chan error)
	go func() {
		// A death signal comes when the thread that started the child ends, so that thread stays with the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		awaitExit(p.pid)
		if !reserves {
			_ = cmd.Wait() // the state says it better
			p.leave(cmd)
			close(p.exited)
			<-p.free
			return
		}
		close(p.exited)
		<-p.free
		_ = cmd.Wait()
		p.leave(cmd)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) leave(cmd *exec.Cmd) {
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	p.status = exitStatus(cmd.ProcessState)
	close(p.reaped)
}

// signal sends s to the whole group, unless the child's pid may already belong to someone else.
func (p *process) signal(s signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone || !reserves {
		signalGroup(p.pid, s)
	}
}

// reap waits for the end of a child that has exited, and says how it ended: "exited with status 1", "was
// ended by signal killed".
func (p *process) reap() string {
	close(p.free)
	<-p.reaped
	groupGone(p.pid)
	return p.status
}

func exitStatus(st *os.ProcessState) string {
	switch {
	case st == nil:
		return "exited with an unknown status"
	case st.Exited():
		return fmt.Sprintf("exited with status %d", st.ExitCode())
	}
	if signal, ok := strings.CutPrefix(st.String(), "signal: "); ok {
		return "was ended by signal " + signal
	}
	return "exited with " + st.String()
}
