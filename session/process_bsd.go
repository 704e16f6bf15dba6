//go:build unix && !linux

package session

import (
	"os"
	"syscall"
)

const reserves = false

const inputQueue = 0x4004667f // FIONREAD on the BSDs and Darwin

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func awaitExit(int) {}

func widen(*os.File) {}
