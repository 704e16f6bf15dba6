package process

import (
	"os"
	"syscall"
)

// Signal is what a group can be sent.
type Signal int

// Term and Kill both end the child.
const (
	Term Signal = iota
	Kill
)

const reserves = false

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

// GrowPipe does nothing here.
func GrowPipe(*os.File) {}

// SignalGroup ends the process. There is no polite way to ask one without a console.
func SignalGroup(pid int, _ Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

// Unread is not known here: -1.
func Unread(*os.File) int64 { return -1 }

func groupGone(int) {}

// Forwarded is what there is; a console sends it to the child as well.
func Forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

func forward(int, os.Signal) (ends bool) { return false }

func resume(int) {}

func stopped(int) bool { return false }

func exitCode(st *os.ProcessState) int { return st.ExitCode() }
