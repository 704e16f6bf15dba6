package behave

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// outlive bounds everything that would last for ever.
const outlive = 10 * time.Minute

// Process is what a stdio server gets from the program around it.
type Process struct {
	In    io.Reader
	Out   io.Writer
	Err   io.Writer
	Exit  func(code int)                // ends the process at once; in a test it may return
	Reach func(arguments []byte) string // tool "reach", which is not listed: what came of reaching for things outside of the process
	Fork  func() string                 // starts the child of mode Fork; returns the pids as a JSON object
}

// Stdio serves one connection until In ends and every call is over, and returns the exit code.
func Stdio(mode Mode, p Process) int {
	if mode == ExitAtOnce {
		_, _ = io.WriteString(p.Err, "fakemcp: reading configuration\nfakemcp: cannot open /etc/fakemcp.conf: no such file\nfakemcp: giving up\n")
		return 3
	}
	s := newServer(mode)
	if p.Reach != nil {
		s.reach = p.Reach
	}
	if p.Fork != nil {
		pids := p.Fork()
		s.pids = func() string { return pids }
	}
	if mode == FloodStderr {
		flood(p.Err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	code := s.serve(ctx, p, &wg)
	stop()
	wg.Wait()
	return code
}

// serve reads frames until the end of In.
func (s *server) serve(ctx context.Context, p Process, wg *sync.WaitGroup) int {
	c := stdioConn(p)
	in := bufio.NewReaderSize(p.In, 64<<10)
	for {
		frame, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(frame))) > 0 {
			if code, end := s.early(p, string(frame)); end {
				return code
			}
			if s.take(string(frame)) {
				s.handle(ctx, c, frame, wg)
			}
			if s.mode == NoRead && strings.Contains(string(frame), `"tools/list"`) {
				time.Sleep(outlive)
			}
		}
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			return 1
		}
	}
}

// early ends the process where the mode says so on this frame.
func (s *server) early(p Process, frame string) (code int, end bool) {
	switch {
	case s.mode == ExitInitialize && strings.Contains(frame, `"initialize"`):
		_, _ = io.WriteString(p.Err, "fakemcp: panic: license expired\nfakemcp: initialize failed\n")
		return 4, true
	case s.mode == ExitDiscover && strings.Contains(frame, `"server/discover"`):
		_, _ = io.WriteString(p.Err, "fakemcp: unknown method server/discover\n")
		return 5, true
	}
	return 0, false
}

// take reports whether the mode looks at this frame at all.
func (s *server) take(frame string) bool {
	return s.mode != NoAnswer && (s.mode != NoDiscover || !strings.Contains(frame, `"server/discover"`))
}

// stdioConn writes frames as lines. Parts are written one by one under a lock,
// so that a rendered answer is never copied.
func stdioConn(p Process) conn {
	var mu sync.Mutex
	return conn{
		write: func(parts ...string) {
			mu.Lock()
			defer mu.Unlock()
			if len(parts) == 1 && len(parts[0]) < 64<<10 {
				_, _ = io.WriteString(p.Out, parts[0]+"\n") // a reader that is gone ends us by In
				return
			}
			for _, part := range parts {
				_, _ = io.WriteString(p.Out, part)
			}
			_, _ = io.WriteString(p.Out, "\n")
		},
		raw: func(s string) {
			mu.Lock()
			defer mu.Unlock()
			_, _ = io.WriteString(p.Out, s)
		},
		crash: func() {
			_, _ = io.WriteString(p.Err, "fakemcp: fatal error: crashed on purpose\n")
			p.Exit(2)
		},
	}
}

// flood writes 100,000 lines of 100 bytes.
func flood(w io.Writer) {
	chunk := strings.Repeat(strings.Repeat("e", 99)+"\n", 1000)
	for range 100 {
		_, _ = io.WriteString(w, chunk)
	}
}
