package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// sseTransport is HTTP+SSE of protocol version 2024-11-05:
// https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse. A GET opens the stream for
// everything that the server says; its first event names the endpoint that messages are posted to.
type sseTransport struct {
	*httpClient       // nil where the configuration cannot be used; started says why
	started     error // what Start and Send report
	in          Receiver

	mu       sync.Mutex // guards the two below
	version  string     // by SetVersion; "" during the handshake
	endpoint *url.URL   // that messages are posted to; nil before the server named it
}

func newSSE(cfg config.Server, tap Tap) *sseTransport {
	c, err := newHTTPClient(cfg, tap)
	return &sseTransport{httpClient: c, started: err}
}

// Traits has the headers, and the era.
func (t *sseTransport) Traits() Traits { return Traits{Kind: config.SSE, Legacy: true, HTTP: t} }

// SetVersion sets the version for the MCP-Protocol-Version header, which some servers of this transport read.
func (t *sseTransport) SetVersion(v string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version = v
}

// SessionID returns "": the session is a part of the endpoint that the server names.
func (t *sseTransport) SessionID() string { return "" }

// Start opens the stream and waits for the endpoint. ctx bounds that only: the stream lasts until Close.
func (t *sseTransport) Start(ctx context.Context, in Receiver) error {
	if t.started != nil {
		return t.started
	}
	if !t.begin() {
		return errClosed()
	}
	t.in = in
	x := t.exchange(ctx, "", "")
	body, ev, err := t.open(x)
	if err != nil {
		x.close()
		t.wg.Done()
		return err
	}
	x.detach()
	go func() {
		defer t.wg.Done()
		defer x.close()
		defer func() { _ = body.Close() }()
		t.read(x, ev)
	}()
	return nil
}

// open asks for the stream and reads its endpoint event. A status that is not 200 is an *HTTPError, as the POST of the other transport has it;
// something else than a stream is a *failure.Error of kind Protocol. On error the body is closed.
func (t *sseTransport) open(x *exchange) (io.ReadCloser, *events, error) {
	req, err := http.NewRequestWithContext(x, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return nil, nil, explainHTTP(err, t.url, t.connect)
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := t.do(x, req)
	if err != nil {
		return nil, nil, err
	}
	fail := func(err error) (io.ReadCloser, *events, error) {
		_ = resp.Body.Close()
		if cause := x.caller.Err(); cause != nil {
			err = cause
		}
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		h := t.refusal(x, resp)
		return fail(h)
	}
	if mt := mediaType(resp); mt != "text/event-stream" {
		h := t.refusal(x, resp)
		return fail(&failure.Error{
			Kind: failure.Protocol, Status: resp.StatusCode, URL: h.URL, Err: h,
			Message: fmt.Sprintf("the server answered with %q instead of an event stream", resp.Header.Get("Content-Type")),
			Next:    "check that the URL is an HTTP+SSE endpoint (many listen at /sse), or try Streamable HTTP", Remedy: failure.ChooseTransport,
		})
	}
	ev := t.newEvents(t.in, resp.Body, 4*t.max)
	endpoint, err := t.awaitEndpoint(ev.r, resp.Request.URL)
	if err != nil {
		return fail(err)
	}
	t.mu.Lock()
	t.endpoint = endpoint
	t.mu.Unlock()
	return resp.Body, ev, nil
}

// awaitEndpoint reads up to the endpoint event, which must be the first. base is where the stream came from, after redirects. An endpoint of another
// origin is refused: messages, which may have credentials, would go where nobody configured a server.
func (t *sseTransport) awaitEndpoint(r *sse.Reader, base *url.URL) (*url.URL, error) {
	e := &failure.Error{Kind: failure.Protocol, URL: mask.URL(base.String()), Next: "check that the URL is an HTTP+SSE endpoint, or try Streamable HTTP", Remedy: failure.ChooseTransport}
	ev, err := r.Next()
	if err != nil {
		e.Err, e.Message = err, "the event stream ended before its endpoint event"
		return nil, e
	}
	text := string(bytes.TrimSpace(ev.Data[:min(len(ev.Data), 8<<10)]))
	t.tap.Append(journal.Entry{Kind: journal.HTTP, Dir: journal.In, Note: fmt.Sprintf("event %.80s: %s", ev.Name, mask.URL(text))}, []byte(mask.URL(text)))
	if ev.Name != "endpoint" {
		e.Message = fmt.Sprintf("the event stream begins with an event %.80q instead of endpoint", ev.Name)
		return nil, e
	}
	u, err := base.Parse(text)
	if err != nil || u.Host == "" {
		e.Err, e.Message = err, fmt.Sprintf("the server's endpoint %.200q is not a URL", mask.URL(text))
		return nil, e
	}
	if !sameOrigin(u, base) || u.User != nil && u.User.String() != base.User.String() {
		e.Message = fmt.Sprintf("the server wants messages posted to another origin, %.200s: refused", mask.URL(u.String()))
		e.Next = "ask the server's operator; behind a proxy the server must be told its public URL"
		return nil, e
	}
	u.Fragment = ""
	return u, nil
}

// read delivers what the server says until the stream ends. There is no way to resume one in this version.
func (t *sseTransport) read(x *exchange, ev *events) {
	for {
		_, fatal, err := ev.next(x)
		if !fatal {
			continue
		}
		if t.life.Err() != nil {
			return
		}
		e := &failure.Error{Kind: failure.ChannelClosed, URL: mask.URL(t.url.String()), Message: "the server closed the event stream", Err: err, Next: "reconnect"}
		if err != io.EOF {
			e.Message = "the event stream broke: " + err.Error()
		}
		t.in.Lost(e)
		return
	}
}

// Send posts one message to the endpoint. The answer comes on the stream, maybe before the POST is answered: so no error does not mean that it was
// answered, and one does not mean that it was not.
func (t *sseTransport) Send(ctx context.Context, m Message) error {
	if t.started != nil {
		return t.started
	}
	if !t.begin() {
		return errClosed()
	}
	defer t.wg.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	endpoint, version := t.endpoint, t.version
	t.mu.Unlock()
	if endpoint == nil {
		return &failure.Error{Kind: failure.ServerNotConnected, Message: "the event stream is not open", Next: "connect first"}
	}
	x := t.exchange(ctx, m.Env.Method, string(m.Env.ID))
	defer x.close()
	req, err := http.NewRequestWithContext(x, http.MethodPost, endpoint.String(), bytes.NewReader(m.Frame))
	if err != nil {
		return explainHTTP(err, t.url, t.connect)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if version >= versionHeaderSince {
		req.Header.Set("MCP-Protocol-Version", version)
	}
	for name, values := range m.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	resp, err := t.do(x, req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		h := t.refusal(x, resp)
		if err := ctx.Err(); err != nil {
			return err
		}
		return h
	}
	// "Accepted", or nothing. Some servers hold the answer to the POST until the call is over: the status is enough.
	timer := time.AfterFunc(drainTime/4, x.cancel)
	defer timer.Stop()
	_, _ = readBody(resp.Body, resp.ContentLength, 64<<10)
	return nil
}

// Close ends the stream, which is how the server learns of it.
func (t *sseTransport) Close() error {
	if t.httpClient == nil || !t.shutdown() {
		return nil
	}
	t.closeConnections()
	return nil
}
