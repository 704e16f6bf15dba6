package contract

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/check"
)

// Project is the lock of a project, which may appear, change and go while a program runs. Its methods are safe for concurrent use.
type Project struct {
	find func() string // where the file is, or would be made; may take its time, and is called without mu

	last atomic.Pointer[seen] // is read while mu is held for a file that is slow

	mu    sync.Mutex  // of what follows, and of writing last
	stamp files.Stamp // of the last look
	at    time.Time   // when lock was read
	lock  *Lock       // what was read with stamp, nil for nothing
}

// seen is what the last look saw.
type seen struct {
	file  string // that was looked at
	there bool
	rev   uint64 // 1 for the first look
}

// NewProject looks whether there is a lock, and does not read it yet. find is asked each time for its file.
func NewProject(find func() string) *Project {
	p := &Project{find: find}
	p.look(find())
	return p
}

// look takes in what became of the file, and forgets what was read of another state. Another place is a change, too.
func (p *Project) look(file string) {
	was := p.last.Load()
	now := files.StampOf(file)
	if was == nil {
		was = &seen{}
	} else if file == was.file && now.Equal(p.stamp) {
		return
	}
	p.stamp, p.lock = now, nil
	p.last.Store(&seen{file, now.Target() != "", was.rev + 1})
}

// State says without looking again where the lock is, or would be made, whether it was there at the last look, and a number that grows with
// each change of it.
func (p *Project) State() (file string, there bool, rev uint64) {
	last := p.last.Load()
	return last.file, last.there, last.rev
}

// Read is the lock as it is now, nil where there is none. What was read is used again while the file is the same, but for one that was written so
// shortly before that a second change may not show.
func (p *Project) Read() (*Lock, error) {
	file := p.find()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look(file)
	if p.lock != nil && !p.stamp.Fresh(p.at) {
		return p.lock, nil
	}
	at := time.Now()
	lock, err := Read(p.last.Load().file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.lock, p.at = lock, at
	return lock, nil
}

// Accept makes what a server offers now its contract, and says what it took. A file that cannot be read is left as it is. It reads the file anew,
// so that what others wrote meanwhile is not lost.
func (p *Project) Accept(o *check.Offer) (taken []string, err error) {
	file := p.find()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look(file)
	s, err := Open(file, true, nil)
	if err != nil {
		return nil, err
	}
	taken, err = s.compare(o).accept(s.File)
	p.look(file)
	return taken, err
}

// Usual times of Follow: the system may not notice changes, and programs write in several steps.
const followPoll, followSettle = 2 * time.Second, 100 * time.Millisecond

// Follow calls changed after each change of the file, until ctx ends, also of one that Read or Accept saw first: whoever shows what State says has to
// look again either way.
func (p *Project) Follow(ctx context.Context, changed func()) {
	w := files.NewWatcher(followPoll, followSettle)
	defer w.Close()
	_, _, seenRev := p.State()
	for {
		file := p.find()
		p.mu.Lock()
		p.look(file)
		w.Folder(filepath.Dir(file))
		p.mu.Unlock()
		if _, _, rev := p.State(); rev != seenRev {
			seenRev = rev
			changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-w.Changed():
		}
	}
}
