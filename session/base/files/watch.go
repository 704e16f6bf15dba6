package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Stamp tells whether a file changed without reading it. The zero Stamp equals that of a file that cannot be looked at.
type Stamp struct {
	info    fs.FileInfo
	target  string
	missing bool
}

// StampOf looks at a file.
func StampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{missing: errors.Is(err, fs.ErrNotExist)}
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
	}
	return Stamp{info: info, target: target}
}

// Equal reports whether nothing was written to the file in between, and it was not replaced, removed or made. A change
// within the resolution of the file system's clock goes unnoticed if the size is the same; see [Stamp.Fresh].
func (s Stamp) Equal(o Stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == o.info && s.missing == o.missing
	}
	return s.target == o.target && os.SameFile(s.info, o.info) && s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime())
}

// Fresh reports whether the file had changed so shortly before read, when it was read, that a change right afterwards has
// the same Stamp.
func (s Stamp) Fresh(read time.Time) bool {
	return s.info != nil && read.Sub(s.info.ModTime()) < 2*time.Second
}

// Target is what the path leads to through symbolic links, "" where nothing is.
func (s Stamp) Target() string { return s.target }

// Size is the file's in bytes, 0 where nothing is.
func (s Stamp) Size() int64 {
	if s.info == nil {
		return 0
	}
	return s.info.Size()
}

// Mode is the file's, 0 where nothing is.
func (s Stamp) Mode() fs.FileMode {
	if s.info == nil {
		return 0
	}
	return s.info.Mode()
}

// Watcher says when something may have changed in folders. Whoever replaces a file by renaming another ends a watch of the
// old one, so that folders are watched and not files. It may be used by any number of goroutines.
type Watcher struct {
	changed chan struct{} // cap 1
	stop    chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	system  *fsnotify.Watcher // nil where the system has no more watches
	folders map[string]bool   // that system watches
}

// maxFolders bounds the folders that are watched; others are only looked at.
const maxFolders = 16

// NewWatcher watches no folder yet. Changes are reported once nothing has changed for settle: editors and deployments write in
// several steps. Without any, a report comes every poll, for what the system does not notice. Close ends it.
func NewWatcher(poll, settle time.Duration) *Watcher {
	w := &Watcher{changed: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), folders: map[string]bool{}}
	if system, err := fsnotify.NewWatcher(); err == nil {
		w.system = system
	}
	go w.run(poll, settle)
	return w
}

// Changed is where reports arrive. One that nobody has received yet stands for all that follow.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Folder adds a folder, or adds it again after it was removed. One that cannot be watched is noticed by polling.
func (w *Watcher) Folder(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.system != nil && !w.folders[dir] && len(w.folders) < maxFolders && w.system.Add(dir) == nil {
		w.folders[dir] = true
	}
}

// Forget takes a folder off, so that Folder adds it again.
func (w *Watcher) Forget(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders[dir] {
		_ = w.system.Remove(dir) // it may have ended by itself
		delete(w.folders, dir)
	}
}

// Close ends the reports. It is called once.
func (w *Watcher) Close() {
	close(w.stop)
	<-w.done
	if w.system != nil {
		_ = w.system.Close()
	}
}

func (w *Watcher) run(poll, settle time.Duration) {
	defer close(w.done)
	var events chan fsnotify.Event
	var failures chan error
	if w.system != nil {
		events, failures = w.system.Events, w.system.Errors
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	settled := time.NewTimer(0) // what changed before a folder was watched
	defer settled.Stop()
	for {
		select {
		case <-w.stop:
			return
		case event := <-events:
			if event.Has(fsnotify.Remove) {
				w.Forget(event.Name) // if it is a folder
			}
			settled.Reset(settle)
			continue
		case <-failures: // too many events at once, most likely
		case <-tick.C:
		case <-settled.C:
		}
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}
