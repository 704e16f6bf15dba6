//go:build !unix

package bench

import "syscall"

const direct = false

func quiet(syscall.RawConn) bool { return false }
