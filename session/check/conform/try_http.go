package conform

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// streamable try the rules of Streamable HTTP, in both eras. What a status says is judged before what the body says: proxies and frameworks
// before a server answer without one.
var streamable = []trial{
	{"origin", shared, tryOrigin},
	{"host", shared, tryHost},
	{"cors", shared, tryCORS},
	{"answer-type", shared, tryAnswerType},
	{"accepted", shared, tryAccepted},
	{"content-type", shared, tryContentType},
	{"content-type-parameter", shared, tryCharset},
	{"accept", shared, tryAccept},
	{"accept-order", shared, tryAcceptOrder},
	{"header-case", shared, tryHeaderCase},
	{"stream-ends", shared, tryStreamEnds},
	{"get", shared, tryGet},
	{"version-header", shared, tryVersionHeader},
	{"event-ids", shared, tryEventIDs},
	{"resumption", shared, tryResumption},
}

// tryOrigin asks as a page of a foreign origin would.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
func tryOrigin(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()), set("Origin", "http://mcphud-elsewhere.example"))
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusForbidden:
		return nil
	case a.status/100 == 4:
		return violatedAs(check.Warning, "a request with a foreign Origin: %s, not status 403", a.summary())
	}
	return newViolation("a request with Origin http://mcphud-elsewhere.example: %s", a.summary())
}

// tryHost asks with a foreign Host: a page whose name was made to lead to this machine sends one (DNS rebinding). Elsewhere a name is what proxies
// tell servers apart by, and a foreign one says nothing.
func tryHost(p *probe) error {
	if listen.ReachOf(p.http.url) != listen.Machine {
		return skip("the server is not on this machine")
	}
	a, err := p.exchange(string(p.conn.harmlessRequest()), func(r *http.Request) { r.Host = "mcphud-elsewhere.example" })
	if err != nil {
		return err
	}
	if a.status/100 == 4 {
		return nil
	}
	return newViolation("a request with Host mcphud-elsewhere.example: %s", a.summary())
}

// tryCORS asks what a browser asks before a page may call. That is without credentials: an answer that repeats the origin and allows them lets every
// page send those of the user.
// https://fetch.spec.whatwg.org/#cors-preflight-fetch
func tryCORS(p *probe) error {
	a, err := p.conn.bodiless(p.ctx, http.MethodOptions, func(r *http.Request) {
		r.Header.Set("Origin", "http://mcphud-elsewhere.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "content-type,mcp-protocol-version")
	})
	p.record("OPTIONS with Origin http://mcphud-elsewhere.example", a, err)
	if err != nil {
		return err
	}
	switch allowed := a.header.Get("Access-Control-Allow-Origin"); {
	case allowed == "":
		return nil
	case a.header.Get("Access-Control-Allow-Credentials") == "true" && strings.Contains(allowed, "mcphud-elsewhere"):
		return violatedAs(check.Error, "Access-Control-Allow-Origin repeats a foreign origin, and credentials are allowed")
	case allowed == "*" || strings.Contains(allowed, "mcphud-elsewhere"):
		return newViolation("Access-Control-Allow-Origin: %s", allowed)
	}
	return nil
}

// tryAnswerType makes a good request: an error may come from a proxy before the server, in HTML.
func tryAnswerType(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()))
	if err != nil {
		return err
	}
	if a.media != "application/json" && a.media != "text/event-stream" {
		return newViolation("the answer to a request has Content-Type %q", a.header.Get("Content-Type"))
	}
	return expectResult(a, "a request")
}

// tryAccepted sends a notification that a server need not know, and that does nothing where it does: nobody made the request that it cancels.
func tryAccepted(p *probe) error {
	method := "notifications/mcphud-unknown"
	if !p.conn.isModern() {
		method = "notifications/cancelled"
	}
	a, err := p.exchange(string(jsonrpc.NewNotification(method, []byte(`{"requestId":"nobody asked this"}`))))
	if err != nil {
		return err
	}
	switch {
	case a.status/100 == 4 && p.conn.isModern():
		return nil // it need not accept it
	case a.status != http.StatusAccepted:
		return newViolation("%s: %s, not status 202", method, a.summary())
	case len(a.body) > 0 || len(a.events) > 0:
		return newViolation("%s: status 202 with a body of %d bytes", method, len(a.body))
	}
	return nil
}

// tryContentType asks with a type that a page may send to any site without a preflight, so that a server that takes it is open to all pages.
// https://fetch.spec.whatwg.org/#cors-safelisted-request-header
func tryContentType(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()), set("Content-Type", "text/plain"))
	if err != nil {
		return err
	}
	if a.status/100 == 2 {
		return newViolation("a POST of text/plain: %s", a.summary())
	}
	return nil
}

