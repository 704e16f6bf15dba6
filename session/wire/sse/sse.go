// Package sse reads and writes streams of server-sent events as the HTML standard defines them
// (https://html.spec.whatwg.org/multipage/server-sent-events.html), with bounded memory and without copying large events around.
//
// MCP uses them in the answers of Streamable HTTP
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http) and for the whole of the older HTTP+SSE.
// [Reader] is for clients, [Writer] for servers.
package sse

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one event. Data is not shared with the Reader: whoever got it may keep it and change it. MCP has one message in each event.
type Event struct {
	Name     string // "message" if the server gave none
	Data     []byte // lines joined with \n; never empty, since the standard drops events without data
	Streamed bool   // the data was written where [Reader.Stream] said, and Data is nil
}

// TooLongError is an event above the limit. Unless Fatal, the rest of it was skipped and the stream can be read on.
type TooLongError struct {
	Limit      int64
	Head, Tail []byte // the beginning and, unless Fatal, the end of its data, at most 4 KiB each
	Fatal      bool   // it did not end within the bytes that may be skipped
}

// Error names the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("a server-sent event is larger than %d bytes", e.Limit)
}

const (
	bufferSize = 64 << 10
	edge       = 4 << 10 // bytes of an oversize event that are kept at either end
)

// Reader takes events from a stream. It is not safe for concurrent use.
type Reader struct {
	// Set by NewReader and Reset.
	r       io.Reader
	max     int64 // bytes of data that an event may have
	maxSkip int64 // further bytes that may be thrown away to find the end of a larger one

	buf    []byte
	i, n   int   // buf[i:n] is unread
	err    error // of r, reported when all that came before it is read
	bom    bool  // the start of the stream was looked at
	cut    bool  // the stream ended inside a long data line
	skipLF bool  // the last line ended in \r: a \n belongs to it

	// The event that is being read; dispatch starts a new one.
	name    string
	data    data
	lines   int                         // data lines of the event so far
	over    bool                        // the event is above max
	skipped int64                       // bytes of it that were thrown away
	head    []byte                      // the beginning of its data, for TooLongError
	tail    []byte                      // the end so far
	stream  func(head []byte) io.Writer // set by Stream
	sink    io.Writer                   // of the event above max; nil where it is thrown away

	// id is what the event says, lastID what the standard calls the last event ID: id once its event is complete.
	id, lastID string
	retry      time.Duration // negative until the server sets it
}

// NewReader returns a Reader of r. Events with more than max bytes of data give a TooLongError; up to maxSkip further
// bytes are then read and thrown away to find the end of the event.
func NewReader(r io.Reader, max, maxSkip int64) *Reader {
	return &Reader{r: r, max: max, maxSkip: maxSkip, buf: make([]byte, bufferSize), retry: -1}
}

// Reset makes the Reader read another stream, with the limits and the buffer that it has. LastID, Retry and Stream begin anew: keep what
// the next request needs.
func (r *Reader) Reset(from io.Reader) {
	*r = Reader{r: from, max: r.max, maxSkip: r.maxSkip, buf: r.buf, retry: -1}
}

// Stream makes the Reader ask where to write the data of an event above the limit, as it comes, given the data up to about
// the limit. Where the answer is nil the event is a TooLongError as it is without. An error of the writer ends the stream.
func (r *Reader) Stream(to func(head []byte) io.Writer) { r.stream = to }

// LastID is the last event ID, "" if there is none. An event without data may set it.
func (r *Reader) LastID() string { return r.lastID }

// Retry is the reconnection time that the server asked for; false if it did not.
func (r *Reader) Retry() (time.Duration, bool) { return r.retry, r.retry >= 0 }

// Next returns the next event that has data. At the end it returns io.EOF, or the error of the stream; with
// io.ErrUnexpectedEOF the event holds what came of a line that was cut. An event whose lines are complete and that
// only lacks the blank line after it is still delivered, but does not move LastID.
func (r *Reader) Next() (Event, error) {
	for {
		line, long, err := r.line()
		switch {
		case err != nil:
			return r.finish(line, err)
		case long:
			if err := r.longLine(line); err != nil {
				return Event{}, err
			}
		case len(line) == 0:
			r.lastID = r.id
			if ev, ok, err := r.dispatch(); ok || err != nil {
				return ev, err
			}
		default:
			if err := r.field(line); err != nil {
				return Event{}, err
			}
		}
	}
}

// dispatch ends the event at its blank line, and returns it; false for one without data, which the standard drops.
func (r *Reader) dispatch() (Event, bool, error) {
	name, over, lines, sink := r.name, r.over, r.lines, r.sink
	r.name, r.lines, r.over, r.skipped, r.sink = "", 0, false, 0, nil
	// The data went where Stream said: only its name is left to tell.
	if sink != nil {
		return Event{Name: cmp.Or(name, "message"), Streamed: true}, true, nil
	}
	if over {
		err := &TooLongError{Limit: r.max, Head: r.head, Tail: r.tail}
		r.head, r.tail = nil, nil
		return Event{}, false, err
	}
	d := r.data.take()
	if lines == 0 || len(d) == 0 {
		return Event{}, false, nil
	}
	return Event{Name: cmp.Or(name, "message"), Data: d}, true, nil
}

// finish handles the end of the stream; rest is a line that does not end.
func (r *Reader) finish(rest []byte, err error) (Event, error) {
	if err == io.EOF && (r.cut || bytes.HasPrefix(rest, []byte("data"))) {
		if f := r.field(rest); f != nil {
			return Event{}, f
		}
		err = io.ErrUnexpectedEOF
	}
	r.i, r.n = 0, 0
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return Event{}, err
	}
	ev, ok, over := r.dispatch()
	if over != nil {
		return Event{}, over
	}
	if ok && err == io.EOF {
		return ev, nil
	}
	return ev, err
}

