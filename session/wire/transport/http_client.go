package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const (
	maxRedirects   = 5               // that are followed for one request
	maxAttempts    = 5               // of a request whose credentials are refused
	maxHTTPHeader  = 1 << 20         // bytes of the headers of one answer
	maxErrorBody   = 1 << 20         // of HTTPError.Body
	errorBodyGrace = 2 * time.Second // for the rest of a refusal's body; its status is what matters
)

// httpClient is what the two transports over HTTP share: one endpoint, its headers, its connections, its journal, and
// the life of everything that runs for it.
type httpClient struct {
	// Set before the first request, and never changed after it.
	url     *url.URL          // of the endpoint: http or https, also for a WebSocket or a Unix socket
	network *Network          // proxy, certificates, socket
	headers map[string]string // from the configuration; they win over ours
	connect time.Duration     // for a TCP connection, and once more for the handshake of TLS
	max     int64             // bytes of one frame; positive
	tap     Tap
	client  *http.Client           // its Transport is the httpClient itself, so that each redirect is journalled
	rt      *http.Transport        // what goes to the network
	conns   conns                  // the connections that rt has made
	via     http.RoundTripper      // what requests go through: rt, or what somebody gave
	auth    Authorizer             // nil for none
	trace   *httptrace.ClientTrace // nil for none

	// What runs is counted in wg: by begin, under mu and while closed is false, or by what is counted itself. So nothing begins once
	// shutdown waits.
	life   context.Context // ends with Close
	end    context.CancelFunc
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup // exchanges, and streams that outlive the Send that opened them
}

// newHTTPClient makes the client for the endpoint of cfg; nothing is sent yet. What is wrong with the URL, the headers or the files of
// certificates is a *failure.Error of kind Usage.
func newHTTPClient(cfg config.Server, tap Tap) (*httpClient, error) {
	network, err := NewNetwork(cfg)
	if err != nil {
		return nil, err
	}
	if config.TransportOf(cfg.URL) != config.Auto {
		return nil, &failure.Error{
			Kind: failure.Usage, URL: mask.URL(cfg.URL), Message: "\"" + mask.URL(cfg.URL) + "\" does not start with http:// or https://", Next: "give it like http://127.0.0.1:3000/mcp",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Headers)) {
		if !validHeader(name, cfg.Headers[name]) {
			return nil, &failure.Error{
				Kind: failure.Usage, URL: mask.URL(cfg.URL), Message: fmt.Sprintf("the header %q has a name or value that HTTP does not allow", name),
				Next: "give a name and a value without line breaks", Remedy: failure.GiveHeader,
			}
		}
	}
	c := &httpClient{url: network.URL(), network: network, headers: cfg.Headers, connect: cfg.ConnectLimit(), max: cfg.MaxFrame, tap: tap}
	if c.max <= 0 {
		c.max = config.DefaultMaxFrame
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.rt = network.Transport(c.url, c.conns.dialer((&net.Dialer{Timeout: c.connect, KeepAlive: 15 * time.Second}).DialContext))
	c.rt.TLSHandshakeTimeout = c.connect
	c.rt.ForceAttemptHTTP2 = true
	c.rt.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second} // finds dead connections under a stream
	c.rt.DisableCompression = true                                    // the bytes on the wire are what the journal shows
	c.rt.MaxIdleConnsPerHost = 16
	c.rt.IdleConnTimeout = 90 * time.Second
	c.rt.MaxResponseHeaderBytes = maxHTTPHeader
	c.rt.ReadBufferSize = 64 << 10
	c.via = c.rt
	c.client = &http.Client{Transport: c, CheckRedirect: c.redirect}
	return c, nil
}

// use takes what options have for transports over HTTP. c is nil where the URL was not usable.
func (c *httpClient) use(o Options) {
	if c == nil {
		return
	}
	c.auth, c.trace = o.Auth, o.Trace
	if o.Via != nil {
		c.via = o.Via
	}
}

// closeConnections closes the connections. Nothing is sent or awaited any more.
func (c *httpClient) closeConnections() {
	c.rt.CloseIdleConnections()
	c.conns.close()
}

// validHeader reports whether HTTP allows a header: its name a token (RFC 9110, section 5.6.2), its value without line ends and other
// control characters but tabs, so that nothing can be smuggled in after it. net/http would refuse it only when a request is sent.
func validHeader(name, value string) bool {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) {
		return false
	}
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// begin registers something that Close must wait for; false after Close.
func (c *httpClient) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// shutdown ends everything that runs and waits for it; false if that was done before.
func (c *httpClient) shutdown() bool {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.wg.Wait()
	return !again
}

