package routes

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/filewatch"
)

// Options configures a Watcher.
type Options struct {
	Path string
	// Must is whether the file has to be there at the start. A file that need not be there serves no routes until it appears.
	Must bool
	// Changed gets each new table, and each reason why the file is not in force (then t is the table still in
	// force, and err is not nil). It runs on the watcher's goroutine.
	Changed func(t *Table, err error)
	// Poll is how often the file is looked at where the system reports no change; default 2 s.
	Poll   time.Duration
	Logger *slog.Logger
}

// settle is how long a file must be unchanged before it is read: editors and deployments write in several steps.
const settle = 50 * time.Millisecond

// Watcher follows a routing.json. The table in force is always one that was good.
type Watcher struct {
	o     Options
	again chan chan error
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu    sync.Mutex
	table *Table
	err   error
	since time.Time // when table came into force
}

// Watch loads the file, which must be good if it is there, and follows it until Close.
func Watch(o Options) (*Watcher, error) {
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{o: o, again: make(chan chan error), stop: make(chan struct{}), done: make(chan struct{}), since: time.Now()}
	before := filewatch.Of(o.Path)
	t, err := Load(o.Path)
	if errors.Is(err, fs.ErrNotExist) && !o.Must {
		t, err = &Table{Routes: map[string]*Route{}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("routes: %w", err)
	}
	w.table = t
	w.warn(t)
	go w.run(before)
	return w, nil
}

func (w *Watcher) warn(t *Table) {
	for _, p := range t.Warnings {
		w.o.Logger.Warn("routes", "file", w.o.Path, "message", p.String())
	}
}

// Current is the table in force.
func (w *Watcher) Current() *Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table
}

// Err is why the file as it stands now is not in force, nil if it is.
func (w *Watcher) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Since is when the table in force took effect.
func (w *Watcher) Since() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since
}

// Reload reads the file now, whether it seems changed or not, and returns what Err does then.
func (w *Watcher) Reload() error {
	answer := make(chan error, 1)
	select {
	case w.again <- answer:
		return <-answer
	case <-w.done:
		return errors.New("routes: the routes file is no longer watched")
	}
}

// Close stops following the file. The table in force stays.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

func (w *Watcher) run(last filewatch.Stamp) {
	defer close(w.done)
	files := filewatch.New(w.o.Poll, settle)
	defer files.Close()
	files.Folder(filepath.Dir(w.o.Path))
	needed := filewatch.Of("") // of the file that the last one needs and that is of no use
	for {
		if target := last.Target(); target != "" {
			files.Folder(filepath.Dir(target))
		}
		select {
		case <-w.stop:
			return
		case <-files.Changed():
		case answer := <-w.again:
			last, needed = filewatch.Of(w.o.Path), filewatch.Of(w.needs())
			answer <- w.load()
			continue
		}
		now, other := filewatch.Of(w.o.Path), filewatch.Of(w.needs())
		if !now.Equal(last) || !other.Equal(needed) {
			last, needed = now, other
			_ = w.load() // kept for Err
		}
	}
}

// needs is the file because of which the routes are not in force, "" if it is for another reason, or if they are.
func (w *Watcher) needs() string {
	var ca *caError
	if errors.As(w.Err(), &ca) {
		return ca.file
	}
	return ""
}

// load reads the file and puts it in force if it is good.
func (w *Watcher) load() error {
	t, err := Load(w.o.Path)
	w.mu.Lock()
	if err == nil {
		w.table, w.since = t, time.Now()
	} else {
		err = fmt.Errorf("routes: %w; the last valid ones stay in force", err)
		t = w.table
	}
	w.err = err
	w.mu.Unlock()
	if err != nil {
		w.o.Logger.Error("routes not loaded", "file", w.o.Path, "error", err)
	} else {
		w.warn(t)
	}
	if w.o.Changed != nil {
		w.o.Changed(t, err)
	}
	if err == nil {
		w.o.Logger.Info("routes loaded", "file", w.o.Path, "routes", len(t.Routes))
	}
	return err
}