// line returns the next line without its end, valid until the next call. long says that it is only the beginning of
// a line that fills the buffer.
func (r *Reader) line() (line []byte, long bool, err error) {
	from := r.i // where to search on
	for {
		if e := lineEnd(r.buf[from:r.n]); e >= 0 {
			e += from
			line = r.buf[r.i:e]
			r.endLine(e)
			return line, false, nil
		}
		from = r.n
		if r.i > 0 {
			copy(r.buf, r.buf[r.i:r.n])
			r.n -= r.i
			from -= r.i
			r.i = 0
		}
		if r.n == len(r.buf) {
			line = r.buf[:r.n]
			r.i, r.n = 0, 0
			return line, true, nil
		}
		if r.err != nil {
			return r.buf[:r.n], false, r.err
		}
		r.fill()
		from = max(from, r.i)
	}
}

// endLine moves behind the line end at e.
func (r *Reader) endLine(e int) {
	r.bom = true
	r.skipLF = r.buf[e] == '\r'
	r.i = e + 1
	r.dropLF()
}

// dropLF skips the \n of a \r\n whose \r ended the last line. It may come with a later read, so that no line waits for it.
func (r *Reader) dropLF() {
	if r.skipLF && r.i < r.n {
		if r.buf[r.i] == '\n' {
			r.i++
		}
		r.skipLF = false
	}
}

// fill reads more behind buf[:n].
func (r *Reader) fill() {
	var k int
	for tries := 0; k == 0 && r.err == nil; tries++ {
		// As bufio does: a reader that keeps returning nothing and no error would spin for ever.
		if tries == 100 {
			r.err = io.ErrNoProgress
			return
		}
		k, r.err = r.r.Read(r.buf[r.n:])
		r.n += k
	}
	if !r.bom && (r.n >= 3 || r.err != nil) {
		r.bom = true
		if bytes.HasPrefix(r.buf[:r.n], []byte("\xef\xbb\xbf")) {
			r.i = 3
		}
	}
	r.dropLF()
}

// lineEnd returns the index of the first \r or \n, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// field handles one whole line that is not empty.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if err := r.startData(); err != nil {
			return err
		}
		return r.add(value)
	case "event":
		r.name = string(value)
	case "id":
		// The standard ignores an id with a NUL, and a retry that is not all digits.
		if bytes.IndexByte(value, 0) < 0 {
			r.id = string(value)
		}
	case "retry":
		if n, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(n) * time.Millisecond
		}
	}
	return nil // comments and unknown fields
}

// startData begins a data line: the lines of an event are joined by a line feed.
func (r *Reader) startData() error {
	r.lines++
	if r.lines > 1 {
		return r.add([]byte{'\n'})
	}
	return nil
}

// add appends to the event's data, or counts what is thrown away.
func (r *Reader) add(p []byte) error {
	if !r.over && r.data.n+int64(len(p)) > r.max {
		if err := r.exceed(); err != nil {
			return err
		}
	}
	if r.over {
		return r.skip(p)
	}
	r.data.append(p)
	return nil
}

// exceed finds out what is to become of an event above the limit.
func (r *Reader) exceed() error {
	r.over = true
	if r.stream != nil {
		all := r.data.take()
		if r.sink = r.stream(all); r.sink != nil {
			_, err := r.sink.Write(all)
			return err
		}
		r.data.append(all)
	}
	r.head = r.data.head(edge)
	r.data = data{}
	return nil
}

// skip takes data of an event above the limit.
func (r *Reader) skip(p []byte) error {
	if r.sink != nil {
		_, err := r.sink.Write(p)
		return err
	}
	if len(r.head) < edge {
		r.head = append(r.head, p[:min(len(p), edge-len(r.head))]...)
	}
	if len(p) >= edge {
		r.tail = append(r.tail[:0], p[len(p)-edge:]...)
	} else {
		keep := r.tail[max(0, len(r.tail)+len(p)-edge):]
		r.tail = append(append(make([]byte, 0, 2*edge), keep...), p...)
	}
	r.skipped += int64(len(p))
	if r.skipped > r.maxSkip {
		return &TooLongError{Limit: r.max, Head: r.head, Fatal: true}
	}
	return nil
}

// longLine handles a line that fills the buffer: start is its beginning. The data of a long data line is read
// straight to where it stays; any other long line has no meaning and is dropped.
func (r *Reader) longLine(start []byte) error {
	value, isData := bytes.CutPrefix(start, []byte("data:"))
	var dropped int64
	if isData {
		if err := r.startData(); err != nil {
			return err
		}
		if err := r.add(bytes.TrimPrefix(value, []byte(" "))); err != nil {
			return err
		}
	}
	for {
		p := r.buf
		if isData && !r.over {
			p = r.data.space()
		}
		var k int
		if r.err == nil {
			k, r.err = r.r.Read(p)
		}
		if k == 0 && r.err != nil {
			r.cut = isData
			return nil // the next line reports it
		}
		e := lineEnd(p[:k])
		part := p[:k]
		if e >= 0 {
			part = p[:e]
		}
		switch {
		case !isData:
			if dropped += int64(len(part)); dropped > r.max+r.maxSkip {
				return &TooLongError{Limit: r.max, Fatal: true}
			}
		case !r.over && r.data.n+int64(len(part)) <= r.max:
			r.data.commit(len(part))
		default:
			if !r.over {
				if err := r.exceed(); err != nil {
					return err
				}
			}
			if err := r.skip(part); err != nil {
				return err
			}
		}
		if e >= 0 {
			r.n = copy(r.buf, p[:k])
			r.endLine(e)
			return nil
		}
	}
}