// An exchange is one request with its answer, and possibly the continuations of its stream. It ends with the caller's
// context until detached, and always with the client.
//
// It finds itself in the context of the request (exchangeKey), for RoundTrip and redirect, which net/http calls with nothing else. One goroutine
// has it at a time; cancel may be called by any.
type exchange struct {
	context.Context                    // of all its requests
	caller          context.Context    // whose end is what the caller is told, before anything that comes of it
	cancel          context.CancelFunc // ends Context
	detach          func() bool        // lets the exchange outlive its caller
	given           []string           // names of the headers that the authorizer gave the request that is sent
	method          string             // of the message, for the journal; "" for the server's own stream
	id              string             // of the message, as its JSON is; "" for none
}

// exchange begins one, which close must end. method and id are those of the message, for the journal.
func (c *httpClient) exchange(caller context.Context, method, id string) *exchange {
	ctx, cancel := context.WithCancel(c.life)
	x := &exchange{caller: caller, cancel: cancel, method: method, id: id}
	x.detach = context.AfterFunc(caller, cancel)
	x.Context = context.WithValue(ctx, exchangeKey{}, x)
	return x
}

// exchangeKey finds the exchange in the context of a request.
type exchangeKey struct{}

// close ends the exchange with whatever of it still runs; once or more.
func (x *exchange) close() {
	x.detach()
	x.cancel()
}

// do sends a request and returns the response to it, whatever its status; the caller closes its body. The error is for people: a *failure.Error,
// that of the authorizer, or that of the caller's context. The configuration's headers, and credentials, go to the configured origin only:
// HTTP+SSE may name an endpoint elsewhere once it was redirected.
func (c *httpClient) do(x *exchange, req *http.Request) (*http.Response, error) {
	if sameOrigin(c.url, req.URL) {
		for name, value := range c.headers {
			if strings.EqualFold(name, "Host") {
				req.Host = value
				continue
			}
			req.Header.Set(name, value)
		}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "mcphud")
	}
	for attempts := 1; ; attempts++ {
		resp, again, err := c.attempt(x, req)
		if err != nil {
			return nil, err
		}
		if !again || attempts == maxAttempts {
			return resp, nil
		}
		_, _ = io.CopyN(io.Discard, resp.Body, maxErrorBody) // so that its connection can be used again
		_ = resp.Body.Close()
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, c.failure(x, err)
			}
		}
	}
}

// attempt sends a request once, with what the authorizer gives it; again says that another attempt has better credentials.
func (c *httpClient) attempt(x *exchange, req *http.Request) (resp *http.Response, again bool, err error) {
	authorized := c.auth != nil && sameOrigin(c.url, req.URL)
	if authorized {
		if err := c.authorize(x, req); err != nil {
			return nil, false, err
		}
	}
	resp, err = c.client.Do(req)
	if err != nil {
		if resp != nil { // a refused redirect comes with its response
			_ = resp.Body.Close()
		}
		return nil, false, c.failure(x, err)
	}
	if authorized && (resp.Request == nil || sameOrigin(c.url, resp.Request.URL)) { // who was redirected to wants other credentials
		if again, err = c.auth.Answered(req, resp); err != nil {
			_ = resp.Body.Close()
			return nil, false, err
		}
	}
	return resp, again, nil
}

// authorize lets the authorizer put its headers into a request, in the place of those of the attempt before.
func (c *httpClient) authorize(x *exchange, req *http.Request) error {
	for _, name := range x.given {
		req.Header.Del(name)
	}
	x.given = nil
	before := maps.Clone(req.Header)
	if err := c.auth.Authorize(req); err != nil {
		return err
	}
	for name, values := range req.Header {
		if !slices.Equal(values, before[name]) {
			x.given = append(x.given, name)
		}
	}
	return nil
}

// failure turns an error of net/http into one for people.
func (c *httpClient) failure(x *exchange, err error) error {
	if cause := x.caller.Err(); cause != nil {
		return cause
	}
	if c.life.Err() != nil {
		return errClosed()
	}
	return c.network.explain(err, c.connect)
}

// errClosed is the error of what is asked of a transport after Close, or was running when it came.
func errClosed() *failure.Error {
	return &failure.Error{Kind: failure.ChannelClosed, Message: "the connection was closed", Next: "reconnect"}
}

