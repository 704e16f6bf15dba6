package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const (
	maxLine  = 256 << 20 // bytes of a line, or of one element of a JSON file, that are read
	outBytes = 256 << 10 // written at once
	firstOut = 64        // entries after which the journal is opened
	keptBad  = 4 << 10   // bytes that are kept of a part that could not be read
)

// errClosed ends a conversion.
var errClosed = errors.New("the file was closed")

// converter reads a file of some format and writes journal lines to a temporary file.
type converter struct {
	name    string
	total   int64
	src     io.ReadCloser
	in      *bufio.Reader // of src, without compression
	format  Format
	out     *os.File
	buf     []byte
	seq     uint64
	newest  time.Time
	conns   map[string]uint64
	queue   queue
	read    atomic.Int64 // bytes of src
	written atomic.Int64
	ready   chan struct{} // closed once there is something in out
	once    sync.Once
	done    chan struct{}
	stopped atomic.Bool

	mu    sync.Mutex
	bad   int
	first error
	other int
	err   error
}

func newConverter(r io.ReadCloser, name string, total int64) (*converter, error) {
	out, err := os.CreateTemp("", "mcphud-open-*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("cannot make a temporary file for %s: %w", name, err)
	}
	c := &converter{name: name, total: total, src: r, out: out, conns: map[string]uint64{}, ready: make(chan struct{}), done: make(chan struct{})}
	c.in = bufio.NewReaderSize(counter{c}, outBytes)
	return c, nil
}

// counter counts what is read of a converter's file, and ends when that is closed.
type counter struct{ c *converter }

func (r counter) Read(p []byte) (int, error) {
	if r.c.stopped.Load() {
		return 0, errClosed
	}
	n, err := r.c.src.Read(p)
	r.c.read.Add(int64(n))
	return n, err
}

// run converts the file.
func (c *converter) run() {
	defer close(c.done)
	defer c.src.Close()
	err := c.convert()
	if flushed := c.flush(); err == nil {
		err = flushed
	}
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	c.markReady()
}

// markReady closes ready: the journal can be opened from now on.
func (c *converter) markReady() { c.once.Do(func() { close(c.ready) }) }

// convert tells what the file is, and reads it.
func (c *converter) convert() error {
	for depth := 0; ; depth++ {
		head, err := c.head()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if c.format = sniff(head); len(head) == 0 {
			c.format = own
		}
		if c.format != packed {
			break
		}
		if depth > 1 {
			return fmt.Errorf("%s: compressed more than twice", c.name)
		}
		z, err := gzip.NewReader(c.in)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.in = bufio.NewReaderSize(z, outBytes)
	}
	switch c.format {
	case own:
		return c.lines(c.line)
	case snoop:
		return c.lines(c.envelope)
	case inspector, archive:
		read := c.archive
		if c.format == inspector {
			read = c.readInspector
		}
		err := read()
		c.queue.flush(c, time.Time{})
		if errors.Is(err, errCut) {
			return nil
		}
		return err
	}
	return fmt.Errorf("%s: %w", c.name, errForeign)
}

// head is what the file begins with, as much as it takes to tell what it is. It does not wait for more than that.
func (c *converter) head() ([]byte, error) {
	for n := 1; ; n = c.in.Buffered() + 1 {
		head, err := c.in.Peek(min(n, sniffed))
		if err == nil {
			head, err = c.in.Peek(min(c.in.Buffered(), sniffed))
		}
		if sniff(head) != "" || len(head) == sniffed || errors.Is(err, io.EOF) {
			return head, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// lines reads a file of lines.
func (c *converter) lines(take func(line []byte) error) error {
	l := lines{r: c.in}
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			err = take(line)
		case !errors.Is(err, errLong):
			return fmt.Errorf("%s:%d: %w", c.name, l.n, err)
		}
		if err != nil {
			c.writeBad(fmt.Errorf("%s:%d: %w", c.name, l.n, err), line)
		}
		if err := c.flushIfDue(); err != nil {
			return err
		}
	}
}

// line takes a line of a journal as it is.
func (c *converter) line(line []byte) error {
	l, err := journal.ParseLine(line)
	if err != nil {
		return err
	}
	c.newest = l.Time
	c.seq++
	c.buf = append(append(c.buf, line...), '\n')
	return nil
}

// flushIfDue writes what is buffered once that is more than outBytes, or before a read that may wait for more of the file.
func (c *converter) flushIfDue() error {
	if len(c.buf) < outBytes && c.in.Buffered() > 0 {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	if c.stopped.Load() {
		return errClosed
	}
	if c.seq >= firstOut {
		c.markReady()
	}
	return nil
}

// flush writes whole lines.
func (c *converter) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	n, err := c.out.Write(c.buf)
	c.written.Add(int64(n))
	if c.buf = c.buf[:0]; cap(c.buf) > 16*outBytes {
		c.buf = nil // one very large frame
	}
	if err != nil {
		return fmt.Errorf("cannot convert %s: %w", c.name, err)
	}
	return nil
}

// put writes an entry, and returns its number in the journal.
func (c *converter) put(e journal.Entry, body []byte) uint64 {
	c.seq++
	e.Seq, e.Size = c.seq, len(body)
	if e.Time.IsZero() {
		e.Time = c.newest
	}
	c.newest = e.Time
	c.buf = journal.AppendLine(c.buf, e, body)
	return c.seq
}

// message writes a message, or each of a batch, and says how many were. What is none is an entry of kind Bad.
func (c *converter) message(e journal.Entry, frame []byte) (n int) {
	if first := bytes.TrimLeft(frame, " \t\r\n"); len(first) > 0 && first[0] == '[' && jsonrpc.Valid(first) == nil {
		_ = jsonrpc.Elements(first, func(one []byte) bool { // it is valid
			n += c.message(e, one)
			return true
		})
		return n
	}
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		e.Kind, e.Note = journal.Bad, err.Error()
		c.put(e, frame)
		return 0
	}
	e.Kind, e.Method, e.ID = journal.FrameKind(env.Kind), env.Method, string(env.ID)
	c.put(e, frame)
	return 1
}

// conn is the number of a connection with this name.
func (c *converter) conn(name string) uint64 {
	n, ok := c.conns[name]
	if !ok && len(c.conns) < 1<<16 {
		n = uint64(len(c.conns) + 1)
		c.conns[name] = n
	}
	return n
}

// writeBad counts a part that could not be read, and writes an entry with the reason and the part.
func (c *converter) writeBad(err error, part []byte) {
	c.mu.Lock()
	c.bad++
	if c.first == nil {
		c.first = err
	}
	c.mu.Unlock()
	c.put(journal.Entry{Kind: journal.Bad, Note: err.Error()}, []byte(text.Cut(string(part), keptBad)))
}

// readErr is why nothing at all could be read, nil if something was.
func (c *converter) readErr() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.written.Load() > 0 {
		return nil
	}
	return c.err
}

func (c *converter) progress() Progress {
	p := Progress{Read: c.read.Load(), Total: c.total}
	select {
	case <-c.done:
		p.Done = true
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Bad, p.First, p.Other, p.Err = c.bad, c.first, c.other, c.err
	return p
}

// close ends the conversion and removes the temporary file.
func (c *converter) close() {
	c.stopped.Store(true)
	_ = c.src.Close() // ends a read that waits, where the file can
	<-c.done
	_ = c.out.Close()
	_ = os.Remove(c.out.Name())
}
