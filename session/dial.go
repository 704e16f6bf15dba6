package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// open makes one connection, handshake included. A stdio server is started once, except one that exits on
// server/discover. What keeps the server from being connected at all (its entry is wrong, not trusted, disabled, or asks for something) is an
// error before anything is started. Of several kinds of transport that failed the error is that of the first: it is the one that was meant.
func (s *Session) open(ctx context.Context, era Era) (*conn, error) {
	cfg := s.Config()
	switch {
	case cfg.Problem != nil:
		return nil, &failure.Error{Kind: failure.Usage, Stage: "configuration", Message: cfg.Problem.Error(), Next: "correct " + cfg.Source.String(), Err: cfg.Problem}
	case cfg.Source.NeedsTrust() && !s.opts.Trust.Trusted(cfg):
		// Whoever connects has asked the user; this is for the path that forgot.
		return nil, &failure.Error{
			Kind: failure.Usage, Stage: "connecting", Message: "not trusted yet: somebody else may have written it, in " + cfg.Source.String(),
			Next: "read what it runs, and trust it", Remedy: failure.TrustServer,
		}
	case len(cfg.Inputs) > 0:
		return nil, &failure.Error{
			Kind: failure.NeedsInput, Stage: "configuration", Message: (&setup.Missing{Inputs: cfg.Inputs}).Error(), Next: "say what it asks for",
			Remedy: failure.ListServers,
		}
	case cfg.Disabled:
		return nil, &failure.Error{Kind: failure.ServerDisabled, Stage: "connecting", Message: "the server is disabled in " + cfg.Source.String(), Next: "enable it there"}
	}
	pin, err := pinnedVersion(s.protocol())
	if err != nil {
		return nil, err
	}
	if s.opts.Dial != nil {
		if t, ok := s.opts.Dial(cfg); ok {
			s.link.nextNumber()
			return s.connect(ctx, t, pin, era)
		}
	}
	var first error
	opts := s.opts.Transport
	if s.auth != nil {
		opts.Auth = s.auth
		s.auth.Connecting()
	}
	for _, kind := range transport.Kinds(cfg) {
		tap := transport.Tap{Journal: s.opts.Journal, Server: cfg.Name, Conn: s.link.nextNumber()}
		if s.auth != nil {
			s.auth.Journal(tap)
		}
		c, err := s.dialOnce(ctx, kind, tap, opts, pin, era)
		var again bool
		if again, err = s.auth.Started(ctx, cfg, err); again {
			tap.Conn = s.link.nextNumber()
			c, err = s.dialOnce(ctx, kind, tap, opts, pin, era)
			_, err = s.auth.Started(ctx, cfg, err)
		}
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		} else {
			first = joinErrors(first, err)
		}
		if !olderTransport(err) {
			break
		}
	}
	return nil, first
}

// dialOnce makes one connection by a transport of this kind, or by two where a child has to be started once more.
func (s *Session) dialOnce(ctx context.Context, kind string, tap transport.Tap, opts transport.Options, pin string, era Era) (*conn, error) {
	cfg, err := s.auth.Given(ctx, s.Config())
	if err != nil {
		return nil, err
	}
	t, err := transport.New(kind, cfg, tap, opts)
	if err != nil {
		return nil, err
	}
	c, err := s.connect(ctx, t, pin, era)
	if !errors.Is(err, errRestart) {
		return c, err
	}
	tap.Conn = s.link.nextNumber()
	if t, err = transport.New(kind, cfg, tap, opts); err != nil {
		return nil, err
	}
	return s.connect(ctx, t, pin, Legacy)
}

// olderTransport reports whether a refused POST means that the server may speak HTTP+SSE.
func olderTransport(err error) bool {
	var e *failure.Error
	return errors.As(err, &e) && e.Code == nil && (e.Status == 400 || e.Status == 404 || e.Status == 405)
}

// joinErrors is the error of the POST, with that of HTTP+SSE, which was tried after it, in its detail.
func joinErrors(post, get error) error {
	var e *failure.Error
	if !errors.As(post, &e) {
		return post
	}
	c := *e
	c.Detail = strings.TrimSpace(c.Detail + "\nHTTP+SSE failed as well: " + get.Error())
	return &c
}

// connect starts a transport and makes the handshake over it. On error nothing is left of it.
func (s *Session) connect(ctx context.Context, t transport.Transport, pin string, era Era) (*conn, error) {
	id := s.link.snapshot().conns
	c := &conn{
		Mux: rpc.New(t, transport.Tap{Journal: s.opts.Journal, Server: s.cfg.Name, Conn: id}), id: id, traits: t.Traits(), ready: make(chan struct{}), listens: make(chan struct{}), dirty: make(chan struct{}, 1),
		info: s.clientInfo(), caps: s.capabilities(),
	}
	if c.modernCaps = c.caps; s.opts.Capabilities == nil && s.nextClient().Capabilities == nil {
		if with, err := jsonrpc.Update(c.caps, jsonrpc.Set([]byte("{}"), "extensions", tasks.Extension)); err == nil {
			c.modernCaps = with
		}
	}
	c.OnChange = s.notifyChange
	c.OnServe = s.serve
	c.OnNotify = func(env jsonrpc.Envelope, frame []byte) { s.handleNotification(c, env, frame) }
	// A connection that is lost during the handshake is the handshake's error; only one that the session has is handled here.
	c.OnLost = func(err error) {
		select {
		case <-c.ready:
			s.handleLost(c, err)
		case <-c.Context().Done():
		}
	}
	err := t.Start(ctx, c.Mux)
	if err == nil {
		s.link.setChild(c.traits.Child)
		err = c.handshake(ctx, pin, era)
	}
	if err == nil {
		return c, nil
	}
	_ = c.Close(&failure.Error{Kind: failure.ChannelClosed, Message: "the handshake failed"}) // the reason for that is err
	return nil, s.explain(ctx, c, err)
}

// explain completes the error of a failed attempt with what the user can do.
func (s *Session) explain(ctx context.Context, c *conn, err error) error {
	if errors.Is(err, errRestart) {
		return err
	}
	e, ok := failure.Wrap(err, s.Title(), "connecting").(*failure.Error)
	if !ok {
		return err
	}
	child := c.traits.Child
	late := e.Kind == failure.Timeout && e.Remedy == failure.RaiseConnectTimeout // it says already what did not come in time
	if !late && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late = true
		e.Kind = failure.Timeout
		e.Message = fmt.Sprintf("no answer to %s within %v", e.Stage, s.cfg.ConnectLimit())
		e.Next, e.Remedy = "check that this is an MCP server, or give it more time", failure.RaiseConnectTimeout
	}
	if child == nil {
		return e
	}
	why, ended := child.Reason(), e.Kind == failure.ChannelClosed
	if e.Detail == "" || ended {
		e.Detail = strings.Join(why.Shown, "\n")
	}
	switch {
	case late:
		e.Reason = why.Why() // it may wait for what it cannot reach
	case ended:
		e.Kind = failure.SpawnFailed
		if did := c.answered.Load(); did != nil {
			e.Message += " after it answered " + *did
		} else {
			e.Message += " before it answered"
		}
		e.Reason, e.Remedy, e.Object = why.Why(), why.Remedy, why.Object
		if e.Next = why.Advice(); e.Next == "" {
			e.Next = "run the command by itself to see what is wrong"
		}
	}
	return e
}
