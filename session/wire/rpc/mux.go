// Package rpc makes requests and answers of the frames of one connection.
//
// A [Mux] sits on a transport, which it starts and closes. It numbers requests, matches answers, follows progress, cancels what the
// caller gives up (notifications/cancelled in the legacy era, the end of the stream over HTTP in the modern one), answers what the
// server asks through OnServe, and journals every frame. When the connection ends, all that waits fails at once. It does not
// reconnect: a session makes a new Mux.
//
// Two clocks end a call, see [Patience]: one without progress, one in all. Both stand still while a person answers what the server
// asked.
//
// Files: mux.go sends and waits, receive.go takes frames from the transport, serve.go answers requests of the server, caused.go says
// which call such a request is about, meta.go completes params, errors.go words failures.
//
// Specification: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation and
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Bounds and grace periods. A server cannot make a mux hold more than these, whatever it sends.
const (
	maxEnded    = 1024                   // ids of finished requests that a late answer is recognised by
	cancelGrace = 500 * time.Millisecond // how long a call that timed out, and Close, wait until a cancellation is sent
	sendGrace   = 100 * time.Millisecond // the same for a call that its caller gave up
	maxServing  = 64                     // requests of the server that are answered at once
)

// Mux multiplexes requests over one connection: it owns ids, the map of pending requests, timeouts, progress and
// cancellation, and journals every frame both ways.
type Mux struct {
	t   transport.Transport
	tap transport.Tap

	// Set before start, and not changed after it. Only OnServe is required.
	OnNotify func(env jsonrpc.Envelope, frame []byte)                                 // on the goroutine that reads, which waits for it
	OnServe  func(ctx context.Context, env jsonrpc.Envelope) ([]byte, *jsonrpc.Error) // a goroutine for each request; ctx ends when nobody waits for the answer
	OnLost   func(error)                                                              // on a goroutine of its own, once, and not because of Close
	OnChange func()                                                                   // something that Status shows changed; must be quick
	http     bool                                                                     // messages have headers

	ctx    context.Context // ends with the mux
	cancel context.CancelFunc
	wg     sync.WaitGroup // requests and answers being sent

	mu sync.Mutex
	// Guarded by mu. A request is in pending from add until takePending removes it, whoever ends it: its answer, its caller, a failed
	// send, or the end of the connection. So it ends exactly once, and done, which has room for one answer, never blocks.
	next     uint64              // the id of the latest request; the first is 1
	pending  map[uint64]*pending // by id
	tokens   map[string]*pending // by progress token, as on the wire
	ended    map[uint64]string   // why recent requests are not pending any more
	order    []uint64            // keys of ended, oldest first
	serving  map[string]*serving // requests of the server by their ids
	refusing int                 // refusals of further ones that are being sent
	closed   *failure.Error      // why no more requests can be made
	leaving  bool                // they ended because we close the connection
	modern   bool                // requests are cancelled the modern way
	frames   uint64              // frames received, to know that the server is alive

	cancels sync.WaitGroup // notifications/cancelled being sent
}

// pending is a request that waits for its answer.
type pending struct {
	id       uint64
	spec     *Request
	token    string // the progress token as on the wire; "" where none is asked for
	params   []byte // as sent, with the progress token
	started  time.Time
	seq      uint64        // of the request in the journal
	done     chan answer   // cap 1
	woken    chan struct{} // cap 1: progress came
	progress Progress
	patience Patience
}

// answer is how a request ended: with a response, or with err.
type answer struct {
	env    jsonrpc.Envelope // of frame; its Kind is Response or ErrorResponse
	frame  []byte           // as it came; nil with err
	seq    uint64           // of the answer in the journal, 0 where there is none
	err    error            // why there is no response; nil where there is one
	status int              // HTTP status that came with an error response, 0 if unknown
	url    string           // that was asked then, without secrets; "" if unknown
}

