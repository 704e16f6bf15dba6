// Package kb is the agent's knowledge base: full-text search (SQLite FTS5, ranked by BM25, with a trigram pass that
// forgives typos) over the text files and PDF documents of a folder, or over a corpus about the protocol and this program that the binary
// brings along. With embeddings, by the vectors of words that the binary has or by a model that an endpoint has, it also searches by meaning,
// and makes one rank of both. What it finds can be read as resources.
package kb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
)

// Options says what is searched. The zero value searches the embedded corpus, in memory.
type Options struct {
	// DB keeps the index of Dir from one start to the next; nil keeps it in memory, as that of the embedded corpus always is. PostgreSQL keeps
	// the embeddings alone, which processes share; each has an index of its own folder.
	DB *store.DB
	// Dir is the folder whose text files are indexed; "" means the embedded corpus.
	Dir string
	// Key tells this base from others whose embeddings are in the same DB.
	Key string
	// Embed makes embeddings of passages and queries; nil searches the text alone.
	Embed Embedder
	// Pages is the text of a PDF document, page by page. Nil leaves such documents out, as do errors.
	Pages func(ctx context.Context, document []byte) ([]string, error)
	// Log receives the progress of indexing, and files that could not be read; nil discards it.
	Log *slog.Logger
	// Trace opens a span around each search; the function that it returns closes the span. Nil traces nothing.
	Trace func(ctx context.Context, name string, attrs map[string]string) (context.Context, func(err error))
}

// KB is one knowledge base. Its methods may be called by any number of goroutines.
type KB struct {
	o    Options
	root *os.Root // of o.Dir, nil for the embedded corpus

	load sync.Mutex // held while the index is opened
	ix   *index     // nil until the first search or Start

	run     context.Context // ends with Close
	stop    context.CancelFunc
	work    sync.WaitGroup
	pass    chan struct{} // capacity 1: held by the one indexing pass that may run
	mu      sync.Mutex
	state   State
	stopped bool

	vectors     atomic.Pointer[vectors] // nil until embeddings were loaded
	embeds      chan struct{}           // capacity 1: held by the one pass over the embeddings that may run
	again       chan struct{}           // capacity 1: the embeddings are to be looked through
	probe       atomic.Bool             // the endpoint may make embeddings of another length than those of the store
	checkedAt   atomic.Int64            // when that was last thought, in nanoseconds
	pausedUntil atomic.Int64            // until when no query is sent to the endpoint, in nanoseconds since 1970

	queryTime, firstPass, firstRetry, checkEvery time.Duration
}

// State is how far indexing is.
type State struct {
	Ready    bool   `json:"ready"`           // a whole pass is done, or none is needed; searches before that find what is indexed so far
	Indexing bool   `json:"indexing"`        // a pass runs
	Files    int    `json:"files"`           // files in the index after the last pass
	Chunks   int    `json:"chunks"`          // passages in the index
	Skipped  int    `json:"skipped"`         // files that the last pass left out: binary, too large, not readable
	Err      string `json:"error,omitempty"` // why the last pass failed, "" if it did not

	Embeddings Embeddings `json:"embeddings,omitzero"` // zero without Options.Embed
}

// New makes a knowledge base. It opens Dir, to refuse one that cannot be read, and starts nothing.
func New(o Options) (*KB, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	k := &KB{
		o: o, pass: make(chan struct{}, 1), embeds: make(chan struct{}, 1), again: make(chan struct{}, 1),
		queryTime: queryTime, firstPass: firstPass, firstRetry: firstRetry, checkEvery: time.Minute,
	}
	k.state.Ready = o.Dir == "" // the first search loads all of the corpus
	if o.Embed != nil {
		k.state.Embeddings.Model = o.Embed.Model()
	}
	if o.Dir != "" {
		root, err := os.OpenRoot(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("knowledge base: open the folder: %w; give one that exists and is readable", err)
		}
		k.root = root
	}
	k.run, k.stop = context.WithCancel(context.Background())
	return k, nil
}

// local tells whether embeddings are made in this process.
func (k *KB) local() bool { return k.o.Embed != nil && k.o.Embed.Kind() == ByWords }

