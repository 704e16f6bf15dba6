package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/sse"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Bounds of an answer over HTTP.
const (
	maxBody   = 64 << 20 // bytes of a body, and of an event
	maxEvents = 10_000   // of one stream, and sessions of one connection
	maxPlain  = 64 << 10 // bytes of a body that is not an event, where it is kept
)

// poster sends HTTP requests to one endpoint, each as it is told. It is safe for concurrent use.
type poster struct {
	url    *url.URL
	cfg    config.Server
	auth   *auth.Authorizer // nil for a server without a login
	client *http.Client
	idle   *http.Transport // client's, for close
}

// newPoster returns a poster to the server of a configuration. It follows redirects within the server's origin that keep the method, as the
// session does: any other would take the credentials elsewhere, and is an answer.
func newPoster(cfg config.Server, a *auth.Authorizer) (*poster, error) {
	n, err := transport.NewNetwork(cfg)
	if err != nil {
		return nil, err
	}
	at := n.URL()
	rt := n.Transport(at, (&net.Dialer{Timeout: cfg.ConnectLimit()}).DialContext)
	rt.DisableCompression = true
	rt.ResponseHeaderTimeout = time.Minute
	return &poster{url: at, cfg: cfg, auth: a, idle: rt, client: &http.Client{
		Transport: rt,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 5 || req.URL.Host != at.Host || req.URL.Scheme != at.Scheme || req.Method != via[0].Method {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}, nil
}

func (p *poster) close() { p.idle.CloseIdleConnections() }

// addConfigured adds the headers of the configuration and the login to a request. secret are the headers to mask. A Host that a trial chose
// stays; any other header that the configuration names goes before what a trial set.
func (p *poster) addConfigured(req *http.Request) (secret []string, err error) {
	for name, value := range p.cfg.Headers {
		secret = append(secret, name)
		if strings.EqualFold(name, "Host") {
			if req.Host == "" || req.Host == req.URL.Host {
				req.Host = value
			}
			continue
		}
		req.Header.Set(name, value)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "mcphud")
	}
	if p.auth != nil {
		err = p.auth.Authorize(req)
	}
	return secret, err
}

// do sends a request with what the configuration adds. A login that the server refuses is renewed for the next request, and not for this one:
// a trial is about what it sent.
func (p *poster) do(req *http.Request) (resp *http.Response, secret []string, err error) {
	if secret, err = p.addConfigured(req); err != nil {
		return nil, secret, err
	}
	resp, err = p.client.Do(req)
	if err == nil && p.auth != nil {
		_, _ = p.auth.Answered(req, resp) // a refusal is an answer like any other
	}
	return resp, secret, err
}

// header sets those that every request has in the connection's revision, for the message env.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
func (c *conn) header(h http.Header, env jsonrpc.Envelope) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if c.handshakeDone && c.revision >= rev2506 {
		h.Set("MCP-Protocol-Version", c.revision)
	}
	if c.session != "" {
		h.Set("Mcp-Session-Id", c.session)
	}
	if c.isModern() && env.Method != "" && env.Method != "initialize" {
		h.Set("Mcp-Method", env.Method)
		if name := nameOf(env); name != "" {
			h.Set("Mcp-Name", encodeHeader(name))
		}
	}
}

// nameOf is what the header Mcp-Name repeats, "" for nothing.
func nameOf(env jsonrpc.Envelope) string {
	switch env.Method {
	case "tools/call", "prompts/get":
		return jsonrpc.GetString(env.Params, "name")
	case "resources/read":
		return jsonrpc.GetString(env.Params, "uri")
	case "tasks/get", "tasks/update", "tasks/cancel":
		return jsonrpc.GetString(env.Params, "taskId")
	}
	return ""
}

// bodiless sends an HTTP request without a body. change, which may be nil, is made to it last.
func (c *conn) bodiless(ctx context.Context, method string, change func(*http.Request)) (answer, error) {
	return c.send(ctx, method, nil, jsonrpc.Envelope{}, func(r *http.Request) {
		r.Header.Del("Content-Type")
		if change != nil {
			change(r)
		}
	})
}

// post sends a frame, and reads until it is answered.
func (c *conn) post(ctx context.Context, frame []byte, env jsonrpc.Envelope, change ...func(*http.Request)) (answer, error) {
	c.t.log.frame(c, journal.Out, frame)
	return c.send(ctx, http.MethodPost, frame, env, change...)
}

// send sends an HTTP request and reads what comes: a body to its end, or a stream as stream does. The error says that the request failed or that
// the answer was cut off; a status is none. Sessions that the server opens are noted, whatever the request was.
func (c *conn) send(ctx context.Context, method string, body []byte, env jsonrpc.Envelope, change ...func(*http.Request)) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.t.http.url.String(), bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("conform: %w", err)
	}
	c.header(req.Header, env)
	for _, f := range change {
		f(req)
	}
	resp, secret, err := c.t.http.do(req)
	sent := c.t.log.head(c, journal.Out, method+" "+req.URL.String()+" HTTP/1.1", req.Header, env, 0, secret...)
	if err != nil {
		return answer{}, fmt.Errorf("the request failed: %w", err)
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != req.Header.Get("Mcp-Session-Id") {
		c.given.add(id)
	}
	c.t.log.head(c, journal.In, resp.Proto+" "+resp.Status, resp.Header, env, sent)
	a := answer{status: resp.StatusCode, header: resp.Header}
	a.media, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if a.media == "text/event-stream" {
		return c.stream(a, resp.Body)
	}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return a, fmt.Errorf("the answer was cut off: %w", err)
	}
	if env, bad := jsonrpc.Scan(a.body); bad == nil || a.status/100 == 2 && (env.Result != nil || env.Error != nil) {
		c.t.log.frame(c, journal.In, a.body)
		a.frame, a.env = a.body, env
	}
	a.body = a.body[:min(len(a.body), maxPlain)]
	return a, nil
}

// stream reads events until a response came or the connection has enough, or the stream ends. Who has what it waits for leaves the rest unread.
func (c *conn) stream(a answer, body io.Reader) (answer, error) {
	r := sse.NewReader(body, maxBody, maxBody)
	for size := 0; len(a.events) < maxEvents; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil && c.enough != nil && len(a.others) > 0 {
			return a, nil // nothing more came
		}
		if err != nil {
			return a, fmt.Errorf("the stream was cut off: %w", err)
		}
		if size += len(e.Data) + len(r.LastID()); size > maxBody {
			return a, fmt.Errorf("the stream had more than %d MB and no response", maxBody>>20)
		}
		a.events = append(a.events, r.LastID())
		c.t.log.frame(c, journal.In, e.Data)
		env, _ := jsonrpc.Scan(e.Data)
		if c.enough != nil {
			if a.others = append(a.others, e.Data); c.enough(a.others) {
				a.open = true
				return a, nil
			}
			continue
		}
		if env.Result != nil || env.Error != nil {
			a.frame, a.env, a.open = e.Data, env, true
			return a, nil
		}
		a.others = append(a.others, e.Data)
	}
	return a, errors.New("the stream had more than 10,000 events and no response")
}

// set is a change of a request's header; "" takes it away.
func set(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if value == "" {
			r.Header.Del(name)
			return
		}
		r.Header.Set(name, value)
	}
}
