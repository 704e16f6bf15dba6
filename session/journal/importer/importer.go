// Package importer opens files that hold recorded traffic as journals.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/mcphud/mcphud/session/journal"
)

// File is a journal that is read from a file, in the background. It is only read.
type File struct {
	*journal.Journal
	Name string // as it was given to Open

	total int64
	read  atomic.Int64
	mu    sync.Mutex
	bad   int
	first error
	err   error
	stop  context.CancelFunc
	done  chan struct{}
}

// Progress is how far a file was read.
type Progress struct {
	Read, Total int64 // bytes
	Done        bool  // all that was there when it was opened was read
	Bad         int   // lines that could not be read, and are left out
	First       error // what is wrong with the first of them; it names file and line
	Err         error // why reading ended before the end of the file
}

// Open opens a file. An error says what is wrong with the file as a whole; of single lines Progress tells. Close ends it.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && fi.IsDir() {
		err = fmt.Errorf("%s is a folder", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	file := &File{Journal: journal.New(journal.Options{Entries: 1 << 20}), Name: path, total: fi.Size(), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(file.done)
		defer f.Close()
		err := file.own(ctx, f)
		file.mu.Lock()
		file.err = err
		file.mu.Unlock()
	}()
	return file, nil
}

// Progress says how far the file was read.
func (f *File) Progress() Progress {
	p := Progress{Read: f.read.Load(), Total: f.total}
	select {
	case <-f.done:
		p.Done = true
	default:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.Bad, p.First, p.Err = f.bad, f.first, f.err
	return p
}

// Wait waits until all that was in the file when it was opened is read, and returns Progress.Err.
func (f *File) Wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.Progress().Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends reading.
func (f *File) Close() error {
	f.stop()
	<-f.done
	return f.Journal.Close()
}

// own reads the lines that mcphud writes.
func (f *File) own(ctx context.Context, r io.Reader) error {
	l := newLines(r)
	for ctx.Err() == nil {
		line, err := l.next()
		f.read.Store(l.off)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLong):
			f.skip(l.n, err)
			continue
		case err != nil:
			return fmt.Errorf("%s:%d: %w", f.Name, l.n, err)
		}
		e, body, err := parseLine(line)
		if err != nil {
			f.skip(l.n, err)
			continue
		}
		if e.Kind != 0 {
			f.Append(e, body)
		}
	}
	return ctx.Err()
}

// skip counts a line that could not be read.
func (f *File) skip(line int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bad++
	if f.first == nil {
		f.first = fmt.Errorf("%s:%d: %w", f.Name, line, err)
	}
}