// RoundTrip journals each HTTP exchange, redirects one by one: an entry for what is sent, and one for the answer, with the first as its Peer. Bodies
// are not in them, but as frames or by journalBody; secrets are hidden in both.
func (c *httpClient) RoundTrip(req *http.Request) (*http.Response, error) {
	e := journal.Entry{Kind: journal.HTTP, Dir: journal.Out, Note: req.Method + " " + mask.URL(req.URL.RequestURI())}
	var given []string
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if ok {
		e.Method, e.ID, given = x.method, x.id, x.given
	}
	sent := c.tap.Append(e, mask.Head(req.Method+" "+req.URL.String()+" HTTP/1.1", req.Header, given...))
	start := time.Now()
	if c.trace != nil {
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), c.trace))
	}
	resp, err := c.via.RoundTrip(req)
	e.Dir, e.Peer, e.Took = journal.In, sent, time.Since(start)
	if err != nil {
		e.Status, e.Note = journal.Failed, mask.Text(err.Error())
		if req.Context().Err() != nil {
			e.Status = journal.Cancelled
		}
		c.tap.Append(e, nil)
		return nil, err
	}
	for i, v := range resp.Header["Www-Authenticate"] {
		resp.Header["Www-Authenticate"][i] = string(x.hide(req, []byte(v)))
	}
	if e.Note = resp.Status; resp.ProtoMajor > 1 {
		e.Note += fmt.Sprintf(", HTTP/%d", resp.ProtoMajor)
	}
	c.tap.Append(e, x.hide(req, mask.Head(resp.Proto+" "+resp.Status, resp.Header)))
	return resp, nil
}

// shortSecret is how many bytes a secret has at least: anything shorter would hide half of what is said.
const shortSecret = 8

// hide takes what the authorizer gave a request out of what a server says: it may repeat it, to explain a refusal.
func (x *exchange) hide(req *http.Request, b []byte) []byte {
	if x == nil {
		return b
	}
	for _, name := range x.given {
		for _, v := range req.Header[name] {
			if name == "Authorization" {
				_, v, _ = strings.Cut(v, " ")
			}
			if len(v) >= shortSecret {
				b = bytes.ReplaceAll(b, []byte(v), []byte(mask.Hidden))
			}
		}
	}
	return b
}

// errRedirect is a redirect that is not followed. It comes out of net/http inside of a *url.Error, with the response beside it.
type errRedirect struct{ reason string }

func (e *errRedirect) Error() string { return e.reason }

// redirect decides whether to follow one. What belongs to the configured origin (credentials, custom headers, the
// session) goes to no other one, also not after a detour.
func (c *httpClient) redirect(req *http.Request, via []*http.Request) error {
	if req.Method != via[0].Method {
		return http.ErrUseLastResponse // 301 to 303 turn a POST into a GET, which would drop the message
	}
	if len(via) > maxRedirects {
		return &errRedirect{fmt.Sprintf("the server redirects more than %d times, the last time to %s", maxRedirects, mask.URL(req.URL.String()))}
	}
	// Once away, always away: whoever is asked in between could send it back with a path of their choice.
	away := !sameOrigin(c.url, req.URL)
	for _, r := range via {
		away = away || !sameOrigin(c.url, r.URL)
	}
	if why := c.network.Private(); away && why != "" {
		return &errRedirect{"the server redirects to " + mask.URL(req.URL.String()) + ", " + why}
	}
	if away && c.url.Scheme == "https" && req.URL.Scheme != "https" {
		return &errRedirect{"the server redirects from https to " + mask.URL(req.URL.String()) + ", which is not encrypted"}
	}
	if away && listen.ReachOf(req.URL) < listen.ReachOf(via[len(via)-1].URL) {
		return &errRedirect{"the server redirects to " + mask.URL(req.URL.String()) + ", a program of this machine or its network"}
	}
	// net/http has put the URL that redirected into it, with what may be a key in its query.
	if via[0].Header.Get("Referer") == "" {
		req.Header.Del("Referer")
	}
	if away {
		for name := range c.headers {
			req.Header.Del(name)
		}
		if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok {
			for _, name := range x.given {
				req.Header.Del(name)
			}
		}
		for _, name := range []string{"Authorization", "Cookie", "Mcp-Session-Id", "Last-Event-Id"} {
			req.Header.Del(name)
		}
		req.Host = ""
	} else if c.auth != nil && req.Header.Get("Dpop") != "" {
		return c.auth.Authorize(req) // the proof is for one URL
	}
	return nil
}

// sameOrigin compares scheme, host and port (RFC 6454, section 5); a port that is left out is that of the scheme.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && listen.PortOf(a) == listen.PortOf(b)
}
