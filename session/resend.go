package session

import (
	"context"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Resend is Call for a request that was sent before, or a frame that somebody wrote: its bytes stay as they are, but for the id, and for
// the progress token and trace context if it has them. Line ends between its tokens become spaces. A notification is sent as it is,
// and has no answer.
func (s *Session) Resend(ctx context.Context, frame []byte, o CallOptions) (rpc.Reply, error) {
	env, err := jsonrpc.Scan(frame)
	if err == nil && env.Kind != jsonrpc.Request && env.Kind != jsonrpc.Notification {
		err = &failure.Error{Kind: failure.Usage, Message: "the frame is neither a request nor a notification"}
	}
	if err != nil {
		return rpc.Reply{}, failure.Wrap(err, s.Title(), "sending a frame again")
	}
	frame = jsonrpc.OneLine(frame)
	if env.Kind == jsonrpc.Request {
		o.inner.frame = frame
		return s.Call(ctx, env.Method, env.Params, o)
	}
	c, err := s.acquire(ctx, env.Method)
	if err != nil {
		return rpc.Reply{}, err
	}
	defer s.Hold()()
	spec := &rpc.Request{Method: env.Method, Params: env.Params}
	c.completeForEra(spec, nil)
	err = c.NotifyFrame(ctx, frame, env, spec.Header)
	return rpc.Reply{Sent: err == nil}, failure.Wrap(err, s.Title(), env.Method)
}
