//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

const reserves = false

const inputQueue = 0x4004667f // FIONREAD on the BSDs and Darwin

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func awaitExit(int) {}

// Widen does nothing here.
func Widen(*os.File) {}
