// Package idle keeps values that are used now and then, such as sessions. A [Table] ends those that nobody used for a time, and
// at its limits those that were idle for longest.
package idle

import (
	"container/list"
	"errors"
	"sync"
	"time"
)

// Errors of [Table.Add].
var (
	ErrFull   = errors.New("the table is full, and all that could give way is in use")
	ErrClosed = errors.New("the table is closed")
)

// Options bounds a Table.
type Options[V any] struct {
	TTL      time.Duration // a value is ended after this time without use
	Max      int           // values at once; 0 for any number
	MaxOwned int           // values of one owner at once; 0 for any number
	// Owner is whose a value is. At Max a value of the owner with the most gives way, of those that have an idle one, but
	// of no owner with fewer than the new one's, so that nobody pushes out what is others'. nil: all have one owner.
	Owner func(V) string
	// Busy reports that a value has to stay although nobody uses it. It is called with the table locked. nil: none has to.
	Busy func(V) bool
	// Ended is told of values that expired or gave way, with the table unlocked. It must not block. nil for nobody.
	Ended func(V)
}

// Table keeps values by id. It must be closed.
type Table[V any] struct {
	o Options[V]

	mu     sync.Mutex
	byID   map[string]*Entry[V]
	owned  map[string]int // how many values an owner has
	order  list.List      // of *Entry[V], the one used last in front
	sweep  *time.Timer    // nil while the table is empty
	closed bool
	ending sync.WaitGroup // calls of Ended
}

// Entry is a value in a Table.
type Entry[V any] struct {
	ID    string
	Value V

	t      *Table[V]
	owner  string
	place  *list.Element
	active int       // uses
	used   time.Time // when the last use ended
	gone   bool
}

// New makes an empty table.
func New[V any](o Options[V]) *Table[V] {
	return &Table[V]{o: o, byID: map[string]*Entry[V]{}, owned: map[string]int{}}
}

// Len is the number of values.
func (t *Table[V]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID)
}

// All are the values, in no order.
func (t *Table[V]) All() []V {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]V, 0, len(t.byID))
	for _, e := range t.byID {
		all = append(all, e.Value)
	}
	return all
}

// Add keeps a value under an id that no other has. It is in use until [Entry.Release].
func (t *Table[V]) Add(id string, v V) (*Entry[V], error) {
	t.mu.Lock()
	e := &Entry[V]{ID: id, Value: v, t: t, active: 1}
	if t.o.Owner != nil {
		e.owner = t.o.Owner(v)
	}
	gone := t.takeExpired()
	full := t.o.MaxOwned > 0 && t.owned[e.owner] >= t.o.MaxOwned
	if full {
		gone, full = t.giveWay(gone, e.owner, t.owned[e.owner])
	}
	if !full && t.o.Max > 0 && len(t.byID) >= t.o.Max {
		gone, full = t.giveWay(gone, e.owner, t.maxOwned())
	}
	closed := t.closed
	if !full && !closed {
		e.place = t.order.PushFront(e)
		t.byID[id] = e
		t.owned[e.owner]++
		if t.sweep == nil {
			t.sweep = time.AfterFunc(t.o.TTL, t.expire)
		}
	}
	t.reportEnded(gone)
	switch {
	case closed:
		return nil, ErrClosed
	case full:
		return nil, ErrFull
	}
	return e, nil
}

// maxOwned is how many values the owner has that has the most; t.mu is held.
func (t *Table[V]) maxOwned() (most int) {
	for _, n := range t.owned {
		most = max(most, n)
	}
	return most
}

// giveWay removes an idle value: of the owners with more values than this one has, and at most limit, the one with the most;
// its own where none of them has an idle one. It is the one that was idle for longest. t.mu is held. full reports that there
// is none.
func (t *Table[V]) giveWay(gone []*Entry[V], owner string, limit int) (_ []*Entry[V], full bool) {
	var found *Entry[V]
	for p := t.order.Back(); p != nil && (found == nil || t.owned[found.owner] < limit); p = p.Prev() {
		e := p.Value.(*Entry[V])
		n := t.owned[e.owner]
		if (e.owner == owner || n > t.owned[owner] && n <= limit) && (found == nil || n > t.owned[found.owner]) && t.isIdle(e) {
			found = e
		}
	}
	if found == nil {
		return gone, true
	}
	t.take(found)
	return append(gone, found), false
}

