package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/wire/process"
)

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// Interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP cancels, so that requests are cancelled at
// their servers. A second one calls last and, if that says so, exits at once with code 130. A SIGHUP that hangup takes is not
// one of them. SIGPIPE becomes an error of the write, so that children are ended first. slow is called where the program still runs
// a second after the first.
func Interruptible(last, hangup func() bool, slow func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 2)
	pipe := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // nohup: it stays ignored, for our children too
			signal.Notify(ch, sig)
		}
	}
	signal.Notify(pipe, syscall.SIGPIPE)
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		var late <-chan time.Time
		for n := 0; ; {
			select {
			case <-late:
				slow()
			case sig := <-ch:
				if sig == syscall.SIGHUP && hangup() {
					continue
				}
				if n > 0 && last() {
					os.Exit(ExitInterrupted)
				}
				if n++; n == 1 {
					late = time.After(time.Second)
				}
				cancel(ErrInterrupted)
			case <-done:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(ch)
		signal.Stop(pipe)
		close(done)
		ended.Wait()
		cancel(nil)
	}
}

// Children are the processes of open servers, killed when a second interrupt exits at once.
type Children struct {
	// Patient makes a second signal no different from the first.
	Patient atomic.Bool
	// Reload is called for SIGHUP by commands that are servers; nil elsewhere, where SIGHUP interrupts.
	Reload atomic.Pointer[func()]

	mu   sync.Mutex
	pids []func() []int
}

// Watch adds processes to be killed by end.
func (c *Children) Watch(pids func() []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pids = append(c.pids, pids)
}

// ProcessesOf are the processes of a manager's servers.
func ProcessesOf(m *session.Manager) func() []int {
	return func() (pids []int) {
		for _, s := range m.Servers() {
			pids = append(pids, s.Status().PID)
		}
		return pids
	}
}

// Running are the process groups; none if patient.
func (c *Children) Running() (all []int) {
	if c.Patient.Load() {
		return nil
	}
	c.mu.Lock()
	pids := c.pids
	c.mu.Unlock()
	for _, some := range pids {
		for _, pid := range some() {
			if pid > 1 {
				all = append(all, pid)
			}
		}
	}
	return all
}

// End kills the process groups; false if patient.
func (c *Children) End() bool {
	for _, pid := range c.Running() {
		process.SignalGroup(pid, process.Kill)
	}
	return !c.Patient.Load()
}

// Hangup calls reload; false if there is none.
func (c *Children) Hangup() bool {
	f := c.Reload.Load()
	if f != nil {
		(*f)()
	}
	return f != nil
}
