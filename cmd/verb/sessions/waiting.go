package sessions

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/serve/kept"
)

const (
	maxWaiting    = 32 << 20 // bytes of one call
	maxWaitingAll = 64 << 20
	maxCalls      = 100
)

var errTaken = errors.New("somebody answers this call at this moment")

var errFull = errors.New("too many calls wait for answers; answer some, or let them go by --decline")

// waitingCalls are the calls that wait for answers. They are in memory alone: arguments can be secrets.
type waitingCalls struct {
	name string
	time time.Duration // how long one waits

	mu    sync.Mutex
	calls []kept.Waiting // oldest first
	taken map[string]any // who answers a call at this moment, by its id
	last  int64
}

func newWaiting(name string, limit time.Duration) *waitingCalls {
	return &waitingCalls{name: name, time: limit, taken: map[string]any{}}
}

// sizeOf is what a call holds in memory.
func sizeOf(c kept.Waiting) int { return len(c.Params) + len(c.Result) + len(c.Asked) }

// add keeps a call, or what became of one that was kept under its id, which may be answered then. The time of one that asks the same goes on: its
// server does not wait longer either.
func (p *waitingCalls) add(c kept.Waiting) (kept.Waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	c.Since = time.Now()
	c.Until = c.Since.Add(p.time)
	size, others := sizeOf(c), 0
	for _, o := range p.calls {
		switch {
		case o.ID != c.ID:
			size += sizeOf(o)
			others++
		case bytes.Equal(o.Result, c.Result):
			c.Since, c.Until = o.Since, o.Until
		}
	}
	if others >= maxCalls || size > maxWaitingAll {
		return c, errFull
	}
	p.drop(c.ID)
	if c.ID == "" {
		p.last++
		c.ID = kept.ID(p.name, p.last)
	}
	p.calls = append(p.calls, c)
	return c, nil
}

// take is a call for the one who answers it: until release, or until it is kept or dropped, nobody else gets it.
func (p *waitingCalls) take(id string) (c kept.Waiting, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	i := slices.IndexFunc(p.calls, func(c kept.Waiting) bool { return c.ID == id })
	switch {
	case i < 0:
		return c, nil, kept.ErrNotWaiting
	case p.taken[id] != nil:
		return c, nil, errTaken
	}
	mine := new(int)
	p.taken[id] = mine
	return p.calls[i], func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.taken[id] == mine {
			delete(p.taken, id)
		}
	}, nil
}

// forget takes a call away, and is what it was.
func (p *waitingCalls) forget(id string) (c kept.Waiting, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.calls, func(c kept.Waiting) bool { return c.ID == id })
	if i < 0 {
		return c, false
	}
	c = p.calls[i]
	p.drop(id)
	return c, true
}

// list is what waits, without the requests.
func (p *waitingCalls) list() []kept.Waiting {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	all := slices.Clone(p.calls)
	for i := range all {
		all[i].Params, all[i].Result = nil, nil
	}
	if all == nil {
		return []kept.Waiting{}
	}
	return all
}

// drop and expire take calls out; mu is held.
func (p *waitingCalls) drop(id string) {
	p.calls = slices.DeleteFunc(p.calls, func(c kept.Waiting) bool { return c.ID == id })
	delete(p.taken, id)
}

func (p *waitingCalls) expire() {
	now := time.Now()
	p.calls = slices.DeleteFunc(p.calls, func(c kept.Waiting) bool { return now.After(c.Until) })
}
