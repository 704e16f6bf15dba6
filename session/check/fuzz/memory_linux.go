package fuzz

import (
	"bytes"
	"os"
	"strconv"
)

// resident is what the processes of the group of pid have in memory together, in bytes: a server is often started by a program that stays. pid has to
// be the leader of its group. What several share counts for each, so that only a difference means something. See proc_pid_stat(5).
func resident(pid int) (total int64, ok bool) {
	if pid <= 0 {
		return 0, false
	}
	all, err := os.ReadDir("/proc")
	if err != nil {
		return 0, false
	}
	page := int64(os.Getpagesize())
	for _, e := range all {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// pid (name, which may have blanks) state ppid pgrp … rss as the 24th field
		f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
		if len(f) < 22 || string(f[2]) != strconv.Itoa(pid) {
			continue
		}
		if n, err := strconv.ParseInt(string(f[21]), 10, 64); err == nil {
			total, ok = total+n*page, true
		}
	}
	return total, ok
}
