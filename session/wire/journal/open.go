package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Loading says how much of its file an opened journal has read.
type Loading struct {
	Read, Total int64 // bytes
	Done        bool  // the end was reached; what is appended to the file later is read as well
	Broken      int   // lines that are not lines of a journal; they are entries of kind Bad
	Err         error // why reading ended before the end
}

// ErrNotAJournal is wrapped by the error of Open for a file that does not begin like a journal.
var ErrNotAJournal = errors.New("not a journal file")

const (
	maxOpened   = 8_000_000       // entries of a file that are kept, unless Options say otherwise
	maxHeadLine = 64 << 10        // bytes of a line in which its metadata is searched, where the line is longer than the buffer
	loadBuffer  = 4 << 20         // lines up to this length are read whole
	loadBatch   = 256             // entries that are added under one lock
	growth      = time.Second / 4 // between looks at a file for what was appended
	loaded      = ^uint32(0)      // number of the segment that is the opened file
)

// Open shows a journal file (Options.File, AppendLine) as a journal. It returns once the first entries are there; the rest is
// read in the background, and so is what another process appends to the file later. Bodies stay in the file until they are asked for. Links
// are made anew, so that a file of several runs, a part of a file, or an edited one is linked as far as it goes. Entries can be
// appended, and do not change the file. The caller closes it.
//
// The error wraps ErrNotAJournal for a file of something else; others are those of the file system.
func Open(path string, o Options) (*Journal, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	if o.Entries <= 0 {
		o.Entries = maxOpened
	}
	j := New(o)
	l := &loader{j: j, done: make(chan struct{}), ready: make(chan struct{}), in: bufio.NewReaderSize(f, loadBuffer)}
	l.seg.f, l.seg.keep = f, true
	l.Total = fi.Size()
	j.from = l
	go l.run()
	select {
	case <-l.ready:
	case <-l.done:
		if err := l.loading().Err; err != nil && l.good == 0 {
			_ = j.Close()
			return nil, err
		}
	}
	return j, nil
}

// Loaded says how far the file was read that the journal was opened from; it is done for a journal without one.
func (j *Journal) Loaded() Loading {
	if j.from == nil {
		return Loading{Done: true}
	}
	return j.from.loading()
}

// loader reads a journal file into a journal, on a goroutine of its own, which alone has what is not guarded by mu.
type loader struct {
	j     *Journal
	seg   segment // the file, as one whose bodies are read where they stand
	in    *bufio.Reader
	ready chan struct{} // closed when the first screens of entries are there
	done  chan struct{} // closed when the reader ended

	mu sync.Mutex // guards Loading, which others ask for; never held together with the journal's
	Loading

	batch []found // lines that are not in the journal yet; they refer to the buffer of in, and are flushed before that moves
	run0  uint64  // counts the runs that wrote into the file: a Seq that is not larger than the last begins one
	last  uint64  // Seq of the last line, as it is there
	good  int     // lines that were entries; Open reads it once done is closed
}

// found is a line on its way into the journal.
type found struct {
	line Line
	text []byte // of the line, in the reader's buffer
	off  int64  // of the line
	bad  error
	long int // bytes of a line of which text is only the beginning; 0 for others
}

func (l *loader) loading() Loading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Loading
}

func (l *loader) close() {
	<-l.done
	l.seg.close()
}

// isStopped reports whether the journal is closed, after which nobody wants the rest of the file.
func (l *loader) isStopped() bool {
	select {
	case <-l.j.stop:
		return true
	default:
		return false
	}
}

// run reads until the journal is closed.
func (l *loader) run() {
	defer close(l.done)
	err := l.read()
	l.mu.Lock()
	l.Err = err
	l.Done = true
	l.mu.Unlock()
	if err != nil && l.good > 0 {
		l.j.Append(Entry{Kind: State, Note: err.Error()}, nil)
	}
	l.j.notifyChange()
}

// firstLines is how many entries are there before Open returns; tooBroken is how many broken lines a file may begin with.
const (
	firstLines = 512
	tooBroken  = 20
)

