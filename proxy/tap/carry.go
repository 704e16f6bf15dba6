package tap

import (
	"net/http"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Outer is the router's middleware that records answers, and requests that are refused before they are understood. It is
// nothing for a nil Producer.
func (p *Producer) Outer(next flow.Handler) flow.Handler {
	if p == nil {
		return next
	}
	return func(c *flow.Call) {
		w := c.W
		x := p.Exchange(c.Agent, c.R.Header.Get(ingress.HeaderSession))
		c.W = &recorder{ResponseWriter: w, x: x, c: c}
		defer func() {
			c.W = w
			x.Close(c.R.Context().Err())
		}()
		next(c)
	}
}

// Inner is the router's middleware that records requests as soon as they are known, long before they are answered. It
// needs Outer.
func (p *Producer) Inner(next flow.Handler) flow.Handler {
	if p == nil {
		return next
	}
	return func(c *flow.Call) {
		if r := recorderOf(c.W); r != nil {
			r.ask()
		}
		next(c)
	}
}

// recorderOf finds the recorder that others may have put something around.
func recorderOf(w http.ResponseWriter) *recorder {
	for {
		if r, ok := w.(*recorder); ok {
			return r
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = u.Unwrap()
	}
}

// recorder is a response writer that lets an exchange see what is written.
type recorder struct {
	http.ResponseWriter
	x    *Exchange
	c    *flow.Call
	head bool
}

// ask records the request, once.
func (r *recorder) ask() {
	if r.x.asked {
		return
	}
	var id []byte
	if r.c.Env.Kind == jsonrpc.Request || r.c.Env.Kind == jsonrpc.Invalid {
		id = r.c.Env.ID
	}
	r.x.Request(r.c.R, id, r.c.Body)
}

// Unwrap lets http.ResponseController reach what is below.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader records the head of the answer.
func (r *recorder) WriteHeader(status int) {
	if status >= 200 {
		r.begin(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) begin(status int) {
	if !r.head {
		r.head = true
		r.ask()
		r.x.Response(status, r.Header())
	}
}

// Write records what the client gets.
func (r *recorder) Write(b []byte) (int, error) {
	r.begin(http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	r.x.Body(b[:n])
	return n, err
}

// Flush lets the client have what was written so far.
func (r *recorder) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
