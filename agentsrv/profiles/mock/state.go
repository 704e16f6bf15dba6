package mock

import (
	"sync"

	"github.com/mcphud/mcphud/agentsrv/front"
)

// state is how far one client is: a session, or all callers without one.
type state struct {
	mu    sync.Mutex
	given map[uint64]int // how many answers a key has given
	level string         // the least severe log message that the client wants, "" if it did not say
	tails map[uint64]func()
}

func newState() *state { return &state{given: map[uint64]int{}, tails: map[uint64]func(){}} }

// turn is which of n answers a key gives now: one after the other, and then the last again.
func (s *state) turn(key uint64, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.given[key]
	if i < n-1 {
		s.given[key] = i + 1
	}
	return min(i, n-1)
}

// stateOf is the client's, until its session ends.
func (m *Mock) stateOf(x *front.Exchange) *state {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.Session == nil {
		return m.shared
	}
	s := m.states[x.Session]
	if s == nil {
		s = newState()
		m.states[x.Session] = s
		m.tails.Go(func() {
			select {
			case <-x.Session.Done():
			case <-m.life.Done():
			}
			m.mu.Lock()
			delete(m.states, x.Session)
			m.mu.Unlock()
		})
	}
	return s
}

// again begins the recording anew for callers without a session.
func (m *Mock) again() {
	m.mu.Lock()
	old := m.shared
	m.shared = newState()
	m.mu.Unlock()
	old.mu.Lock()
	defer old.mu.Unlock()
	for _, stop := range old.tails {
		stop()
	}
}
