package aggregate

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/idle"
)

// maxShared is how many kinds of callers without a session there may be of one principal: they differ by the capabilities that
// they declare, which they make up, and each kind has sessions with all agents.
const maxShared = 32

func (s *Server) newTables() {
	owner := func(c *client) string { return c.principal }
	end := func(c *client) { s.closing.Go(c.close) }
	s.clients = idle.New(idle.Options[*client]{TTL: s.o.TTL, Max: s.o.Max, Owner: owner, Ended: end})
	s.shared = idle.New(idle.Options[*client]{TTL: s.o.TTL, MaxOwned: maxShared, Owner: owner, Ended: end, Busy: (*client).hasOpenCalls})
}

// acquire returns a session of the caller's and keeps it until release; nil if there is none.
func (s *Server) acquire(id string, caller Caller) *client {
	e := s.clients.UseIf(id, func(c *client) bool { return c.principal == caller.Principal })
	if e == nil {
		return nil
	}
	return e.Value
}

// acquireShared returns the client that callers without a session share who have one principal, hop count and set of capabilities, and keeps it
// until release. It is made where there is none.
func (s *Server) acquireShared(caller Caller, hops int, caps string) (*client, error) {
	if s.o.Sole != nil {
		caps = soleCapabilities
	}
	key := caller.Principal + "\x00" + string(rune('0'+hops)) + caps
	s.mu.Lock() // one maker at a time
	defer s.mu.Unlock()
	if e := s.shared.Use(key); e != nil {
		return e.Value, nil
	}
	c := s.newClient(caller, hops, []byte(caps))
	return c, s.addClient(c, s.shared, key, "too many distinct capability sets among sessionless clients; open sessions, or try again later")
}

// addClient puts a new client into a table, in use by its maker, or closes it.
func (s *Server) addClient(c *client, in *idle.Table[*client], key, full string) error {
	e, err := in.Add(key, c)
	switch {
	case err == nil:
		c.entry = e
		return nil
	case errors.Is(err, idle.ErrClosed):
		full = "the router is stopping"
	}
	c.close()
	return &jsonrpc.RequestError{Kind: jsonrpc.KindQueueFull, Status: http.StatusServiceUnavailable, RetryAfter: time.Second, Message: full, Err: err}
}

// hasOpenCalls reports whether a call waits for its caller to resume it.
func (c *client) hasOpenCalls() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

func (c *client) release() { c.entry.Release() }

// remove ends a session, in the background.
func (s *Server) remove(c *client) {
	if c.entry.Remove() {
		s.closing.Go(c.close)
	}
}

// Close cancels the calls that run, ends all sessions, and waits until both are over.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.health.close()
	for _, c := range append(s.clients.Close(), s.shared.Close()...) {
		s.closing.Go(c.close)
	}
	s.end()
	s.calls.Wait() // they may end sessions themselves
	s.closing.Wait()
	return nil
}
