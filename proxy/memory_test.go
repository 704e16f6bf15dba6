package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// inMemory is a router whose only agent and only clients are in this process, without a network: in a bubble of testing/synctest its
// time limits take no time, and are exact.
func inMemory(t *testing.T, agent http.Handler, timeout string) *fixture {
	t.Helper()
	r, err := New(Options{
		Keys: fixedKeys{"route.a": fmt.Appendf(nil, `{"v":1,"name":"a","url":"http://127.0.0.1:1/mcp","timeout":%q}`, timeout)},
		Wrap: []flow.Wrap{func(*routes.Route, flow.Upstream) flow.Upstream { return handled{t, agent} }},
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close(context.Background())) })
	return &fixture{Router: r, base: "http://127.0.0.1", client: &http.Client{Transport: handled{t, r.Handler()}}}
}

// fixedKeys are routes that do not change.
type fixedKeys map[string][]byte

// Snapshot is all of them.
func (k fixedKeys) Snapshot() (map[string][]byte, error) { return k, nil }

// Changed never receives.
func (fixedKeys) Changed() <-chan struct{} { return nil }

// String is where they are.
func (fixedKeys) String() string { return "memory" }

// handled is the way to a handler in this process, as an upstream and as a client's transport.
type handled struct {
	t *testing.T
	h http.Handler
}

// RoundTrip serves the request as a server would: with a body, and as a copy.
func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	return duplex.RoundTrip(h.h, r, func(v any) { h.t.Errorf("a handler panicked: %v", v) })
}

// Close does nothing.
func (handled) Close() error { return nil }

var _ io.Closer = handled{}
