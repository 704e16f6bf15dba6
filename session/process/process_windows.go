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

func awaitExit(int) {}

// Widen does nothing here.
func Widen(*os.File) {}

// signalGroup ends the child. There is no polite way to ask a process without a console.
func signalGroup(pid int, _ Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

// Unread is not known here: -1.
func Unread(*os.File) int64 { return -1 }

func groupGone(int) {}
