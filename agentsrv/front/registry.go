package front

import (
	"container/list"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// registry holds the sessions of the legacy era, the one used last in front.
type registry struct {
	limits Sessions

	mu     sync.Mutex
	byID   map[string]*Session
	order  *list.List
	sweep  *time.Timer // nil while there is no session
	closed bool
}

func (r *registry) init(limits Sessions) {
	r.limits, r.byID, r.order = limits, map[string]*Session{}, list.New()
}

func (r *registry) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID)
}

// add takes a new session, at the limit in place of the one that was idle for longest. The session starts in use.
func (r *registry) add(s *Session) error {
	r.mu.Lock()
	victims := r.expired()
	if len(r.byID) >= r.limits.Max {
		for e := r.order.Back(); e != nil; e = e.Prev() {
			if v := e.Value.(*Session); v.active == 0 {
				victims = append(victims, r.take(v))
				break
			}
		}
	}
	var err error
	if len(r.byID) >= r.limits.Max || r.closed {
		err = &jsonrpc.RequestError{
			Kind: jsonrpc.KindQueueFull, Message: "there are as many sessions as this server serves at once, and all are in use; try again later",
			Status: 503, RetryAfter: time.Second,
		}
	} else {
		s.active, s.used = 1, time.Now()
		s.place = r.order.PushFront(s)
		r.byID[s.id] = s
		if r.sweep == nil {
			r.sweep = time.AfterFunc(r.limits.TTL, r.expire)
		}
	}
	r.mu.Unlock()
	for _, v := range victims {
		v.end()
	}
	return err
}

// take removes a session; mu is held.
func (r *registry) take(s *Session) *Session {
	delete(r.byID, s.id)
	r.order.Remove(s.place)
	return s
}

// expired removes those that were idle for longer than they may; mu is held.
func (r *registry) expired() (out []*Session) {
	limit := time.Now().Add(-r.limits.TTL)
	for e := r.order.Back(); e != nil; {
		s := e.Value.(*Session)
		if s.used.After(limit) {
			break
		}
		e = e.Prev()
		if s.active == 0 {
			out = append(out, r.take(s))
		}
	}
	return out
}

func (r *registry) expire() {
	r.mu.Lock()
	victims := r.expired()
	if len(r.byID) == 0 || r.closed {
		r.sweep = nil
	} else {
		r.sweep.Reset(max(r.limits.TTL/4, time.Millisecond))
	}
	r.mu.Unlock()
	for _, v := range victims {
		v.end()
	}
}

// use finds a session and keeps it from expiring until release. Another principal's session is no session.
func (r *registry) use(id, principal string) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.byID[id]
	if s == nil || s.principal != principal {
		return nil
	}
	s.active++
	r.touch(s)
	return s
}

func (r *registry) release(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.active--
	if r.byID[s.id] == s {
		r.touch(s)
	}
}

func (r *registry) touch(s *Session) {
	s.used = time.Now()
	r.order.MoveToFront(s.place)
}

// remove ends a session.
func (r *registry) remove(s *Session) {
	r.mu.Lock()
	if r.byID[s.id] == s {
		r.take(s)
	}
	r.mu.Unlock()
	s.end()
}

func (r *registry) each(f func(*Session)) {
	r.mu.Lock()
	all := make([]*Session, 0, len(r.byID))
	for _, s := range r.byID {
		all = append(all, s)
	}
	r.mu.Unlock()
	for _, s := range all {
		f(s)
	}
}

func (r *registry) close() {
	r.mu.Lock()
	r.closed = true
	if r.sweep != nil {
		r.sweep.Stop()
	}
	r.mu.Unlock()
	r.each(r.remove)
}