// read reads lines and what is appended to them, until the journal is closed (nil) or the file cannot be read any further. Of a last line
// without a line feed nothing is taken: another process is writing it, and it is read again from its beginning.
func (l *loader) read() error {
	var off int64
	first := true
	announce := func() {
		if first {
			close(l.ready)
			first = false
		}
	}
	for n := 0; ; n++ {
		if n%1024 == 1023 && l.isStopped() {
			return nil
		}
		text, size, err := l.next(off)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("cannot read the journal beyond byte %d: %w", off, err)
		}
		if errors.Is(err, io.EOF) && (len(text) == 0 || text[len(text)-1] != '\n') {
			// The last line is not complete: it is being written, or was cut.
			l.flush(off)
			if l.good == 0 && (len(text) > 0 || l.Broken > 0) {
				return fmt.Errorf("%w: no line of it is an entry", ErrNotAJournal)
			}
			l.end(off)
			announce()
			if !l.wait(off) {
				return nil
			}
			continue
		}
		if err := l.line(text, off, size); err != nil {
			return err
		}
		off += size
		if len(l.batch) >= loadBatch || size > loadBuffer || l.in.Buffered() == 0 {
			l.flush(off)
		}
		if l.good >= firstLines {
			announce()
		}
	}
}

// next is the line at an offset with its line feed. Of a line beyond the buffer it is the beginning, and size is that of the whole.
// At the end of the file the error is io.EOF.
func (l *loader) next(off int64) (text []byte, size int64, err error) {
	if l.in.Buffered() == 0 || bytes.IndexByte(l.peek(), '\n') < 0 {
		l.flush(off) // what follows moves the buffer, which the batch refers to
	}
	text, err = l.in.ReadSlice('\n')
	size = int64(len(text))
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, size, err
	}
	text = bytes.Clone(text[:maxHeadLine])
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = l.in.ReadSlice('\n')
		size += int64(len(more))
	}
	if err == nil {
		text = append(text, '\n')
	}
	return text, size, err
}

// peek is what of the file is in the buffer and was not taken yet.
func (l *loader) peek() []byte {
	b, _ := l.in.Peek(l.in.Buffered())
	return b
}

// line takes in a line of size bytes, of which text may be the beginning.
func (l *loader) line(text []byte, off, size int64) error {
	text = bytes.TrimRight(text, "\r\n")
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	f := found{text: text, off: off}
	if size > loadBuffer {
		f.long = int(size)
		f.line, f.bad = parseLong(text, size)
	} else {
		f.line, f.bad = ParseLine(text)
	}
	if f.bad != nil {
		l.mu.Lock()
		l.Broken++
		l.mu.Unlock()
		if l.good == 0 && l.Broken >= tooBroken {
			return fmt.Errorf("%w: its first %d lines are not entries: %w", ErrNotAJournal, l.Broken, f.bad)
		}
	} else {
		l.good++
	}
	l.batch = append(l.batch, f)
	return nil
}

// parseLong reads a line of which only the beginning is there: its body is the rest.
func parseLong(text []byte, size int64) (Line, error) {
	for _, name := range []string{`,"frame":`, `,"text":`, `,"base64":`} {
		i := bytes.Index(text, []byte(name))
		if i < 0 {
			continue
		}
		l, err := ParseLine(append(bytes.Clone(text[:i]), '}'))
		l.at = i + len(name)
		l.enc = map[string]encoding{`,"frame":`: plain, `,"text":`: quoted, `,"base64":`: base}[name]
		return l, err
	}
	return Line{}, fmt.Errorf("%w: a line of %d bytes without a body", ErrLine, size)
}

// flush adds the batch to the journal.
func (l *loader) flush(off int64) {
	if len(l.batch) == 0 {
		return
	}
	j := l.j
	j.mu.Lock()
	for i := range l.batch {
		l.add(&l.batch[i])
	}
	j.mu.Unlock()
	l.batch = l.batch[:0]
	l.mu.Lock()
	l.Read = off
	l.mu.Unlock()
	j.notifyChange()
}

