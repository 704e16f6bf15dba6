package limit

import "time"

// slots is the length of the window, in slots of a second.
const slots = 60

// window counts events of the last minute. It never lets more than the limit through in any 60 seconds, which a token
// bucket does not promise: that one refills while it is used, so that the 101st call of a minute may pass. The price is
// that a slot of one second counts until all of it is a minute old.
type window struct {
	counts [slots + 1]uint32
	total  int
	second int64 // the newest slot
}

// take counts one event at elapsed time since some start, if fewer than limit are in the window; otherwise it says how
// long it takes until one more fits. Time must not run backwards.
func (w *window) take(elapsed time.Duration, limit int) time.Duration {
	second := int64(elapsed / time.Second)
	w.advance(second)
	if w.total >= limit {
		return w.wait(elapsed)
	}
	w.counts[second%int64(len(w.counts))]++
	w.total++
	return 0
}

// add counts n events at elapsed time, whatever the limit.
func (w *window) add(elapsed time.Duration, n int) {
	second := int64(elapsed / time.Second)
	w.advance(second)
	slot := &w.counts[second%int64(len(w.counts))]
	n = min(n, 1<<30-int(*slot))
	*slot += uint32(n)
	w.total += n
}

func (w *window) advance(second int64) {
	if second-w.second > slots {
		*w = window{second: second}
		return
	}
	for w.second < second {
		w.second++
		slot := &w.counts[w.second%int64(len(w.counts))]
		w.total -= int(*slot)
		*slot = 0
	}
}

// wait is the time until the oldest slot that holds something leaves the window.
func (w *window) wait(elapsed time.Duration) time.Duration {
	for s := max(w.second-slots, 0); s <= w.second; s++ {
		if w.counts[s%int64(len(w.counts))] > 0 {
			return time.Duration(s+int64(len(w.counts)))*time.Second - elapsed
		}
	}
	return 0
}
