// Package audit writes a line of JSON for each request to an agent: who asked for what, whether that was allowed, and what came
// of it. It has names and sizes, never arguments or results.
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

// Options says where the lines go. Zero values mean the defaults.
type Options struct {
	File    string
	MaxSize int64 // of the file in bytes, when a new one is begun; default 100 MiB. Devices and pipes have no size.
	Keep    int   // how many older files stay, as FILE.1 and so on; default 5
	Logger  *slog.Logger
}

const (
	maxPending = 1 << 20               // bytes that wait to be written; above it lines are dropped
	together   = 20 * time.Millisecond // that lines wait for each other
)

// Log appends lines without ever keeping a request waiting: when the disk is slower than the requests, lines are dropped, and
// the file says how many. Several routers may write to one file.
type Log struct {
	o Options

	mu      sync.Mutex
	pending []byte
	lines   int64 // in pending
	closed  bool

	written, dropped int64
	failed           error // why the last write failed, nil if it did not

	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	// Of the writer.
	f       *os.File
	regular bool
	lost    int64 // lines that the file has not been told of
}

// Open opens the file, readable for its owner only, and begins to write. Close ends it.
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

// Status is what became of the lines.
type Status struct {
	File    string `json:"file"`
	Written int64  `json:"written"`
	Dropped int64  `json:"dropped"`
	Error   string `json:"error,omitempty"` // why lines are not written now
}

// Status is what became of the lines so far.
func (l *Log) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Status{File: l.o.File, Written: l.written, Dropped: l.dropped}
	if l.failed != nil {
		s.Error = l.failed.Error()
	}
	return s
}

// add takes one line.
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

// Close writes what is pending and closes the file.
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
	var told int64 // dropped lines that were noticed
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for last := false; !last; {
		select {
		case <-l.wake:
			t.Reset(together)
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
		l.lost += l.dropped - told
		told = l.dropped
		l.mu.Unlock()
		err := l.write(batch)
		l.mu.Lock()
		if err == nil {
			l.written += lines
		} else {
			l.dropped += lines
		}
		if err != nil && l.failed == nil {
			l.o.Logger.Error("requests are not in the audit log", "file", l.o.File, "error", err)
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

// write appends lines, all with one write, so that those of other routers are before or after them. After a failure the file is
// opened anew the next time.
func (l *Log) write(lines []byte) error {
	if len(lines) == 0 && l.lost == 0 {
		return nil
	}
	if err := l.ready(int64(len(lines))); err != nil {
		return err
	}
	if l.lost > 0 {
		note := fmt.Appendf(nil, `{"time":%q,"dropped":%d}`+"\n", time.Now().UTC().Format(time.RFC3339Nano), l.lost)
		if _, err := l.f.Write(note); err != nil {
			return l.broken(err)
		}
		l.lost = 0
	}
	if _, err := l.f.Write(lines); err != nil {
		return l.broken(err)
	}
	return nil
}

func (l *Log) broken(err error) error {
	_ = l.f.Close()
	l.f = nil
	return err
}

// ready has the file open, and begins a new one where it is full, or where somebody moved it away.
func (l *Log) ready(more int64) error {
	if l.f != nil && l.regular {
		mine, err := l.f.Stat()
		switch {
		case err != nil || !l.there(mine):
			_ = l.broken(nil)
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

// there reports whether a file still has the name of the log. One that cannot be looked at has.
func (l *Log) there(f fs.FileInfo) bool {
	now, err := os.Stat(l.o.File)
	return err == nil && os.SameFile(now, f) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// rotate moves the file away that is open, full, unless another router has done so.
func (l *Log) rotate(full fs.FileInfo) error {
	lock := flock.New(filepath.Dir(l.o.File), flock.SetFlag(os.O_RDONLY)) // of the folder: the file is moved away
	if held, err := lock.TryLock(); err == nil && !held {
		return nil // another router is at it, and keeps what is written until then
	}
	defer func() { _ = lock.Close() }() // nothing was written; where there are no such locks, everybody goes on
	_ = l.broken(nil)                   // some systems rename no open files
	// Whoever renames holds the lock, so that the name stays where it is now.
	if !l.there(full) {
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
		return fmt.Errorf("%s cannot be made private; choose another: %w", l.o.File, err)
	}
	l.f, l.regular = f, info.Mode().IsRegular()
	return nil
}
