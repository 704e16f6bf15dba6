package aggregate

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

const heartbeat = 15 * time.Second

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
	if x.begun {
		return
	}
	x.begun = true
	h := x.w.Header()
	h.Set("Content-Type", ingress.TypeSSE)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	_ = http.NewResponseController(x.w).EnableFullDuplex() // over HTTP/2 it is so anyway
	x.deadline()
	x.w.WriteHeader(http.StatusOK)
}

func (x *exchange) deadline() {
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(x.s.o.WriteTimeout)) // not every writer has deadlines
}

func (x *exchange) event(frame []byte) error {
	return x.raw(append(append([]byte("event: message\ndata: "), frame...), "\n\n"...))
}

func (x *exchange) raw(text []byte) error {
	x.deadline()
	if _, err := x.w.Write(text); err != nil {
		x.over = true
		return err
	}
	if err := http.NewResponseController(x.w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		x.over = true
		return err
	}
	if x.r.ProtoMajor > 1 { // there the stream ends when the deadline passes, whoever is slow
		_ = http.NewResponseController(x.w).SetWriteDeadline(time.Time{}) // as in deadline
	}
	return nil
}

// pump writes what is put into a mailbox until the client goes, or the mailbox is shut.
func (x *exchange) pump(ctx context.Context, m *mailbox) {
	ctx, free := x.s.o.Bind(ctx, x.c.principal)
	defer free()
	x.mu.Lock()
	x.open()
	err := http.NewResponseController(x.w).Flush()
	x.mu.Unlock()
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	for err == nil || errors.Is(err, http.ErrNotSupported) {
		select {
		case <-m.wake:
			for _, frame := range m.take() {
				if x.mu.Lock(); x.event(jsonrpc.OneLine(frame)) != nil {
					x.mu.Unlock()
					return
				}
				x.mu.Unlock()
			}
			if m.isClosed() {
				return
			}
		case <-t.C:
			x.mu.Lock()
			err = x.raw([]byte(":\n\n"))
			x.mu.Unlock()
		case <-ctx.Done():
			return
		case <-x.s.o.Drain.Done():
			return
		case <-x.s.life.Done():
			return
		}
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
