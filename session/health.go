package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// A connection is given up after healthFailures checks in a row that got no answer within healthTimeout, or within the interval
// between two checks where that is shorter. One that fails while a request runs does not count: many servers do one thing at a time.
const (
	healthFailures = 3
	healthTimeout  = 10 * time.Second
)

// startLoops starts what a connection needs while it lives.
func (s *Session) startLoops(c *conn) {
	if s.opts.HealthInterval > 0 {
		s.wg.Go(func() { s.watchHealth(c) })
	}
	s.wg.Go(func() { s.refreshLoop(c) })
	s.listen(c)
	s.resubscribe(c)
	s.restoreLevel(c)
}

// watchHealth pings the server at intervals. Three failures in a row end the connection.
func (s *Session) watchHealth(c *conn) {
	tick := time.NewTicker(s.opts.HealthInterval)
	defer tick.Stop()
	failures := 0
	for {
		select {
		case <-tick.C:
		case <-c.Context().Done():
			return
		}
		before := c.Received()
		_, err := s.check(c)
		switch {
		case c.Context().Err() != nil:
			return
		case err == nil || c.Received() != before:
			failures = 0 // whatever it said, it lives
			continue
		case len(c.Inflight()) > 0:
			continue // a server that works on one thing at a time; the request has its own timeout
		}
		if failures++; failures < healthFailures {
			continue
		}
		s.drop(c, &failure.Error{
			Kind: failure.Timeout, Server: s.Title(), Stage: "health check", Err: err,
			Message: fmt.Sprintf("no answer to %d health checks in a row: %v", failures, err), Next: "it is reconnected automatically", Remedy: failure.Reconnect,
		})
		return
	}
}

// check makes one health check: ping, or server/discover in the modern era, which has no ping. Any answer counts,
// an error as well.
func (s *Session) check(c *conn) (time.Duration, error) {
	method := string(mcp.MethodPing)
	if c.era == Modern {
		method = string(mcp.MethodServerDiscover)
	}
	spec := &rpc.Request{Method: method, Timeout: min(healthTimeout, max(s.opts.HealthInterval, 250*time.Millisecond)), Hidden: true}
	c.completeForEra(spec, nil)
	r, err := c.Call(c.Context(), spec)
	var e *failure.Error
	if err != nil && (!errors.As(err, &e) || e.Code == nil) {
		return 0, err
	}
	c.latency.Store(int64(r.Took))
	s.notifyChange()
	return r.Took, nil
}

// Ping makes a health check now and returns how long the answer took; an error response is one as well. Unlike the automatic ones it counts and is
// shown as a request.
func (s *Session) Ping(ctx context.Context) (time.Duration, error) {
	c, err := s.acquire(ctx, "ping")
	if err != nil {
		return 0, err
	}
	method := string(mcp.MethodPing)
	if c.era == Modern {
		method = string(mcp.MethodServerDiscover)
	}
	r, err := s.Call(ctx, method, nil, CallOptions{})
	var e *failure.Error
	if err != nil && (!errors.As(err, &e) || e.Code == nil) {
		return 0, err
	}
	return r.Took, nil
}
