//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

const reserves = false

const inputQueue = 0x4004667f // FIONREAD on the BSDs and Darwin

func childAttr(bool) *syscall.SysProcAttr { return groupAttr() }

func awaitExit(int) {}

func isStopped(int) bool { return false }

// GrowPipe does nothing on this system.
func GrowPipe(*os.File) {}
