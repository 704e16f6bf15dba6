package stack

import (
	"bufio"
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// LogBounds limits the output of a process that is kept.
type LogBounds struct {
	Lines int // default 2,000
	Bytes int // default 512 KiB
	Line  int // bytes of one line; default 8 KiB; the rest is cut off
}

func (b *LogBounds) complete() {
	b.Lines = cmp.Or(b.Lines, 2000)
	b.Bytes = cmp.Or(b.Bytes, 512<<10)
	b.Line = cmp.Or(b.Line, 8<<10)
}

// Streams of a log.
const (
	Stdout = "stdout"
	Stderr = "stderr"
	Note   = "stack" // events of the process
)

// Line is one line of a process' output, unsanitised.
type Line struct {
	Seq    uint64 // number of the line, from 1 on
	Time   time.Time
	Stream string // Stdout, Stderr or Note
	Text   string
}

// ring keeps the newest lines.
type ring struct {
	bounds LogBounds

	mu    sync.Mutex
	lines []Line // the oldest first
	bytes int
	seq   uint64
}

func (r *ring) add(stream, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	r.lines = append(r.lines, Line{r.seq, time.Now(), stream, text})
	r.bytes += len(text)
	drop := 0
	for len(r.lines)-drop > r.bounds.Lines || r.bytes > r.bounds.Bytes && len(r.lines)-drop > 1 {
		r.bytes -= len(r.lines[drop].Text)
		r.lines[drop] = Line{}
		drop++
	}
	r.lines = r.lines[drop:] // append moves the rest to a new array now and then
}

// after returns the lines that are newer than seq.
func (r *ring) after(seq uint64) []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.lines)
	if fresh := r.seq - min(seq, r.seq); fresh < uint64(n) {
		n = int(fresh)
	}
	return append([]Line(nil), r.lines[len(r.lines)-n:]...)
}

// readLines calls f with each line of in, without its end and cut to most bytes, until in ends.
func readLines(in io.Reader, most int, f func(string)) {
	r := bufio.NewReader(in)
	var line []byte // up to one byte more than what is kept of it
	for {
		part, more, err := r.ReadLine()
		if err != nil {
			if len(line) > 0 { // the last one has no end
				f(text.Clip(string(line), most))
			}
			return
		}
		line = append(line, part[:min(len(part), most+1-len(line))]...)
		if more {
			continue
		}
		f(text.Clip(string(line), most))
		line = line[:0]
	}
}
