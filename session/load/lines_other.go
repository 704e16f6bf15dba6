//go:build !unix

package load

import "syscall"

const direct = false

func quiet(syscall.RawConn) bool { return false }
