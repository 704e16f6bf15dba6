package session

import (
	"sync"
	"time"
)

// Use says how much a session is used. toolset.Pool ends the connections of those that nobody uses (Retire), and users see it.
type Use struct {
	Held     bool      // by Hold, by a request from its start to its result, or by a subscription
	Inflight int       // requests waiting for an answer
	Calls    uint64    // requests made so far
	Failed   uint64    // those of them that ended with an error
	Last     time.Time // of the last request or release, or when the session was made
}

// usage counts what a session is used for.
type usage struct {
	mu     sync.Mutex
	holds  int       // never negative: each hold is released once
	calls  uint64    // only grows
	failed uint64    // only grows, and never past calls: a request is counted before it can fail
	last   time.Time // never zero
}

// touch notes that the connection was asked for.
func (u *usage) touch() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = time.Now()
}

// countCall counts a request that begins.
func (u *usage) countCall() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls++
}

// countFailure counts a request that countCall counted, and that ended with an error.
func (u *usage) countFailure() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.failed++
}

// hold counts one more that holds the session, until release is called, once or more.
func (u *usage) hold() (release func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.holds++
	return sync.OnceFunc(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.holds--
		u.last = time.Now()
	})
}

// snapshot has all but Inflight, which the connection knows.
func (u *usage) snapshot() Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Use{Held: u.holds > 0, Calls: u.calls, Failed: u.failed, Last: u.last}
}

// Use is a snapshot. Subscriptions are looked at first: one that is replaced by a hold is then seen as either of them, and a hold that
// is replaced by a subscription at least by Last.
func (s *Session) Use() Use {
	subscribed := s.subs.hasAny()
	u := s.use.snapshot()
	u.Held = u.Held || subscribed
	if c := s.current(); c != nil {
		u.Inflight = len(c.Inflight())
	}
	return u
}

// Hold counts the session as in use until release is called, once or more.
func (s *Session) Hold() (release func()) { return s.use.hold() }
