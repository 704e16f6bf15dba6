package aggregate

import (
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// use finds a session, or with an empty id what callers of a principal without one share who can be asked for the same, and
// keeps it until release.
func (s *Server) use(id string, caller Caller, hops int, caps string) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c *client
	if id != "" {
		if c = s.clients[id]; c == nil || c.principal != caller.Principal {
			return nil
		}
	} else {
		key := caller.Principal + "\x00" + string(rune('0'+hops)) + caps
		if c = s.commons[key]; c == nil {
			c = s.newClient(caller, hops, []byte(caps))
			c.key, c.caps = key, caps
			s.commons[key] = c
			s.sweepLater()
		}
	}
	c.active++
	c.used = time.Now()
	return c
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
			return &jsonrpc.Failure{
				Kind: jsonrpc.FailQueueFull, Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
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
