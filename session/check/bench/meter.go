package bench

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	maxKinds   = 50  // kinds of errors that are told apart
	maxPoints  = 600 // of the series; beyond that two become one
	otherKinds = "other"
)

// histogram is of microseconds, exact to three digits.
func histogram(limit time.Duration) *hdrhistogram.Histogram {
	return hdrhistogram.New(1, max((2*limit).Microseconds(), int64(time.Minute/time.Microsecond)), 3)
}

// meter collects what became of the requests to one target. Safe for concurrent use.
type meter struct {
	limit time.Duration

	mu       sync.Mutex
	latency  *hdrhistogram.Histogram
	parts    [phases]*hdrhistogram.Histogram // nil for one that there was not
	second   *hdrhistogram.Histogram         // of the point that is being made
	point    Point
	points   []Point
	step     time.Duration
	errs     map[string]*Errors
	answered int64
	failed   int64

	inFlight, most int64
	queued         int64 // that found nobody free
	backlog        int64 // the most that waited at once
	waiting        int64 // that wait now
	unsent         int64
	took           int64         // nanoseconds that were measured
	own, lasted    time.Duration // processor time of this process, and in how long; with the warm-up
}

func newMeter(p *Plan) *meter {
	step := time.Second
	if p.For > 0 && p.For <= time.Minute {
		step /= 4
	}
	return &meter{limit: p.Timeout, latency: histogram(p.Timeout), second: histogram(p.Timeout), step: step, errs: map[string]*Errors{}}
}

func put(h *hdrhistogram.Histogram, ns int64) {
	_ = h.RecordValue(min(max((ns+500)/1000, 1), h.HighestTrackableValue())) // which is in its range
}

// record counts a request that is over. at is when it was due, since the measured part of its target began.
func (m *meter) record(s *shot, at int64, kind string, err error) {
	took := s.phases()
	latency := s.done - s.due
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance(at)
	m.point.Count++
	if kind != "" {
		m.failed++
		m.point.Errors++
		m.fault(kind, at, err)
		if kind != KindTimeout { // its time is what a caller waited
			return
		}
	} else {
		m.answered++
	}
	put(m.latency, latency)
	put(m.second, latency)
	for p, ns := range took {
		if ns < 0 {
			continue
		}
		if m.parts[p] == nil {
			m.parts[p] = histogram(m.limit)
		}
		put(m.parts[p], ns)
	}
}

func (m *meter) fault(kind string, at int64, err error) {
	e := m.errs[kind]
	if e == nil {
		if len(m.errs) >= maxKinds {
			kind = otherKinds
			e = m.errs[kind]
		}
		if e == nil {
			e = &Errors{Kind: kind, First: example(err), FirstAt: millis(time.Duration(at))}
			m.errs[kind] = e
		}
	}
	e.Count++
}

// advance ends the points of the series that lie before at.
func (m *meter) advance(at int64) {
	for at >= int64(m.point.start+m.step) {
		m.flush()
		m.point = Point{start: m.point.start + m.step}
		if at >= int64(m.point.start+m.step) { // nothing was due for a while
			m.point.start = time.Duration(at) / m.step * m.step
		}
	}
}

// flush keeps the point that is being made.
func (m *meter) flush() {
	if m.point.Count == 0 {
		return
	}
	m.points = append(m.points, m.result())
	m.second.Reset()
	if len(m.points) < maxPoints {
		return
	}
	// However long the run is, memory and report stay bounded: each two points become one.
	half := m.points[:0]
	for i := 0; i+1 < len(m.points); i += 2 {
		half = append(half, m.points[i].with(m.points[i+1]))
	}
	m.points = half
	m.step *= 2
}

func (m *meter) result() Point {
	p := m.point
	p.At, p.Millis = millis(p.start), millis(m.step)
	v := m.second.ValueAtPercentilesSlice([]float64{50, 99, 100})
	p.P50, p.P99, p.Max = micros(v[0]), micros(v[1]), micros(v[2])
	return p
}

// begin counts a request that is sent, and end one that is over.
func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight++
	m.most = max(m.most, m.inFlight)
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
}

// waits notes how many requests are due that nobody sends yet, and how many of them became so just now.
func (m *meter) waits(now, more int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting, m.backlog = now, max(m.backlog, now)
	m.queued += more
}

// report is what was measured.
func (m *meter) report() TargetReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := TargetReport{
		Answered: m.answered, Failed: m.failed, Unsent: m.unsent, Queued: m.queued, Backlog: m.backlog, InFlight: m.most, Millis: millis(time.Duration(m.took)),
		Latency: distribution(m.latency, true), Bars: bars(m.latency), Errors: []Errors{}, Phases: []PhaseReport{},
	}
	if m.took > 0 {
		r.Rate = round(float64(m.answered) / time.Duration(m.took).Seconds())
	}
	if m.lasted > 0 {
		r.Own = round(m.own.Seconds() / m.lasted.Seconds())
	}
	for p, h := range m.parts {
		if h != nil {
			r.Phases = append(r.Phases, PhaseReport{Phase(p).String(), distribution(h, true)})
		}
	}
	for _, e := range m.errs {
		r.Errors = append(r.Errors, *e)
	}
	slices.SortFunc(r.Errors, func(a, b Errors) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind)) })
	r.Series = slices.Clone(m.points)
	if m.point.Count > 0 {
		r.Series = append(r.Series, m.result())
	}
	return r
}

// steps are the bounds of bars, in microseconds.
var steps = [...]int64{1, 2, 5}

// bars counts the values of a histogram between the bounds 1, 2 and 5 of each power of ten, from the first that is not empty to the last.
func bars(h *hdrhistogram.Histogram) []Bar {
	all := []Bar{}
	from := int64(0)
	next := func(i int) int64 {
		to := steps[i%len(steps)]
		for range i / len(steps) {
			to *= 10
		}
		return to
	}
	i := 0
	for _, v := range h.Distribution() {
		if v.Count == 0 {
			continue
		}
		for v.To > next(i) { // bars between two that are not empty are there, with 0: they are drawn side by side
			from = next(i)
			i++
			if len(all) > 0 {
				all = append(all, Bar{From: micros(from), To: micros(next(i))})
			}
		}
		if len(all) == 0 {
			all = append(all, Bar{From: micros(from), To: micros(next(i))})
		}
		all[len(all)-1].Count += v.Count
	}
	return all
}

// distribution is what a histogram says. whole adds all of it.
func distribution(h *hdrhistogram.Histogram, whole bool) Distribution {
	d := Distribution{Count: h.TotalCount()}
	if d.Count == 0 {
		return d
	}
	v := h.ValueAtPercentilesSlice([]float64{50, 75, 90, 99, 99.9, 99.99})
	d.Mean, d.StdDev = round(h.Mean()/1000), round(h.StdDev()/1000)
	d.Min, d.Max = micros(h.Min()), micros(h.Max())
	d.P50, d.P75, d.P90, d.P99, d.P999, d.P9999 = micros(v[0]), micros(v[1]), micros(v[2]), micros(v[3]), micros(v[4]), micros(v[5])
	if !whole {
		return d
	}
	if b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err == nil {
		d.Histogram = string(b)
	}
	return d
}
