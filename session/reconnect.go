package session

import (
	"context"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Fault is the JSON-RPC error that answers a server's request.
type Fault = jsonrpc.Error

// Retry says how a lost connection is made again: by itself, up to Max times. Attempts that calls ask for in between do not count. Zero
// fields stand for the defaults.
type Retry struct {
	Base    time.Duration // wait before the first attempt, doubled for each further one; 500 ms
	Cap     time.Duration // longest wait; 30 s
	Max     int           // attempts; 10. Negative: none
	Settled time.Duration // a connection that lived this long starts the count again; 10 s
}

// defaults fills in what was left out.
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

// retry is a planned attempt, and those after it, which one goroutine makes (reconnect). The link has one at most: it is ended by an
// attempt by hand, by Disconnect, and by running out of attempts. That goroutine replaces tried, under link.mu.
type retry struct {
	cancel context.CancelFunc
	asked  chan struct{} // cap 1: somebody waits for the connection now
	tried  chan struct{} // closed after the next attempt; replaced
}

// now asks for an attempt before the planned one; the channel is closed when that is over. The caller holds link.mu.
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
		bounded, abort := s.patience(ctx)
		a, over, planned, err := s.link.claim(abort)
		if a != nil {
			err := s.dial(bounded, a)
			if (wanted || planned) && err != nil && worthRetrying(err) {
				s.link.scheduleRetry()
				s.notifyChange()
			}
			return err
		}
		abort()
		switch {
		case err != nil:
			return &failure.Error{Kind: failure.ServerNotConnected, Server: s.Title(), Stage: "connecting", Message: "the server was removed from the list"}
		case over == nil:
			return nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return failure.Wrap(ctx.Err(), s.Title(), "connecting")
		}
		if now := s.link.snapshot(); now.conn != nil || now.err != nil {
			return now.err
		}
		// The one that we waited for was cancelled by its own caller.
	}
}

// scheduleRetry plans to make a connection by itself that could not be made by hand.
func (l *link) scheduleRetry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == Failed && l.dialing == nil {
		l.plan()
	}
}

// plan starts automatic reconnection; the caller holds mu.
func (l *link) plan() {
	if l.retry != nil || l.closed || l.attempt >= l.policy.Max {
		return
	}
	ctx, cancel := context.WithCancel(l.life)
	r := &retry{cancel: cancel, asked: make(chan struct{}, 1), tried: make(chan struct{})}
	l.retry = r
	l.attempt++
	due := time.Now().Add(l.policy.wait(l.attempt))
	l.retryAt = due
	l.runs.Go(func() { l.again(ctx, r, due) })
}

// endRetry stops automatic reconnection; the caller holds mu.
func (l *link) endRetry() {
	if l.retry != nil {
		l.retry.cancel()
		l.retry = nil
	}
}

// resume begins the attempt that r has planned; nil where it is given up.
func (l *link) resume(ctx context.Context, r *retry, abort context.CancelFunc) *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil || l.retry != r {
		return nil
	}
	return l.begin(abort)
}

// planNext plans the attempt after the one that ended with err, at due where that was made sooner than planned; due is zero where there will be
// none. waited is for those who waited for it, to be closed; nil where r was given up meanwhile.
func (l *link) planNext(r *retry, err error, sooner bool, planned time.Time) (waited chan struct{}, due time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retry != r {
		return nil, time.Time{}
	}
	waited = r.tried
	if err == nil || l.conn != nil || !sooner && l.attempt >= l.policy.Max || !worthRetrying(err) {
		l.retry, l.retryAt = nil, time.Time{}
		if err == nil && l.state == Failed {
			l.plan() // lost again before we got here; that has planned nothing, since we were still there
		}
		return waited, time.Time{}
	}
	due = planned
	if !sooner {
		l.attempt++
		due = time.Now().Add(l.policy.wait(l.attempt))
	}
	l.retryAt = due
	r.tried = make(chan struct{})
	return waited, due
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
		bounded, abort := s.patience(ctx)
		a := s.link.resume(ctx, r, abort)
		if a == nil {
			abort()
			return
		}
		err := s.dial(bounded, a)
		waited, next := s.link.planNext(r, err, sooner, due)
		switch {
		case waited == nil:
			return
		case next.IsZero():
			s.notifyChange()
			return
		}
		due = next
		close(waited)
		s.notifyChange()
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
