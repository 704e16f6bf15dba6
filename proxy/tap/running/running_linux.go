package running

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Supported is whether processes can be listed on this system.
const Supported = true

// ticks are the clock ticks of a second in /proc (proc(5), USER_HZ).
const ticks = 100

// Processes lists the processes of this user; all of them for root.
func Processes() ([]Process, error) {
	boot, err := bootTime()
	if err != nil {
		return nil, err
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []Process
	me := os.Geteuid()
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // it ended
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || me != 0 && int(st.Uid) != me {
			continue
		}
		if p, ok := read(dir, boot); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// bootTime is when the system started.
func bootTime() (time.Time, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot list processes: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			return time.Unix(n, 0), err
		}
	}
	return time.Time{}, errors.New("cannot list processes: /proc/stat has no btime")
}

// read reads one process; false for one that ended, and for threads of the kernel.
func read(dir string, boot time.Time) (p Process, ok bool) {
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(line) == 0 {
		return p, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return p, false
	}
	p.PID, _ = strconv.Atoi(filepath.Base(dir)) // digits
	p.Argv = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	if len(p.Argv) == 1 && strings.Contains(p.Argv[0], " ") && !strings.HasPrefix(p.Argv[0], "/") { // a title that the process gave itself
		p.Argv = strings.Fields(p.Argv[0])
	}
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return p, false
	}
	// The name is in parentheses and may have any character.
	_, rest, _ := strings.Cut(string(stat), string(stat[:strings.LastIndexByte(string(stat), ')')+1]))
	f := strings.Fields(rest)
	const state, parent, started, resident = 0, 1, 19, 21
	if len(f) <= resident || f[state] == "Z" {
		return p, false
	}
	p.Parent, _ = strconv.Atoi(f[parent])
	at, _ := strconv.ParseInt(f[started], 10, 64)
	p.Started = boot.Add(time.Duration(at) * time.Second / ticks)
	pages, _ := strconv.ParseInt(f[resident], 10, 64)
	p.Memory = pages * int64(os.Getpagesize())
	p.Pipes = isPipe(dir, "0") && isPipe(dir, "1")
	return p, true
}

// isPipe reports whether a file descriptor is a pipe or a socket.
func isPipe(dir, fd string) bool {
	to, err := os.Readlink(filepath.Join(dir, "fd", fd))
	return err == nil && (strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "socket:"))
}
