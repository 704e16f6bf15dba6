package bench

import (
	"slices"
	"time"
)

// Now is how far a run is.
type Now struct {
	Target   string
	Since    time.Duration // of the run
	Whole    time.Duration // that it will take, 0 where that is not known
	Done     float64       // from 0 to 1, where that is known
	Report   TargetReport  // so far; without histograms
	InFlight int64
	Waits    int64 // due, and not sent yet
}

// Now is how far the run is, of the target whose turn it is. It may be called from any goroutine.
func (r *Run) Now() Now {
	r.mu.Lock()
	i, began := r.current, r.began
	r.mu.Unlock()
	m := r.meters[i] // has a lock of its own: r.mu must not wait for a histogram
	n := Now{Target: r.targets[i].Name, Report: m.now()}
	if !began.IsZero() {
		n.Since = time.Since(began)
	}
	m.mu.Lock()
	n.InFlight, n.Waits = m.inFlight, m.waiting
	m.mu.Unlock()
	if p := r.plan; p.For > 0 {
		n.Whole = (p.For + p.Warmup) * time.Duration(len(r.targets))
		n.Done = n.Since.Seconds() / n.Whole.Seconds()
	}
	if p := r.plan; p.Count > 0 {
		var total int64
		for _, m := range r.meters {
			m.mu.Lock()
			total += m.answered + m.failed
			m.mu.Unlock()
		}
		n.Done = max(n.Done, float64(total)/float64(p.Count*len(r.targets)))
	}
	n.Done = min(n.Done, 1)
	return n
}

// now is report without what takes long to write.
func (m *meter) now() TargetReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := TargetReport{Answered: m.answered, Failed: m.failed, Latency: distribution(m.latency, false), Bars: bars(m.latency), Series: slices.Clone(m.points[max(len(m.points)-maxShown, 0):])}
	if m.point.Count > 0 {
		t.Series = append(t.Series, m.result())
	}
	return t
}

// maxShown is how many points of the series Now has.
const maxShown = 120
