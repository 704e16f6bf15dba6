// Package agentclient lets one agent call another through the router: one POST for each request, without handshake or
// session. The trace of the context and the number of routers that were passed go along.
package agentclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// Where the router is by default.
const (
	DefaultHost = "localhost"
	DefaultPort = 8088
)

const (
	dialTimeout = 5 * time.Second
	idleTime    = time.Minute
	idleConns   = 64
	maxHeader   = 64 << 10 // bytes of an answer's head
)

// Options say where the router is. The zero value is the one on this machine.
type Options struct {
	RouterHost string // as Host takes it, default DefaultHost
	RouterPort int    // default DefaultPort
	RouterCA   string // file of certificates by which the router is trusted over https, see certs.Trust; "" for what the system trusts
	AuthToken  string // bearer token for the router, "" for none; never part of an error
	MaxBody    int64  // bytes of the largest answer, default config.DefaultMaxFrame
}

// Client calls agents. It is safe for concurrent use and keeps connections for the next request; its owner closes it.
type Client struct {
	router string // host:port
	base   string // scheme://host:port
	token  string
	max    int64
	http   *http.Client
	pool   *http.Transport
}

// New makes a client; the error says which option is not valid. It connects to nothing yet.
func New(o Options) (*Client, error) {
	scheme, host, err := Host(cmp.Or(o.RouterHost, DefaultHost))
	if err != nil {
		return nil, err
	}
	port := cmp.Or(o.RouterPort, DefaultPort)
	// One address rather than a choice of two, of which the router may listen on one. A certificate may be for the name.
	if ip := net.ParseIP(host); scheme == plainScheme && strings.EqualFold(host, "localhost") || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("the router's port is %d; it must be from 1 to 65535", port)
	}
	if !ingress.Visible(o.AuthToken) {
		return nil, fmt.Errorf("the router token is not valid: it has spaces, line ends or other characters that no token has")
	}
	trust, err := o.trust(scheme, host)
	if err != nil {
		return nil, err
	}
	pool := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:     trust,
		TLSHandshakeTimeout: dialTimeout,
		DisableCompression:  true,
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleTime, MaxResponseHeaderBytes: maxHeader,
	}
	router := net.JoinHostPort(host, strconv.Itoa(port))
	return &Client{
		router: router, base: scheme + "://" + router, token: o.AuthToken, max: cmp.Or(o.MaxBody, config.DefaultMaxFrame), pool: pool,
		// A redirect would send the token to an unknown host.
		http: &http.Client{Transport: pool, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Router is the router's address, as host:port.
func (c *Client) Router() string { return c.router }

// AgentURL is the endpoint of an agent, whose name must be valid.
func (c *Client) AgentURL(agent string) string {
	return c.base + "/mcps/" + agent + "/mcp"
}

// Close closes idle connections. Running requests go on.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

type hopsKey struct{}

// WithHops sets how many routers the request went through on whose behalf others are made, see ingress.Hops. Counting continues
// from there, so that a routing loop ends.
func WithHops(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, hopsKey{}, n)
}

// Request sends one request to an agent and returns the result as it came. params is what encoding/json makes an object of,
// nil for none. An error is a *failure.Error; of an agent's or the router's own error it has code and data.
func (c *Client) Request(ctx context.Context, agent, method string, params any) (json.RawMessage, error) {
	fail := errorMaker{c: c, agent: agent, method: method}
	if !config.ValidName(agent) {
		return nil, fail.usage(fmt.Sprintf("%.80q is not a valid agent name", agent), "a name has "+config.NameRule)
	}
	raw, err := encode(params, telemetry.Traceparent(ctx))
	if err != nil {
		return nil, fail.usage("params are not valid: "+err.Error(), "give an object that can be written as JSON")
	}
	id := jsonrpc.Quote(jsonrpc.UUID())
	res, err := c.send(ctx, http.MethodPost, c.AgentURL(agent), jsonrpc.NewRequest(id, method, raw))
	if err != nil {
		return nil, fail.transport(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.max+1))
	if err != nil {
		return nil, fail.transport(ctx, err)
	}
	if int64(len(body)) > c.max {
		return nil, fail.protocol(res, "the answer is larger than "+ingress.Size(c.max), "request less at a time")
	}
	return fail.read(res, body, id)
}

// send sends one request to the router; body is nil for none.
func (c *Client) send(ctx context.Context, method, url string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = c.header(ctx)
	return c.http.Do(req)
}

// header is what a request has: its type and the token, and what it belongs to.
func (c *Client) header(ctx context.Context) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": nil} // nil keeps net/http from naming itself
	if c.token != "" {
		h["Authorization"] = []string{"Bearer " + c.token}
	}
	if n, _ := ctx.Value(hopsKey{}).(int); n > 0 {
		h[ingress.HeaderHops] = []string{strconv.Itoa(n)}
	}
	if parent := telemetry.Traceparent(ctx); parent != "" {
		h["Traceparent"] = []string{parent}
	}
	return h
}

// encode makes JSON of params, with the trace in their _meta unless they name one.
func encode(params any, traceparent string) ([]byte, error) {
	if params == nil {
		return nil, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(params); err != nil {
		return nil, err
	}
	raw := bytes.TrimSpace(b.Bytes())
	if raw[0] != '{' {
		return nil, fmt.Errorf("they are not an object")
	}
	if traceparent == "" {
		return raw, nil
	}
	out, err := jsonrpc.Update(raw, jsonrpc.Default(jsonrpc.Quote(traceparent), "_meta", "traceparent"))
	if err != nil { // _meta is not an object: the agent will say so
		return raw, nil
	}
	return out, nil
}
