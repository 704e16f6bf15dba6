package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// used is the processor time that a process has had: that of its threads, which Go's runtime keeps.
func (p *proc) used() time.Duration { return p.usedBy(p.pid()) }

func (p *proc) usedBy(pid int) (sum time.Duration) {
	p.t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		p.t.Fatalf("%s: no threads: %v\n%s", p.name, err, p.tail())
	}
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			p.t.Fatalf("%s: %q", p.name, text)
		}
		sum += time.Duration(n)
	}
	return sum
}

// memory is how many bytes are the process' own, and not of a file that several may have in memory together.
func (p *proc) memory() int64 {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid()))
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", p.name, err, p.tail())
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kB, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				p.t.Fatalf("%s: %q", p.name, line)
			}
			return kB << 10
		}
	}
	p.t.Fatalf("%s: no RssAnon", p.name)
	return 0
}

func (p *proc) pid() int {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		p.t.Fatalf("%s does not run", p.name)
	}
	return p.cmd.Process.Pid
}