// Request is one request to the server. Call adds to Meta, so that each call has a Request of its own.
type Request struct {
	Method        string
	Target        string        // tool, prompt or uri, for the journal and for people; "" for none
	Params        []byte        // an object or nil
	Members       []Member      // set in the params that are sent
	Meta          []Member      // members of params._meta, but for those that Params have there; by SetMeta
	Header        http.Header   // for transports over HTTP; nil for none
	Timeout       time.Duration // restarted by progress; 0 for none
	MaxTimeout    time.Duration // whatever the progress; 0 for none
	WantsProgress bool          // ask for progress
	// Called while Call waits: OnProgress by the goroutine of the caller, with the latest progress only where several came at once, and the
	// other two by that of the transport, which reads nothing meanwhile.
	OnProgress     func(Progress)
	OnNotification func(frame []byte)      // each notification that may concern the request; those of a subscription's stream only if it is this one's
	OnOwn          func(frame []byte) bool // before all others, what is known to be about this request; true where it is handled, and nobody else gets it
	Tag            any                     // for CausedBy; nil for nothing
	Hidden         bool                    // not among the requests in flight that users see
	NoCancel       bool                    // must not be cancelled at the server
	// Frame is a request that was sent before, to be sent as it is: only its id, and its progress token and trace context if it has
	// them, are new. Method and Params are its own; Members and the rest of Meta are left out.
	Frame []byte
}

// New multiplexes requests over a transport that is not started yet; Close closes it. Frames are journalled through tap. The Mux is the transport's Receiver:
//
//	m := rpc.New(t, tap)
//	m.OnServe = serve
//	err := t.Start(ctx, m)
//	reply, err := m.Call(ctx, &rpc.Request{Method: "ping"})
//	err = m.Close(why)
func New(t transport.Transport, tap transport.Tap) *Mux {
	m := &Mux{
		t: t, tap: tap, pending: map[uint64]*pending{}, tokens: map[string]*pending{}, ended: map[uint64]string{},
		serving: map[string]*serving{},
	}
	m.http = t.Traits().HTTP != nil
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Context ends with the connection.
func (m *Mux) Context() context.Context { return m.ctx }

// SpeakModern makes requests be cancelled the modern way: over HTTP by the end of their stream, which 2026-07-28 has in the place of
// notifications/cancelled. It is called once the handshake knows.
func (m *Mux) SpeakModern() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.modern = true
}

// add registers a request and builds its frame. It counts the goroutine that will send it in wg. The error is why the connection ended,
// or that params are not an object.
func (m *Mux) add(s *Request) (*pending, []byte, error) {
	p := &pending{spec: s, done: make(chan answer, 1), woken: make(chan struct{}, 1), started: time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return nil, nil, m.closed
	}
	m.next++
	p.id = m.next
	id := strconv.AppendUint(nil, p.id, 10)
	frame, params, token, err := s.frame(id)
	if err != nil {
		return nil, nil, err
	}
	if token != "" {
		p.token = token
		m.tokens[token] = p
	}
	p.params = params
	m.pending[p.id] = p
	m.wg.Add(1) // under the lock, so that close waits for it
	return p, frame, nil
}

// takePending removes a pending request, remembering why ("answered", "cancelled", "timed out", "failed") for answers that come too
// late; nil if it is not pending. Whoever gets it sends to its done, or is the one who reads that. m.mu is held.
func (m *Mux) takePending(id uint64, why string) *pending {
	p := m.pending[id]
	if p == nil {
		return nil
	}
	delete(m.pending, id)
	if m.tokens[p.token] == p {
		delete(m.tokens, p.token)
	}
	m.ended[id] = why
	m.release(id)
	if m.order = append(m.order, id); len(m.order) > maxEnded {
		delete(m.ended, m.order[0])
		m.order = m.order[1:]
	}
	return p
}

// Call sends one request and waits for its answer, until ctx or one of the request's time limits ends; then the server is told, unless
// NoCancel is set. A JSON-RPC error comes back as *failure.Error of kind RpcError, with the Reply that carries it.
func (m *Mux) Call(ctx context.Context, s *Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	p, frame, err := m.add(s)
	if err != nil {
		return Reply{}, err
	}
	m.notifyChange()
	p.seq = m.tap.Append(journal.Entry{
		Dir: journal.Out, Kind: journal.Request, Method: s.Method, ID: strconv.FormatUint(p.id, 10), Tool: s.Target,
	}, frame)
	// Sending may take as long as the whole exchange over HTTP, so that it has a goroutine; the context is the connection's, since the
	// caller's may end while the answer is being read.
	sendCtx, stop := context.WithCancel(m.ctx)
	go func() {
		defer m.wg.Done()
		defer stop()
		env := jsonrpc.Envelope{Kind: jsonrpc.Request, ID: strconv.AppendUint(nil, p.id, 10), Method: s.Method, Params: p.params}
		if err := m.t.Send(sendCtx, transport.Message{Frame: frame, Env: env, Header: s.Header}); err != nil {
			m.failRefused(p.id, err)
		}
	}()
	a := m.wait(ctx, p)
	if a.err == nil && m.http {
		// The exchange may go on for a moment: a clean end keeps the HTTP connection usable.
		time.AfterFunc(time.Second, stop)
	} else {
		stop()
	}
	m.notifyChange()
	return m.reply(p, a)
}

