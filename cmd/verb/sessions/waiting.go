package sessions

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/serve/kept"
)

const (
	maxWaiting    = 64 << 20 // bytes of one call
	maxWaitingAll = 128 << 20
	maxCalls      = 100
)

var errFull = errors.New("too many calls wait for answers; answer some, or let them go by --decline")

// waitingCalls are the calls that wait for answers. They are in memory alone: arguments can be secrets.
type waitingCalls struct {
	name string
	time time.Duration // how long one waits

	mu    sync.Mutex
	calls []kept.Waiting // oldest first
	last  int64
}

func newWaiting(name string, limit time.Duration) *waitingCalls {
	return &waitingCalls{name: name, time: limit}
}

// add keeps a call, or what became of one that was kept under its id.
func (p *waitingCalls) add(c kept.Waiting) (kept.Waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	p.drop(c.ID)
	size := len(c.Params) + len(c.Result)
	for _, o := range p.calls {
		size += len(o.Params) + len(o.Result)
	}
	if len(p.calls) >= maxCalls || size > maxWaitingAll {
		return c, errFull
	}
	if c.ID == "" {
		p.last++
		c.ID = kept.ID(p.name, p.last)
	}
	c.Since = time.Now()
	c.Until = c.Since.Add(p.time)
	p.calls = append(p.calls, c)
	return c, nil
}

func (p *waitingCalls) get(id string) (kept.Waiting, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	i := slices.IndexFunc(p.calls, func(c kept.Waiting) bool { return c.ID == id })
	if i < 0 {
		return kept.Waiting{}, false
	}
	return p.calls[i], true
}

func (p *waitingCalls) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(id)
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
}

func (p *waitingCalls) expire() {
	now := time.Now()
	p.calls = slices.DeleteFunc(p.calls, func(c kept.Waiting) bool { return now.After(c.Until) })
}
