package session

import (
	"context"
	"sync"
	"time"
)

// subscriptions are what a session is notified of: resources over the connection that there is, those that it keeps subscribed over
// all connections, and who listens. A subscription is made with the connection that it was asked for on: it counts only where that is over
// still. begin comes before anybody can have a connection, end once nobody gets it any more, so that it is over for all who have it.
type subscriptions struct {
	wake chan struct{} // cap 1: something is to be read; set once

	mu        sync.Mutex
	over      *conn                      // the connection that there is; nil without one, written by begin and end
	legacy    map[string]struct{}        // URIs that the server was asked for over it, in the legacy era; nil before the first, empty where over is nil
	watches   map[string]*watch          // streams by URI over it, in the modern era; nil and empty as above
	all       []*subscription            // by KeepSubscribed, in the order in which they were made; none twice
	running   bool                       // a goroutine reads what is due; from the first of them to the end of the session
	listeners map[*func([]byte)]struct{} // by OnNotification; nil before the first
}

// subscription is one that lasts; but for its URI its fields are guarded by subscriptions.mu.
type subscription struct {
	Subscription
	read    bool      // content holds what was read
	content string    // as text, at most maxContent bytes
	due     time.Time // of what made content outdated; zero if it is not
	offline bool      // that was a time without a connection
	reading bool      // a reading runs
	during  bool      // due is when a reading ran, which may have found already what is new
}

// watch is the stream of one resource's updates in the modern era.
type watch struct {
	stop   context.CancelFunc
	opened chan struct{} // closed when the server acknowledged, or when it is clear that it never will
	err    error         // why it never will; valid once opened is closed
}

// begin takes a new connection, over which nothing is subscribed to yet.
func (k *subscriptions) begin(c *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clear()
	k.over = c
}

// end ends every subscription over connections up to this number. Those over one that took their place stay.
func (k *subscriptions) end(number uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over != nil && k.over.id <= number {
		k.clear()
		k.over = nil
	}
}

// clear ends what is subscribed to over the connection; the caller holds mu.
func (k *subscriptions) clear() {
	clear(k.legacy)
	for _, w := range k.watches {
		w.stop()
	}
	clear(k.watches)
}

// noteSubscribed notes a subscription of the legacy era, which ends with c.
func (k *subscriptions) noteSubscribed(c *conn, uri string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over != c {
		return
	}
	if k.legacy == nil {
		k.legacy = map[string]struct{}{}
	}
	k.legacy[uri] = struct{}{}
}

// noteUnsubscribed notes that the server was told to end a subscription of the legacy era.
func (k *subscriptions) noteUnsubscribed(uri string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.legacy, uri)
}

// add is the stream for uri over c, where there is none w, which run then keeps open on a goroutine of wg; nil when c is not the
// session's connection any more.
func (k *subscriptions) add(c *conn, uri string, w *watch, wg *sync.WaitGroup, run func()) *watch {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over != c {
		return nil
	}
	if have := k.watches[uri]; have != nil {
		return have
	}
	if k.watches == nil {
		k.watches = map[string]*watch{}
	}
	k.watches[uri] = w
	wg.Go(run) // under mu: whoever closes the session ends what is over the connection before it waits
	return w
}

// watching is the stream for uri, nil if there is none.
func (k *subscriptions) watching(uri string) *watch {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.watches[uri]
}

// remove ends w. Where uri has another stream by now, that one stays.
func (k *subscriptions) remove(uri string, w *watch) {
	k.mu.Lock()
	if k.watches[uri] == w {
		delete(k.watches, uri)
	}
	k.mu.Unlock()
	w.stop()
}

// hasAny reports whether anything is subscribed to over the connection.
func (k *subscriptions) hasAny() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.watches)+len(k.legacy) > 0
}

// live is whether the server knows of uri, over the connection that there is; the caller holds mu.
func (k *subscriptions) live(uri string) bool {
	_, legacy := k.legacy[uri]
	return k.over != nil && (legacy || k.watches[uri] != nil)
}

// listen calls f with every notification, until stop is called.
func (k *subscriptions) listen(f func([]byte)) (stop func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.listeners == nil {
		k.listeners = map[*func([]byte)]struct{}{}
	}
	k.listeners[&f] = struct{}{}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.listeners, &f)
	}
}

// callListeners calls those who listen.
func (k *subscriptions) callListeners(frame []byte) {
	k.mu.Lock()
	all := make([]func([]byte), 0, len(k.listeners))
	for f := range k.listeners {
		all = append(all, *f)
	}
	k.mu.Unlock()
	for _, f := range all {
		f(frame)
	}
}
