//go:build unix && !linux

package wrap

import "syscall"

const reserves = false

// attributes give the child a group of its own. These systems have no death signal: when this process is killed the child
// finds its input at its end, which is how servers are asked to leave.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func awaitExit(int) {}

// stopped is not known here.
func stopped(int) bool { return false }
