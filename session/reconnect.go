package session

import (
	"context"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Fault is the JSON-RPC error that answers a server's request.
type Fault = jsonrpc.Error

// Retry says how a lost connection is made again. Zero fields stand for the defaults.
type Retry struct {
	Base    time.Duration // wait before the first attempt, doubled for each further one; 500 ms
	Cap     time.Duration // longest wait; 30 s
	Max     int           // attempts; 10. Negative: none
	Settled time.Duration // a connection that lived this long starts the count again; 10 s
}

func (r *Retry) defaults() {
	if r.Base <= 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Cap <= 0 {
		r.Cap = 30 * time.Second
	}
	if r.Max == 0 {
		r.Max = 10
	}
	if r.Settled <= 0 {
		r.Settled = 10 * time.Second
	}
}

// wait is how long to wait before attempt n (1, 2, 3 …): exponential, capped, and a random half of it taken off, so that
// many clients of one server do not come back at once.
func (r Retry) wait(n int) time.Duration {
	return failure.Jitter(failure.Backoff(n, r.Base, r.Cap), 0.5)
}

// retry is a planned attempt, and those after it.
type retry struct {
	cancel context.CancelFunc
	asked  chan struct{} // cap 1: somebody waits for the connection now
	tried  chan struct{} // closed after the next attempt; replaced
}

// now asks for an attempt before the planned one; the channel is closed when that is over. The caller holds the session's mu.
func (r *retry) now() chan struct{} {
	select {
	case r.asked <- struct{}{}:
	default:
	}
	return r.tried
}

// Connect connects, or waits for the attempt that is already running. It returns nil when the session is connected. ctx
// bounds the waiting; a server that took its place in the process table does not end with it. Automatic reconnection goes on
// after an attempt that failed.
func (s *Session) Connect(ctx context.Context) error { return s.reach(ctx, false) }

// reach connects. wanted says that the connection was there, or was being waited for, and is to come back by itself.
func (s *Session) reach(ctx context.Context, wanted bool) error {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return &failure.Error{Kind: failure.ServerNotConnected, Server: s.Title(), Stage: "connecting", Message: "the server was removed from the list"}
		case s.conn != nil:
			s.mu.Unlock()
			return nil
		case s.dialing != nil:
			over := s.dialing
			s.mu.Unlock()
			select {
			case <-over:
			case <-ctx.Done():
				return failure.Wrap(ctx.Err(), s.Title(), "connecting")
			}
			s.mu.Lock()
			err, again := s.err, s.conn == nil && s.err == nil
			ok := s.conn != nil
			s.mu.Unlock()
			if ok || !again {
				return err
			}
			continue // the one that we waited for was cancelled by its own caller
		}
		wanted = wanted || s.retry != nil
		s.endRetry()
		s.attempt = 0
		err := s.dial(ctx) // unlocks
		if wanted && err != nil && worthRetrying(err) {
			s.comeBack()
		}
		return err
	}
}

// comeBack has a connection that could not be made by hand come back by itself.
func (s *Session) comeBack() {
	s.mu.Lock()
	if s.state == Failed && s.conn == nil && s.dialing == nil {
		s.planRetry()
	}
	s.mu.Unlock()
	s.notifyChange()
}

// planRetry starts automatic reconnection; the caller holds mu.
func (s *Session) planRetry() {
	if s.retry != nil || s.cfg.NoReconnect || s.closed || s.opts.Retry.Max < 0 || s.attempt >= s.opts.Retry.Max {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	r := &retry{cancel: cancel, asked: make(chan struct{}, 1), tried: make(chan struct{})}
	s.retry = r
	s.attempt++
	due := time.Now().Add(s.opts.Retry.wait(s.attempt))
	s.retryAt = due
	s.wg.Go(func() { s.reconnect(ctx, r, due) })
}

// endRetry stops automatic reconnection; the caller holds mu.
func (s *Session) endRetry() {
	if s.retry != nil {
		s.retry.cancel()
		s.retry = nil
	}
}

// reconnect makes attempts until one succeeds, there were enough, or ctx ends. Attempts that calls ask for do not count, and
// leave the planned one where it was.
func (s *Session) reconnect(ctx context.Context, r *retry, due time.Time) {
	defer r.cancel()
	defer func() { close(r.tried) }()
	for {
		sooner := false
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
		case <-r.asked:
			sooner = true
		case <-ctx.Done():
		}
		timer.Stop()
		s.mu.Lock()
		if ctx.Err() != nil || s.retry != r {
			s.mu.Unlock()
			return
		}
		err := s.dial(ctx) // unlocks
		s.mu.Lock()
		if s.retry != r {
			s.mu.Unlock()
			return
		}
		if err == nil || s.conn != nil || !sooner && s.attempt >= s.opts.Retry.Max || !worthRetrying(err) {
			s.retry = nil
			s.retryAt = time.Time{}
			if s.conn == nil {
				// A connection that was lost again before we got here has planned nothing, since we were still there.
				s.replan(err)
			}
			s.mu.Unlock()
			s.notifyChange()
			return
		}
		if !sooner {
			s.attempt++
			due = time.Now().Add(s.opts.Retry.wait(s.attempt))
		}
		s.retryAt = due
		tried := r.tried
		r.tried = make(chan struct{})
		s.mu.Unlock()
		close(tried)
		s.notifyChange()
	}
}

// replan goes on after a connection that was made and lost at once; the caller holds mu.
func (s *Session) replan(err error) {
	if err == nil && s.state == Failed {
		s.planRetry()
	}
}

// worthRetrying reports whether waiting can help.
func worthRetrying(err error) bool {
	switch failure.KindOf(err) {
	case failure.Usage, failure.OAuth, failure.ServerDisabled, failure.Interrupted:
		return false
	}
	return true
}
