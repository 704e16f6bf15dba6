//go:build unix

package bridge

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// alive reports whether there is such a process that is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
