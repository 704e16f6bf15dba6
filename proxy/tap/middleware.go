package tap

import (
	"net/http"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// RecordResponses is middleware of the router that records responses, and requests that are refused before they are parsed.
// With a nil Producer it does nothing.
func (p *Producer) RecordResponses(next flow.Handler) flow.Handler {
	if p == nil {
		return next
	}
	return func(c *flow.Call) {
		w := c.W
		x := p.Exchange(c.Agent, c.R.Header.Get(ingress.HeaderSession))
		c.W = &recorder{ResponseWriter: w, x: x, c: c}
		defer func() {
			c.W = w
			x.steps(c)
			x.Close(c.R.Context().Err())
		}()
		next(c)
	}
}

// RecordRequests is middleware of the router that records requests when they are parsed, long before their responses. It
// must be inside of RecordResponses.
func (p *Producer) RecordRequests(next flow.Handler) flow.Handler {
	if p == nil {
		return next
	}
	return func(c *flow.Call) {
		if r := recorderOf(c.W); r != nil {
			begin := r.x.join(c)
			r.recordRequest()
			begin() // after what the client sent was recorded
		}
		next(c)
	}
}

// recorderOf finds the recorder below other wrappers; nil if there is none.
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

// recorder is a response writer that copies the response to an exchange.
type recorder struct {
	http.ResponseWriter
	x    *Exchange
	c    *flow.Call
	head bool
}

// recordRequest records the request once.
func (r *recorder) recordRequest() {
	if r.x.asked {
		return
	}
	var id []byte
	if r.c.Env.Kind == jsonrpc.Request || r.c.Env.Kind == jsonrpc.Invalid {
		id = r.c.Env.ID
	}
	r.x.Request(r.c.R, id, r.c.Body)
}

// Unwrap returns the writer below, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader records the head of the response.
func (r *recorder) WriteHeader(status int) {
	if status >= 200 {
		r.recordHead(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) recordHead(status int) {
	if !r.head {
		r.head = true
		r.recordRequest()
		r.x.Response(status, r.Header())
	}
}

// Write records what was written to the client.
func (r *recorder) Write(b []byte) (int, error) {
	r.recordHead(http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	r.x.Body(b[:n])
	return n, err
}

// Flush sends buffered data to the client.
func (r *recorder) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
