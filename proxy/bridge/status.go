package bridge

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"
)

// Status is what a route's processes are doing. What they wrote is in it, with secrets hidden as far as they can be known.
type Status struct {
	Mode      string    `json:"session"` // "per-session" or "shared"
	Processes []Process `json:"processes"`
	Sessions  int       `json:"sessions"`
	Starts    int       `json:"starts"`           // processes started so far
	Error     string    `json:"error,omitempty"`  // how the last process that ended by itself ended
	RetryAt   time.Time `json:"retryAt,omitzero"` // no process is started before
	Stderr    []string  `json:"stderr,omitempty"` // the last lines, of all processes

	how string // as Error, without what was on stderr
}

// Public is the status for those who may call the agent, and are not to read what its processes write to stderr.
func (s Status) Public() Status {
	s.Error, s.Stderr = s.how, nil
	return s
}

// Process is one process.
type Process struct {
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`
	Era      string    `json:"era"` // by whose rules it is spoken to: "legacy" or "modern"
	Sessions int       `json:"sessions"`
	Inflight int       `json:"inflight"` // requests under way
}

// Status is a snapshot, processes in the order of their start.
func (b *Bridge) Status() Status {
	b.mu.Lock()
	st := Status{Mode: "per-session", Processes: []Process{}, Sessions: len(b.sessions), Starts: b.starts}
	if b.o.Shared {
		st.Mode = "shared"
	}
	if b.last != nil {
		st.Error = b.hide(b.last.Error())
	}
	if b.how != nil {
		st.how = b.hide(b.how.Error())
	}
	if b.retryAt.After(time.Now()) {
		st.RetryAt = b.retryAt
	}
	for c := range b.children {
		p := Process{PID: c.pid(), Started: c.began, Era: "legacy"}
		if c.modern {
			p.Era = "modern"
		}
		c.mu.Lock()
		p.Sessions, p.Inflight = len(c.sessions), len(c.pending)
		c.mu.Unlock()
		st.Processes = append(st.Processes, p)
	}
	b.mu.Unlock()
	slices.SortFunc(st.Processes, func(a, b Process) int { return a.Started.Compare(b.Started) })
	st.Stderr = b.stderr.lines()
	for i, line := range st.Stderr {
		st.Stderr[i] = b.hide(line)
	}
	return st
}

const (
	ringLines = 100
	lineBytes = 500
)

// ring keeps the last lines of what is written to it, whole ones, cut to a length. Its text is from outside.
type ring struct {
	onLine func(line []byte) // gets each as well

	mu   sync.Mutex
	kept []string
}

// Write takes one line, or a piece of a very long one.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range bytes.Lines(p) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(r.kept) == ringLines {
			r.kept = append(r.kept[:0], r.kept[1:]...)
		}
		r.kept = append(r.kept, strings.ToValidUTF8(string(line[:min(len(line), lineBytes)]), "\uFFFD"))
		r.onLine(line)
	}
	return len(p), nil
}

func (r *ring) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}
