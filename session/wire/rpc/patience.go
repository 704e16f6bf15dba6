package rpc

import (
	"sync"
	"time"
)

// Patience ends a call that makes no progress for too long, or that takes too long whatever its progress. Both clocks stand still
// while somebody here is asked because of the call. The zero value has no limits.
type Patience struct {
	mu         sync.Mutex
	limit, max time.Duration // as Start got them
	from       time.Time     // of the last progress
	started    time.Time
	asking     int           // how many questions are open; the clocks stand still while it is above 0
	since      time.Time     // when the first of asking began
	timer      *time.Timer   // nil while not started, and where there are no limits
	rest       time.Duration // for which max stood still
}

// Start begins to wait: limit is without progress, max in all, 0 is no limit. end is called once, on a goroutine of its own, when
// one of them is over; inAll says which.
func (p *Patience) Start(limit, max time.Duration, end func(inAll bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.max, p.started = limit, max, time.Now()
	p.from = p.started
	if limit > 0 || max > 0 {
		p.timer = time.AfterFunc(p.timeLeft(p.started), func() { p.expire(end) })
	}
}

// timeLeft is how long there is until one of the limits; p.mu is held.
func (p *Patience) timeLeft(now time.Time) time.Duration {
	d := time.Duration(1<<63 - 1)
	if p.limit > 0 {
		d = p.limit - now.Sub(p.from)
	}
	if p.max > 0 {
		d = min(d, p.max+p.rest-now.Sub(p.started))
	}
	return d
}

// expire is what the timer calls. Progress does not reset the timer, which would cost much for thousands of notifications a second: the
// timer finds out here that there is time left, and starts again.
func (p *Patience) expire(end func(bool)) {
	p.mu.Lock()
	if p.timer == nil || p.asking > 0 { // stopped, or standing still: who asked starts it again
		p.mu.Unlock()
		return
	}
	now := time.Now()
	if d := p.timeLeft(now); d > 0 {
		p.timer.Reset(d)
		p.mu.Unlock()
		return
	}
	p.timer = nil
	inAll := p.max > 0 && p.max+p.rest-now.Sub(p.started) <= 0
	p.mu.Unlock()
	end(inAll)
}

// Again begins to wait for progress anew.
func (p *Patience) Again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from = time.Now() // the timer finds out when it ends
}

// Stop ends the waiting.
func (p *Patience) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = nil
}

// Asking makes the clocks stand still until done is called, once.
func (p *Patience) Asking() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking++; p.asking == 1 {
		p.since = time.Now()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.asking--; p.asking > 0 {
			return
		}
		now := time.Now()
		stood := now.Sub(p.since)
		// The clock of max gets the pause back. So does that without progress, unless progress came meanwhile: then it starts anew.
		p.rest += stood
		if p.from.Before(p.since) {
			p.from = p.from.Add(stood)
		} else {
			p.from = now
		}
		if p.timer != nil {
			p.timer.Reset(p.timeLeft(now))
		}
	}
}

// Took is how long the call has taken, without what was spent with asking.
func (p *Patience) Took() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.started) - p.rest
}
