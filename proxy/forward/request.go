package forward

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// headerVersion names the protocol version; this and the names below are in canonical form, as the keys of a http.Header.
const headerVersion = "Mcp-Protocol-Version"

// passed are the headers of a caller that are forwarded to the agent. All others stay with the router: credentials,
// cookies, X-Forwarded-… and the like.
var passed = []string{
	"Baggage", "Last-Event-Id", "Mcp-Method", "Mcp-Name", headerVersion, "Traceparent", "Tracestate", "User-Agent",
}

var (
	jsonType   = []string{ingress.TypeJSON}
	acceptBoth = []string{ingress.TypeJSON + ", " + ingress.TypeSSE}
)

// outgoing is what a request to an agent has of its own.
type outgoing struct {
	method  string
	body    []byte
	session string
	version string // overrides the caller's
	accept  []string
	url     *url.URL // instead of the endpoint; nil for that
}

// request frames a request to the agent anew. c is nil for one that the router makes on its own account.
func (t *Target) request(ctx context.Context, c *flow.Call, o outgoing) *http.Request {
	r := new(http.Request).WithContext(ctx)
	r.Method, r.URL, r.Host = o.method, t.url, t.url.Host
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	if o.url != nil {
		r.URL = o.url
	}
	h := make(http.Header, 8)
	r.Header = h
	values := make([]string, 0, 3) // one allocation for those that are ours alone
	set := func(name, v string) {
		values = append(values, v)
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	hops := 1
	if c != nil {
		copyPassed(h, c.R.Header)
		hops += ingress.Hops(c.R.Header)
	}
	set(ingress.HeaderHops, strconv.Itoa(hops))
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // keeps net/http from naming itself
	}
	h["Accept"] = o.accept
	if o.session != "" {
		set(ingress.HeaderSession, o.session)
	}
	if o.version != "" {
		set(headerVersion, o.version)
	}
	if t.basic != nil {
		h["Authorization"] = t.basic
	}
	for name, v := range t.Route.Headers {
		h[name] = v
	}
	if o.body != nil {
		h["Content-Type"] = jsonType
		r.ContentLength = int64(len(o.body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(o.body)), nil }
		r.Body, _ = r.GetBody() // never fails
	}
	return r
}

func copyPassed(to, from http.Header) {
	for _, name := range passed {
		if v := from[name]; len(v) > 0 {
			to[name] = v
		}
	}
	for name, v := range from {
		if strings.HasPrefix(name, mcp.HeaderParamPrefix) {
			to[name] = v
		}
	}
	// What Connection names is meant for the next hop only, and that is the router.
	for _, v := range from["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			delete(to, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
}

// returned are the headers of an agent's answer that the caller gets to see, beside Content-Length and those of the
// router.
var returned = []string{
	"Allow", "Cache-Control", "Content-Encoding", "Content-Language", "Content-Type", "Retry-After", "Www-Authenticate", headerVersion,
}

// An answer that a browser opens as a page must not act for the router, at whose address it is: whatever type the agent gives
// it, nothing in it runs, loads or counts as of the same origin.
var (
	nosniff = []string{"nosniff"}
	sandbox = []string{"default-src 'none'; sandbox"}
)

func copyReturned(to, from http.Header) {
	for _, name := range returned {
		if v := from[name]; len(v) > 0 {
			to[name] = v
		}
	}
	to["X-Content-Type-Options"], to["Content-Security-Policy"] = nosniff, sandbox
}

// wantsJSON reports that the caller did not announce that it reads event streams. `*/*` is the default of fetch and
// curl, with code behind them that parses one JSON text.
func wantsJSON(h http.Header) bool {
	v := h["Accept"]
	if len(v) == 0 || len(v) == 1 && (v[0] == "*/*" || v[0] == ingress.TypeJSON) {
		return true
	}
	var json, sse bool
	for _, line := range v {
		for part := range strings.SplitSeq(line, ",") {
			kind, _, _ := strings.Cut(part, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			sse = sse || kind == ingress.TypeSSE || kind == "text/*"
			json = json || slices.Contains([]string{"*/*", "application/*", ingress.TypeJSON}, kind)
		}
	}
	return json && !sse
}
