package toolset

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// What a zero field of config.Pool stands for.
const (
	DefaultMaxIdleTime     = 5 * time.Minute
	DefaultCleanupInterval = time.Minute
)

// PoolStats counts servers and their connections at one moment. A server that is being connected is in TotalServers alone, though it
// counts against MaxConnections.
type PoolStats struct {
	TotalServers      int // registered, connected or not
	ActiveConnections int // held by somebody, or with a request under way
	IdleConnections   int // neither
}

// Pool hands out the connections of a Manager: it connects a server when somebody needs it, reuses what is connected,
// and closes what nobody has used for a while. A connection in use is never closed.
//
//	s, release, err := pool.Get(ctx, "files")
//	if err != nil {
//		return err
//	}
//	defer release()
//
// Order of locks: a gate before mu, and mu never while something is awaited.
type Pool struct {
	m     *session.Manager
	limit config.Pool // with defaults filled in; MaxConnections 0 is no bound

	mu      sync.Mutex
	gates   map[*session.Session]chan struct{} // taken while a session is connected or closed by the pool
	opening map[*session.Session]bool          // counted as connections already

	stop context.CancelFunc // of clean
	done chan struct{}      // closed when clean has ended
}

// NewPool starts looking after m's connections until Close.
func NewPool(m *session.Manager, limit config.Pool) *Pool {
	if limit.MaxIdleTime <= 0 {
		limit.MaxIdleTime = DefaultMaxIdleTime
	}
	if limit.CleanupInterval <= 0 {
		limit.CleanupInterval = DefaultCleanupInterval
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Pool{
		m: m, limit: limit, gates: map[*session.Session]chan struct{}{}, opening: map[*session.Session]bool{},
		stop: stop, done: make(chan struct{}),
	}
	go p.clean(ctx)
	return p
}

// Limits are those that are in force, defaults included. They do not change.
func (p *Pool) Limits() config.Pool { return p.limit }

// room is n, or how many connections there may be if that is less: to start more than fit would close the first for the last.
func (p *Pool) room(n int) int {
	if p.limit.MaxConnections > 0 {
		return min(n, p.limit.MaxConnections)
	}
	return n
}

// Close stops the cleaning, and returns when it has stopped. The connections are the Manager's, and stay.
func (p *Pool) Close() {
	p.stop()
	<-p.done
}

// Get returns the server connected, and counts it as in use until release is called (once or more often). Of several
// callers at once one connects and the others wait for it; each waits no longer than its own ctx.
func (p *Pool) Get(ctx context.Context, name string) (s *session.Session, release func(), err error) {
	s, ok := p.m.Server(name)
	if !ok {
		return nil, nil, session.UnknownServer(name)
	}
	if s.Config().Disabled {
		return nil, nil, &failure.Error{
			Kind: failure.ServerDisabled, Server: name, Stage: "connecting", Message: "the server is disabled",
			Next: "enable it in " + s.Config().Source.String(),
		}
	}
	// Held before the gate: from here on the cleaner leaves it alone.
	release = s.Hold()
	if err := p.connect(ctx, s); err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
}

// connect connects s, if it is not connected when its turn has come. s is held already, so that nobody closes it as idle.
func (p *Pool) connect(ctx context.Context, s *session.Session) error {
	gate := p.gate(s)
	select {
	case gate <- struct{}{}:
		defer func() { <-gate }()
	case <-ctx.Done():
		return failure.Wrap(context.Cause(ctx), s.Name(), "connecting")
	}
	if s.Status().State == session.Connected {
		return nil
	}
	if err := p.reserve(ctx, s); err != nil {
		return err
	}
	defer p.unreserve(s)
	return s.Connect(ctx)
}

// gate is the lock of a session, which can be waited for with a context, unlike a mutex.
func (p *Pool) gate(s *session.Session) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.gates[s]
	if g == nil {
		g = make(chan struct{}, 1)
		p.gates[s] = g
	}
	return g
}

