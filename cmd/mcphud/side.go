package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/safe"
)

const progressEvery = 100 * time.Millisecond

// side prints what a server sends besides the answer: its stderr; with --log-level its log messages, on stderr as well; in the jsonl
// format all notifications on stdout, one line each, until the answer is printed. It also draws the progress line when stderr
// is a terminal.
type side struct {
	journal *journal.Journal
	err     *os.File
	tty     bool // err is a terminal
	logs    bool

	mu       sync.Mutex                              // held while writing
	emit     func(method string, frame []byte) error // takes notifications; nil once the answer is being printed
	emitErr  error
	since    uint64
	progress *rpc.Progress // to be drawn, nil if none
	drawn    bool
	lines    int  // of the picture that is on the terminal
	deaf     bool // what the server writes is not passed on any more
	partial  bool // the last line on stderr has no end yet

	wake chan struct{}
	quit chan struct{}
	done sync.WaitGroup
}

func newSide(j *journal.Journal, err *os.File, out *printer, logs bool) *side {
	s := &side{journal: j, err: err, tty: terminal(err), logs: logs, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	if out.format == formatJSONL {
		s.emit = out.notification
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

func (s *side) run() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	if !s.tty {
		tick.Stop()
	}
	for {
		select {
		case <-s.wake:
			s.mu.Lock()
			s.drain()
			s.mu.Unlock()
		case <-tick.C:
			s.mu.Lock()
			s.draw()
			s.mu.Unlock()
		case <-s.quit:
			return
		}
	}
}

// drain writes what the journal got since the last time.
func (s *side) drain() {
	for _, e := range s.journal.Snapshot(s.since, nil) {
		s.since = e.Seq
		switch {
		case e.Kind == journal.Notification && e.Dir == journal.In && e.Hop == "":
			body, err := s.journal.Body(e.Seq)
			if err != nil {
				continue
			}
			if s.emit != nil && s.emitErr == nil {
				s.emitErr = s.emit(e.Method, body)
			} else if s.logs && e.Method == "notifications/message" {
				s.write(logLine(body))
			}
		}
	}
}

// Write passes on what a server wrote to its stderr: on a terminal made harmless, elsewhere byte for byte.
func (s *side) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deaf {
		return len(b), nil
	}
	s.clear()
	if s.tty {
		_, _ = io.WriteString(s.err, safe.Text(string(b)))
	} else {
		_, _ = s.err.Write(b)
	}
	if len(b) > 0 {
		s.partial = b[len(b)-1] != '\n'
	}
	// A closed stderr of ours must not look to the server like one of its own.
	return len(b), nil
}

// deafen passes on nothing more of what the server writes, which is in the journal all the same.
func (s *side) deafen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = true
}

// write puts a line on stderr.
func (s *side) write(line string) {
	s.clear()
	s.endLine()
	if s.tty {
		line = safe.Text(line)
	}
	_, _ = io.WriteString(s.err, line+"\n")
}

func (s *side) endLine() {
	if s.partial {
		_, _ = io.WriteString(s.err, "\n")
		s.partial = false
	}
}

// warn writes a message of mcphud itself to stderr.
func (s *side) warn(msg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write("mcphud: " + msg)
}

// ask writes a question to stderr, which is a terminal; its answer ends the line.
func (s *side) ask(q string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	s.clear()
	s.endLine()
	_, _ = io.WriteString(s.err, safe.Text(q))
}

// report takes a call's progress. It only keeps the latest: a server may send 10,000 a second.
func (s *side) report(p rpc.Progress) {
	if !s.tty {
		return
	}
	s.mu.Lock()
	s.progress = &p
	s.mu.Unlock()
}

func (s *side) draw() {
	if s.progress == nil {
		return
	}
	_, _ = fmt.Fprintf(s.err, "\r\x1b[K%s", safe.Line(progressText(*s.progress), 78))
	s.progress, s.drawn = nil, true
}

// picture draws lines of ours that stay where they are, in the place of those of before; what is written meanwhile comes above them.
func (s *side) picture(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	s.clear()
	s.endLine()
	_, _ = io.WriteString(s.err, strings.Join(lines, "\n")+"\n")
	s.lines = len(lines)
}

func (s *side) clear() {
	if s.lines > 0 {
		_, _ = fmt.Fprintf(s.err, "\x1b[%dA\r\x1b[J", s.lines)
		s.lines = 0
	}
	if s.drawn {
		_, _ = io.WriteString(s.err, "\r\x1b[K")
		s.drawn = false
	}
}

// plain writes text of ours to stderr as it is: a URL that has to be copied is not broken or marked.
func (s *side) plain(text string) {
	if s.tty {
		text = safe.Text(text)
	}
	s.raw(text)
}

// raw writes what acts on the terminal.
func (s *side) raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.endLine()
	_, _ = io.WriteString(s.err, text)
}

// stream makes notifications the command's output, in every format.
func (s *side) stream(emit func(method string, frame []byte) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	s.emit = emit
}

// broken is the error that ended the output of notifications, nil if none did.
func (s *side) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	return s.emitErr
}

// finish writes what came before the answer; from now on nothing but the answer goes to stdout.
func (s *side) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	s.emit, s.progress = nil, nil
	s.clear()
}

// stop writes what is left and ends. The journal must not be closed before.
func (s *side) stop() {
	close(s.quit)
	s.done.Wait()
	s.finish()
	s.mu.Lock()
	defer s.mu.Unlock()
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
				data = string(oneLine(value))
			}
		}
		return true
	})
	if logger != "" {
		level += " " + logger
	}
	return level + ": " + data
}