// Has reports whether there is a value of this id.
func (t *Table[V]) Has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id] != nil
}

// Use finds a value, which stays until [Entry.Release]; nil if there is none of this id.
func (t *Table[V]) Use(id string) *Entry[V] {
	return t.UseIf(id, func(V) bool { return true })
}

// UseIf is [Table.Use] for a value that ok accepts; one that it does not is not used. ok is called with the table locked.
func (t *Table[V]) UseIf(id string, ok func(V) bool) *Entry[V] {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.byID[id]
	if e == nil || t.isOver(e) || !ok(e.Value) {
		return nil
	}
	e.active++
	t.order.MoveToFront(e.place)
	return e
}

// Release ends one use.
func (e *Entry[V]) Release() {
	e.t.mu.Lock()
	defer e.t.mu.Unlock()
	e.active--
	e.used = time.Now()
	if !e.gone {
		e.t.order.MoveToFront(e.place)
	}
}

// Remove takes the value out of the table, also while it is in use, and reports whether it was there. Ended is not told.
func (e *Entry[V]) Remove() bool {
	e.t.mu.Lock()
	defer e.t.mu.Unlock()
	if e.gone {
		return false
	}
	e.t.take(e)
	return true
}

// isIdle reports that a value may be taken; t.mu is held.
func (t *Table[V]) isIdle(e *Entry[V]) bool {
	return e.active == 0 && (t.o.Busy == nil || !t.o.Busy(e.Value))
}

// isOver reports that a value's time is over; t.mu is held.
func (t *Table[V]) isOver(e *Entry[V]) bool {
	return e.active == 0 && time.Since(e.used) >= t.o.TTL && t.isIdle(e)
}

// take removes a value; t.mu is held.
func (t *Table[V]) take(e *Entry[V]) {
	e.gone = true
	delete(t.byID, e.ID)
	if t.owned[e.owner]--; t.owned[e.owner] == 0 {
		delete(t.owned, e.owner)
	}
	t.order.Remove(e.place)
}

// takeExpired removes the values whose time is over; t.mu is held. The order is that of the last use, so that it stops at the
// first one that was used lately.
func (t *Table[V]) takeExpired() (gone []*Entry[V]) {
	for p := t.order.Back(); p != nil; {
		e, before := p.Value.(*Entry[V]), p.Prev()
		switch {
		case t.isOver(e):
			t.take(e)
			gone = append(gone, e)
		case e.active == 0 && time.Since(e.used) < t.o.TTL:
			return gone
		}
		p = before
	}
	return gone
}

func (t *Table[V]) expire() {
	t.mu.Lock()
	gone := t.takeExpired()
	switch {
	case t.closed || len(t.byID) == 0:
		t.sweep = nil
	default:
		wait := t.o.TTL
		for p := t.order.Back(); p != nil; p = p.Prev() { // the first one that is not in use
			if e := p.Value.(*Entry[V]); e.active == 0 {
				wait = max(t.o.TTL-time.Since(e.used), t.o.TTL/16, time.Millisecond)
				break
			}
		}
		t.sweep.Reset(wait)
	}
	t.reportEnded(gone)
}

// reportEnded unlocks t.mu and reports values.
func (t *Table[V]) reportEnded(gone []*Entry[V]) {
	if t.o.Ended == nil || len(gone) == 0 {
		t.mu.Unlock()
		return
	}
	t.ending.Add(1)
	defer t.ending.Done()
	t.mu.Unlock()
	for _, e := range gone {
		t.o.Ended(e.Value)
	}
}

// Close removes all values and returns them; Ended is not told of these, and of nothing after Close. Nothing can be added
// any more.
func (t *Table[V]) Close() []V {
	t.mu.Lock()
	t.closed = true
	if t.sweep != nil {
		t.sweep.Stop()
	}
	all := make([]V, 0, len(t.byID))
	for _, e := range t.byID {
		t.take(e)
		all = append(all, e.Value)
	}
	t.mu.Unlock()
	t.ending.Wait()
	return all
}
