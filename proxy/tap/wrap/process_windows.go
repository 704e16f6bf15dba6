package wrap

import (
	"os"
	"syscall"
)

const reserves = false

// passedOn is what there is; a console sends it to the child as well.
var passedOn = []os.Signal{os.Interrupt}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func awaitExit(int) {}

func deliver(*os.Process, os.Signal) (ends bool) { return false }

func resume(*os.Process) {}

func stopped(int) bool { return false }

func exitCode(st *os.ProcessState) int { return st.ExitCode() }
