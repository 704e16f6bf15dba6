package calls

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/store"
)

// Limits bound what is kept. What is pinned or has a name is neither counted nor grows old.
type Limits struct {
	Calls int           // how many
	Bytes int64         // of arguments and results, compressed
	Age   time.Duration // since they were made
}

// UsualLimits are the limits of a history that has no others.
var UsualLimits = Limits{Calls: 10_000, Bytes: 100_000_000, Age: 90 * 24 * time.Hour}

const (
	// maxWaiting bounds the calls that wait for the disk, and the bytes of their results; further ones are not kept.
	maxWaiting      = 1000
	maxWaitingBytes = 256 << 20
	// batch is how many calls are written in one transaction.
	batch = 64
	// lockTimeout is how long a statement waits for another process that holds the file.
	lockTimeout = 2 * time.Second
	// closeTimeout is how long Close waits for what is not on disk yet: longer than for what another process holds.
	closeTimeout = 10 * time.Second
)

// History is the calls of one file. Nothing is opened or written before it has to be. A nil History keeps nothing and has none.
type History struct {
	path   string
	limits Limits
	rev    atomic.Uint64

	mu      sync.Mutex
	waiting []session.CallRecord
	bytes   int64 // of results in waiting
	working bool  // a goroutine writes
	idle    chan struct{}
	err     error
	closed  bool

	open sync.Mutex // held while opening
	db   *store.DB
	over bool // closed for good: who reads late opens nothing that nobody would close
}

// OpenHistory is the history in a file. An empty name keeps none.
func OpenHistory(path string, l Limits) *History {
	if path == "" {
		return nil
	}
	return &History{path: path, limits: l}
}

// Path is the file, "" for none.
func (h *History) Path() string {
	if h == nil {
		return ""
	}
	return h.path
}

// Rev grows with everything that is written here.
func (h *History) Rev() uint64 {
	if h == nil {
		return 0
	}
	return h.rev.Load()
}

// Err is why calls are not kept at present, nil if they are.
func (h *History) Err() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Record keeps a call. It returns at once: the call is written by a goroutine of its own.
func (h *History) Record(m session.CallRecord) {
	if h == nil {
		return
	}
	m.Reply.Frame = nil
	n := int64(len(m.Reply.Result))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.waiting) >= maxWaiting || h.bytes+n > maxWaitingBytes {
		h.err = errTooFast
		return
	}
	h.waiting = append(h.waiting, m)
	h.bytes += n
	if !h.working {
		h.working, h.idle = true, make(chan struct{})
		go h.work(h.idle)
	}
}

// work writes what waits, and ends when nothing does.
func (h *History) work(idle chan struct{}) {
	defer close(idle)
	for {
		h.mu.Lock()
		made := h.waiting
		made = made[:min(len(made), batch)]
		h.waiting = h.waiting[len(made):]
		h.bytes = 0
		for _, m := range h.waiting {
			h.bytes += int64(len(m.Reply.Result))
		}
		if len(made) == 0 {
			h.waiting, h.working = nil, false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		entries := make([]entry, len(made))
		for i, m := range made {
			entries[i] = newEntry(m)
			made[i] = session.CallRecord{} // let go of the result
		}
		err := h.add(context.Background(), entries)
		h.mu.Lock()
		h.err = err
		h.mu.Unlock()
		h.rev.Add(1)
	}
}

// errTooFast is why calls are not kept that come faster than they can be written.
var errTooFast = errors.New("some calls are not in the history: they came faster than the disk takes them")

// Busy reports whether calls wait to be written.
func (h *History) Busy() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.working
}

// awaitWritten waits until every call recorded so far is in the file, or ctx ends.
func (h *History) awaitWritten(ctx context.Context) error {
	if !h.Busy() {
		return nil
	}
	h.mu.Lock()
	idle := h.idle
	h.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close waits until everything is written, for a while, and closes the file. The error says why calls were not kept.
func (h *History) Close() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	h.closed = true
	working, idle := h.working, h.idle
	h.mu.Unlock()
	if working {
		select {
		case <-idle:
		case <-time.After(closeTimeout):
			go func() { // the process ends before this does
				<-idle
				_ = h.closeDB()
			}()
			return fmt.Errorf("cannot write the history %s in %v", h.path, closeTimeout)
		}
	}
	err := h.Err()
	return errors.Join(err, h.closeDB())
}

func (h *History) closeDB() error {
	h.open.Lock()
	defer h.open.Unlock()
	h.over = true
	if h.db == nil {
		return nil
	}
	db := h.db
	h.db = nil
	if err := db.Close(); err != nil {
		return fmt.Errorf("cannot close the history %s: %w", h.path, err)
	}
	return nil
}

// tables is the steps of store.DB.Migrate.
var tables = []string{`
CREATE TABLE calls (
	id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, took REAL NOT NULL,
	identity TEXT NOT NULL, server TEXT NOT NULL, about TEXT NOT NULL,
	method TEXT NOT NULL, target TEXT NOT NULL, arguments BLOB, meta BLOB, timeout INTEGER NOT NULL, secrets TEXT NOT NULL,
	verdict TEXT NOT NULL, code INTEGER, message TEXT NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL,
	name TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', pinned INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX calls_of ON calls (identity, method, target, id);
CREATE UNIQUE INDEX calls_name ON calls (name) WHERE name <> '';
CREATE TABLE results (hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
`}

// database opens the file. Where there is none it is made, if create is set; else nil is returned.
func (h *History) database(ctx context.Context, create bool) (*store.DB, error) {
	h.open.Lock()
	defer h.open.Unlock()
	switch {
	case h.db != nil:
		return h.db, nil
	case h.over:
		return nil, h.explainErr("open", fs.ErrClosed)
	}
	if _, err := os.Stat(h.path); !create && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := store.OpenFor(h.path, lockTimeout)
	if err != nil {
		return nil, h.explainErr("open", err)
	}
	if err := db.Migrate(ctx, "history", store.Steps{SQLite: tables}); err != nil {
		return nil, errors.Join(h.explainErr("open", err), db.Close())
	}
	h.db = db
	return db, nil
}

// explainErr wraps an error of the database: what was being done with which file, and what to do about it.
func (h *History) explainErr(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case store.Busy(err):
		return fmt.Errorf("cannot %s the history %s: another process holds it: %w", doing, h.path, err)
	}
	return fmt.Errorf("cannot %s the history %s: %w", doing, h.path, store.Explained(h.path, err))
}
