// Package importer opens files that hold recorded traffic as journals: those of mcphud itself, sessions of mcpsnoop, exports of the
// MCP Inspector and HTTP archives, each also compressed. What a file is is told from its content. Files of others are converted
// into a temporary file, piece by piece, so that a file may be larger than memory.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// File is a journal that is read from a file, in the background.
type File struct {
	*journal.Journal
	Name   string // as it was given to Open
	Format Format

	conv  *converter // nil for a file that is read as it is
	first sync.Once
	bad   error // what is wrong with the first line that could not be read
}

// Progress is how far a file was read.
type Progress struct {
	Read, Total int64 // bytes; Total is 0 where it is not known
	Done        bool  // all that was there is read, and what is appended later is read as well
	Bad         int   // lines or parts that could not be read; each of them is an entry of kind Bad
	First       error // what is wrong with the first of them, and where it is
	Partial     int64 // bytes of a last line that is not complete: it is being written, or was cut
	Other       int   // entries of an HTTP archive that are not about MCP, which are left out
	Err         error // why reading ended before the end of the file
}

// Open opens a file. An error says what is wrong with the file as a whole; what is wrong with parts of it is told by Progress. The
// caller closes it.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && fi.IsDir() {
		err = fmt.Errorf("%s is a folder, not a file of recorded traffic", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return read(f, path, 0)
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		_ = f.Close()
		return nil, err
	}
	if n > 0 && sniff(head[:n]) != own {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			_ = f.Close()
			return nil, err
		}
		return read(f, path, fi.Size())
	}
	_ = f.Close()
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{Journal: j, Name: path, Format: own}, nil
}

// Read is Open for what r gives, which is closed; name is for messages.
func Read(r io.ReadCloser, name string) (*File, error) { return read(r, name, 0) }

// read converts what r gives into a temporary file, which is opened as soon as there is something in it.
func read(r io.ReadCloser, name string, total int64) (*File, error) {
	c, err := newConverter(r, name, total)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	go c.run()
	<-c.ready // what the file begins with was converted, or nothing was
	if err := c.readErr(); err != nil {
		c.close()
		return nil, err
	}
	j, err := journal.Open(c.out.Name(), journal.Options{})
	if err != nil {
		c.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &File{Journal: j, Name: name, Format: c.format, conv: c}, nil
}

// Progress says how far the file was read.
func (f *File) Progress() Progress {
	l := f.Loaded()
	if f.conv != nil {
		p := f.conv.progress()
		// What was converted has to be read as well.
		p.Done = p.Done && l.Done && l.Read >= f.conv.written.Load()
		if p.Err == nil {
			p.Err = l.Err
		}
		return p
	}
	p := Progress{Read: l.Read, Total: l.Total, Done: l.Done, Bad: l.Broken, Err: l.Err}
	if l.Done && l.Err == nil {
		p.Partial = l.Total - l.Read
	}
	if l.Done && l.Broken > 0 {
		f.first.Do(func() { f.bad = f.findBad() })
		p.First = f.bad
	}
	return p
}

// findBad returns the error of the first line that is not an entry of a journal, nil if all are.
func (f *File) findBad() (err error) {
	f.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.Bad && strings.HasPrefix(e.Note, journal.ErrLine.Error()) {
			err = fmt.Errorf("%s:%d: %s", f.Name, e.Seq, e.Note)
		}
		return err == nil
	})
	return err
}

// Wait waits until all that was in the file when it was opened is read, and returns Progress.Err.
func (f *File) Wait(ctx context.Context) error {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if p := f.Progress(); p.Done || p.Err != nil {
			return p.Err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends reading, and removes what was converted.
func (f *File) Close() error {
	err := f.Journal.Close()
	if f.conv != nil {
		f.conv.close()
	}
	return err
}
