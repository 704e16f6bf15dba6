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
//
// It is made of parts, each a type with a lock of its own that only its methods take: link, lists, subs, tasks, and the small use and
// results. Locks have no order, for none is held while another is taken: a part knows neither the session nor another part, and under its lock
// nothing is called but what cannot wait: contexts are cancelled, channels closed or woken, and goroutines begun. Methods of Session take what
// they need from one part after the other, and tell whoever follows it (notifyChange) once all of them have what is new.
//
// What belongs together in two parts is held together by the connection. lists and subs have it from prepare, before link gives it to
// anybody, to ended, when link gives it to nobody any more; so whoever has a connection from link finds them ready for it. What comes later of
// one that was replaced is known by it: pages and subscriptions carry the connection that they came over, and are compared with the one that
// the part has; the end of a connection carries its number, which no later one has.
type Session struct {
	// Set once, before anybody has the session.
	cfg     config.Server                  // as it was registered; Config has what changed since
	opts    *Options                       // the manager's, which do not change; As makes its own
	changed func()                         // tells the manager
	unique  func(s *Session, title string) // sets the title, with a number where another session has it
	auth    *auth.Authorizer               // nil where nobody logs in
	role    string                         // of a session made by As, for the journal; "" for others
	ctx     context.Context                // ends with the session
	stop    context.CancelFunc

	wg sync.WaitGroup // everything that runs for this session; counted up by what is counted itself, or as link.runs and subs.add say

	// Each of these is replaced as a whole, by one method, and says nothing of another.
	rev      atomic.Uint64
	title    atomic.Pointer[string]          // nil: the name
	outdated atomic.Pointer[Outdated]        // nil: it is not
	client   atomic.Pointer[Client]          // of the next connections, nil for Options.Client
	roots    atomic.Pointer[[]string]        // nil: those of the configuration
	meta     atomic.Pointer[json.RawMessage] // for every request; never nil

	link    link          // connection and reconnection
	lists   lists         // what the server offers
	subs    subscriptions // what it notifies of
	tasks   taskState     // tasks and questions
	results resultCache   // of tools, that may be given again
	use     usage
}

// newSession makes a session, which starts nothing. changed is called after each change, and unique gives it a title that no
// other session has; both are the manager's.
func newSession(cfg config.Server, opts *Options, changed func(), unique func(*Session, string)) *Session {
	s := &Session{cfg: cfg, opts: opts, changed: changed, unique: unique}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.meta.Store(&opts.Meta)
	s.link.init(s.ctx, &s.wg, cfg, opts.Retry, s.reconnect)
	s.lists.init()
	s.subs.wake = make(chan struct{}, 1)
	s.use.last = time.Now()
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

// notifyChange makes Rev grow and tells the manager. It is called with no lock held, once all parts have what is new.
func (s *Session) notifyChange() {
	s.rev.Add(1)
	s.changed()
}

// patience bounds an attempt to connect.
func (s *Session) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.opts.Patient && s.cfg.Command != "" && s.cfg.ConnectTimeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.cfg.ConnectLimit())
}

// announce records a change of state, and tells whoever follows the session.
func (s *Session) announce(c change) {
	if c.from != c.to || c.err != nil {
		note := s.role + string(c.from) + " → " + string(c.to)
		if c.err != nil {
			note += ": " + c.err.Error()
		}
		if c.retired != "" {
			note += ": " + c.retired
		}
		transport.Tap{Journal: s.opts.Journal, Server: s.cfg.Name, Conn: c.conn}.Append(journal.Entry{Kind: journal.State, Note: note}, nil)
	}
	s.notifyChange()
}

