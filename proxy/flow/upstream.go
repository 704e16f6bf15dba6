package flow

import (
	"errors"
	"net/http"

	"github.com/mcphud/mcphud/proxy/routes"
)

// Upstream is the connection to one agent. RoundTrip sends POST, GET and DELETE as Streamable HTTP defines them; From
// of the request's context is the call that it belongs to. It must not be used after Close.
type Upstream interface {
	http.RoundTripper
	Close() error
}

// ErrNotSent is in errors of upstreams that did not try.
var ErrNotSent = errors.New("not sent")

// Wrap puts a layer around the upstream of a route.
type Wrap func(*routes.Route, Upstream) Upstream

// Broken is the upstream of an agent that cannot be served; all requests fail with why.
func Broken(why error) Upstream { return broken{why} }

type broken struct{ why error }

// RoundTrip fails.
func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.why }

// Close does nothing.
func (b broken) Close() error { return nil }
