package aggregate

import (
	"context"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/transport"
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
	res, err := duplex.RoundTrip(s.o.Router, in, func(v any) {
		s.log.Error("request handler panicked", "agent", i.agent, "panic", v, "stack", string(debug.Stack()))
	})
	if err != nil {
		cancel()
		return nil, err
	}
	if r.Context().Err() == nil {
		s.health.noteStatus(i.agent, res.StatusCode)
	}
	res.Request, res.Body = r, cancelBody{res.Body, cancel}
	return res, nil
}

// cancelBody ends the request when it is closed: the router sees that the client is gone.
type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (b cancelBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}
