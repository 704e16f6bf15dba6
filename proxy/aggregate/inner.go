package aggregate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/transport"
)

// innerTransport sends requests to the router in this process, in the name of a principal.
type innerTransport struct {
	c     *client
	agent string
}

// dial makes the transport to an agent.
func (c *client) dial(cfg config.Server) (transport.Transport, bool) {
	return transport.NewHTTP(cfg, transport.Tap{Server: cfg.Name}, innerTransport{c, cfg.Name}), true
}

// forwardedHeaders are the headers of the client's request that go along with what is asked for it: the trace that it belongs to, and how
// many routers it went through, which a session does not tell that was opened before; with params, those of a tool's parameters.
func (x *exchange) forwardedHeaders(params bool) http.Header {
	h := http.Header{ingress.HeaderHops: {strconv.Itoa(ingress.Hops(x.r.Header) + 1)}}
	for name, v := range x.r.Header {
		switch {
		case name == "Traceparent", name == "Tracestate", name == "Baggage", params && strings.HasPrefix(name, mcp.HeaderParamPrefix):
			h[name] = v
		}
	}
	return h
}

// RoundTrip serves the request by the router's handler. Its answer's body is passed on as it is written.
func (i innerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s := i.c.s
	ctx, cancel := context.WithCancel(s.o.InternalCaller(r.Context(), i.c.principal))
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI()
	if in.Header[ingress.HeaderHops] == nil { // it is not made for one request of the client's
		in.Header.Set(ingress.HeaderHops, strconv.Itoa(i.c.hops+1))
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: pw, head: make(chan struct{})}
	go func() {
		defer func() {
			v := recover()
			if v == nil {
				w.WriteHeader(http.StatusOK)
				_ = pw.Close()
				return
			}
			if v != http.ErrAbortHandler { // by which a handler says that its answer ends early
				s.log.Error("request handler panicked", "agent", i.agent, "panic", v, "stack", string(debug.Stack()))
			}
			w.abort(errors.New("answer ended early"))
		}()
		defer func() { _ = in.Body.Close() }()
		s.o.Router.ServeHTTP(w, in)
	}()
	select {
	case <-w.head:
	case <-r.Context().Done():
		cancel()
		_ = pr.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	if w.err != nil {
		cancel()
		return nil, w.err
	}
	if r.Context().Err() == nil {
		s.health.answered(i.agent, w.status)
	}
	size := int64(-1)
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		size = n
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: pipeBody{pr, cancel}, ContentLength: size, Request: r,
	}, nil
}

type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close ends the request: the router sees that the client is gone.
func (b pipeBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	return err
}

// pipeWriter is an http.ResponseWriter whose body goes through a pipe.
type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	head   chan struct{} // closed when sent, status and err are set
	sent   http.Header
	status int
	err    error
}

// Header is what WriteHeader sends.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader sends the head, once.
func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.sent, w.status = w.header.Clone(), status
		close(w.head)
	})
}

// Write waits until it is read.
func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush sends the head; what is written is never held back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *pipeWriter) abort(err error) {
	w.once.Do(func() {
		w.err = errors.Join(err, io.ErrUnexpectedEOF)
		close(w.head)
	})
	_ = w.body.CloseWithError(io.ErrUnexpectedEOF)
}
