package routes

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
)

// Options configures a Watcher.
type Options struct {
	Path string // of a file, or of a folder of files; "" for none
	// Must is whether it has to be there at the start. A file that need not be there serves no routes until it appears.
	Must bool
	// Keys are further routes, after those of the files; nil for none.
	Keys Keys
	// Changed gets the table in force after each change, and why what there is now is not in force, or not all of it. t is the
	// same as before if nothing came into force. It runs on the watcher's goroutine.
	Changed func(t *Table, err error)
	// Poll is how often files are looked at where the system reports no change; default 2 s.
	Poll   time.Duration
	Logger *slog.Logger
}

// settle is how long a file must be unchanged before it is read: editors and deployments write in several steps.
const settle = 50 * time.Millisecond

// Watcher follows a routing.json, a folder of them, or keys. The routes in force are always those that were good. Safe for concurrent use.
type Watcher struct {
	o     Options
	again chan chan error // Reload asks, and is answered once what is in force now is
	stop  chan struct{}   // closed by Close
	done  chan struct{}   // closed when nothing is followed any more
	once  sync.Once       // closes stop

	// Of Watch, and then of the goroutine of run alone.
	pieces  map[string]*piece // by what they are merged in the order of
	warned  map[string]bool   // warnings that were logged
	dir     bool              // Path is a folder; found out once
	started bool              // Watch is over: what is wrong is logged, since nobody gets it as an error

	mu    sync.Mutex // guards what follows, which others read
	table *Table     // in force; never nil
	err   error      // why not all of what there is is in force
	since time.Time  // when table came into force
}

// Watch loads the routes and follows them until Close. A single file must be good if it is there; a bad one in a folder is left out. Changed is not
// called for what it has loaded: see Current.
func Watch(o Options) (*Watcher, error) {
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		o: o, again: make(chan chan error), stop: make(chan struct{}), done: make(chan struct{}), pieces: map[string]*piece{}, since: time.Now(),
		table: &Table{Routes: map[string]*Route{}}, dir: folder(o.Path),
	}
	_, err := w.look(true)
	one := w.pieces[single]
	switch {
	case one != nil && one.table == nil && errors.Is(one.err, fs.ErrNotExist) && !o.Must:
		one.err, err = nil, nil
	case one != nil && one.table == nil:
		return nil, fmt.Errorf("routes: %w", one.err)
	}
	w.settle(err, true)
	w.started = true
	go w.run()
	return w, nil
}

// warn logs the warnings of a table, each once.
func (w *Watcher) warn(t *Table) {
	now := map[string]bool{}
	for _, p := range t.Warnings {
		s := p.String()
		if now[s] = true; !w.warned[s] {
			w.o.Logger.Warn("routes", "file", w.sourceName(), "message", s)
		}
	}
	w.warned = now
}

func (w *Watcher) sourceName() string {
	if w.o.Path == "" && w.o.Keys != nil {
		return w.o.Keys.String()
	}
	return w.o.Path
}

// Current is the table in force.
func (w *Watcher) Current() *Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table
}

// Err is why the routes as they stand now are not in force, or not all of them; nil if they are.
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

// Reload reads everything now, whether it seems changed or not, and returns what Err does then.
func (w *Watcher) Reload() error {
	answer := make(chan error, 1)
	select {
	case w.again <- answer:
		return <-answer
	case <-w.done:
		return errors.New("routes: the routes file is no longer watched")
	}
}

// Close stops following the routes. The table in force stays.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

// run looks again whenever the system, the poll, the keys or Reload say so, one look at a time. Changed is called from here, so that tables come into force in
// the order in which they were read.
func (w *Watcher) run() {
	defer close(w.done)
	var watcher *files.Watcher
	var changed, keys <-chan struct{}
	var poll <-chan time.Time
	if w.o.Path != "" {
		watcher = files.NewWatcher(w.o.Poll, settle)
		defer watcher.Close()
		changed = watcher.Changed()
	} else { // keys alone need nothing of the system's
		tick := time.NewTicker(w.o.Poll)
		defer tick.Stop()
		poll = tick.C
	}
	if w.o.Keys != nil {
		keys = w.o.Keys.Changed()
	}
	for {
		w.follow(watcher)
		force := false
		var answer chan error
		select {
		case <-w.stop:
			return
		case <-changed:
		case <-poll:
		case <-keys:
		case answer = <-w.again:
			force = true
		}
		changed, err := w.look(force)
		if changed || force || !same(err, w.Err()) {
			fresh := w.settle(err, force)
			if w.o.Changed != nil {
				w.o.Changed(w.Current(), w.Err())
			}
			if fresh {
				w.o.Logger.Info("routes loaded", "file", w.sourceName(), "routes", len(w.Current().Routes))
			}
		}
		if answer != nil {
			answer <- w.Err()
		}
	}
}

