package transport

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/diagnosis"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const (
	stderrLine = 64 << 10 // longer lines are journalled in pieces
	stderrShow = 10       // last lines shown of one that is starting still, or had answered
	stderrClip = 500      // bytes of each line that is kept
)

// stderrLog journals what a child writes to stderr, line by line, and remembers the end of it.
type stderrLog struct {
	tap  Tap
	pass io.Writer           // gets it as it comes; nil for nobody
	hide func([]byte) []byte // replaces the token that the child was started with
	set  func(string) bool   // the variables that the child has

	mu   sync.Mutex // guards the two below
	kept []string   // the last diagnosis.Lines lines that are not blank, as valid UTF-8, oldest first
	late int        // how many of kept, the last ones, came after the child's last output
}

// run reads to the end of stderr. A line longer than the buffer is taken in pieces; the reader's own buffer is reused, so each is copied.
func (l *stderrLog) run(r io.Reader) {
	b := bufio.NewReaderSize(r, stderrLine)
	for {
		line, err := b.ReadSlice('\n')
		if len(line) > 0 {
			line = l.hide(line)
			if l.pass != nil {
				_, _ = l.pass.Write(line) // a terminal that is gone must not stop the server
			}
			l.line(bytes.Clone(bytes.TrimRight(line, "\r\n")))
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// line records one line, and keeps the beginning of it for people. The journal owns line from here on.
func (l *stderrLog) line(line []byte) {
	l.tap.Append(journal.Entry{Dir: journal.In, Kind: journal.Stderr}, line)
	s := strings.TrimSpace(text.Clip(diagnosis.Plain(string(line[:min(len(line), 4*stderrClip)])), stderrClip))
	if s == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == diagnosis.Lines {
		l.kept = append(l.kept[:0], l.kept[1:]...)
	}
	l.kept = append(l.kept, strings.ToValidUTF8(s, "\uFFFD"))
	l.late = min(l.late+1, diagnosis.Lines)
}

// noteAlive notes that the child went on after what it wrote so far: none of that is why it ended.
func (l *stderrLog) noteAlive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = 0
}

// lastWords finds why the child ended in what it wrote after its last output.
func (l *stderrLog) lastWords() diagnosis.Reason {
	l.mu.Lock()
	late := slices.Clone(l.kept[len(l.kept)-l.late:])
	l.mu.Unlock()
	return diagnosis.Explain(late, l.set)
}

// reason finds in what was kept why the child became no server.
func (l *stderrLog) reason() diagnosis.Reason {
	l.mu.Lock()
	kept := slices.Clone(l.kept)
	l.mu.Unlock()
	return diagnosis.Explain(kept, l.set) // looks at files, for which what the child writes must not wait
}

// last is the end of stderr, without the stack frames of JavaScript.
func (l *stderrLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	show := make([]string, 0, stderrShow)
	for _, line := range slices.Backward(l.kept) {
		if !diagnosis.StackFrame(line) {
			show = append(show, line)
		}
		if len(show) == stderrShow {
			break
		}
	}
	slices.Reverse(show)
	return strings.Join(show, "\n")
}
