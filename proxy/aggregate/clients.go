package aggregate

import (
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// use finds a session of the caller's and keeps it until release; nil if there is none.
func (s *Server) use(id string, caller Caller) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[id]
	if c == nil || c.principal != caller.Principal {
		return nil
	}
	c.active++
	c.used = time.Now()
	return c
}

// maxCommons is how many kinds of callers without a session there may be of one principal: they differ by what they can be asked
// for, which they make up, and each has sessions with all agents.
const maxCommons = 32

// common finds what the callers of a principal without a session share who can be asked for the same, and keeps it until release.
func (s *Server) common(caller Caller, hops int, caps string) (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := caller.Principal + "\x00" + string(rune('0'+hops)) + caps
	c := s.commons[key]
	if c == nil {
		if err := s.roomFor(caller.Principal); err != nil {
			return nil, err
		}
		c = s.newClient(caller, hops, []byte(caps))
		c.key, c.caps = key, caps
		s.commons[key] = c
		s.sweepLater()
	}
	c.active++
	c.used = time.Now()
	return c, nil
}

// waits reports whether a call goes on to which its caller may come back.
func (c *client) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// roomFor lets the kind of a principal's callers go that was idle for longest, where there are as many as there may be; s.mu is
// held.
func (s *Server) roomFor(principal string) error {
	n := 0
	var oldest *client
	for _, c := range s.commons {
		if c.principal != principal {
			continue
		}
		if n++; c.active == 0 && !c.waits() && (oldest == nil || c.used.Before(oldest.used)) {
			oldest = c
		}
	}
	switch {
	case n < maxCommons:
	case oldest == nil:
		return &jsonrpc.RequestError{
			Kind: jsonrpc.KindQueueFull, Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
			Message: "callers without a session can be asked for too many different things at once; open sessions, or try again later",
		}
	default:
		s.drop(oldest)
	}
	return nil
}

// known reports whether there is a session of this id, whoever's it is.
func (s *Server) known(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[id] != nil
}

func (s *Server) release(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.active--
	c.used = time.Now()
}

// add takes a new session, in use by its maker.
func (s *Server) add(c *client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= s.o.Max {
		// Of who has the most: nobody can push out others.
		have := map[string]int{c.principal: 1}
		for _, o := range s.clients {
			have[o.principal]++
		}
		var oldest *client
		for _, o := range s.clients {
			if o.active == 0 && (oldest == nil || have[o.principal] > have[oldest.principal] ||
				have[o.principal] == have[oldest.principal] && o.used.Before(oldest.used)) {
				oldest = o
			}
		}
		if oldest == nil {
			return &jsonrpc.RequestError{
				Kind: jsonrpc.KindQueueFull, Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
				Message: "there are as many sessions as this router serves at once, and all are in use; try again later",
			}
		}
		s.drop(oldest)
	}
	c.active, c.used = 1, time.Now()
	s.clients[c.id] = c
	s.sweepLater()
	return nil
}

// drop ends a client in the background; s.mu is held.
func (s *Server) drop(c *client) {
	if s.clients[c.id] == c {
		delete(s.clients, c.id)
	}
	if s.commons[c.key] == c {
		delete(s.commons, c.key)
	}
	if !c.dropped {
		c.dropped = true
		s.closing.Go(c.close)
	}
}

func (s *Server) remove(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

// sweepLater looks for clients that nobody uses; s.mu is held.
func (s *Server) sweepLater() {
	if s.sweep == nil && !s.closed {
		s.sweep = time.AfterFunc(max(s.o.TTL/4, time.Millisecond), s.tidy)
	}
}

func (s *Server) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep = nil
	for _, all := range []map[string]*client{s.clients, s.commons} {
		for _, c := range all {
			if c.active == 0 && time.Since(c.used) > s.o.TTL {
				s.drop(c)
			}
		}
	}
	if len(s.clients)+len(s.commons) > 0 {
		s.sweepLater()
	}
}

// Close ends all sessions. It does not wait for calls: they fail.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.health.close()
	if s.sweep != nil {
		s.sweep.Stop()
	}
	for _, all := range []map[string]*client{s.clients, s.commons} {
		for _, c := range all {
			s.drop(c)
		}
	}
	s.mu.Unlock()
	s.end()
	s.closing.Wait()
	s.calls.Wait()
	return nil
}
