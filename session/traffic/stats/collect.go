package stats

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mcphud_client_"+name, help, labels, nil)
}

var (
	connected   = desc("server_connected", "1 while the server is connected, 0 while it is not.", "server")
	state       = desc("server_state", "1 for the state that the connection to the server is in.", "server", "state")
	tools       = desc("server_tools", "Tools that the server lists.", "server")
	latency     = desc("server_latency_seconds", "How long the last health check or the handshake took.", "server")
	inFlight    = desc("requests_in_flight", "Requests that wait for an answer.", "server")
	connections = desc("connections_total", "Connections that were opened or tried.", "server")
	requests    = desc("requests_total", "Requests that were sent and are over, by outcome: ok, error or cancelled.", "server", "method", "outcome")
	durations   = desc("request_duration_seconds", "Time from requests to their answers.", "server", "method")
	frames      = desc("frame_bytes_total", "Bytes of messages, sent and received.", "server", "direction")
	pooled      = desc("pool_connections", "Connections of the pool, active and idle.", "state")
	limit       = desc("pool_limit", "Connections that the pool may have; not there without a limit.")
)

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{connected, state, tools, latency, inFlight, connections, requests, durations, frames, pooled, limit} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.update()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	named := map[string]bool{}
	for _, s := range m.o.Servers() {
		name := strings.ToValidUTF8(s.Name, "\uFFFD")
		if named[name] {
			continue
		}
		named[name] = true
		up := 0.0
		if s.Connected {
			up = 1
		}
		gauge(connected, up, name)
		gauge(state, 1, name, s.State)
		gauge(tools, float64(s.Tools), name)
		gauge(inFlight, float64(s.InFlight), name)
		counter(connections, float64(s.Connections), name)
		if s.Latency > 0 {
			gauge(latency, s.Latency.Seconds(), name)
		}
	}
	if m.o.Pool != nil {
		p := m.o.Pool()
		gauge(pooled, float64(p.Active), "active")
		gauge(pooled, float64(p.Idle), "idle")
		if p.Limit > 0 {
			gauge(limit, float64(p.Limit))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, n := range m.counts {
		counter(requests, n, o.server, o.method, o.how)
	}
	for d, n := range m.bytes {
		counter(frames, n, d.server, d.to)
	}
	for k, h := range m.times {
		buckets := make(map[float64]uint64, len(bounds))
		for i, bound := range bounds {
			buckets[bound] = h.buckets[i]
		}
		to <- prometheus.MustNewConstHistogram(durations, h.count, h.sum, buckets, k.server, k.method)
	}
}
