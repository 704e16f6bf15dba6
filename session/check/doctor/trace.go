package doctor

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// trace is what requests over HTTP met on their way.
type trace struct {
	changed chan struct{} // cap 1

	mu       sync.Mutex
	lookups  []lookup
	dials    []dial
	secured  []secured
	starts   map[string]time.Time
	handling bool // a TLS handshake began
}

// lookup is a name that was looked up.
type lookup struct {
	host  string
	addrs []net.IPAddr
	took  time.Duration
	err   error
}

// dial is an address that was connected to.
type dial struct {
	addr string
	took time.Duration
	err  error
}

// secured is a TLS handshake.
type secured struct {
	state tls.ConnectionState
	took  time.Duration
	err   error
}

// client hears of all requests.
func (t *trace) client() *httptrace.ClientTrace {
	host := ""
	return &httptrace.ClientTrace{
		DNSStart: func(i httptrace.DNSStartInfo) {
			t.note(func() { host = i.Host; t.begin("dns") })
		},
		DNSDone: func(i httptrace.DNSDoneInfo) {
			t.note(func() { t.lookups = appended(t.lookups, lookup{host, i.Addrs, t.since("dns"), i.Err}) })
		},
		ConnectStart: func(_, addr string) { t.note(func() { t.begin(addr) }) },
		ConnectDone: func(_, addr string, err error) {
			t.note(func() { t.dials = appended(t.dials, dial{addr, t.since(addr), err}) })
		},
		TLSHandshakeStart: func() { t.note(func() { t.handling = true; t.begin("tls") }) },
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			t.note(func() { t.secured = appended(t.secured, secured{s, t.since("tls"), err}) })
		},
	}
}

func (t *trace) begin(what string) {
	if t.starts == nil {
		t.starts = map[string]time.Time{}
	}
	t.starts[what] = time.Now()
}

func (t *trace) since(what string) time.Duration { return time.Since(t.starts[what]) }

// appended keeps the first few: a server may make many connections necessary.
func appended[T any](all []T, one T) []T {
	if len(all) >= 16 {
		return all
	}
	return append(all, one)
}

func (t *trace) note(f func()) {
	t.mu.Lock()
	f()
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// look reads under the lock.
func (t *trace) look(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}