// Start indexes Dir in the background, and then makes embeddings; for the corpus it only asks an endpoint for them, since the first search
// does the rest.
func (k *KB) Start() {
	if k.root == nil && (k.o.Embed == nil || k.local()) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	k.work.Go(func() {
		for n := 1; ; n++ {
			err := k.Reindex(k.run)
			if err == nil || k.run.Err() != nil {
				break
			}
			wait := failure.Backoff(n, k.firstPass, longestPass)
			k.o.Log.Error("knowledge base: indexing failed", "dir", k.o.Dir, "error", err, "retry_in", text.Duration(wait))
			select {
			case <-k.run.Done():
			case <-time.After(wait):
			}
		}
		if k.o.Embed != nil {
			k.embedLoop()
		}
	})
}

// Reindex brings the index up to date with Dir and returns when it is, or when ctx is done; the next pass goes on where
// this one stopped. One pass runs at a time, a second caller waits. The embedded corpus is only loaded.
func (k *KB) Reindex(ctx context.Context) error {
	select {
	case k.pass <- struct{}{}:
		defer func() { <-k.pass }()
	case <-ctx.Done():
		return fmt.Errorf("knowledge base: wait for another indexing pass: %w", ctx.Err())
	}
	ix, err := k.open(ctx)
	if err != nil || k.root == nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(k.run, cancel)()
	k.update(func(s *State) { s.Indexing = true })
	skipped, err := k.walk(ctx, ix)
	count := context.WithoutCancel(ctx)
	files, chunks, cerr := ix.size(count)
	k.update(func(s *State) {
		s.Indexing, s.Skipped, s.Err = false, skipped, ""
		if cerr == nil {
			s.Files, s.Chunks = files, chunks
		}
		if err != nil {
			s.Err = err.Error()
			return
		}
		s.Ready = true
	})
	return err
}

// State is how far indexing is now.
func (k *KB) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *KB) update(f func(*State)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(&k.state)
}

// open opens the index once; for the embedded corpus it also fills it.
func (k *KB) open(ctx context.Context) (*index, error) {
	k.load.Lock()
	defer k.load.Unlock()
	if k.ix != nil {
		return k.ix, nil
	}
	if k.run.Err() != nil {
		return nil, errors.New("knowledge base: closed")
	}
	// Whoever asked first may give up; what is made here is for everybody.
	ctx = context.WithoutCancel(ctx)
	if db := k.o.DB; db != nil && db.Dialect() == store.Postgres { // also where nothing makes embeddings: what an index was there goes
		if err := db.Migrate(ctx, "kb_vectors", cacheSchema); err != nil {
			k.o.Log.Warn("knowledge base: what older versions kept in the database may still be there; the next start tries again", "error", err)
		}
	}
	ix, err := openIndex(ctx, k.o.DB, k.o.Dir)
	if err != nil {
		return nil, err
	}
	if k.root == nil {
		if err := loadCorpus(ctx, ix); err != nil {
			return nil, errors.Join(err, ix.close())
		}
		files, chunks, err := ix.size(ctx)
		if err != nil {
			return nil, errors.Join(err, ix.close())
		}
		k.update(func(s *State) { s.Files, s.Chunks = files, chunks })
	}
	k.ix = ix
	return ix, nil
}

// cacheDB is where embeddings are kept: beside the index if they cost nothing, else in the store, also those of the corpus.
func (k *KB) cacheDB(ix *index) *store.DB {
	if k.local() {
		return ix.db
	}
	return cmp.Or(k.o.DB, ix.db)
}

// Close ends indexing and waits for it. A database that Options gave stays open.
func (k *KB) Close() error {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.stop()
	k.work.Wait()
	var err error
	if k.root != nil {
		err = k.root.Close()
	}
	k.load.Lock()
	defer k.load.Unlock()
	if k.ix != nil {
		err = errors.Join(err, k.ix.close())
		k.ix = nil
	}
	if err != nil {
		return fmt.Errorf("knowledge base: close: %w", err)
	}
	return nil
}
