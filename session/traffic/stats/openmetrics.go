package stats

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// MetricsContentType is that of [Metrics.Text].
const MetricsContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

const (
	maxSeries = 5000        // of requests, by server, method and outcome; further methods count as other
	mostOpen  = 100_000     // requests under way, before those are forgotten that the journal dropped
	every     = time.Second // between looks at the journal
)

// MetricsServer is how one server stands.
type MetricsServer struct {
	Name        string
	State       string // in words, such as Connected
	Connected   bool
	Tools       int
	Latency     time.Duration // of the last health check, or of the handshake; 0 where it is not known
	InFlight    int           // requests waiting for an answer
	Connections uint64        // that were opened or tried so far
}

// MetricsPool is how many connections there are.
type MetricsPool struct {
	Active, Idle int
	Limit        int // 0 is none
}

// MetricsOptions configures Metrics. Journal and Servers are required.
type MetricsOptions struct {
	Journal *journal.Journal
	Servers func() []MetricsServer
	Pool    func() MetricsPool // nil where there is none
}

// Metrics counts. It must be closed.
type Metrics struct {
	o        MetricsOptions
	registry *prometheus.Registry
	done     chan struct{}
	looks    sync.WaitGroup

	mu     sync.Mutex
	seen   uint64
	open   map[uint64]key // requests under way, by their Seq
	counts map[outcome]float64
	times  map[key]*buckets
	bytes  map[direction]float64
}

type key struct{ server, method string }

type outcome struct {
	key
	how string
}

type direction struct{ server, to string }

// buckets counts durations.
type buckets struct {
	count   uint64
	sum     float64 // seconds
	buckets [len(bounds)]uint64
}

var bounds = [...]float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60} // seconds

// NewMetrics begins to count.
func NewMetrics(o MetricsOptions) *Metrics {
	m := &Metrics{
		o: o, registry: prometheus.NewRegistry(), done: make(chan struct{}),
		open: map[uint64]key{}, counts: map[outcome]float64{}, times: map[key]*buckets{}, bytes: map[direction]float64{},
	}
	m.registry.MustRegister(m)
	m.looks.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				m.update()
			case <-m.done:
				return
			}
		}
	})
	return m
}

// Close ends the counting.
func (m *Metrics) Close() {
	close(m.done)
	m.looks.Wait()
}

// update takes in what was appended to the journal.
func (m *Metrics) update() {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.o.Journal
	j.Each(m.seen, func(e *journal.Entry) bool {
		m.seen = e.Seq
		if e.Hop == "" { // another process counts its own
			m.add(j, e)
		}
		return true
	})
	if first := j.First(); len(m.open) > mostOpen {
		for seq := range m.open {
			if seq < first {
				delete(m.open, seq)
			}
		}
	}
}

func (m *Metrics) add(j *journal.Journal, e *journal.Entry) {
	server := strings.ToValidUTF8(e.Server, "\uFFFD")
	switch e.Kind {
	case journal.Request, journal.Notification, journal.Response, journal.ErrorResponse:
		to := "received"
		if e.Dir == journal.Out {
			to = "sent"
		}
		m.bytes[direction{server, to}] += float64(e.Size)
	}
	switch e.Kind {
	case journal.Request:
		if e.Dir == journal.Out && e.Mark == 0 {
			m.open[e.Seq] = key{server, strings.ToValidUTF8(e.Method, "\uFFFD")}
		}
	case journal.Response, journal.ErrorResponse:
		if k, ok := m.open[e.Peer]; ok && e.Mark == 0 {
			m.end(e.Peer, k, e.Status, e.Took)
		}
	case journal.Notification, journal.State:
		if k, ok := m.open[e.Peer]; ok && e.Peer != 0 { // a cancellation, or the end of the connection
			if q, ok := j.Get(e.Peer); ok && q.Status != journal.Pending {
				m.end(e.Peer, k, q.Status, 0)
			}
		}
	}
}

func (m *Metrics) end(seq uint64, k key, status string, took time.Duration) {
	delete(m.open, seq)
	how := "ok"
	switch status {
	case journal.Failed:
		how = "error"
	case journal.Cancelled:
		how = "cancelled"
	}
	if _, known := m.counts[outcome{k, how}]; !known && len(m.counts) >= maxSeries {
		k = key{"other", "other"}
	}
	m.counts[outcome{k, how}]++
	if took <= 0 {
		return
	}
	h := m.times[k]
	if h == nil {
		h = &buckets{}
		m.times[k] = h
	}
	s := took.Seconds()
	h.count++
	h.sum += s
	for i, bound := range bounds {
		if s <= bound {
			h.buckets[i]++
		}
	}
}

// ServeHTTP serves GET, as OpenMetrics unless the client asks for the older text format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a := r.Header.Get("Accept"); a == "" || a == "*/*" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept", MetricsContentType)
	}
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
}

// Text is all of it now, as OpenMetrics.
func (m *Metrics) Text() []byte {
	w := &page{header: http.Header{}}
	r := &http.Request{Method: http.MethodGet, Header: http.Header{"Accept": {MetricsContentType}}}
	m.ServeHTTP(w, r)
	return w.Bytes()
}

// page keeps an answer.
type page struct {
	bytes.Buffer
	header http.Header
}

// Header implements [http.ResponseWriter].
func (p *page) Header() http.Header { return p.header }

// WriteHeader implements [http.ResponseWriter].
func (p *page) WriteHeader(int) {}
