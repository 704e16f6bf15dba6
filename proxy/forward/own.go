package forward

import (
	"io"
	"net/http"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Own sends the router's own requests to the agent, as a client with sessions of its own. It opens no streams.
func (t *Target) Own() http.RoundTripper { return own{t} }

type own struct{ t *Target }

// RoundTrip sends a request as the route has it: to its endpoint, with its headers.
func (o own) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return &http.Response{
			Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Allow": {"POST, DELETE"}}, Body: http.NoBody, Request: r,
		}, nil
	}
	out := outgoing{method: r.Method, session: r.Header.Get(ingress.HeaderSession), accept: r.Header["Accept"]}
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			out.body = body
		}
	}
	return o.t.ask(r.Context(), &flow.Call{Request: flow.Request{R: r}}, out, nil)
}
