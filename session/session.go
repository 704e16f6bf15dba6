package session

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Session is one registered server through all its connections. All methods are safe for concurrent use. Made by
// Manager.Register.
type Session struct {
	cfg      config.Server
	opts     *Options
	changed  func() // tells the manager
	unique   func(s *Session, title string)
	title    atomic.Pointer[string] // nil: the name
	outdated atomic.Pointer[Outdated]
	client   atomic.Pointer[Client]          // of the next connections, nil for Options.Client
	roots    atomic.Pointer[[]string]        // nil: those of the configuration
	meta     atomic.Pointer[json.RawMessage] // for every request; never nil
	use      usage
	lists    lists
	subs     subscriptions
	tasks    taskState
	rev      atomic.Uint64

	ctx  context.Context // ends with the session
	stop context.CancelFunc
	wg   sync.WaitGroup // everything that runs for this session

	mu       sync.Mutex
	url      string            // where the server is now
	env      map[string]string // set since it was configured
	starting transport.Child   // of the attempt that runs
	state    State
	err      error
	since    time.Time
	attempt  int
	retryAt  time.Time
	conn     *conn
	era      Era           // learnt from an earlier connection
	conns    uint64        // connections made so far
	second   uint64        // number of the last connection made by As
	role     string        // of a session made by As, for the journal
	dialing  chan struct{} // closed when the attempt that runs is over
	abort    context.CancelFunc
	retry    *retry // automatic reconnection that is going on
	closed   bool
	results  results
	retired  string // why it was closed by Retire
	level    *string
	auth     *auth.Authorizer // nil where nobody logs in
	asks     context.Context  // what asking gives; nil until something is asked
	endAsks  context.CancelCauseFunc
}

func newSession(cfg config.Server, opts *Options, changed func(), unique func(*Session, string)) *Session {
	s := &Session{
		cfg: cfg, url: cfg.URL, opts: opts, changed: changed, unique: unique, state: Disconnected, since: time.Now(),
	}
	s.use.last = time.Now()
	s.lists.name()
	s.subs.wake = make(chan struct{}, 1)
	s.meta.Store(&opts.Meta)
	s.ctx, s.stop = context.WithCancel(context.Background())
	if opts.Auth != nil && (cfg.URL != "" || cfg.NeedsToken()) {
		s.auth = auth.New(cfg, *opts.Auth)
		s.auth.OnChange(s.notifyChange)
	}
	return s
}

// Rev grows with every change that Status or Listing show.
func (s *Session) Rev() uint64 { return s.rev.Load() }

// Journal has what is said over the session's connections, nil where nothing is recorded.
func (s *Session) Journal() *journal.Journal { return s.opts.Journal }

func (s *Session) notifyChange() {
	s.rev.Add(1)
	s.changed()
}

// nextConn counts a new connection.
func (s *Session) nextConn() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns++
	return s.conns
}

// enter counts the caller among what runs for the session, until wg.Done; false once the session is closed.
func (s *Session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Add(1)
	return true
}

func (s *Session) connID() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// patience bounds an attempt to connect.
func (s *Session) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.opts.Patient && s.cfg.Command != "" && s.cfg.ConnectTimeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.cfg.ConnectLimit())
}

// set changes the state; the caller holds mu. It returns what to do once mu is released.
func (s *Session) set(to State, err error) func() {
	from := s.state
	s.state, s.err, s.since = to, err, time.Now()
	if to != Disconnected {
		s.retired = ""
	}
	id, retired := s.conns, s.retired
	return func() {
		if from != to || err != nil {
			note := s.role + string(from) + " → " + string(to)
			if err != nil {
				note += ": " + err.Error()
			}
			if retired != "" {
				note += ": " + retired
			}
			transport.Tap{Journal: s.opts.Journal, Server: s.cfg.Name, Conn: id}.Append(journal.Entry{Kind: journal.State, Note: note}, nil)
		}
		s.notifyChange()
	}
}

