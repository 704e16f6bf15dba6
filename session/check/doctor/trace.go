package doctor

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// trace is what requests over HTTP met on their way. The transport calls it from several goroutines at once.
type trace struct {
	changed chan struct{} // cap 1: a wake-up that is there already is enough, as whoever wakes looks at everything

	mu      sync.Mutex // of all below
	lookups []lookup   // these three only grow, up to 16
	dials   []dial
	secured []secured
	starts  map[string]time.Time // of "dns", "tls", and each address; the latest of each
}

// lookup is a name that was looked up.
type lookup struct {
	host  string
	addrs []net.IPAddr // nil with an error
	took  time.Duration
	err   error // most often a *net.DNSError
}

// dial is an address that was connected to.
type dial struct {
	addr string // with its port; that of the proxy where there is one
	took time.Duration
	err  error // nil once connected; also set for those that lost a race
}

// secured is a TLS handshake.
type secured struct {
	state tls.ConnectionState // empty with an error, whose certificates are in the error then
	took  time.Duration
	err   error
}

// client hears of all requests of the session. A lookup does not say its name when it is done, so that of two at once the later
// start gives both their name and time; a diagnosis asks for one host, and for that of its login later.
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
		TLSHandshakeStart: func() { t.note(func() { t.begin("tls") }) },
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			t.note(func() { t.secured = appended(t.secured, secured{s, t.since("tls"), err}) })
		},
	}
}

// begin and since are called under the lock.
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

// note writes under the lock, and wakes whoever waits.
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
