package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

const (
	lineBuffer = 256 << 10 // what one read can take; a pipe holds 64 KiB to 1 MiB
	lineChunk  = 1 << 20   // what lines longer than that are collected in
	headBytes  = 4 << 10   // of a line that is not delivered, for Receiver.Broken
	tailBytes  = 512       // the same; an id that comes last is found in it
)

// lineReader splits a byte stream into frames, one a line. Each frame is copied once, from the read buffer into memory
// of its own, whatever its size: frames are kept by the journal and by callers, the buffers are not.
//
// Unless drop is set, the unfinished line is what full has, then buf[from:to]. A line above max is reported as Broken with its beginning and its end, and
// the next one is a frame again: one answer that is too large must not cost the connection.
type lineReader struct {
	max  int64 // bytes of a frame without its line end
	in   Receiver
	buf  []byte
	from int      // where the unfinished line starts in buf
	to   int      // where unread space starts in buf
	full [][]byte // earlier pieces of the unfinished line
	size int64    // of full, or of what was dropped
	drop bool     // the line is too long and skipped up to its end
	head []byte   // of the skipped line, at most headBytes
	tail []byte   // the last tailBytes of it so far
}

// newLineReader makes one whose frames have at most max bytes, config.DefaultMaxFrame for 0.
func newLineReader(max int64, in Receiver) *lineReader {
	if max <= 0 {
		max = config.DefaultMaxFrame
	}
	return &lineReader{max: max, in: in, buf: make([]byte, lineBuffer)}
}

// run reads until r ends, and returns nil for an orderly end.
func (l *lineReader) run(r io.Reader) error {
	for {
		n, err := r.Read(l.buf[l.to:])
		l.took(n)
		if err != nil {
			l.end()
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return err
		}
	}
}

// took splits what a read put at l.to.
func (l *lineReader) took(n int) {
	seen := l.to
	l.to += n
	for {
		k := bytes.IndexByte(l.buf[seen:l.to], '\n')
		if k < 0 {
			break
		}
		l.line(l.buf[l.from : seen+k])
		seen += k + 1
		l.from = seen
	}
	switch rest := l.to - l.from; {
	case rest == 0:
		l.from, l.to = 0, 0
	case l.drop || l.size+int64(rest) > l.max+1: // one more for a carriage return
		l.skip(l.buf[l.from:l.to])
		l.from, l.to = 0, 0
	case l.to < len(l.buf):
	case len(l.full) == 0 && rest <= len(l.buf)/2:
		copy(l.buf, l.buf[l.from:l.to])
		l.from, l.to = 0, rest
	default:
		l.full = append(l.full, l.buf[l.from:l.to])
		l.size += int64(rest)
		l.buf = make([]byte, lineChunk)
		l.from, l.to = 0, 0
	}
}

// line delivers the line whose last piece is last, which is part of the buffer.
func (l *lineReader) line(last []byte) {
	if l.drop {
		l.skip(last)
		l.tooLong()
		return
	}
	frame := make([]byte, 0, l.size+int64(len(last)))
	for _, piece := range l.full {
		frame = append(frame, piece...)
	}
	frame = append(frame, last...)
	l.full, l.size = nil, 0
	if n := len(frame); n > 0 && frame[n-1] == '\r' {
		frame = frame[:n-1]
	}
	if int64(len(frame)) > l.max {
		l.skip(frame)
		l.tooLong()
		return
	}
	if len(bytes.TrimSpace(frame[:min(len(frame), 64)])) > 0 || len(frame) > 64 {
		l.in.Frame(frame)
	}
}

// skip drops a piece of a line that is too long, keeping its beginning and its end.
func (l *lineReader) skip(piece []byte) {
	if !l.drop {
		l.drop = true
		pieces := append(l.full, piece)
		l.full, l.size = nil, 0
		for _, p := range pieces {
			l.skip(p)
		}
		return
	}
	l.size += int64(len(piece))
	l.head = append(l.head, piece[:min(len(piece), headBytes-len(l.head))]...)
	if len(piece) >= tailBytes {
		l.tail = append(l.tail[:0], piece[len(piece)-tailBytes:]...)
	} else {
		l.tail = append(l.tail, piece...)
		l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-tailBytes):]...)
	}
}

// tooLong reports the dropped line and starts afresh.
func (l *lineReader) tooLong() {
	err := frameTooLarge(l.size, l.max)
	head, tail := l.head, bytes.TrimRight(l.tail, "\r")
	l.drop, l.size, l.head, l.tail = false, 0, nil, nil
	l.in.Broken(head, tail, err)
}

// NoLineEnd is in the error of a frame that no line end followed.
const NoLineEnd = "without a line end"

// end reports a line without an end.
func (l *lineReader) end() {
	if l.drop {
		l.tooLong()
		return
	}
	if rest := l.buf[l.from:l.to]; l.size+int64(len(rest)) > 0 {
		l.skip(rest)
		n, head, tail := l.size, l.head, l.tail
		l.drop, l.size, l.head, l.tail, l.from, l.to = false, 0, nil, nil, 0, 0
		l.in.Broken(head, tail, &failure.Error{
			Kind: failure.Protocol, Message: fmt.Sprintf("the output ended after %d bytes of a frame, %s", n, NoLineEnd),
			Next: "reconnect", Err: io.ErrUnexpectedEOF,
		})
	}
}

// frameTooLarge says that a frame is above the limit, and how to raise it. size may be a lower bound: nobody reads on only to count.
func frameTooLarge(size, max int64) *failure.Error {
	return &failure.Error{
		Kind:    failure.Protocol,
		Message: fmt.Sprintf("a frame of %d bytes is larger than the limit of %d bytes (%s)", size, max, text.Bytes(max)),
		Next:    "raise the limit", Remedy: failure.RaiseFrameLimit,
	}
}
