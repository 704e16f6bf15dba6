package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/safe"
)

// ProgressEvery is how often progress is drawn at most.
const ProgressEvery = 100 * time.Millisecond

// Side prints what a server sends besides the answer: its stderr; with --log-level its log messages, on stderr as well; in the jsonl
// format all notifications on stdout, one line each, until the answer is printed. It also draws the progress line when stderr
// is a terminal.
type Side struct {
	journal *journal.Journal
	Err     *os.File
	Tty     bool // err is a terminal
	logs    bool

	Mu       sync.Mutex                              // held while writing
	Emit     func(method string, frame []byte) error // takes notifications; nil once the answer is being printed
	EmitErr  error
	since    uint64
	progress *rpc.Progress // to be drawn, nil if none
	Drawn    bool
	lines    int  // of the picture that is on the terminal
	deaf     bool // what the server writes is not passed on any more
	partial  bool // the last line on stderr has no end yet

	wake chan struct{}
	quit chan struct{}
	done sync.WaitGroup
}

// NewSide starts what writes beside the answer: notifications of j go to err, or where the format is jsonl to out. Whoever makes one stops it.
func NewSide(j *journal.Journal, err *os.File, out *output.Printer, logs bool) *Side {
	s := &Side{journal: j, Err: err, Tty: output.Terminal(err), logs: logs, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	if out.Format == output.FormatJSONL {
		s.Emit = out.Notification
	}
	j.OnChange(func() {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	})
	s.done.Go(s.run)
	return s
}

func (s *Side) run() {
	tick := time.NewTicker(ProgressEvery)
	defer tick.Stop()
	if !s.Tty {
		tick.Stop()
	}
	for {
		select {
		case <-s.wake:
			s.Mu.Lock()
			s.Drain()
			s.Mu.Unlock()
		case <-tick.C:
			s.Mu.Lock()
			s.draw()
			s.Mu.Unlock()
		case <-s.quit:
			return
		}
	}
}

// Drain writes what the journal got since the last time.
func (s *Side) Drain() {
	for _, e := range s.journal.Snapshot(s.since, nil) {
		s.since = e.Seq
		switch {
		case e.Kind == journal.Notification && e.Dir == journal.In && e.Hop == "":
			body, err := s.journal.Body(e.Seq)
			if err != nil {
				continue
			}
			if s.Emit != nil && s.EmitErr == nil {
				s.EmitErr = s.Emit(e.Method, body)
			} else if s.logs && e.Method == "notifications/message" {
				s.WriteLine(logLine(body))
			}
		}
	}
}

// Write passes on what a server wrote to its stderr: on a terminal made harmless, elsewhere byte for byte.
func (s *Side) Write(b []byte) (int, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.deaf {
		return len(b), nil
	}
	s.Clear()
	if s.Tty {
		_, _ = io.WriteString(s.Err, safe.Text(string(b)))
	} else {
		_, _ = s.Err.Write(b)
	}
	if len(b) > 0 {
		s.partial = b[len(b)-1] != '\n'
	}
	// A closed stderr of ours must not look to the server like one of its own.
	return len(b), nil
}

// Deafen passes on nothing more of what the server writes, which is in the journal all the same.
func (s *Side) Deafen() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.deaf = true
}

// WriteLine puts a line on stderr.
func (s *Side) WriteLine(line string) {
	s.Clear()
	s.endLine()
	if s.Tty {
		line = safe.Text(line)
	}
	_, _ = io.WriteString(s.Err, line+"\n")
}

func (s *Side) endLine() {
	if s.partial {
		_, _ = io.WriteString(s.Err, "\n")
		s.partial = false
	}
}

// Warn writes a message of mcphud itself to stderr.
func (s *Side) Warn(msg string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.WriteLine("mcphud: " + msg)
}

// Ask writes a question to stderr, which is a terminal; its answer ends the line.
func (s *Side) Ask(q string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Drain()
	s.Clear()
	s.endLine()
	_, _ = io.WriteString(s.Err, safe.Text(q))
}

// Report takes a call's progress. It only keeps the latest: a server may send 10,000 a second.
func (s *Side) Report(p rpc.Progress) {
	if !s.Tty {
		return
	}
	s.Mu.Lock()
	s.progress = &p
	s.Mu.Unlock()
}

func (s *Side) draw() {
	if s.progress == nil {
		return
	}
	_, _ = fmt.Fprintf(s.Err, "\r\x1b[K%s", safe.Line(progressText(*s.progress), 78))
	s.progress, s.Drawn = nil, true
}

// Picture draws lines of ours that stay where they are, in the place of those of before; what is written meanwhile comes above them.
func (s *Side) Picture(lines []string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Drain()
	s.Clear()
	s.endLine()
	_, _ = io.WriteString(s.Err, strings.Join(lines, "\n")+"\n")
	s.lines = len(lines)
}

// Clear removes the line of progress.
func (s *Side) Clear() {
	if s.lines > 0 {
		_, _ = fmt.Fprintf(s.Err, "\x1b[%dA\r\x1b[J", s.lines)
		s.lines = 0
	}
	if s.Drawn {
		_, _ = io.WriteString(s.Err, "\r\x1b[K")
		s.Drawn = false
	}
}

// plain writes text of ours to stderr as it is: a URL that has to be copied is not broken or marked.
func (s *Side) plain(text string) {
	if s.Tty {
		text = safe.Text(text)
	}
	s.Raw(text)
}

// Raw writes what acts on the terminal.
func (s *Side) Raw(text string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Clear()
	s.endLine()
	_, _ = io.WriteString(s.Err, text)
}

// Stream makes notifications the command's output, in every format.
func (s *Side) Stream(emit func(method string, frame []byte) error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Drain()
	s.Emit = emit
}

// Broken is the error that ended the output of notifications, nil if none did.
func (s *Side) Broken() error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Drain()
	return s.EmitErr
}

// Finish writes what came before the answer; from now on nothing but the answer goes to stdout.
func (s *Side) Finish() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Drain()
	s.Emit, s.progress = nil, nil
	s.Clear()
}

// Stop writes what is left and ends. The journal must not be closed before.
func (s *Side) Stop() {
	close(s.quit)
	s.done.Wait()
	s.Finish()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.endLine() // an error line must be a line of its own
}

// progressText is a line such as "3/10 (30 %) step 3 of 10".
func progressText(p rpc.Progress) string {
	out := ""
	switch {
	case p.HasTotal && p.Total > 0:
		out = fmt.Sprintf("%g/%g (%.0f %%)", p.Progress, p.Total, 100*p.Progress/p.Total)
	case p.Progress != 0 || p.Message == "": // a task has no number
		out = fmt.Sprintf("%g", p.Progress)
	}
	return strings.TrimSpace(out + " " + p.Message)
}

// logLine is a log message as one line: level, logger, data.
func logLine(frame []byte) string {
	var level, logger, data string
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return string(frame)
	}
	_ = jsonrpc.Members(env.Params, func(key string, value []byte) bool {
		switch key {
		case "level":
			level, _ = jsonrpc.String(value)
		case "logger":
			logger, _ = jsonrpc.String(value)
		case "data":
			var ok bool
			if data, ok = jsonrpc.String(value); !ok {
				data = string(output.OneLine(value))
			}
		}
		return true
	})
	if logger != "" {
		level += " " + logger
	}
	return level + ": " + data
}
