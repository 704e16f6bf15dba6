package telemetry

import (
	"sync"
	"time"
)

const (
	rateSlots = 30
	rateSlot  = 10 * time.Second // so the window is five minutes
)

// rate is the share of events that were marked, in a window that slides by slots.
type rate struct {
	mu     sync.Mutex
	newest int64 // number of the newest slot
	slots  [rateSlots]struct{ marked, all uint64 }
	marked uint64 // since the start
	all    uint64
}

// add counts an event at some time since the start.
func (r *rate) add(at time.Duration, marked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(at)
	s := &r.slots[r.newest%rateSlots]
	s.all++
	r.all++
	if marked {
		s.marked++
		r.marked++
	}
}

// value is the share in the window, 0 if nothing happened in it.
func (r *rate) value(at time.Duration) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(at)
	var marked, all uint64
	for _, s := range r.slots {
		marked += s.marked
		all += s.all
	}
	if all == 0 {
		return 0
	}
	return float64(marked) / float64(all)
}

func (r *rate) totals() (marked, all uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.marked, r.all
}

func (r *rate) advance(at time.Duration) {
	n := int64(at / rateSlot)
	if n-r.newest > rateSlots {
		r.newest = n - rateSlots
	}
	for r.newest < n {
		r.newest++
		r.slots[r.newest%rateSlots] = struct{ marked, all uint64 }{}
	}
}