// Status is a snapshot, without I/O.
func (s *Session) Status() Status {
	rev := s.rev.Load()
	s.mu.Lock()
	st := Status{
		State: s.state, Err: s.err, Attempt: s.attempt, RetryAt: s.retryAt, Since: s.since, Conn: s.conns, URL: s.url,
		Transport: transport.Kinds(s.cfg)[0], Rev: rev, Retired: s.retired,
	}
	c, starting := s.conn, s.starting
	s.mu.Unlock()
	if c == nil {
		if starting != nil {
			st.PID, st.Stderr = starting.PID(), starting.Stderr()
		}
		return st
	}
	st.Attempt = 0
	st.Transport, st.Version, st.Era = c.traits.Kind, c.version, c.era
	st.ServerInfo, st.Capabilities, st.Instructions = c.serverInfo, c.capabilities, c.instructions
	st.Latency = time.Duration(c.latency.Load())
	if p := c.traits.Child; p != nil {
		st.PID = p.PID()
	}
	if h := c.traits.HTTP; h != nil {
		st.SessionID = h.SessionID()
	}
	st.Inflight = c.Inflight()
	return st
}

// dial makes one attempt. The caller holds mu, and dial releases it.
func (s *Session) dial(ctx context.Context) error {
	over := make(chan struct{})
	ctx, cancel := s.patience(ctx)
	defer cancel()
	s.dialing, s.abort = over, cancel
	s.retryAt = time.Time{}
	s.wg.Add(1)
	defer s.wg.Done()
	era := s.era
	tell := s.set(Connecting, nil)
	s.mu.Unlock()
	tell()

	c, err := s.open(ctx, era)
	if err == nil && s.wanted() {
		s.prepare(c)
	}

	s.mu.Lock()
	s.dialing, s.abort, s.starting = nil, nil, nil
	if err == nil && (s.closed || s.ctx.Err() != nil || s.state != Connecting) {
		s.mu.Unlock()
		s.ended(c)
		close(over)
		_ = c.Close(&failure.Error{Kind: failure.ChannelClosed, Message: "disconnected"}) // nobody wants it any more
		return &failure.Error{Kind: failure.Interrupted, Server: s.Title(), Stage: "connecting", Message: "disconnected while connecting"}
	}
	switch {
	case err == nil:
		s.conn, s.era = c, c.era
		if s.level != nil && c.era == Modern {
			c.logLevel.Store(s.level)
		}
		tell = s.set(Connected, nil)
	case s.state != Connecting: // Disconnect came in between
		err = &failure.Error{Kind: failure.Interrupted, Server: s.Title(), Stage: "connecting", Message: "disconnected while connecting"}
		tell = s.notifyChange // nothing of the attempt is left
	case failure.KindOf(err) == failure.Interrupted:
		err = failure.Wrap(err, s.Title(), "connecting")
		tell = s.set(Disconnected, nil)
	default:
		s.era = "" // the server may have become another one
		err = failure.Wrap(err, s.Title(), "connecting")
		state := Failed
		if failure.RemedyOf(err) == failure.LogIn {
			state = NeedsLogin
		}
		tell = s.set(state, err)
	}
	s.mu.Unlock()
	if err == nil {
		s.introduced(c.serverInfo)
	}
	tell()
	if err == nil {
		s.startLoops(c)
		close(c.ready)
	}
	close(over)
	return err
}

// wanted is whether the attempt that runs is.
func (s *Session) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == Connecting && !s.closed && s.ctx.Err() == nil
}

// prepare makes the parts ready for a connection before anybody can have it.
func (s *Session) prepare(c *conn) {
	s.results.clear()
	s.lists.begin(c)
	s.subs.begin(c)
}

// ended ends what hangs on a connection that nobody can have any more.
func (s *Session) ended(c *conn) {
	s.subs.end(c)
	s.lists.end(c)
}

// Disconnect ends the connection, or the attempts to make one, and returns when nothing of it is left. Requests in flight
// fail.
func (s *Session) Disconnect() error { return s.disconnect(failure.ChannelClosed, "disconnected", "") }

// Retire is Disconnect for somebody who looks after connections that nobody uses. why, such as "idle 5m0s", is in Status until
// the next attempt.
func (s *Session) Retire(why string) error {
	return s.disconnect(failure.ChannelClosed, "closed: "+why, why)
}

