package wrap

import (
	"bytes"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// tailBytes is how much of the end of a truncated frame is kept: ids are often there.
const tailBytes = 256

// classifyFrom is the length from which a frame is classified here, since the tap may truncate it.
const classifyFrom = 4 << 10

// splitter makes entries of the lines of a stream.
type splitter struct {
	p     *tap.Producer
	entry journal.Entry // template of its entries
	buf   []byte        // the line so far, up to tap.MaxBody
	tail  []byte        // the end of what is not in buf
	size  int           // bytes of the line so far
	lost  bool          // bytes are missing; skip to the next line end
}

// skip notes that bytes are missing.
func (s *splitter) skip() {
	s.reset()
	s.lost = true
}

func (s *splitter) reset() {
	s.size, s.tail, s.lost = 0, s.tail[:0], false
	if s.buf = s.buf[:0]; cap(s.buf) > 64<<10 {
		s.buf = nil
	}
}

func (s *splitter) feed(b []byte, at time.Time) {
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			s.keep(b)
			return
		}
		s.keep(b[:n])
		s.line(at, "")
		b = b[n+1:]
	}
}

func (s *splitter) keep(b []byte) {
	if s.lost {
		return
	}
	s.size += len(b)
	fits := min(len(b), tap.MaxBody-len(s.buf))
	s.buf = append(s.buf, b[:fits]...)
	if b = b[fits:]; len(b) > tailBytes {
		s.tail = append(s.tail[:0], b[len(b)-tailBytes:]...)
	} else if len(b) > 0 {
		s.tail = append(s.tail, b...)
		s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-tailBytes):]...)
	}
}

// end makes an entry of what came after the last line end.
func (s *splitter) end(at time.Time) { s.line(at, "stream ended within this line") }

func (s *splitter) line(at time.Time, note string) {
	defer s.reset()
	body, size := s.buf, s.size
	if size == len(body) && bytes.HasSuffix(body, []byte("\r")) {
		body, size = body[:size-1], size-1
	}
	if s.lost || size == 0 || size == len(body) && len(bytes.TrimSpace(body)) == 0 {
		return
	}
	e := s.entry
	e.Time = at
	cut := size > len(body)
	switch first := bytes.TrimLeft(body, " \t"); {
	case e.Kind != 0:
	case cut || size > classifyFrom && len(first) > 0 && first[0] != '[' || note != "":
		e = tap.Classify(e, body, s.tail, cut, "")
	}
	if note != "" && (e.Kind == journal.Bad || e.Kind == journal.Stderr) {
		e.Note = note
	}
	s.p.AppendPart(e, body, size)
}
