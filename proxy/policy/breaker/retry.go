package breaker

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// pauses are those before a request is sent again.
var pauses = [...]time.Duration{25 * time.Millisecond, 150 * time.Millisecond}

// RoundTrip sends a request, again if that is harmless and may help. Where the breaker is open its error is a
// *jsonrpc.RequestError.
func (b *Breaker) RoundTrip(r *http.Request) (*http.Response, error) {
	probe, err := b.enter()
	if err != nil {
		return nil, err
	}
	res, err := b.Upstream.RoundTrip(r)
	why, none := b.verdict(r, res, err)
	for try := 0; why != "" && !probe && try < attempts(r, res, err); try++ {
		next, ok := replay(r)
		if !ok || !pause(r, pauses[try]) {
			break
		}
		if res != nil {
			_ = res.Body.Close()
		}
		b.mu.Lock()
		b.retries++
		b.mu.Unlock()
		r = next
		res, err = b.Upstream.RoundTrip(r)
		why, none = b.verdict(r, res, err)
	}
	if none {
		b.forget(probe)
	} else {
		b.leave(probe, why)
		if err == nil && res.StatusCode < http.StatusBadRequest {
			b.mu.Lock()
			b.answered = true
			b.mu.Unlock()
		}
	}
	return res, err
}

// attempts is how often a request that failed may be sent once more: if nothing of it was sent, or if nothing happens that did
// not happen by then.
func attempts(r *http.Request, res *http.Response, err error) int {
	c := flow.From(r.Context())
	_, said := jsonrpc.AsRequestError(err)
	switch {
	case r.Context().Err() != nil:
		return 0
	case said || res != nil && res.Header.Get("Retry-After") != "":
		return 0 // whoever says what is the matter, or when to come again, is believed
	case c != nil && c.Env.Kind == jsonrpc.Request && Idempotent(c.Env.Method):
		return len(pauses)
	case err != nil && Refused(err):
		return 1
	}
	return 0
}

// Idempotent reports whether a request of that method can be sent twice without anything else happening than if it was sent
// once. A tool may do anything, and initialize may open two sessions.
func Idempotent(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodPing, mcp.MethodToolsList, mcp.MethodServerDiscover, mcp.MethodCompletionComplete:
		return true
	}
	return strings.HasPrefix(method, "resources/") || strings.HasPrefix(method, "prompts/")
}

// replay is the request to be sent again; false if it cannot be.
func replay(r *http.Request) (*http.Request, bool) {
	n := r.Clone(r.Context())
	if r.Body == nil || r.GetBody == nil {
		return n, r.Body == nil
	}
	body, err := r.GetBody()
	n.Body = body
	return n, err == nil
}

// pause waits about d; false if the request was given up.
func pause(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
