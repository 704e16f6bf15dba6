//go:build unix

package wrap

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that a client, a terminal or a system sends to a server. Stopping and continuing is left to
// whoever does it: a stopped wrapper makes its server wait for its pipes.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH,
}

// deliver sends a signal as it would have come: those of a terminal to everything that the server started, others to the
// server. ends says that it is one that is to end it.
func deliver(p *os.Process, s os.Signal) (ends bool) {
	sig := s.(syscall.Signal)
	switch sig {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH:
		_ = unix.Kill(-p.Pid, sig) // a group that is gone needs no signal
	default:
		_ = p.Signal(sig)
	}
	switch sig {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP:
		return true
	}
	return false
}

// resume lets a stopped group go on.
func resume(p *os.Process) { _ = unix.Kill(-p.Pid, unix.SIGCONT) }

// exitCode is the child's, 128 + n if signal n ended it, as shells have it.
func exitCode(st *os.ProcessState) int {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return st.ExitCode()
}
