package front

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	// maxInFlight bounds the requests of one stdio client that are worked on or queued at a time.
	maxInFlight = 1024
	// lastWords is how long requests that are running at the end of the input may take, and
	// finalDrain how long their cancellation may.
	lastWords  = 700 * time.Millisecond
	finalDrain = 150 * time.Millisecond
)

// line is the output of a stdio server: one frame a line, never mixed.
type line struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *line) send(frame []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(frame[:len(frame):len(frame)], '\n'))
	return err
}

// stdio is one client over a pipe. It has one session from the start, for its requests of the legacy era.
type stdio struct {
	srv     *Server
	session *Session
	out     *line
	ctx     context.Context // of its requests

	mu    sync.Mutex    // guards count
	count int           // requests that run, at most maxInFlight
	idle  chan struct{} // cap 1: count came to 0
}

// ServeStdio answers the frames on in, one a line, on out until in ends or ctx is done. Requests run concurrently, both
// eras on the same pipe. At the end of in, requests that still run get 700 ms, since nobody waits for them any more, and
// when ctx is done Timeouts.Drain; then they are cancelled. The error is nil
// after either end, and otherwise why in could not be read or out not be written. in must not block for ever once ctx is
// done; until that, one goroutine reads it.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	work, cancel := context.WithCancelCause(s.life)
	defer cancel(errClosing)
	c := &stdio{srv: s, session: newSession(s, kit.Identity{}), out: &line{out: out}, ctx: work, idle: make(chan struct{}, 1)}
	c.session.own = c.out
	if err := s.add(c.session); err != nil {
		return err
	}
	defer c.session.remove()
	read := make(chan error, 1)
	go func() { read <- c.read(in) }()
	var err error
	patience := lastWords
	select {
	case err = <-read:
	case <-ctx.Done():
		patience = s.o.Timeouts.Drain
		if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
			_ = d.SetReadDeadline(time.Now()) // pipes of some systems have none; the reader ends with its input then
		}
	case <-work.Done():
	}
	c.session.endListening()
	if !c.waitIdle(patience) {
		cancel(errClosing)
		c.waitIdle(finalDrain)
	}
	return err
}

// waitIdle waits until no request runs.
func (c *stdio) waitIdle(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		c.mu.Lock()
		n := c.count
		c.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-c.idle:
		case <-timer.C:
			return false
		}
	}
}

// read takes lines apart until the input ends. A line beyond the limit is skipped and answered once.
func (c *stdio) read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	limit := int(c.srv.o.MaxLine)
	for {
		frame, long, err := ingress.ReadLine(r, limit)
		switch {
		case long:
			err = errors.Join(err, c.refuse(&Exchange{ID: frame}, ingress.LineTooLong(limit)))
		case len(bytes.TrimSpace(frame)) > 0:
			err = errors.Join(err, c.take(frame))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *stdio) refuse(x *Exchange, err error) error { return c.out.send(c.srv.refusal(x, err).Frame) }

// take serves one frame. The error is one of the output.
func (c *stdio) take(frame []byte) error {
	env, err := ingress.Scan(frame)
	x := &Exchange{ID: env.ID, Method: env.Method, Params: env.Params, Frame: frame, out: c.out}
	x.Version = c.session.ProtocolVersion()
	if err != nil {
		return c.refuse(x, err)
	}
	if env.Kind == jsonrpc.Response || env.Kind == jsonrpc.ErrorResponse {
		c.session.deliverAnswer(env)
		return nil
	}
	err = c.srv.inspect(x)
	if !x.Modern {
		x.Session = c.session
		x.Caller.Session = c.session.short
	}
	if x.ID == nil {
		if err == nil {
			c.handleNotification(x)
		}
		return nil
	}
	if err != nil {
		return c.refuse(x, err)
	}
	if !c.enter() {
		return c.refuse(x, jsonrpc.Errorf(jsonrpc.KindQueueFull, "too many requests in flight: %d; wait for some of them", maxInFlight))
	}
	if !c.srv.start() {
		c.leave()
		return c.refuse(x, jsonrpc.Errorf(jsonrpc.KindInterrupted, "%s", errClosing))
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	x.cancel = cancel
	c.session.begin(x)
	serve := func() {
		defer c.srv.work.Done()
		defer c.leave()
		defer cancel(nil)
		a := c.srv.run(ctx, x)
		c.session.endCall(x)
		if a.frame != nil {
			if err := c.out.send(a.frame); err != nil {
				c.srv.o.Logger.Warn("cannot write an answer", "method", x.Method, "err", err)
			}
		}
		x.markAnswered()
	}
	if x.Method == string(mcp.MethodInitialize) { // what follows depends on it
		serve()
	} else {
		go serve()
	}
	return nil
}

// handleNotification takes a notification at once, so that a cancellation overtakes what it cancels.
func (c *stdio) handleNotification(x *Exchange) {
	if x.Method == string(mcp.MethodNotificationCancelled) {
		c.session.cancelRequest(x.Params)
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	c.srv.run(ctx, x)
	x.markAnswered()
}

// enter counts a request that begins; false where there are too many.
func (c *stdio) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count >= maxInFlight {
		return false
	}
	c.count++
	return true
}

// leave ends what enter began.
func (c *stdio) leave() {
	c.mu.Lock()
	c.count--
	n := c.count
	c.mu.Unlock()
	if n == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}
