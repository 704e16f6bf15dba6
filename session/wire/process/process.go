// Package process starts children, each in its own process group, and ends them with everything that they forked.
package process

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/confine"
)

// Spec describes a child. No shell is involved.
type Spec struct {
	Path string      // program, see [Lookup]
	Name string      // its argument 0; default: Path
	Args []string    // the other arguments
	Env  []string    // NAME=value; nil is the inherited environment
	Dir  string      // working folder; "" is that of this process
	Std  [3]*os.File // standard input, output and error; nil is the null device
	// Console leaves a child on Windows in our process group, so that a ctrl+c typed at the console reaches it. Elsewhere
	// signals are forwarded to it; see [Process.Forward].
	Console bool
	// Confine shuts the child in, where it is not nil. Where the system cannot do that, it is not started.
	Confine *confine.Rules
}

// Process is a child that leads its own process group. On Linux it is killed when this process ends, however that happens;
// elsewhere it has to notice itself, for example by a pipe that closes.
type Process struct {
	pid    int
	exited chan struct{} // closed when the child has exited; its pid stays reserved where the system can do that
	free   chan struct{} // closed to reap it
	reaped chan struct{}
	state  *os.ProcessState // valid once reaped

	mu     sync.Mutex
	gone   bool // reaped: its pid may be someone else's
	killed bool // with its group
	left   detached
	done   func() // once it was reaped; nil for nothing
}

// Start starts a child. It must be reaped.
func Start(s Spec) (*Process, error) {
	done, err := s.confine()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: s.Path, Args: append([]string{cmp.Or(s.Name, s.Path)}, s.Args...), Env: s.Env, Dir: s.Dir, SysProcAttr: childAttr(s.Console),
	}
	if s.Std[0] != nil { // a nil *os.File is not a nil interface
		cmd.Stdin = s.Std[0]
	}
	if s.Std[1] != nil {
		cmd.Stdout = s.Std[1]
	}
	if s.Std[2] != nil {
		cmd.Stderr = s.Std[2]
	}
	p := &Process{exited: make(chan struct{}), free: make(chan struct{}), reaped: make(chan struct{}), done: done}
	started := make(chan error)
	go func() {
		// The death signal is sent when the thread that started the child ends, so that thread must live as long.
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
			p.wait(cmd)
			close(p.exited)
			<-p.free
			return
		}
		close(p.exited)
		<-p.free
		p.wait(cmd)
	}()
	if err := <-started; err != nil {
		if done != nil {
			done()
		}
		return nil, err
	}
	return p, nil
}

// confine makes s one of a child that shuts itself in, where that is asked for. done is to be called once it has ended.
func (s *Spec) confine() (done func(), err error) {
	if s.Confine == nil {
		return nil, nil
	}
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	in, done, err := confine.Prepare(*s.Confine, confine.Program{Path: s.Path, Name: cmp.Or(s.Name, s.Path), Args: s.Args, Env: env, Dir: s.Dir})
	if err != nil {
		return nil, err
	}
	s.Path, s.Name, s.Args, s.Env = in.Path, in.Name, in.Args, in.Env
	return done, nil
}

// PID is the child's process id, and that of its group.
func (p *Process) PID() int { return p.pid }

// Exited is closed when the child has exited. Processes that it forked may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// wait reaps the child.
func (p *Process) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // the state has the error
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	p.state = cmd.ProcessState
	close(p.reaped)
}

// Signal sends s to the whole group, unless the child's pid may already belong to another process. Kill also ends what was started by
// it and left the group, as far as that is known; see Note.
func (p *Process) Signal(s Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		p.left.note(p.pid)
	}
	if !p.gone || !reserves {
		p.killed = p.killed || s == Kill
		SignalGroup(p.pid, s)
	}
	if s == Kill {
		p.left.kill()
	}
}

// Note looks for processes that descend from the child and left its group, so that Kill ends them too. Signal does so itself; whoever
// makes the child end in another way calls it before, since nothing descends from a process that has ended. Known on Linux only.
func (p *Process) Note() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		p.left.note(p.pid)
	}
}

// Others counts the processes that the child started and that still run, those that left its group included if they were noted. Known
// on Linux only, until it is reaped.
func (p *Process) Others() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return 0
	}
	return countOthers(p.pid) + p.left.count()
}

// Forward forwards a signal that this process received: signals of a terminal to the whole group, others to the child alone.
// ends says that it usually ends a process. It does nothing once the child has exited.
func (p *Process) Forward(s os.Signal) (ends bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running() && forward(p.pid, s)
}

// Continue sends SIGCONT to a stopped child. It does nothing on systems other than Linux.
func (p *Process) Continue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() && isStopped(p.pid) {
		resume(p.pid)
	}
}

func (p *Process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return !p.gone
	}
}

// Reap releases a child that has exited, and returns how it ended: "exited with status 1", "was ended by signal killed". It
// must be called once.
func (p *Process) Reap() string {
	close(p.free)
	<-p.reaped
	p.mu.Lock()
	killed := p.killed // where no pid is reserved, Signal may still set it
	p.mu.Unlock()
	if killed {
		groupGone(p.pid)
	}
	p.mu.Lock()
	if p.killed {
		p.left.waitGone()
	}
	p.left.release()
	p.mu.Unlock()
	if p.done != nil {
		p.done()
	}
	return exitStatus(p.state)
}

// ExitCode is the exit code of a reaped child: 128 + n if signal n ended it, as in shells.
func (p *Process) ExitCode() int { return exitCode(p.state) }

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
