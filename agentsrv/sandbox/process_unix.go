//go:build unix

package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup keeps signals that are meant for the agent, such as ctrl+c, away from workers.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a worker that has not been waited for.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// environment is all that a worker gets to see: nothing of the agent's.
func environment() []string { return []string{workerEnv + "=1", "TZ=UTC", "GOMAXPROCS=2"} }
