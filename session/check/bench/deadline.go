package bench

import (
	"context"
	"time"
)

// deadline is a context for the requests that one goroutine sends one after the other, each with a time of its own at which it is given up. A
// context for each request costs a fifth of what net/http does for it: its timer, its channel, and the lock of the context that all have in common.
type deadline struct {
	parent context.Context
	ctx    context.Context // nil before the first request, and after one that was late
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// begin gives the context of a request, until end. It is canceled with errLate after limit.
func (d *deadline) begin(limit time.Duration) context.Context {
	if d.ctx != nil {
		d.timer.Reset(limit)
		return d.ctx
	}
	ctx, cancel := context.WithCancelCause(d.parent)
	d.ctx, d.cancel = ctx, cancel
	d.timer = time.AfterFunc(limit, func() { cancel(errLate) })
	return ctx
}

func (d *deadline) end() {
	if !d.timer.Stop() { // it may cancel the context at any time
		d.close()
	}
}

// close gives up the context; the next request has another one.
func (d *deadline) close() {
	if d.ctx != nil {
		d.timer.Stop()
		d.cancel(nil)
		d.ctx = nil
	}
}
