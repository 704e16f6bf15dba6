package resident

import (
	"bufio"
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Trim unmaps the pages of the program's file that are as they are on disk. Mappings with a page of their own, such as
// the relocated constants of a position-independent program, stay. Where it cannot be done nothing happens.
func Trim() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	program := []byte(" " + path)
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	var from, to uint64 // the mapping that the lines are about; to is 0 for one to keep
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Bytes()
		switch first, rest, _ := bytes.Cut(line, []byte(" ")); {
		case string(first) == "Anonymous:":
			if to != 0 && string(bytes.TrimSpace(rest)) == "0 kB" {
				unmap(uintptr(from), uintptr(to-from))
			}
		case first[len(first)-1] == ':': // other figures
		case !bytes.HasSuffix(line, program):
			return // the program's own mappings come first
		default:
			low, high, _ := bytes.Cut(first, []byte("-"))
			from, _ = strconv.ParseUint(string(low), 16, 64)
			to, _ = strconv.ParseUint(string(high), 16, 64)
			if !bytes.HasPrefix(rest, []byte("r-")) {
				to = 0
			}
		}
	}
}

// unmap drops the pages of a clean file mapping; they come back when they are read.
func unmap(at, size uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, at, size, unix.MADV_DONTNEED)
}
