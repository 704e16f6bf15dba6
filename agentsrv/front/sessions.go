package front

import (
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/idle"
)

// newSessions makes the table of the sessions of the legacy era.
func newSessions(o Sessions) *idle.Table[*Session] {
	return idle.New(idle.Options[*Session]{TTL: o.TTL, Max: o.Max, Ended: (*Session).end})
}

// add keeps a new session, at the limit in place of the one that was idle for longest. It is in use until release.
func (s *Server) add(c *Session) error {
	e, err := s.sessions.Add(c.id, c)
	if err != nil {
		return &jsonrpc.RequestError{
			Kind: jsonrpc.KindQueueFull, Message: "too many sessions: all that this server serves at once are in use; try again later",
			Status: 503, RetryAfter: time.Second, Err: err,
		}
	}
	c.entry = e
	return nil
}

// use finds a session and keeps it from expiring until release. Another principal's session is not a session.
func (s *Server) use(id, principal string) *Session {
	e := s.sessions.UseIf(id, func(c *Session) bool { return c.principal == principal })
	if e == nil {
		return nil
	}
	return e.Value
}

// release ends one use.
func (s *Session) release() { s.entry.Release() }

// remove ends a session.
func (s *Session) remove() {
	s.entry.Remove()
	s.end()
}

// closeSessions ends all sessions; none can be added after it.
func (s *Server) closeSessions() {
	for _, c := range s.sessions.Close() {
		c.end()
	}
}
