// Package audit writes a line of JSON for each request to an agent: principal, method, decision and outcome. It has names and
// sizes, never arguments or results.
package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Options configures a [Log]. File is required; zero values mean the defaults.
type Options struct {
	File    string
	MaxSize int64 // bytes, from which on the file is rotated; default 100 MiB. Devices and pipes are not rotated.
	Keep    int   // older files that are kept, as FILE.1 and so on; default 5
	Logger  *slog.Logger
}

const (
	maxPending = 1 << 20               // bytes that wait to be written; more lines are dropped
	batchDelay = 20 * time.Millisecond // to write several lines at once
)

// Log appends lines without ever delaying a request: if the disk is too slow, lines are dropped, and a line in the file says
// how many. Several routers may write to one file. It must be closed.
type Log struct {
	o Options

	mu      sync.Mutex
	pending []byte
	lines   int64 // in pending
	closed  bool

	written, dropped int64
	failed           error // of the last write

	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	// Used by run only.
	f          *os.File
	regular    bool
	unreported int64 // dropped lines that are not noted in the file
}

// Open opens or creates the file with mode 0600, and starts writing.
func Open(o Options) (*Log, error) {
	if o.MaxSize <= 0 {
		o.MaxSize = 100 << 20
	}
	if o.Keep <= 0 {
		o.Keep = 5
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Log{o: o, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	go l.run()
	return l, nil
}

// Status counts the lines.
type Status struct {
	File    string `json:"file"`
	Written int64  `json:"written"`
	Dropped int64  `json:"dropped"`
	Error   string `json:"error,omitempty"` // of the last write
}

// Status counts the lines so far.
func (l *Log) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{File: l.o.File, Written: l.written, Dropped: l.dropped}
	if l.failed != nil {
		s.Error = l.failed.Error()
	}
	return s
}

// add queues a line.
func (l *Log) add(line []byte) {
	l.mu.Lock()
	if l.closed || len(l.pending)+len(line) > maxPending {
		l.dropped++
		l.mu.Unlock()
		return
	}
	first := len(l.pending) == 0
	l.pending = append(l.pending, line...)
	l.lines++
	l.mu.Unlock()
	if first {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Close writes pending lines and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if !again {
		close(l.stop)
	}
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("audit: %w", l.failed)
	}
	return nil
}

func (l *Log) run() {
	defer close(l.done)
	var spare []byte
	var counted int64 // dropped lines that are in unreported
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for last := false; !last; {
		select {
		case <-l.wake:
			t.Reset(batchDelay)
			select {
			case <-t.C:
			case <-l.stop:
				last = true
			}
		case <-l.stop:
			last = true
		}
		l.mu.Lock()
		batch, lines := l.pending, l.lines
		l.pending, l.lines = spare[:0], 0
		l.unreported += l.dropped - counted
		counted = l.dropped
		l.mu.Unlock()
		err := l.write(batch)
		l.mu.Lock()
		if err == nil {
			l.written += lines
		} else {
			l.dropped += lines
		}
		if err != nil && l.failed == nil {
			l.o.Logger.Error("cannot write the audit log; requests are not recorded", "file", l.o.File, "error", err)
		}
		l.failed = err
		l.mu.Unlock()
		spare = batch
	}
	if l.f != nil {
		err := l.f.Close()
		l.mu.Lock()
		l.failed = errors.Join(l.failed, err)
		l.mu.Unlock()
	}
}

// write appends lines with one system call, so that those of other routers do not mix with them. After an error the file is
// opened again the next time.
func (l *Log) write(lines []byte) error {
	if len(lines) == 0 && l.unreported == 0 {
		return nil
	}
	if err := l.prepare(int64(len(lines))); err != nil {
		return err
	}
	if l.unreported > 0 {
		note := fmt.Appendf(nil, `{"time":%q,"dropped":%d}`+"\n", time.Now().UTC().Format(time.RFC3339Nano), l.unreported)
		if _, err := l.f.Write(note); err != nil {
			return l.reset(err)
		}
		l.unreported = 0
	}
	if _, err := l.f.Write(lines); err != nil {
		return l.reset(err)
	}
	return nil
}

func (l *Log) reset(err error) error {
	_ = l.f.Close()
	l.f = nil
	return err
}

// prepare opens the file if necessary, rotates it if it is full, and opens a new one if it was moved away.
func (l *Log) prepare(more int64) error {
	if l.f != nil && l.regular {
		mine, err := l.f.Stat()
		switch {
		case err != nil || !l.inPlace(mine):
			_ = l.reset(nil)
		case mine.Size() > 0 && mine.Size()+more > l.o.MaxSize:
			if err := l.rotate(mine); err != nil {
				return err
			}
		}
	}
	if l.f == nil {
		return l.open()
	}
	return nil
}

// inPlace reports whether a file still has the name of the log; if that cannot be determined, it does.
func (l *Log) inPlace(f fs.FileInfo) bool {
	now, err := os.Stat(l.o.File)
	return err == nil && os.SameFile(now, f) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// rotate renames the open file, full, unless another router has done so.
func (l *Log) rotate(full fs.FileInfo) error {
	lock := flock.New(filepath.Dir(l.o.File), flock.SetFlag(os.O_RDONLY)) // of the folder: the file is moved away
	if held, err := lock.TryLock(); err == nil && !held {
		return nil // another router is rotating it
	}
	defer func() { _ = lock.Close() }() // nothing was written; systems without such locks go on without
	_ = l.reset(nil)                    // some systems cannot rename open files
	// Renaming requires the lock, so that this stays true.
	if !l.inPlace(full) {
		return nil
	}
	for i := l.o.Keep - 1; i > 0; i-- {
		if err := os.Rename(fmt.Sprint(l.o.File, ".", i), fmt.Sprint(l.o.File, ".", i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(l.o.File, l.o.File+".1")
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.o.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("cannot make %s private; choose another file: %w", l.o.File, err)
	}
	l.f, l.regular = f, info.Mode().IsRegular()
	return nil
}