// add adds one entry, with the journal's lock held. It has no body in memory, but a place in the file: the record names the loaded segment, and
// size is what the body has once decoded.
func (l *loader) add(it *found) {
	e := l.entry(it)
	var body []byte
	switch { // what links need
	case it.bad != nil:
	case it.line.enc == plain:
		body = it.line.body
	case e.Kind == HTTP && e.Trace == "":
		body, _ = it.line.Body() // what cannot be decoded says nothing
	}
	r := l.j.add(&e, prepare(&e, body), nil)
	switch {
	case it.bad != nil && it.long == 0:
		r.seg, r.off, r.stored, r.size = loaded, it.off, uint32(len(it.text)), uint32(len(it.text))
	case it.bad == nil && (it.line.body != nil || it.long > 0):
		stored := len(it.line.body)
		if it.long > 0 {
			stored = it.long - it.line.at - len("}\n")
		}
		r.seg, r.off, r.stored, r.enc = loaded, it.off+int64(it.line.at), uint32(stored), it.line.enc
		switch {
		case r.enc == plain:
			r.size = r.stored
		case r.size == 0:
			body, _ := it.line.Body()
			r.size = uint32(len(body))
		}
	default:
		r.size = 0
	}
}

// entry is what a line says, with what is known only here. Numbers of entries are those of this journal: Seq is given by add, Peer is
// translated where the caller of Append gave it, and is left to link otherwise. Connections of different runs must not be taken for one, so
// that the upper 16 bits of Conn count the runs.
func (l *loader) entry(f *found) Entry {
	switch {
	case f.bad != nil:
		return Entry{Kind: Bad, Note: f.bad.Error(), Size: len(f.text), Time: l.time()}
	case f.line.Missing > 0:
		return Entry{Kind: State, Note: fmt.Sprintf("%d entries are missing here", f.line.Missing), Time: l.time()}
	}
	e := f.line.Entry
	if e.Seq != 0 && e.Seq <= l.last {
		l.run0++ // another run, whose connections are others
	}
	l.last = e.Seq
	if e.Conn != 0 || e.ID != "" {
		e.Conn |= l.run0 << 48
	}
	e.Size = max(e.Size, 0)
	if _, ok := e.Annotation(); ok {
		e.Peer = l.findAnnotated(&e)
	} else if e.Kind == HTTP && e.Peer != 0 && e.Peer < e.Seq {
		e.Peer = l.j.store.last() + 1 - (e.Seq - e.Peer)
		if r := l.j.store.rec(e.Peer); r == nil || r.kind != HTTP || r.dir != Out { // a file from which lines were taken
			e.Peer = 0
		}
	} else {
		e.Peer = 0
	}
	if e.Kind <= ErrorResponse {
		e.Took = 0 // links find it
		if e.Kind == Request {
			e.Status = ""
		}
	}
	return e
}

// time is that of the newest entry, for lines that have none.
func (l *loader) time() time.Time {
	if r := l.j.store.rec(l.j.store.last()); r != nil {
		return time.Unix(0, r.wall)
	}
	return time.Now()
}

// end notes that everything was read.
func (l *loader) end(off int64) {
	l.mu.Lock()
	l.Read, l.Done = off, true
	l.Total = max(l.Total, off)
	l.mu.Unlock()
	l.j.notifyChange()
}

// wait returns true when the file has grown beyond an offset, at which reading goes on, and false when the journal is closed.
func (l *loader) wait(off int64) bool {
	look := time.NewTicker(growth)
	defer look.Stop()
	fi, err := l.seg.f.Stat()
	if err != nil {
		return false
	}
	was := fi.Size()
	for {
		select {
		case <-l.j.stop:
			return false
		case <-look.C:
		}
		fi, err := l.seg.f.Stat()
		switch {
		case err != nil:
			return false
		case fi.Size() < off:
			l.j.Append(Entry{Kind: State, Note: "the file became shorter: open it again to read it anew"}, nil)
			return false
		case fi.Size() == was:
			continue
		}
		if _, err := l.seg.f.Seek(off, io.SeekStart); err != nil {
			return false
		}
		l.mu.Lock()
		l.Total = fi.Size()
		l.mu.Unlock()
		l.in.Reset(l.seg.f)
		return true
	}
}