func (s *Session) disconnect(kind failure.Kind, why, retired string) error {
	s.mu.Lock()
	s.retired = retired
	s.endRetry()
	if s.abort != nil {
		s.abort()
	}
	c := s.conn
	s.conn, s.attempt, s.retryAt = nil, 0, time.Time{}
	over := s.dialing
	e := &failure.Error{Kind: kind, Server: s.Title(), Message: why, Next: "connect again"}
	if s.asks != nil {
		s.endAsks(e)
		s.asks = nil
	}
	tell := s.set(Disconnected, nil)
	s.mu.Unlock()
	s.ended(c)
	tell()
	if over != nil {
		<-over
	}
	if c == nil {
		return nil
	}
	return failure.Wrap(c.Close(e), s.Title(), "closing")
}

// Reconnect ends the connection and makes a new one. That the old one could not be closed in order is in the journal.
func (s *Session) Reconnect(ctx context.Context) error {
	old := s.connID()
	s.mu.Lock()
	wanted := s.conn != nil || s.retry != nil
	s.mu.Unlock()
	if err := s.disconnect(failure.ChannelClosed, "reconnecting", ""); err != nil {
		transport.Tap{Journal: s.opts.Journal, Server: s.cfg.Name, Conn: old}.Append(journal.Entry{Kind: journal.State, Note: err.Error()}, nil)
	}
	return s.reach(ctx, wanted)
}

// lost handles a connection that ended by itself.
func (s *Session) lost(c *conn, err error) {
	s.drop(c, failure.Wrap(err, s.Title(), ""))
}

// drop gives up a connection that does not work any more, and starts reconnecting.
func (s *Session) drop(c *conn, err error) {
	s.mu.Lock()
	if s.conn != c || s.closed {
		s.mu.Unlock()
		return
	}
	s.conn = nil
	s.wg.Add(1)
	defer s.wg.Done()
	if time.Since(c.connectedAt) > s.opts.Retry.Settled {
		s.attempt = 0
	}
	s.planRetry()
	tell := s.set(Failed, err)
	s.mu.Unlock()
	s.ended(c)
	tell()
	e, ok := err.(*failure.Error)
	if !ok {
		e = &failure.Error{Kind: failure.ChannelClosed, Message: err.Error(), Err: err}
	}
	_ = c.Close(e) // it is lost already; the reason is err
}

// acquire returns the connection. While one is being made, or waited for after a loss, it waits for that.
func (s *Session) acquire(ctx context.Context, stage string) (*conn, error) {
	for {
		s.mu.Lock()
		c, over, r, state, err := s.conn, s.dialing, s.retry, s.state, s.err
		if c != nil {
			s.mu.Unlock()
			s.use.touch()
			lost := c.Ended()
			if lost == nil {
				return c, nil
			}
			s.lost(c, lost) // we are the first to notice
			continue
		}
		if over == nil && r != nil {
			over = r.now()
		}
		s.mu.Unlock()
		if over == nil {
			e := &failure.Error{Kind: failure.ServerNotConnected, Server: s.Title(), Stage: stage, Message: "the server is not connected", Next: "connect it first", Err: err}
			if (state == Failed || state == NeedsLogin) && err != nil {
				e.Message += " (" + err.Error() + ")"
			}
			return nil, e
		}
		select {
		case <-over:
		case <-ctx.Done():
			return nil, failure.Wrap(ctx.Err(), s.Title(), stage)
		}
		s.mu.Lock()
		c, err = s.conn, s.err
		s.mu.Unlock()
		if c == nil && err != nil {
			return nil, failure.Wrap(err, s.Title(), stage)
		}
	}
}

// Supports says whether the server advertised what a method needs; false while not connected.
func (s *Session) Supports(method string) bool {
	c := s.current()
	return c != nil && c.supports(method)
}

// close ends the session for good.
func (s *Session) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.disconnect(failure.ChannelClosed, "the session was closed", "")
	s.stop()
	s.wg.Wait()
	return err
}
