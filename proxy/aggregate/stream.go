package aggregate

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/serve/outbox"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// send sends a message before the answer; false where that is not possible.
func (x *exchange) send(frame []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || !x.events {
		return false
	}
	x.open()
	return x.event(jsonrpc.OneLine(frame)) == nil
}

// open begins the event stream; x.mu is held.
func (x *exchange) open() {
	if !x.out.Begun() {
		_ = http.NewResponseController(x.w).EnableFullDuplex() // HTTP/2 has it anyway
		x.out.Begin()
	}
}

func (x *exchange) event(frame []byte) error { return x.endWrites(x.out.Event(frame)) }

// endWrites makes every later write fail after one that did; x.mu is held.
func (x *exchange) endWrites(err error) error {
	x.over = x.over || err != nil
	return err
}

// pump writes what is put into a mailbox until the client goes, or the mailbox is closed.
func (x *exchange) pump(ctx context.Context, m mailbox) {
	ctx, free := x.s.o.Bind(ctx, x.c.principal)
	defer free()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, end := range []context.Context{x.s.o.Drain, x.s.life} {
		defer context.AfterFunc(end, cancel)()
	}
	x.mu.Lock()
	x.open()
	err := x.endWrites(x.out.Flush())
	x.mu.Unlock()
	for err == nil && ctx.Err() == nil { // Next would go on while there are messages
		frame, end := m.Next(ctx, sse.Heartbeat)
		x.mu.Lock()
		switch {
		case end == nil:
			err = x.event(jsonrpc.OneLine(frame))
		case errors.Is(end, outbox.ErrQuiet): // proxies close what says nothing for long
			err = x.endWrites(x.out.Comment())
		default:
			err = end
		}
		x.mu.Unlock()
	}
}

// listen is the answer to GET. A second one takes over from the first.
func (x *exchange) listen(c *client) {
	if sse, _ := ingress.Accepts(x.r.Header); !sse {
		x.refuse(ingress.NotAcceptable(ingress.TypeSSE))
		return
	}
	x.c = c
	m := c.attach()
	defer c.detach(m)
	x.s.health.wake()
	x.pump(x.r.Context(), m)
}