// wait returns the answer, or the reason why there is none, after a cancellation was sent.
func (m *Mux) wait(ctx context.Context, p *pending) answer {
	expired := make(chan bool, 1) // whether in all
	p.patience.Start(p.spec.Timeout, p.spec.MaxTimeout, func(inAll bool) { expired <- inAll })
	defer p.patience.Stop()
	reported := 0
	report := func() {
		if p.spec.OnProgress == nil {
			return
		}
		if g := m.progressOf(p); g.Count > reported {
			reported = g.Count
			p.spec.OnProgress(g)
		}
	}
	for {
		select {
		case a := <-p.done:
			report()
			return a
		case <-p.woken:
			report()
		case <-ctx.Done():
			err := ctx.Err()
			why := "cancelled"
			if errors.Is(err, context.DeadlineExceeded) {
				why = "timed out"
			}
			return m.abandon(p, why, &failure.Error{Kind: failure.KindOf(err), Message: "the request was " + why, Err: err})
		case inAll := <-expired:
			if inAll {
				return m.abandon(p, "timed out", timedOut(p.spec.MaxTimeout, m.progressOf(p).Count > 0))
			}
			return m.abandon(p, "timed out", timedOut(p.spec.Timeout, false))
		}
	}
}

// progressOf is the latest progress of p.
func (m *Mux) progressOf(p *pending) Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.progress
}

// abandon gives up waiting for p and tells the server so. If the answer came at the same moment, it wins.
func (m *Mux) abandon(p *pending, why string, err *failure.Error) answer {
	m.mu.Lock()
	mine := m.takePending(p.id, why) != nil
	// Closing the response stream is how the modern era cancels over HTTP; call does that.
	tell := mine && m.closed == nil && !p.spec.NoCancel && (!m.modern || !m.http)
	if tell {
		m.cancels.Add(1)
	}
	m.mu.Unlock()
	if !mine {
		return <-p.done
	}
	if !tell {
		m.tap.Append(journal.Entry{
			Dir: journal.Out, Kind: journal.State, ID: strconv.FormatUint(p.id, 10), Method: p.spec.Method,
			Status: journal.Cancelled, Note: why,
		}, nil)
		return answer{err: err}
	}
	params := fmt.Appendf(nil, `{"requestId":%d,"reason":%s}`, p.id, jsonrpc.Quote(why+" by the client"))
	sent := make(chan struct{})
	var lost error // why the connection ended meanwhile
	go func() {
		defer m.cancels.Done()
		defer close(sent)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		// Nobody can do anything about a server that does not take it; the journal has the frame.
		if m.Notify(ctx, "notifications/cancelled", params, nil) != nil {
			lost = m.Ended()
		}
	}()
	// What the caller does next should come after it, but a server that does not read must not hold the caller up.
	grace := sendGrace
	if err.Kind == failure.Timeout {
		grace = cancelGrace // a connection that turns out to be broken is the better reason
	}
	if transport.WaitFor(sent, grace) && lost != nil && err.Kind == failure.Timeout {
		return answer{err: lost}
	}
	return answer{err: err}
}

// reply is what Call returns for an answer.
func (m *Mux) reply(p *pending, a answer) (Reply, error) {
	r := Reply{Sent: true, Request: p.seq, Response: a.seq, Frame: a.frame, Result: a.env.Result, Took: time.Since(p.started)}
	if a.err != nil {
		return r, a.err
	}
	if a.env.Kind == jsonrpc.ErrorResponse {
		e := ErrorOf(a.env.Error)
		e.Status, e.URL = a.status, a.url
		return r, e
	}
	return r, nil
}

// Notify sends a notification, and returns when the transport has sent it. params are an object or nil, h is for HTTP alone.
func (m *Mux) Notify(ctx context.Context, method string, params []byte, h http.Header) error {
	return m.NotifyFrame(ctx, jsonrpc.NewNotification(method, params), jsonrpc.Envelope{Kind: jsonrpc.Notification, Method: method, Params: params}, h)
}

// NotifyFrame is Notify for a frame as it is; env is what is in it.
func (m *Mux) NotifyFrame(ctx context.Context, frame []byte, env jsonrpc.Envelope, h http.Header) error {
	m.tap.Append(journal.Entry{Dir: journal.Out, Kind: journal.Notification, Method: env.Method}, frame)
	return m.t.Send(ctx, transport.Message{Frame: frame, Header: h, Env: env})
}

