package sandbox

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"
)

// Workers are kept like this.
const (
	minIdle   = 2                // idle workers that are kept at least: one to use and one to take its place
	idleTime  = time.Minute      // for this long
	callLimit = 500              // after so many calls a worker is replaced
	retryWait = 10 * time.Second // a spare that could not be started is not tried again before
)

var errClosed = errors.New("the sandbox is closed")

// take returns an idle worker, or starts one.
func (s *Sandbox) take(ctx context.Context) (*child, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		c.timer.Stop()
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	return s.start(ctx)
}

func (s *Sandbox) start(ctx context.Context) (*child, error) {
	if os.Getenv(workerEnv) != "" {
		return nil, errors.New("this process is a worker itself: its main must call sandbox.WorkerMain first")
	}
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	return start(ctx, program)
}

// give takes a worker back after a call, and sees to it that the next call finds one.
func (s *Sandbox) give(c *child, healthy bool) {
	s.mu.Lock()
	usedUp := c.calls >= s.retires && len(s.idle) > 0 || c.calls == maxInt
	keep := healthy && !usedUp && !s.closed && len(s.idle) < s.maxIdle
	if keep {
		s.keep(c)
	}
	if !s.closed && !s.starting && (len(s.idle) == 0 || keep && c.calls >= s.retires) && time.Now().After(s.notBefore) {
		s.starting = true
		s.spares.Go(s.spare)
	}
	s.mu.Unlock()
	if !keep {
		c.close()
	}
}

// keep puts a worker among the idle ones; s.mu is held.
func (s *Sandbox) keep(c *child) {
	s.idle = append(s.idle, c)
	c.timer = time.AfterFunc(idleTime, func() { s.drop(c) })
}

// drop ends a worker that nobody needed for long.
func (s *Sandbox) drop(c *child) {
	s.mu.Lock()
	i := slices.Index(s.idle, c)
	if i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	s.mu.Unlock()
	if i >= 0 {
		c.close()
	}
}

// spare starts a worker for the next call.
func (s *Sandbox) spare() {
	c, err := s.start(s.life)
	s.mu.Lock()
	s.starting = false
	keep := err == nil && !s.closed && len(s.idle) < s.maxIdle
	if keep {
		s.keep(c)
	}
	if err != nil {
		s.notBefore = time.Now().Add(retryWait)
	}
	closed := s.closed
	s.mu.Unlock()
	if err != nil && !closed {
		s.log.Warn("sandbox: cannot start a spare worker", "err", err)
	}
	if c != nil && !keep {
		c.close()
	}
}
