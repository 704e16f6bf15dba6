//go:build unix

package main

import "syscall"

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
