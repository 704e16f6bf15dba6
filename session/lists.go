package session

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/offer"
)

// lists are what the server offers, as far as somebody asked for it. What is kept is of the server that said it: pages carry the connection
// that they came over, and a list of another server than the one that is connected is stale. begin comes before anybody can have a
// connection, so that nobody gets what was kept of the server before as this one's.
type lists struct {
	mu     sync.Mutex
	over   *conn  // the connection that there is; nil without one, written by begin and end
	server string // how the server introduced itself over it; "" where over is nil
	all    [offer.NumKinds]list
}

// list is one of them; guarded by lists.mu.
type list struct {
	cur     offer.Listing // what everybody sees; replaced, never changed in place, for snapshots share it
	stale   bool          // must be loaded again before it is used
	of      string        // the server that it was loaded from, as it introduced itself; "" for none, or for more than one
	loading chan struct{} // closed when the load that runs is over; nil where none runs. Whoever made it loads
	again   bool          // the list changed while it was loaded
}

// init sets the kinds, once.
func (k *lists) init() {
	for i := range k.all {
		k.all[i].cur.Kind = offer.Kind(i)
	}
}

// begin takes a new connection, which makes lists stale: all but those which the same server said may still be used.
func (k *lists) begin(c *conn) {
	now, server := time.Now(), c.identity()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over, k.server = c, server
	for i := range k.all {
		l := &k.all[i]
		l.stale = l.stale || l.cur.Expires.IsZero() || !l.cur.Fresh(now) || l.of != server
	}
}

// end is that connections up to this number are gone. One that took their place stays.
func (k *lists) end(number uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over != nil && k.over.id <= number {
		k.over, k.server = nil, ""
	}
}

// forgetServer notes that the next connection may be to another server.
func (k *lists) forgetServer() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.all {
		k.all[i].of = ""
	}
}

// listing is what is known now; it may be stale.
func (k *lists) listing(kind offer.Kind) offer.Listing {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[kind].cur
}

// claim is for whoever wants a list. Where it is to be loaded, load is given to one of them, who calls endLoad and then closes it; the
// others wait for it. Neither is given where cur may be used as it is. force is for a reload by hand.
func (k *lists) claim(kind offer.Kind, force bool) (cur offer.Listing, load, wait chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := &k.all[kind]
	switch {
	case l.loading != nil:
		return l.cur, nil, l.loading
	case !force && l.cur.Loaded && l.cur.Err == nil && !l.stale && l.cur.Fresh(time.Now()):
		return l.cur, nil, nil
	}
	l.loading, l.stale, l.again = make(chan struct{}), false, false
	l.cur.Loading = true
	return l.cur, l.loading, nil
}

// publish shows what is loaded so far: each page of a list that nobody has seen yet, others once they are done. before is what the load began
// with, changes and marks what is different since, and of the server that all pages are of.
func (k *lists) publish(kind offer.Kind, next, before offer.Listing, changes offer.Changes, marks map[string]offer.Mark, done bool, of string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := &k.all[kind]
	if !done && l.cur.Loaded {
		return
	}
	for key := range before.Marks {
		if _, unseen := l.cur.Marks[key]; !unseen { // seen while the list was loaded
			delete(marks, key)
		}
	}
	rev := l.cur.Rev + 1
	next.Loaded, next.Loading, next.Rev = done || l.cur.Loaded, l.cur.Loading, rev
	next.Marks, next.Changes, next.ChangeRev = marks, l.cur.Changes, l.cur.ChangeRev
	if changes.Some() {
		next.Changes, next.ChangeRev = changes, rev
	}
	if ttl := next.Hints.TTL; done && ttl != nil {
		next.Expires = time.Now().Add(*ttl)
	}
	if done {
		l.of = of
	}
	l.cur = next
}

// endLoad ends a load. again is the connection over which the list is to be loaded once more: it changed meanwhile, or is of another server
// than the one that is connected by now. nil where it is not.
func (k *lists) endLoad(kind offer.Kind, err error) (cur offer.Listing, again *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := &k.all[kind]
	l.loading = nil
	l.cur.Loading, l.cur.Err, l.cur.At = false, err, time.Now()
	l.stale = l.stale || l.again || err != nil || k.over != nil && l.of != k.server
	if l.stale && err == nil {
		again = k.over
	}
	return l.cur, again
}

// noteFailure notes that an automatic refresh had an error: the list is tried again with the next change.
func (k *lists) noteFailure(kind offer.Kind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[kind].stale = k.all[kind].again
}

// unmark removes the mark of an item, with "" those of all; false if there was none.
func (k *lists) unmark(kind offer.Kind, key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := &k.all[kind]
	_, marked := l.cur.Marks[key]
	switch {
	case key == "" && len(l.cur.Marks) > 0:
		l.cur.Marks = nil
	case marked: // snapshots share the map
		l.cur.Marks = maps.Clone(l.cur.Marks)
		delete(l.cur.Marks, key)
	default:
		return false
	}
	return true
}

// markStale notes that a list is out of date.
func (k *lists) markStale(kind offer.Kind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := &k.all[kind]
	l.stale = true
	if l.loading != nil {
		l.again = true
	}
}

// staleKinds are the lists that somebody has asked for and that are out of date.
func (k *lists) staleKinds() []offer.Kind {
	k.mu.Lock()
	defer k.mu.Unlock()
	var kinds []offer.Kind
	for i := range k.all {
		if l := &k.all[i]; l.stale && l.cur.Loaded && l.loading == nil {
			kinds = append(kinds, offer.Kind(i))
		}
	}
	return kinds
}

// tool is a listed tool, and by which connection and revision of the list; false where the list is not to be relied on, or has no such tool.
func (k *lists) tool(name string) (it offer.Item, conn, rev uint64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := &k.all[offer.Tools]
	i := slices.IndexFunc(l.cur.Items, func(it offer.Item) bool { return it.Name == name })
	if k.over == nil || l.stale || !l.cur.Loaded || i < 0 {
		return it, 0, 0, false
	}
	return l.cur.Items[i], k.over.id, l.cur.Rev, true
}