// follow watches the folders of the files.
func (w *Watcher) follow(watcher *files.Watcher) {
	switch {
	case w.o.Path == "":
		return
	case w.dir:
		watcher.Folder(w.o.Path)
	default:
		watcher.Folder(filepath.Dir(w.o.Path))
	}
	if p := w.pieces[single]; p != nil && p.stamp.Target() != "" {
		watcher.Folder(filepath.Dir(p.stamp.Target()))
	}
}

// single is the piece that is the one file.
const single = "0"

// look reads what changed, or everything. The error is why not all of it counts.
func (w *Watcher) look(force bool) (changed bool, err error) {
	var wrong []error
	there := map[string]bool{}
	read := func(order, path string, foreign bool) {
		p := w.pieces[order]
		there[order] = true
		if now := files.StampOf(path); p == nil || force || !p.fits(now) {
			if p == nil {
				p = &piece{order: order, path: path}
				w.pieces[order] = p
			}
			before := p.err
			p.read(foreign)
			changed = true
			if p.err != nil && !same(before, p.err) && (w.started || order != single) {
				w.o.Logger.Error("routes not loaded", "file", path, "error", p.why())
			}
		}
	}
	switch {
	case w.o.Path == "":
	case w.dir:
		list, foreign, err := names(w.o.Path)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%w; the last valid ones stay in force", err))
			break
		}
		for _, n := range list {
			read("0"+n, filepath.Join(w.o.Path, n), foreign)
		}
		changed = w.drop('0', there) || changed
	default:
		read(single, w.o.Path, false)
	}
	if w.o.Keys != nil {
		texts, err := w.o.Keys.Snapshot()
		if err != nil {
			wrong = append(wrong, err)
		}
		for key, text := range texts {
			order := "1" + key
			there[order] = true
			if p := w.pieces[order]; p == nil || p.text != string(text) {
				w.key(order, key, text)
				changed = true
			}
		}
		changed = w.drop('1', there) || changed
	}
	for _, order := range slices.Sorted(maps.Keys(w.pieces)) {
		if p := w.pieces[order]; p.err != nil {
			wrong = append(wrong, p.why())
		}
	}
	return changed, summary(wrong)
}

// key takes the value of a key.
func (w *Watcher) key(order, key string, text []byte) {
	p := w.pieces[order]
	if p == nil {
		p = &piece{order: order}
		w.pieces[order] = p
	}
	p.text = string(text)
	t, err := parseKey(key, text)
	if p.err = nil; err == nil {
		p.table = t
		return
	}
	p.err = fmt.Errorf("%s: key %s: %w", w.o.Keys, key, err)
	w.o.Logger.Error("routes not loaded", "file", w.o.Keys.String(), "error", p.why())
}

// drop lets go of pieces of a kind that are gone.
func (w *Watcher) drop(kind byte, there map[string]bool) bool {
	before := len(w.pieces)
	maps.DeleteFunc(w.pieces, func(order string, _ *piece) bool { return order[0] == kind && !there[order] })
	return len(w.pieces) != before
}

// settle makes a table of what is good; true if that is another one.
func (w *Watcher) settle(err error, force bool) (fresh bool) {
	t := merge(w.pieces)
	if err != nil {
		err = fmt.Errorf("routes: %w", err)
	}
	w.mu.Lock()
	fresh = t != w.table && (force || len(w.pieces) == 1 || !reflect.DeepEqual(t, w.table))
	if fresh {
		w.table, w.since = t, time.Now()
	}
	w.err = err
	w.mu.Unlock()
	w.warn(t)
	return fresh
}

// summary is the first error and how many there are.
func summary(all []error) error {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return fmt.Errorf("%w (and %d more)", all[0], len(all)-1)
}

// same reports whether two errors say the same: each look at a file makes a new one, and only another text is news.
func same(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}
