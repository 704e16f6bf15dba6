package front

import (
	"encoding/json"
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// senderFunc is a messenger made of a function.
type senderFunc func(frame []byte) error

func (c senderFunc) send(frame []byte) error { return c(frame) }

// SendTo hands what is sent about the request to send, one frame at a time, instead of the request's own stream. It is
// for exchanges made by NewExchange, before they are used. A question for which send returns ErrOver goes out on the
// session's own stream.
func (x *Exchange) SendTo(send func(frame []byte) error) { x.out = senderFunc(send) }

// Send writes a frame on the request's own stream, in order and before the result; ErrOver once that is out.
func (x *Exchange) Send(frame []byte) error { return x.send(frame) }

// Push sends a frame that belongs to no request to the session's client, as Notify does.
func (s *Session) Push(frame []byte) error { return s.push(frame) }

// Notify sends a notification that belongs to no request to the session's client: on the stream that it opened with GET,
// or kept for that.
func (s *Session) Notify(method string, params map[string]any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return s.push(jsonrpc.NewNotification(method, raw))
}
