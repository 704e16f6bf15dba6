package process

import (
	"os"
	"os/exec"
	"syscall"
)

// Signal is a signal to a group.
type Signal int

// Term and Kill both kill the child.
const (
	Term Signal = iota
	Kill
)

const reserves = false

// detached is a process that has no console (winbase.h).
const detached = 0x00000008

// Detach makes a command one that no terminal ends.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detached}
}

// Leader is not known on this system.
func Leader() int { return 0 }

func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func childAttr(console bool) *syscall.SysProcAttr {
	if console {
		return nil
	}
	return groupAttr()
}

func awaitExit(int) {}

// GrowPipe does nothing on this system.
func GrowPipe(*os.File) {}

// SignalGroup kills the process: one without a console cannot be asked to end.
func SignalGroup(pid int, _ Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

// Unread returns -1: the system cannot tell.
func Unread(*os.File) int64 { return -1 }

// Unheard returns false: the system cannot tell.
func Unheard(*os.File) bool { return false }

func groupGone(int) {}

// Forwarded returns the interrupt, which a console sends to the child as well.
func Forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

func forward(int, os.Signal) (ends bool) { return false }

func resume(int) {}

func isStopped(int) bool { return false }

func exitCode(st *os.ProcessState) int { return st.ExitCode() }

// Alive reports whether there is a process with that pid.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return pid > 0 && err == nil
}