// tryCharset: parameters are not part of the type, which has no case (RFC 9110, 8.3.1).
func tryCharset(p *probe) error {
	for _, v := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		a, err := p.exchange(string(p.conn.harmlessRequest()), set("Content-Type", v))
		if err != nil {
			return err
		}
		if err := expectResult(a, "a POST of "+v); err != nil {
			return err
		}
	}
	return nil
}

// tryAccept accepts nothing that a server may answer with. One that answers all the same is not at fault (RFC 9110, 12.4.1): the rule is an info.
func tryAccept(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()), set("Accept", "text/html"))
	if err != nil {
		return err
	}
	if a.status/100 == 2 {
		return newViolation("a POST with Accept: text/html: %s", a.summary())
	}
	return nil
}

// tryAcceptOrder: the order in a list means nothing, weights do, and both types are accepted here (RFC 9110, 12.5.1).
func tryAcceptOrder(p *probe) error {
	for _, v := range [][]string{{"text/event-stream, application/json"}, {"application/json;q=0.9,text/event-stream;q=1.0, */*;q=0.1"}} {
		a, err := p.exchange(string(p.conn.harmlessRequest()), func(r *http.Request) { r.Header["Accept"] = v })
		if err != nil {
			return err
		}
		if err := expectResult(a, "a POST with Accept: "+v[0]); err != nil {
			return err
		}
	}
	return nil
}

// tryHeaderCase writes all names in lower case past net/http, which would write them its way: HTTP/2 has no other (RFC 9113, 8.2).
func tryHeaderCase(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()), func(r *http.Request) {
		lower := http.Header{}
		for name, v := range r.Header {
			lower[strings.ToLower(name)] = v
		}
		r.Header = lower
	})
	if err != nil {
		return err
	}
	return expectResult(a, "a POST with names of headers in lower case")
}

// settled is how long a stream may take to end once its response was there: the specification says that it should, and not when.
const settled = 2 * time.Second

// tryStreamEnds asks twice: the first answer says whether the server has streams, and exchange leaves the rest of it unread, which is what is looked
// at here.
func tryStreamEnds(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()))
	if err != nil {
		return err
	}
	if a.media != "text/event-stream" {
		return skip("the server answers without a stream")
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	resp, asked, err := p.conn.start(ctx, http.MethodPost, p.conn.harmlessRequest(), nil)
	if err != nil {
		return p.conn.timeoutAsSilence(ctx, err, asked.Method)
	}
	defer resp.Body.Close()
	r := sse.NewReader(resp.Body, maxBody, maxBody)
	answered := false
	var overdue atomic.Bool
	for {
		e, err := r.Next()
		switch {
		case overdue.Load():
			return newViolation("the stream was still open %v after the response", settled)
		case err != nil && !answered && ctx.Err() != nil:
			return p.conn.timeoutAsSilence(ctx, err, asked.Method)
		case err != nil:
			return nil // it ended, in whatever way
		case answered:
			continue // what else is said in that time is for the rules about messages
		}
		if env, _ := jsonrpc.Scan(e.Data); env.Result != nil || env.Error != nil {
			answered = true
			defer time.AfterFunc(settled, func() { overdue.Store(true); cancel() }).Stop()
		}
	}
}

// start sends a request and leaves the answer to be read: the body of the response is the caller's to close, and ctx bounds it as well. frame is
// nil for a request without a body, which then asks for a stream. It returns frame's envelope.
func (c *conn) start(ctx context.Context, method string, frame []byte, change func(*http.Request)) (*http.Response, jsonrpc.Envelope, error) {
	env, _ := jsonrpc.Scan(frame)
	var body io.Reader
	if frame != nil {
		body = strings.NewReader(string(frame))
		c.t.log.frame(c, journal.Out, frame)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.t.http.url.String(), body)
	if err != nil {
		return nil, env, fmt.Errorf("conform: %w", err)
	}
	c.header(req.Header, env)
	if frame == nil {
		req.Header.Del("Content-Type")
		req.Header.Set("Accept", "text/event-stream")
	}
	if change != nil {
		change(req)
	}
	resp, _, err := c.t.http.do(req)
	if err != nil {
		return nil, env, fmt.Errorf("the request failed: %w", err)
	}
	return resp, env, nil
}

