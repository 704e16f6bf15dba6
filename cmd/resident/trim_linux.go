package resident

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Trim unmaps the pages of the program's code, and of its constants where the loader changed none of them. Where it cannot be done
// nothing happens.
func Trim() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	fixed := isFixed()
	program := []byte(" " + path)
	for line := range bytes.Lines(maps) {
		line = bytes.TrimRight(line, "\n")
		if !bytes.HasSuffix(line, program) {
			return // the program's own mappings come first
		}
		where, how, _ := bytes.Cut(line, []byte(" "))
		if !bytes.HasPrefix(how, []byte("r-x")) && !(fixed && bytes.HasPrefix(how, []byte("r--"))) {
			continue
		}
		low, high, _ := bytes.Cut(where, []byte("-"))
		from, _ := strconv.ParseUint(string(low), 16, 64)
		to, _ := strconv.ParseUint(string(high), 16, 64)
		unmap(uintptr(from), uintptr(to-from))
	}
}

// exec is the type of an ELF file that is loaded where it was linked for.
const exec = 2

// isFixed says whether the program was linked for one address: nothing of its constants is relocated then.
func isFixed() bool {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 18)
	_, err = io.ReadFull(f, head)
	return err == nil && binary.NativeEndian.Uint16(head[16:]) == exec
}

// unmap drops the pages of a clean file mapping; they come back when they are read.
func unmap(at, size uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, at, size, unix.MADV_DONTNEED)
}
