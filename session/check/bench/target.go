package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// conn is one connection to a server.
type conn interface {
	// prepare makes the message that the connection's session would send for a request, without sending it.
	prepare(ctx context.Context, method string, params json.RawMessage) (*message, error)
	// send sends a message, and waits until all of the answer is there. It notes the times in s. The error is the cause of ctx where that ended,
	// errLate for a request that was given up.
	send(ctx context.Context, m *message, id uint64, s *shot) (reply, error)
	// err is why the connection ended by itself, nil while it lasts.
	err() error
}

// reply is an answer, or where it is cut the beginning of a large one.
type reply struct {
	frame []byte
	cut   bool
}

// Target is a server that is measured, and the connections to it.
type Target struct {
	Name     string // for people
	Status   session.Status
	managers []*session.Manager // one for each connection
	conns    []conn
	messages [][]*message // of each connection, one for each of the plan's params
	next     atomic.Uint64
	sent     int64 // in the turns before
}

// Open makes connections to a server: each with a handshake of its own, over stdio to a process of its own. o says how, as for a session;
// nothing is recorded.
func Open(ctx context.Context, cfg config.Server, o session.Options, connections int) (*Target, error) {
	if connections < 1 || connections > MaxConnections {
		return nil, wrong("%d connections are not possible: there are 1 to %d", connections, MaxConnections)
	}
	cfg.NoReconnect = true // a server that goes away is a result
	kind := transport.Kinds(cfg)[0]
	t, err := open(ctx, cfg, o, kind, connections)
	if err == nil && kind == config.HTTP && t.Status.Transport != config.HTTP { // it speaks the older one
		_ = t.Close()
		t, err = open(ctx, cfg, o, t.Status.Transport, connections)
	}
	return t, err
}

func open(ctx context.Context, cfg config.Server, o session.Options, kind string, connections int) (*Target, error) {
	// No request is ours but those that are measured: no recording that costs time, no health check, no cached result.
	o.Journal, o.Unrecorded, o.Record, o.HealthInterval, o.ResultTTL, o.Tracing = nil, true, nil, -1, 0, session.TraceNone
	t := &Target{}
	for range connections {
		s, err := t.connect(ctx, cfg, o, kind)
		if err != nil {
			_ = t.Close()
			return nil, err
		}
		if len(t.conns) == 1 {
			t.Name, t.Status = s.Title(), s.Status()
		}
	}
	return t, nil
}

// connect adds a connection.
func (t *Target) connect(ctx context.Context, cfg config.Server, o session.Options, kind string) (*session.Session, error) {
	var c conn
	var owner **session.Session // of c
	if kind == config.HTTP {
		h, err := newHTTPConn(cfg)
		if err != nil {
			return nil, err
		}
		o.Transport.Via = h
		c, owner = h, &h.session
	} else {
		given := cfg
		if cfg.NeedsToken() && o.Auth != nil {
			var err error
			if given, err = auth.New(cfg, *o.Auth).Given(ctx, cfg); err != nil {
				return nil, err
			}
		}
		tr, err := transport.New(kind, given, transport.Tap{}, o.Transport)
		if err != nil {
			return nil, err
		}
		p := newPipe(tr)
		o.Dial = func(config.Server) (transport.Transport, bool) { return p, true }
		c, owner = p, &p.session
	}
	m := session.NewManager(o)
	t.managers, t.conns = append(t.managers, m), append(t.conns, c)
	s, err := m.Register(cfg)
	if err == nil {
		err = s.Connect(ctx)
	}
	*owner = s
	return s, err
}

// PIDs are the processes of the target.
func (t *Target) PIDs() (pids []int) {
	for _, m := range t.managers {
		for _, s := range m.Servers() {
			pids = append(pids, s.Status().PID)
		}
	}
	return pids
}

// Close ends the connections.
func (t *Target) Close() error {
	errs := make([]error, len(t.managers))
	var all sync.WaitGroup
	for i, m := range t.managers {
		all.Go(func() { errs[i] = m.Close() })
	}
	all.Wait()
	for _, c := range t.conns {
		if h, ok := c.(*httpConn); ok {
			h.close()
		}
	}
	return errors.Join(errs...)
}

// prepare makes the messages of a plan.
func (t *Target) prepare(ctx context.Context, p *Plan) error {
	method := p.Method
	if method == "ping" && t.Status.Era == session.Modern { // which has none
		method = "server/discover"
	}
	t.messages = make([][]*message, len(t.conns))
	for i, c := range t.conns {
		for j, params := range p.Params {
			m, err := c.prepare(ctx, method, params)
			if err != nil {
				return fmt.Errorf("arguments %d: %w", j+1, err)
			}
			t.messages[i] = append(t.messages[i], m)
		}
	}
	t.next.Store(firstID)
	t.sent = 0
	return nil
}

// err is why no connection is left, nil while there is one.
func (t *Target) err() error {
	var errs []error
	for _, c := range t.conns {
		err := c.err()
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errs[0]
}

// shoot sends the n-th request and waits for its answer, at most limit from when it was due.
func (t *Target) shoot(d *deadline, n int64, s *shot, limit time.Duration) (kind string, err error) {
	which := n % int64(len(t.messages[0]))
	i := (n + n/int64(len(t.messages[0]))) % int64(len(t.conns)) // so that a connection does not get the same ones each time
	m := t.messages[i][which]
	answer, err := t.conns[i].send(d.begin(time.Duration(s.due-s.sent)+limit), m, t.next.Add(1), s)
	d.end()
	if err == nil {
		kind, err = judge(m, answer)
	} else {
		kind = kindOf(d.parent, err)
	}
	s.done = s.now()
	return kind, err
}

// errLate is the cause of a request that was given up.
var errLate = errors.New("no answer in time")
