package task

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// index is what a replica knows of all records, from its own writes and from watching the bucket.
//
// Both sources may bring a revision first; the larger one counts, so that it does not matter which.
type index struct {
	mu      sync.Mutex                 // guards all of it
	entries map[string]entryAt         // by id
	kept    map[string]usage           // by tenant, of entries
	waiters map[string][]chan struct{} // by id: closed when the record is over or gone
	markers map[string]time.Time       // deletions by this replica, until what they leave is erased
}

// entryAt is a header at a revision; those of newer versions are kept for what they use.
type entryAt struct {
	*header
	rev   uint64
	newer bool
}

func newIndex() *index {
	return &index{entries: map[string]entryAt{}, kept: map[string]usage{}, waiters: map[string][]chan struct{}{}, markers: map[string]time.Time{}}
}

// markDeleted notes that this replica deletes a record, for takeOldMarkers.
func (x *index) markDeleted(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.markers[id] = time.Now()
}

// takeOldMarkers removes and returns the ids of deletions that every watcher has seen by now, so that their markers in the bucket can be purged.
func (x *index) takeOldMarkers() (ids []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, at := range x.markers {
		if time.Since(at) > markerTime {
			delete(x.markers, id)
			ids = append(ids, id)
		}
	}
	return ids
}

// reset forgets everything, because the bucket is another one.
func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.entries)
	clear(x.kept)
	clear(x.markers)
	for id := range x.waiters {
		x.wake(id)
	}
}

// place is where a record is in lists.
func (e entryAt) place() uint64 {
	if e.Place == 0 {
		return e.rev
	}
	return e.Place
}

// set takes a header in, unless a later revision is known, and wakes those who wait for the end.
func (x *index) set(h *header, rev uint64, newer bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if was, ok := x.entries[h.ID]; ok {
		if was.rev >= rev {
			return
		}
		x.subtract(was)
	}
	x.entries[h.ID] = entryAt{h, rev, newer}
	add(x.kept, h.Tenant, h.usage())
	if h.State.isTerminal() {
		x.wake(h.ID)
	}
}

// remove forgets a record whose deletion has a revision.
func (x *index) remove(id string, rev uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if was, ok := x.entries[id]; ok && was.rev < rev {
		x.subtract(was)
		delete(x.entries, id)
	}
	x.wake(id)
}

// subtract takes what an entry uses out of kept; mu is held.
func (x *index) subtract(e entryAt) {
	u := e.usage()
	add(x.kept, e.Tenant, usage{-u.tasks, -u.bytes, -u.open})
}

// wake wakes those who wait for a record; mu is held.
func (x *index) wake(id string) {
	for _, c := range x.waiters[id] {
		close(c)
	}
	delete(x.waiters, id)
}

// addWaiter returns a channel that is closed when the record of that id is over or gone. Call removeWaiter in the end.
func (x *index) addWaiter(id string) chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := make(chan struct{})
	x.waiters[id] = append(x.waiters[id], c)
	return c
}

// removeWaiter undoes addWaiter.
func (x *index) removeWaiter(id string, c chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := slices.DeleteFunc(x.waiters[id], func(o chan struct{}) bool { return o == c })
	if x.waiters[id] = left; len(left) == 0 {
		delete(x.waiters, id)
	}
}

func (x *index) get(id string) (entryAt, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.entries[id]
	return e, ok
}

// all are the entries that pass, in the order in which they were made.
func (x *index) all(pass func(entryAt) bool) []entryAt {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []entryAt
	for _, e := range x.entries {
		if pass(e) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b entryAt) int { return int(int64(a.place()) - int64(b.place())) }) //nolint:gosec // places are near each other
	return out
}

func (x *index) usageByTenant() map[string]usage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.kept)
}

// follow takes in what a watcher brings, until that ends. ready is called when it has brought all there was.
func (x *index) follow(w jetstream.KeyWatcher, ready func(), settled func(*header), bad func(key string, err error)) {
	for e := range w.Updates() {
		if e == nil {
			ready()
			continue
		}
		id := e.Key()[len(stateKey("")):]
		if e.Operation() != jetstream.KeyValuePut {
			x.remove(id, e.Revision())
			settled(&header{ID: id})
			continue
		}
		h, _, err := decode(e.Value())
		newer := errors.Is(err, errNewer)
		if err != nil && !newer {
			bad(e.Key(), err)
			continue
		}
		x.set(h, e.Revision(), newer)
		if h.State.isTerminal() {
			settled(h)
		}
	}
}
