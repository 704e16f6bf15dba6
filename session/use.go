package session

import "time"

// Use says how much a session is used.
type Use struct {
	Held     bool      // by Hold, by a request from its start to its result, or by a subscription
	Inflight int       // requests waiting for an answer
	Calls    uint64    // requests made so far
	Failed   uint64    // those of them that ended with an error
	Last     time.Time // of the last request or release, or when the session was made
}

// Use is a snapshot.
func (s *Session) Use() Use {
	s.mu.Lock()
	u := Use{Held: s.holds > 0 || len(s.watches)+len(s.subs) > 0, Calls: s.calls, Failed: s.failed, Last: s.used}
	c := s.conn
	s.mu.Unlock()
	if c != nil {
		u.Inflight = len(c.Inflight())
	}
	return u
}