// reserve makes room for one more connection, closing the one that has been idle for longest if it must.
func (p *Pool) reserve(ctx context.Context, s *session.Session) error {
	for {
		p.mu.Lock()
		open, idle, least := 0, (*session.Session)(nil), time.Time{}
		// Counted anew each time: sessions are connected and closed by others, too.
		for _, o := range p.m.Servers() {
			if o == s || !p.opening[o] && !occupies(o.Status().State) {
				continue
			}
			open++
			if since, ok := idleSince(o); ok && !p.opening[o] && (idle == nil || since.Before(least)) {
				idle, least = o, since
			}
		}
		if p.limit.MaxConnections <= 0 || open < p.limit.MaxConnections {
			p.opening[s] = true
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		if idle == nil {
			return &failure.Error{
				Kind: failure.Transport, Server: s.Name(), Stage: "connecting",
				Message: fmt.Sprintf("every connection of the pool is in use (%d)", p.limit.MaxConnections),
				Next:    "wait for one to end, or raise pool.max_connections",
			}
		}
		if err := p.closeIdle(ctx, idle, 0, "to make room for "+s.Name()); err != nil {
			return err
		}
	}
}

// idleSince is when s was last used, and whether it is connected and nobody uses it now.
func idleSince(s *session.Session) (time.Time, bool) {
	st, u := s.Status(), s.Use()
	if u.Last.Before(st.Since) {
		u.Last = st.Since
	}
	return u.Last, st.State == session.Connected && !u.Held && u.Inflight == 0
}

// occupies reports whether a session in this state counts against MaxConnections.
func occupies(st session.State) bool { return st == session.Connected || st == session.Connecting }

// unreserve ends what reserve began: from here on the state of the session says whether it counts.
func (p *Pool) unreserve(s *session.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.opening, s)
}

// closeIdle disconnects s if it has been idle for at least that long. While somebody else is just connecting or closing
// it, closeIdle waits, until ctx ends.
func (p *Pool) closeIdle(ctx context.Context, s *session.Session, least time.Duration, why string) error {
	gate := p.gate(s)
	select {
	case gate <- struct{}{}:
		defer func() { <-gate }()
	case <-ctx.Done():
		return failure.Wrap(context.Cause(ctx), s.Name(), "closing")
	}
	if since, ok := idleSince(s); ok && time.Since(since) >= least {
		return s.Retire(why)
	}
	return nil
}

// clean closes idle connections every CleanupInterval.
func (p *Pool) clean(ctx context.Context) {
	defer close(p.done)
	tick := time.NewTicker(p.limit.CleanupInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		servers := p.m.Servers()
		var wg sync.WaitGroup
		for _, s := range servers {
			if since, ok := idleSince(s); ok && time.Since(since) >= p.limit.MaxIdleTime {
				// At once: a server that is slow to leave delays no other. What goes wrong is in the journal.
				wg.Go(func() { _ = p.closeIdle(ctx, s, p.limit.MaxIdleTime, "idle "+text.Duration(p.limit.MaxIdleTime)) })
			}
		}
		wg.Wait()
		p.forget(servers)
	}
}

// forget drops the gates of sessions that are registered no longer.
func (p *Pool) forget(servers []*session.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keep := map[*session.Session]bool{}
	for _, s := range servers {
		keep[s] = true
	}
	for s, g := range p.gates {
		if !keep[s] && len(g) == 0 {
			delete(p.gates, s)
		}
	}
}

// Stats counts the connections now. Meanwhile no room is given to another one, or the count could be of connections that
// were never there at the same time.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	servers := p.m.Servers()
	st := PoolStats{TotalServers: len(servers)}
	for _, s := range servers {
		if s.Status().State != session.Connected {
			continue
		}
		if _, idle := idleSince(s); idle {
			st.IdleConnections++
		} else {
			st.ActiveConnections++
		}
	}
	return st
}
