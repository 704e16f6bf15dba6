package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// detached are processes that a child started and that left its group, such as by setsid. Each is held by a descriptor of the
// process itself, since its number may be somebody else's by the time it is ended.
type detached []held

type held struct{ pid, fd int }

// isAlive reports whether it still has its number.
func (h held) isAlive() bool { return unix.PidfdSendSignal(h.fd, 0, nil, 0) == nil }

// maxDetached bounds them, each of which takes a descriptor.
const maxDetached = 256

// note adds what descends from the child now and is not in its group. What has left its parents as well, as a daemon does, or lost
// them, descends from nobody any more, and is left alone.
func (d *detached) note(child int) {
	all := processes()
	ours := map[int]bool{child: true}
	for _, h := range *d {
		if h.isAlive() {
			ours[h.pid] = true
		}
	}
	known := len(ours)
	for grown := true; grown; { // a parent may come after its child
		grown = false
		for _, p := range all {
			if ours[p.parent] && !ours[p.pid] {
				ours[p.pid], grown = true, true
			}
		}
	}
	if len(ours) == known {
		return
	}
	for _, p := range all {
		if !ours[p.pid] || p.pid == child || p.group == child || d.has(p.pid) || len(*d) >= maxDetached {
			continue
		}
		fd, err := unix.PidfdOpen(p.pid, 0)
		if err != nil {
			continue
		}
		if now, ok := processOf(p.pid); !ok || now.began != p.began || now.parent != p.parent {
			_ = unix.Close(fd) // it is another one, or ended
			continue
		}
		*d = append(*d, held{p.pid, fd})
	}
}

func (d detached) has(pid int) bool {
	for _, h := range d {
		if h.pid == pid {
			return true
		}
	}
	return false
}

// count is how many of them still run.
func (d detached) count() (n int) {
	for _, h := range d {
		if p, ok := processOf(h.pid); ok && !p.dead && h.isAlive() {
			n++
		}
	}
	return n
}

// kill ends them.
func (d detached) kill() {
	for _, h := range d {
		_ = unix.PidfdSendSignal(h.fd, unix.SIGKILL, nil, 0) // the errors are that it ended, or changed its user
	}
}

// waitGone waits up to 25 ms for killed ones to end, as groupGone does for a group.
func (d detached) waitGone() {
	end := time.Now().Add(25 * time.Millisecond)
	for _, h := range d {
		fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
		_, _ = unix.Poll(fds, int(max(time.Until(end), 0)/time.Millisecond)) // it is over, or too long
	}
}

// release lets go of their descriptors.
func (d *detached) release() {
	for _, h := range *d {
		_ = unix.Close(h.fd)
	}
	*d = nil
}

// running is a process of this machine.
type running struct {
	pid, parent, group int
	began              string // clock ticks since the machine was started
	dead               bool   // nobody has waited for it yet
}

// processOf reads proc_pid_stat(5): PID (COMMAND) STATE PPID PGRP …, and as the 22nd field when it began.
func processOf(pid int) (running, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return running{}, false
	}
	rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(rest) < 20 {
		return running{}, false
	}
	p := running{pid: pid, began: rest[19], dead: rest[0] == "Z" || rest[0] == "X"}
	p.parent, _ = strconv.Atoi(rest[1])
	p.group, _ = strconv.Atoi(rest[2])
	return p, true
}

func processes() (all []running) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			if p, ok := processOf(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// countOthers counts the processes of a child's group besides the child itself, those that have ended left out.
func countOthers(child int) (n int) {
	for _, p := range processes() {
		if p.group == child && p.pid != child && !p.dead {
			n++
		}
	}
	return n
}
