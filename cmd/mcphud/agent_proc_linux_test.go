package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// processStat is a process's state letter and parent, "" if there is no such process.
func processStat(pid int) (state string, parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	w := strings.Fields(string(b)[strings.LastIndexByte(string(b), ')')+1:])
	parent, _ = strconv.Atoi(w[1])
	return w[0], parent
}

// childrenOf are the processes below pid, at any depth.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	below := map[int][]int{}
	for _, d := range dirs {
		p, _ := strconv.Atoi(filepath.Base(d))
		if state, parent := processStat(p); state != "" && state != "Z" {
			below[parent] = append(below[parent], p)
		}
	}
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		all = append(all, below[todo[0]]...)
		todo = append(todo, below[todo[0]]...)
	}
	return all
}

// openFiles counts the file descriptors of a process.
func openFiles(t *testing.T, pid int) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	return len(files)
}
