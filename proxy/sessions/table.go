package sessions

import (
	"container/list"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Limits bounds a Table. Zero values mean the defaults.
type Limits struct {
	TTL time.Duration // without requests and streams; default 30 min
	Max int           // default 10,000
	// Ended is told of sessions that nobody used for the TTL, or that gave way to others. It must not block.
	Ended func(Binding)
}

// Table keeps sessions in memory, the one used last in front.
type Table struct {
	o Limits

	mu     sync.Mutex
	byID   map[string]*Session
	of     map[string]int // how many a principal has
	order  *list.List
	sweep  *time.Timer // nil while there is no session
	closed bool
}

// Session is one that is in use until it is released.
type Session struct {
	Binding
	ID     string
	Short  string // of the id
	store  *Table // nil for a sealed one
	place  *list.Element
	active int // requests and streams
	used   time.Time
}

// NewTable makes an empty store. Close ends its timer.
func NewTable(o Limits) *Table {
	if o.TTL <= 0 {
		o.TTL = 30 * time.Minute
	}
	if o.Max <= 0 {
		o.Max = 10_000
	}
	if o.Ended == nil {
		o.Ended = func(Binding) {}
	}
	return &Table{o: o, byID: map[string]*Session{}, of: map[string]int{}, order: list.New()}
}

// Len is how many sessions there are.
func (s *Table) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// Mint keeps a binding under a new id, a random UUID; at the limit in place of the session that was idle for longest of the
// principal who has the most, so that nobody can throw out what is others'.
func (s *Table) Mint(p Binding) (string, error) {
	if err := Check(p.Upstream); err != nil {
		return "", err
	}
	id := jsonrpc.UUID()
	s.mu.Lock()
	gone := s.expired()
	if len(s.byID) >= s.o.Max {
		if v := s.spare(p.Principal); v != nil {
			gone = append(gone, s.take(v))
		}
	}
	full := len(s.byID) >= s.o.Max || s.closed
	if !full {
		n := &Session{Binding: p, ID: id, Short: Short(id), store: s, used: time.Now()}
		n.place = s.order.PushFront(n)
		s.byID[id] = n
		s.of[p.Principal]++
		if s.sweep == nil {
			s.sweep = time.AfterFunc(s.o.TTL, s.expire)
		}
	}
	s.mu.Unlock()
	s.ended(gone)
	if full {
		return "", ErrFull
	}
	return id, nil
}

// spare is the session that gives way to another one of a principal, nil if none can; s.mu is held.
func (s *Table) spare(principal string) *Session {
	most := principal
	for who, n := range s.of {
		if n > s.of[most] {
			most = who
		}
	}
	for e := s.order.Back(); e != nil; e = e.Prev() {
		if v := e.Value.(*Session); v.active == 0 && v.Principal == most {
			return v
		}
	}
	return nil
}

// Use finds a session of that agent and caller and keeps it from expiring until it is released.
func (s *Table) Use(id, agent, principal string) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.byID[id]
	if v == nil || v.idle(s.o.TTL) {
		return nil, ErrUnknown
	}
	if err := v.check(agent, principal); err != nil {
		return nil, err
	}
	v.active++
	s.order.MoveToFront(v.place)
	return v, nil
}

// Release ends one use.
func (v *Session) Release() {
	if v.store == nil {
		return
	}
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	v.active--
	v.used = time.Now()
}

// Forget ends a session, for itself and for those who use it now. A sealed one cannot be ended here, only at its agent.
func (v *Session) Forget() {
	if v.store == nil {
		return
	}
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	if v.store.byID[v.ID] == v {
		v.store.take(v)
	}
}

func (v *Session) idle(ttl time.Duration) bool { return v.active == 0 && time.Since(v.used) >= ttl }

// take removes a session; s.mu is held.
func (s *Table) take(v *Session) Binding {
	delete(s.byID, v.ID)
	if s.of[v.Principal]--; s.of[v.Principal] == 0 {
		delete(s.of, v.Principal)
	}
	s.order.Remove(v.place)
	return v.Binding
}

// expired removes the sessions whose time is over; s.mu is held. The order is of last use, so that it can stop early, but for
// those whose use takes long.
func (s *Table) expired() (gone []Binding) {
	for e := s.order.Back(); e != nil; {
		v, before := e.Value.(*Session), e.Prev()
		switch {
		case v.idle(s.o.TTL):
			gone = append(gone, s.take(v))
		case v.active == 0:
			return gone
		}
		e = before
	}
	return gone
}

func (s *Table) expire() {
	s.mu.Lock()
	gone := s.expired()
	switch {
	case s.closed || len(s.byID) == 0:
		s.sweep = nil
	default:
		wait := s.o.TTL
		if v := s.order.Back().Value.(*Session); v.active == 0 {
			wait = max(s.o.TTL-time.Since(v.used), time.Millisecond)
		}
		s.sweep.Reset(wait)
	}
	s.mu.Unlock()
	s.ended(gone)
}

func (s *Table) ended(gone []Binding) {
	for _, p := range gone {
		s.o.Ended(p)
	}
}

// Close forgets all sessions and returns them; none can be minted any more.
func (s *Table) Close() []Binding {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.sweep != nil {
		s.sweep.Stop()
	}
	all := make([]Binding, 0, len(s.byID))
	for _, v := range s.byID {
		all = append(all, s.take(v))
	}
	return all
}
