package resident

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// fileMemory is how much of mapped files this process has in memory, in kB.
func fileMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Skip("this kernel does not count the pages of files")
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

func TestTrim(t *testing.T) {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil || len(program) == 0 {
		t.Fatal(err)
	}
	before := fileMemory(t)
	Trim()
	after := fileMemory(t)
	if after >= before {
		t.Errorf("%d kB of files in memory after Trim, %d before", after, before)
	}
	Trim() // and the program goes on
}
