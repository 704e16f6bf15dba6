package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/mcphud/mcphud/proxy/bridge"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/forward"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// remote is the way to an agent at a URL.
func (r *Router) remote(route *routes.Route) flow.Upstream {
	if a := r.credentials(route); a != nil {
		return r.loggedIn(route, a, r.newUpstream(route, a))
	}
	return r.newUpstream(route, nil)
}

// credentials are those for the agent of a route, which are in force from now on; nil for one without oauth.
func (r *Router) credentials(route *routes.Route) *auth.Authorizer {
	if route.OAuth == nil {
		return nil
	}
	a := auth.New(route.Server(), r.o.Login)
	r.logins.Store(route.Name, a)
	return a
}

// loggedIn is the way to an agent that wants a login.
func (r *Router) loggedIn(route *routes.Route, a *auth.Authorizer, up flow.Upstream) flow.Upstream {
	return &authorized{Upstream: up, agent: route.Name, log: r.log, forget: func() { r.logins.CompareAndDelete(route.Name, a) }}
}

// newUpstream makes the upstream of a route, with an authorizer or, where that is nil, without.
func (r *Router) newUpstream(route *routes.Route, a *auth.Authorizer) flow.Upstream {
	if route.Insecure {
		r.log.Warn("the certificate of the agent is not checked: anybody on the way can read and change what is sent", "agent", route.Name)
	}
	http := forward.NewHTTP(route)
	var o transport.Options
	if a != nil {
		http, o.Auth = &authorizing{http, a}, a
	}
	if route.URL == nil || route.Transport == routes.HTTP {
		return http
	}
	cfg := route.Server()
	cfg.Transport = config.SSE
	sse := bridge.New(bridge.Options{
		Name: route.Name, Logger: r.log, SideChannel: r.o.SideChannel, Caller: callerOf,
		Dial: func() (transport.Transport, error) {
			return transport.New(config.SSE, cfg, transport.Tap{}, o)
		},
	})
	if route.Transport == routes.SSE {
		_ = http.Close() // was not used
		return sse
	}
	return &auto{http: http, sse: sse, url: mask.URL(cfg.URL)}
}

// auto is an agent of which only its answers tell whether it speaks Streamable HTTP or HTTP+SSE:
// https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#backwards-compatibility.
type auto struct {
	http, sse flow.Upstream
	url       string                        // without secrets
	speaks    atomic.Pointer[flow.Upstream] // one of both, once an answer has told; nil before. Set for as long as the route is in force
}

// maxRefusal is how many bytes are read of an answer that may be that of an HTTP+SSE server.
const maxRefusal = 64 << 10

// RoundTrip sends a request by the transport that the agent speaks. One that opens something, and that the agent refuses as what is
// no endpoint for messages, is tried by the other.
func (a *auto) RoundTrip(r *http.Request) (*http.Response, error) {
	if up := a.speaks.Load(); up != nil {
		return (*up).RoundTrip(r)
	}
	res, err := a.http.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost || len(r.Header[ingress.HeaderSession]) > 0 {
		return res, err
	}
	switch res.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		if res.StatusCode < 300 {
			a.speaks.Store(&a.http)
		}
		return res, nil
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if _, scan := jsonrpc.Scan(bytes.TrimSpace(head)); scan == nil && err == nil { // speaks JSON-RPC at least
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), res.Body), res.Body}
		return res, nil
	}
	_ = res.Body.Close()
	again := r.Clone(r.Context())
	if again.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	older, err := a.sse.RoundTrip(again)
	if err == nil {
		if ingress.Modern(r) { // was not asked: it knows nothing of that era
			return older, nil
		}
		a.speaks.Store(&a.sse)
		return older, nil
	}
	if _, ok := jsonrpc.AsRequestError(err); ok {
		return nil, err
	}
	return nil, &jsonrpc.RequestError{
		Kind: jsonrpc.KindUnreachable, Status: http.StatusBadGateway, Err: err,
		Message: fmt.Sprintf("Failed to reach agent: %s is not an MCP server: it answers POST with %s (%s), and offers no HTTP+SSE: %s",
			a.url, res.Status, mediaType(res.Header), mask.Text(err.Error())),
	}
}

// mediaType is the type of an answer, for a message.
func mediaType(h http.Header) string {
	if t := h.Get("Content-Type"); t != "" {
		return t
	}
	return "no content type"
}

// Close ends all connections.
func (a *auto) Close() error { return errors.Join(a.http.Close(), a.sse.Close()) }