// failRefused ends a request that could not be sent, or whose exchange ended without an answer.
func (m *Mux) failRefused(id uint64, err error) {
	var h *transport.HTTPError
	switch {
	case errors.Is(err, transport.ErrSessionLost) && errors.As(err, &h):
		e := h.Explain()
		e.Message, e.Next, e.Err = transport.ErrSessionLost.Error()+": "+e.Message, "connect again", err
		m.fail(id, e)
		return
	case errors.As(err, &h):
		if h.Status == http.StatusUnauthorized || h.Status == http.StatusForbidden {
			m.fail(id, h.Explain()) // whatever the body says, what is wanted are credentials
			return
		}
		if env, scanErr := jsonrpc.Scan(h.Body); scanErr == nil && env.Kind == jsonrpc.ErrorResponse {
			// 400 and 404 carry the modern era's errors; some servers leave the id out.
			a := answer{env: env, frame: h.Body, status: h.Status, url: h.URL}
			if _, ok := parseID(env.ID); ok || env.ID == nil || env.ID[0] == 'n' {
				m.deliverAnswer(id, a, journal.ErrorResponse)
				return
			}
		}
		m.fail(id, h.Explain())
		return
	}
	var e *failure.Error
	if errors.As(err, &e) {
		m.fail(id, err)
		return
	}
	m.fail(id, &failure.Error{Kind: failure.Transport, Message: err.Error(), Next: "check the address and that the server runs", Err: err})
}

// fail ends a request without an answer.
func (m *Mux) fail(id uint64, err error) {
	m.mu.Lock()
	status, word := journal.Failed, "failed"
	if m.leaving {
		status, word = journal.Cancelled, "cancelled"
	}
	p := m.takePending(id, word)
	if p != nil && m.closed != nil {
		err = m.closed // says more than "broken pipe"
	}
	m.mu.Unlock()
	if p == nil {
		return
	}
	m.tap.Append(journal.Entry{
		Dir: journal.Out, Kind: journal.State, ID: strconv.FormatUint(id, 10), Method: p.spec.Method,
		Status: status, Note: text.Clip(err.Error(), 300),
	}, nil)
	p.done <- answer{err: err}
}

// Inflight lists the requests that users care about, oldest first.
func (m *Mux) Inflight() []Inflight {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Inflight
	for _, p := range m.pending {
		if !p.spec.Hidden {
			all = append(all, Inflight{ID: p.id, Method: p.spec.Method, Target: p.spec.Target, Started: p.started, Progress: p.progress})
		}
	}
	slices.SortFunc(all, func(a, b Inflight) int { return int(int64(a.ID) - int64(b.ID)) })
	return all
}

// Ended is why no more requests can be made, nil while they can.
func (m *Mux) Ended() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed == nil {
		return nil
	}
	return m.closed
}

// Received counts the frames that came in, of whatever kind: a health check that gets no answer is no reason to give up a server that
// sends something else.
func (m *Mux) Received() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frames
}

// notifyChange calls OnChange; no lock is held.
func (m *Mux) notifyChange() {
	if m.OnChange != nil {
		m.OnChange()
	}
}

// end ends every request with err and accepts no more; false if that was done before. leaving is whether we end them, and not
// a fault of the server.
func (m *Mux) end(err *failure.Error, leaving bool) bool {
	m.mu.Lock()
	if m.closed != nil {
		m.mu.Unlock()
		return false
	}
	m.closed = err
	m.leaving = leaving
	var all []uint64
	for id := range m.pending {
		all = append(all, id)
	}
	for _, s := range m.serving {
		s.stop(err)
	}
	m.mu.Unlock()
	slices.Sort(all)
	for _, id := range all {
		m.fail(id, err)
	}
	return true
}

// Close ends the connection; when it returns nothing of it is left. Cancellations that are on their way still go out, for half a second at most. err is
// what requests that wait end with; of kind ChannelClosed it says that we leave, and not that something is wrong. The error is that of the transport.
func (m *Mux) Close(err *failure.Error) error {
	m.end(err, err.Kind == failure.ChannelClosed)
	sent := make(chan struct{})
	go func() { m.cancels.Wait(); close(sent) }()
	transport.WaitFor(sent, cancelGrace)
	m.cancel()
	closeErr := m.t.Close()
	m.wg.Wait()
	return closeErr
}
