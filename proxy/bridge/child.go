package bridge

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	maxPending = 4096 // requests under way in one process
	maxOutbox  = 256  // short messages of ours that wait to be written to it
)

// child is one process and what is under way in it.
type child struct {
	b      *Bridge
	t      transport.Transport
	began  time.Time
	modern bool // is spoken to by the rules of 2026-07-28
	common bool // serves several sessions

	probing    atomic.Bool   // it is being asked whether it knows the modern era
	introduced atomic.Bool   // it answered initialize or server/discover
	hello      []byte        // the result of the bridge's own initialize, of one that serves several sessions
	gone       chan struct{} // closed when it ended
	outbox     chan []byte

	mu       sync.Mutex
	dead     error
	next     uint64
	pending  map[uint64]*exchange
	asks     map[string]*clientSession // who has to answer the process's own requests, by their ids
	sessions map[*clientSession]struct{}
	used     time.Time
}

func newChild(ctx context.Context, b *Bridge, modern bool) (*child, error) {
	c := &child{
		b: b, modern: modern, common: modern || b.o.Shared, began: time.Now(), used: time.Now(), gone: make(chan struct{}), outbox: make(chan []byte, maxOutbox),
		pending: map[uint64]*exchange{}, asks: map[string]*clientSession{}, sessions: map[*clientSession]struct{}{},
	}
	ctx, cancel := context.WithTimeout(ctx, shakeTimeout) // of the connecting only
	defer cancel()
	defer context.AfterFunc(b.life, cancel)()
	if b.o.Dial != nil {
		var err error
		if c.t, err = b.o.Dial(); err != nil {
			return nil, err
		}
	} else {
		cfg := config.Server{
			Name: b.o.Name, Transport: config.Stdio, Command: b.o.Command, Args: b.o.Args, Env: b.o.Env, Cwd: b.o.Cwd, Sandbox: b.o.Sandbox, MaxFrame: b.o.MaxFrame,
		}
		if b.o.Given != nil {
			given, err := b.o.Given(ctx, cfg)
			if err != nil {
				return nil, err
			}
			b.given.Store(&given)
			cfg = given
		}
		c.t = transport.NewStdio(cfg, transport.Tap{}, b.stderr, b.o.Leave)
	}
	if err := c.t.Start(ctx, c); err != nil {
		if b.o.Dial != nil {
			_ = c.t.Close() // says nothing that err does not
		}
		return nil, b.adviseError(err)
	}
	b.wg.Go(c.writeLoop)
	return c, nil
}

// pid is the process's, 0 where there is none. It is known as soon as the transport reports anything.
func (c *child) pid() int {
	if p := c.t.Traits().Child; p != nil {
		return p.PID()
	}
	return 0
}

// writeLoop writes short messages whose delivery nobody waits for. The goroutine that reads from the process must not
// write to it, since both could wait for each other.
func (c *child) writeLoop() {
	for {
		select {
		case frame := <-c.outbox:
			_ = c.t.Send(c.b.life, transport.Message{Frame: frame}) // an error means that the process is gone, which all requests learn
		case <-c.gone:
			return
		}
	}
}

// write leaves a message for mail.
func (c *child) write(frame []byte) {
	select {
	case c.outbox <- frame:
	default:
		c.b.log.Warn("message dropped: the agent does not read its input", "pid", c.pid())
	}
}

// exitError is why the process can no longer be used, nil while it can.
func (c *child) exitError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// die fails all that is under way. It does not end the process.
func (c *child) die(err error) bool {
	c.mu.Lock()
	if c.dead != nil {
		c.mu.Unlock()
		return false
	}
	c.dead = err
	pending, sessions := c.pending, c.sessions
	c.pending, c.sessions, c.asks = nil, nil, nil
	c.mu.Unlock()
	close(c.gone)
	for _, x := range pending {
		x.out.Fail(err)
	}
	for s := range sessions {
		s.end()
	}
	return true
}

// Lost is called by the transport when the process has ended by itself.
func (c *child) Lost(err error) {
	refused := false
	if c.b.o.Judge != nil && !c.introduced.Load() {
		err, refused = c.b.o.Judge(err)
	}
	if !refused { // else its advice is for whoever logs in
		err = c.b.adviseError(err)
	}
	brief := err
	if e := new(failure.Error); errors.As(err, &e) { // callers see how it ended, not what it wrote to stderr
		brief = &failure.Error{Kind: e.Kind, Message: e.Message}
		if refused {
			brief = &failure.Error{Kind: e.Kind, Message: "the server says that its token is not good", Next: e.Next, Remedy: e.Remedy, Object: e.Object}
		}
	}
	if c.die(brief) {
		c.b.removeChild(c, err)
	}
}

// Broken fails the request whose answer is too large, if that can be determined.
func (c *child) Broken(head, _ []byte, err error) {
	err = c.b.adviseError(err)
	c.b.log.Warn("agent wrote a line that is not JSON-RPC", "pid", c.pid(), "err", c.b.hide(err.Error()))
	c.b.record(journal.Entry{Dir: journal.In, Kind: journal.Bad, Note: c.b.hide(err.Error())}, head)
	start, end, ok := jsonrpc.Find(head, "id")
	if x := c.take(head[start:end]); ok && x != nil {
		x.out.Fail(err)
		return
	}
	c.mu.Lock()
	var only *exchange
	if len(c.pending) == 1 { // whose else could it be
		for n, x := range c.pending {
			only = x
			delete(c.pending, n)
		}
	}
	c.mu.Unlock()
	if only != nil {
		only.out.Fail(err)
	}
}

// add registers a request that is about to be written.
func (c *child) add(x *exchange) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return c.dead
	}
	if len(c.pending) >= maxPending {
		return jsonrpc.Errorf(jsonrpc.KindQueueFull, "agent '%s' has %d requests in flight in one process; try again later", c.b.o.Name, maxPending)
	}
	c.next++
	x.alias, x.c = c.next, c
	c.pending[x.alias] = x
	c.used = time.Now()
	return nil
}

// take removes the request that an id of ours belongs to.
func (c *child) take(id []byte) *exchange {
	n, ok := number(id)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.pending[n]
	delete(c.pending, n)
	c.used = time.Now()
	return x
}

func (c *child) find(id []byte) *exchange {
	n, ok := number(id)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[n]
}

// number reads an id or token of ours. It is compared as it was sent: "7" and 7.0 are none.
func number(raw []byte) (n uint64, ok bool) {
	if len(raw) == 0 || len(raw) > 19 || raw[0] == '0' {
		return 0, false
	}
	for _, d := range raw {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	return n, true
}

// send writes one message to the process.
func (c *child) send(ctx context.Context, frame []byte) error {
	err := c.t.Send(ctx, transport.Message{Frame: frame})
	if err == nil {
		return nil
	}
	if dead := c.exitError(); dead != nil {
		return dead // says more than "broken pipe"
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		return cause
	}
	return c.b.adviseError(err)
}