// firstMessage sends a request, and returns the first message that answers it, of a body that is not a stream at most maxPlain bytes. The stream is
// closed, which ends a subscription.
func (p *probe) firstMessage(frame []byte, env jsonrpc.Envelope) ([]byte, error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodPost, frame, nil)
	if err != nil {
		return nil, p.conn.timeoutAsSilence(ctx, err, env.Method)
	}
	defer resp.Body.Close()
	if media(resp) != "text/event-stream" {
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxPlain))
		if err != nil {
			return nil, p.conn.timeoutAsSilence(ctx, err, env.Method)
		}
		p.conn.t.log.frame(p.conn, journal.In, b)
		return b, nil
	}
	e, err := sse.NewReader(resp.Body, maxBody, maxBody).Next()
	if err != nil {
		return nil, p.conn.timeoutAsSilence(ctx, fmt.Errorf("%s: the stream ended: %w", env.Method, err), env.Method)
	}
	p.conn.t.log.frame(p.conn, journal.In, e.Data)
	return e.Data, nil
}

// media is the type of a response's body without its parameters, in lower case, "" where it has none that can be read.
func media(resp *http.Response) string {
	m, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return m
}

// tryGet reads the head only. What comes in the stream is up to the server, and may be nothing.
func tryGet(p *probe) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodGet, nil, nil)
	if err != nil {
		return p.conn.timeoutAsSilence(ctx, err, "GET")
	}
	defer resp.Body.Close()
	p.lines = append(p.lines, "> GET", fmt.Sprintf("< %s, Content-Type %q", resp.Status, resp.Header.Get("Content-Type")))
	switch {
	case resp.StatusCode == http.StatusMethodNotAllowed:
		return nil
	case resp.StatusCode == http.StatusOK && media(resp) == "text/event-stream":
		return nil
	case p.conn.isModern():
		return violatedAs(check.Warning, "GET: %s, not 405", resp.Status)
	}
	return newViolation("GET: %s with Content-Type %q", resp.Status, resp.Header.Get("Content-Type"))
}

// tryVersionHeader sends no revision that ever was: one that is old or to come the server might know.
func tryVersionHeader(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()), set("MCP-Protocol-Version", absurd))
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusBadRequest:
		return nil
	case a.status/100 == 4:
		return violatedAs(check.Warning, "a request with MCP-Protocol-Version %s: %s, not status 400", absurd, a.summary())
	}
	return newViolation("a request with MCP-Protocol-Version %s: %s", absurd, a.summary())
}

// eventIDAnswers returns two answers whose events have ids, each of a stream of its own. The error is a skip where events have none.
func (p *probe) eventIDAnswers() (first, second answer, err error) {
	if first, err = p.exchange(string(p.conn.harmlessRequest())); err == nil {
		second, err = p.exchange(string(p.conn.harmlessRequest()))
	}
	if err != nil {
		return first, second, err
	}
	ids := func(a answer) bool { return len(a.events) > 0 && a.events[len(a.events)-1] != "" }
	if !ids(first) || !ids(second) {
		return first, second, skip("events have no ids, so that streams cannot be resumed")
	}
	return first, second, nil
}

// tryEventIDs compares two streams of one session, which the server has to tell apart by the id alone when one is resumed.
func tryEventIDs(p *probe) error {
	first, second, err := p.eventIDAnswers()
	if err != nil {
		return err
	}
	for _, a := range first.events {
		for _, b := range second.events {
			if a != "" && a == b {
				return newViolation("two streams had an event with id %q", a)
			}
		}
	}
	return nil
}

// tryResumption asks to resume one of two streams that are over: what was said on the other must not come. A server that resumes nothing says so.
func tryResumption(p *probe) error {
	first, second, err := p.eventIDAnswers()
	if err != nil {
		return err
	}
	last := first.events[len(first.events)-1]
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodGet, nil, set("Last-Event-ID", last))
	if err != nil {
		return newViolation("GET with Last-Event-ID %q: %v", last, p.conn.timeoutAsSilence(ctx, err, "GET"))
	}
	defer resp.Body.Close()
	p.lines = append(p.lines, "> GET with Last-Event-ID "+last, "< "+resp.Status)
	switch {
	case resp.StatusCode/100 == 4:
		return nil
	case resp.StatusCode != http.StatusOK || media(resp) != "text/event-stream":
		return newViolation("GET with Last-Event-ID %q: %s", last, resp.Status)
	}
	defer time.AfterFunc(settle, cancel).Stop() // the stream may stay open for what the server says by itself
	r := sse.NewReader(resp.Body, maxBody, maxBody)
	for {
		e, err := r.Next()
		if err != nil {
			return nil
		}
		if env, _ := jsonrpc.Scan(e.Data); env.ID != nil && jsonrpc.SameID(env.ID, second.env.ID) {
			return newViolation("GET with Last-Event-ID %q repeats the response of another stream", last)
		}
	}
}