// Status is a snapshot, without I/O.
func (s *Session) Status() Status {
	rev := s.rev.Load()
	now := s.link.snapshot()
	c := now.conn
	st := Status{
		State: now.state, Err: now.err, Attempt: now.attempt, RetryAt: now.retryAt, Since: now.since, Conn: now.conns, URL: now.url,
		Transport: transport.Kinds(s.cfg)[0], Rev: rev, Retired: now.retired,
	}
	if c == nil {
		if now.starting != nil {
			st.PID, st.Stderr = now.starting.PID(), now.starting.Stderr()
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

// current is the connection that there is; nil without one.
func (s *Session) current() *conn { return s.link.snapshot().conn }

// dial makes an attempt within ctx.
func (s *Session) dial(ctx context.Context, a *attempt) error {
	defer a.abort()
	defer s.wg.Done()
	s.announce(a.change)
	interrupted := func() error {
		return &failure.Error{Kind: failure.Interrupted, Server: s.Title(), Stage: "connecting", Message: "disconnected while connecting"}
	}
	c, err := s.open(ctx, a.era)
	if err != nil {
		to, kind := Failed, failure.KindOf(err)
		err = failure.Wrap(err, s.Title(), "connecting")
		switch {
		case kind == failure.Interrupted:
			to = Disconnected
		case failure.RemedyOf(err) == failure.LogIn:
			to = NeedsLogin
		}
		if change, wanted := s.link.endFailed(to, err); wanted {
			s.announce(change)
		} else {
			err = interrupted()
			s.notifyChange() // nothing of the attempt is left
		}
		close(a.over)
		return err
	}
	// Disconnect may come at any time. This look saves the work; endConnected looks again, and decides.
	if s.link.isWanted() {
		s.prepare(c)
	}
	change, wanted := s.link.endConnected(c)
	if !wanted {
		s.endConnections(c.id)
		close(a.over)
		_ = c.Close(&failure.Error{Kind: failure.ChannelClosed, Message: "disconnected"}) // nobody wants it any more
		return interrupted()
	}
	s.adoptName(c.serverInfo)
	s.announce(change)
	s.startLoops(c)
	close(c.ready)
	close(a.over)
	return nil
}

// prepare makes the parts ready for a connection before anybody can have it.
func (s *Session) prepare(c *conn) {
	s.results.clear()
	s.lists.begin(c)
	s.subs.begin(c)
}

// endConnections ends what hangs on connections up to this number, which nobody gets any more.
func (s *Session) endConnections(number uint64) {
	s.subs.end(number)
	s.lists.end(number)
}

// Disconnect ends the connection, or the attempts to make one, and returns when nothing of it is left. Requests in flight
// fail, with kind ChannelClosed, and so do questions of the server that wait for an answer. The error is only about closing: the session is
// Disconnected in any case.
func (s *Session) Disconnect() error { return s.disconnect(failure.ChannelClosed, "disconnected", "") }

// Retire is Disconnect for somebody who looks after connections that nobody uses. why, such as "idle 5m0s", is in Status until
// the next attempt.
func (s *Session) Retire(why string) error {
	return s.disconnect(failure.ChannelClosed, "closed: "+why, why)
}

// disconnect ends what there is, in this order: link gives nobody the connection any more, what hangs on it ends, the attempt that runs is waited for,
// and then the transport closes. Whoever comes meanwhile finds a session that is Disconnected.
func (s *Session) disconnect(kind failure.Kind, why, retired string) error {
	e := &failure.Error{Kind: kind, Server: s.Title(), Message: why, Next: "connect again"}
	c, over, change := s.link.end(retired, e)
	s.endConnections(change.conn) // also of one that was lost, and is being given up just now
	s.announce(change)
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
	was := s.link.snapshot()
	if err := s.disconnect(failure.ChannelClosed, "reconnecting", ""); err != nil {
		transport.Tap{Journal: s.opts.Journal, Server: s.cfg.Name, Conn: was.conns}.Append(journal.Entry{Kind: journal.State, Note: err.Error()}, nil)
	}
	return s.reach(ctx, was.hasConnOrRetry())
}

// handleLost handles a connection that ended by itself.
func (s *Session) handleLost(c *conn, err error) {
	s.drop(c, failure.Wrap(err, s.Title(), ""))
}

// drop gives up a connection that does not work any more, and starts reconnecting.
func (s *Session) drop(c *conn, err error) {
	change, ours := s.link.lose(c, err)
	if !ours {
		return
	}
	defer s.wg.Done()
	s.endConnections(c.id)
	s.announce(change)
	e, ok := err.(*failure.Error)
	if !ok {
		e = &failure.Error{Kind: failure.ChannelClosed, Message: err.Error(), Err: err}
	}
	_ = c.Close(e) // it is lost already; the reason is err
}

// acquire returns the connection. While one is being made, or waited for after a loss, it waits for that, and makes a planned attempt begin
// now. It never connects a session that nobody connected: the error is then of kind ServerNotConnected. stage is for the error.
func (s *Session) acquire(ctx context.Context, stage string) (*conn, error) {
	for {
		c, over, state, err := s.link.get()
		if c != nil {
			s.use.touch()
			lost := c.Ended()
			if lost == nil {
				return c, nil
			}
			s.handleLost(c, lost) // we are the first to notice
			continue
		}
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
		// The attempt that was waited for failed: its error is the answer, instead of another attempt that everybody waits for.
		if now := s.link.snapshot(); now.conn == nil && now.err != nil {
			return nil, failure.Wrap(now.err, s.Title(), stage)
		}
	}
}

// Supports says whether the server advertised what a method needs; false while not connected.
func (s *Session) Supports(method string) bool {
	c := s.current()
	return c != nil && c.supports(method)
}

// close ends the session for good, and returns when no goroutine and no child process of it is left.
func (s *Session) close() error {
	s.link.markClosed()
	err := s.disconnect(failure.ChannelClosed, "the session was closed", "")
	s.stop()
	s.wg.Wait()
	return err
}
