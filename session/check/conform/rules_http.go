package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/sse"
)

const (
	sending  = "basic/transports#sending-messages-to-the-server"
	sendingM = "basic/transports/streamable-http#sending-messages"
)

// streamable are the rules of Streamable HTTP, in both eras.
var streamable = []rule{
	{
		Rule: check.Rule{
			ID: "origin", Severity: check.Error, Title: "does not refuse web pages from elsewhere with status 403",
			Why: "any page that a user visits can call the server, by DNS rebinding also where it listens on this machine only", Fix: "check the Origin header of each request, and refuse others than your own with status 403",
		},
		first: rev2503, spec: [2]string{"basic/transports#security-warning", "basic/transports/streamable-http#security-endpoint"}, on: overHTTP, try: tryOrigin,
	},
	{
		Rule: check.Rule{
			ID: "host", Severity: check.Warning, Title: "serves any host name on this machine",
			Why: "a web page whose name was made to point here counts as the server's own", Fix: "refuse requests whose Host is not where the server listens",
		},
		first: rev2503, spec: [2]string{"basic/transports#security-warning", "basic/transports/streamable-http#security-endpoint"}, on: overHTTP, try: tryHost,
	},
	{
		Rule: check.Rule{
			ID: "cors", Severity: check.Warning, Title: "lets every web page read its answers",
			Why: "any page that a user visits can read what the server says", Fix: "allow the origins that are meant to read it, in Access-Control-Allow-Origin",
		},
		first: rev2503, spec: [2]string{"basic/transports#security-warning", "basic/transports/streamable-http#security-endpoint"}, on: overHTTP, try: tryCORS,
	},
	{
		Rule: check.Rule{
			ID: "answer-type", Severity: check.Error, Title: "answers a request with another media type",
			Why: "clients cannot read the answer", Fix: "answer with application/json or text/event-stream",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryAnswerType,
	},
	{
		Rule: check.Rule{
			ID: "accepted", Severity: check.Error, Title: "does not answer a notification with 202 and no body",
			Why: "clients wait for more, or report an error", Fix: "answer an accepted notification with status 202 and an empty body",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryAccepted,
	},
	{
		Rule: check.Rule{
			ID: "content-type", Severity: check.Info, Title: "serves a POST that does not say it is JSON",
			Why: "a web page can send text/plain to other sites without being asked for it", Fix: "refuse other content types than application/json with status 415",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryContentType,
	},
	{
		Rule: check.Rule{
			ID: "content-type-parameter", Severity: check.Error, Title: "refuses application/json with a charset",
			Why: "many HTTP libraries add one", Fix: "compare the media type without its parameters",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryCharset,
	},
	{
		Rule: check.Rule{
			ID: "accept", Severity: check.Info, Title: "serves a client that accepts neither JSON nor events",
			Why: "the client cannot read what it is sent", Fix: "answer with status 406",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryAccept,
	},
	{
		Rule: check.Rule{
			ID: "accept-order", Severity: check.Error, Title: "refuses an Accept header that lists both types in another way",
			Why: "clients write the list in their own order, with weights, or as several headers", Fix: "read Accept as RFC 9110 has it",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryAcceptOrder,
	},
	{
		Rule: check.Rule{
			ID: "header-case", Severity: check.Error, Title: "tells apart headers by their letter case",
			Why: "HTTP/2 and many proxies send names in lower case", Fix: "compare names of headers without regard to case",
		},
		first: rev2503, spec: [2]string{sending, sendingM}, on: overHTTP, try: tryHeaderCase,
	},
	{
		Rule: check.Rule{
			ID: "stream-ends", Severity: check.Warning, Title: "leaves the stream open after the response",
			Why: "connections pile up at client and server", Fix: "end the stream of a request once its response is sent",
		},
		first: rev2503, spec: [2]string{sending, "basic/transports/streamable-http#receiving-messages"}, on: overHTTP, try: tryStreamEnds,
	},
	{
		Rule: check.Rule{
			ID: "get", Severity: check.Error, Title: "answers GET with neither a stream nor 405",
			Why: "clients take it for a server of an older transport, or for none", Fix: "answer GET with text/event-stream, or with status 405",
		},
		first: rev2503, spec: [2]string{"basic/transports#listening-for-messages-from-the-server", "basic/transports/streamable-http#earlier-streamable-http-revisions"}, on: overHTTP, try: tryGet,
	},
	{
		Rule: check.Rule{
			ID: "version-header", Severity: check.Error, Title: "does not refuse an MCP-Protocol-Version that does not exist with status 400",
			Why: "both sides go on with different revisions in mind", Fix: "refuse an unknown MCP-Protocol-Version with status 400",
		},
		first: rev2506, last: rev2511, spec: [2]string{"basic/transports#protocol-version-header", ""}, on: overHTTP, try: tryVersionHeader,
	},
	{
		Rule: check.Rule{
			ID: "event-ids", Severity: check.Error, Title: "gives the same id to events of two streams",
			Why: "a client that resumes gets what belongs to another stream", Fix: "make ids of events unique across all streams of a session",
		},
		first: rev2503, last: rev2511, spec: [2]string{"basic/transports#resumability-and-redelivery", ""}, on: overHTTP, try: tryEventIDs,
	},
	{
		Rule: check.Rule{
			ID: "resumption", Severity: check.Error, Title: "breaks when a stream is resumed",
			Why: "clients resume after each interruption", Fix: "answer GET with Last-Event-ID by what came after it on that stream, or with status 4xx",
		},
		first: rev2503, last: rev2511, spec: [2]string{"basic/transports#resumability-and-redelivery", ""}, on: overHTTP, try: tryResumption,
	},
}

func tryOrigin(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()), set("Origin", "http://mcphud-elsewhere.example"))
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusForbidden:
		return nil
	case a.status/100 == 4:
		return merely(check.Warning, "a request with a foreign Origin: %s, not status 403", a.summary())
	}
	return violated("a request with Origin http://mcphud-elsewhere.example: %s", a.summary())
}

func tryHost(p *probe) error {
	if listen.ReachOf(p.http.url) != listen.Machine {
		return skip("the server is not on this machine")
	}
	a, err := p.exchange(string(p.conn.alive()), func(r *http.Request) { r.Host = "mcphud-elsewhere.example" })
	if err != nil {
		return err
	}
	if a.status/100 == 4 {
		return nil
	}
	return violated("a request with Host mcphud-elsewhere.example: %s", a.summary())
}

func tryCORS(p *probe) error {
	a, err := p.conn.verb(p.ctx, http.MethodOptions, func(r *http.Request) {
		r.Header.Set("Origin", "http://mcphud-elsewhere.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "content-type,mcp-protocol-version")
	})
	p.saw("OPTIONS with Origin http://mcphud-elsewhere.example", a, err)
	if err != nil {
		return err
	}
	switch allowed := a.header.Get("Access-Control-Allow-Origin"); {
	case allowed == "":
		return nil
	case a.header.Get("Access-Control-Allow-Credentials") == "true" && strings.Contains(allowed, "mcphud-elsewhere"):
		return merely(check.Error, "Access-Control-Allow-Origin repeats a foreign origin, and credentials are allowed")
	case allowed == "*" || strings.Contains(allowed, "mcphud-elsewhere"):
		return violated("Access-Control-Allow-Origin: %s", allowed)
	}
	return nil
}

func tryAnswerType(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()))
	if err != nil {
		return err
	}
	if a.media != "application/json" && a.media != "text/event-stream" {
		return violated("the answer to a request has Content-Type %q", a.header.Get("Content-Type"))
	}
	return answered(a, "a request")
}

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
		return violated("%s: %s, not status 202", method, a.summary())
	case len(a.body) > 0 || len(a.events) > 0:
		return violated("%s: status 202 with a body of %d bytes", method, len(a.body))
	}
	return nil
}

func tryContentType(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()), set("Content-Type", "text/plain"))
	if err != nil {
		return err
	}
	if a.status/100 == 2 {
		return violated("a POST of text/plain: %s", a.summary())
	}
	return nil
}

func tryCharset(p *probe) error {
	for _, v := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		a, err := p.exchange(string(p.conn.alive()), set("Content-Type", v))
		if err != nil {
			return err
		}
		if err := answered(a, "a POST of "+v); err != nil {
			return err
		}
	}
	return nil
}

func tryAccept(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()), set("Accept", "text/html"))
	if err != nil {
		return err
	}
	if a.status/100 == 2 {
		return violated("a POST with Accept: text/html: %s", a.summary())
	}
	return nil
}

func tryAcceptOrder(p *probe) error {
	for _, v := range [][]string{{"text/event-stream, application/json"}, {"application/json;q=0.9,text/event-stream;q=1.0, */*;q=0.1"}} {
		a, err := p.exchange(string(p.conn.alive()), func(r *http.Request) { r.Header["Accept"] = v })
		if err != nil {
			return err
		}
		if err := answered(a, "a POST with Accept: "+v[0]); err != nil {
			return err
		}
	}
	return nil
}

func tryHeaderCase(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()), func(r *http.Request) {
		lower := http.Header{}
		for name, v := range r.Header {
			lower[strings.ToLower(name)] = v
		}
		r.Header = lower
	})
	if err != nil {
		return err
	}
	return answered(a, "a POST with names of headers in lower case")
}

// settled is how long a stream may take to end.
const settled = 2 * time.Second

func tryStreamEnds(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()))
	if err != nil {
		return err
	}
	if a.media != "text/event-stream" {
		return skip("the server answers without a stream")
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodPost, p.conn.alive(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := sse.NewReader(resp.Body, maxBody, maxBody)
	var late *time.Timer
	for {
		e, err := r.Next()
		if late != nil && !late.Stop() {
			return violated("the stream was still open %v after the response", settled)
		}
		if err != nil {
			return nil // it ended, in whatever way
		}
		if env, _ := jsonrpc.Scan(e.Data); env.Result != nil || env.Error != nil {
			late = time.AfterFunc(settled, cancel)
		}
	}
}

// start sends a request and leaves the answer to be read.
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

// first is the first message that answers a request, whose stream is left then.
func (p *probe) first(frame []byte, env jsonrpc.Envelope) ([]byte, error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodPost, frame, nil)
	if err != nil {
		return nil, p.conn.timed(ctx, err, env.Method)
	}
	defer resp.Body.Close()
	if media(resp) != "text/event-stream" {
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxPlain))
		if err != nil {
			return nil, p.conn.timed(ctx, err, env.Method)
		}
		p.conn.t.log.frame(p.conn, journal.In, b)
		return b, nil
	}
	e, err := sse.NewReader(resp.Body, maxBody, maxBody).Next()
	if err != nil {
		return nil, p.conn.timed(ctx, fmt.Errorf("%s: the stream ended: %w", env.Method, err), env.Method)
	}
	p.conn.t.log.frame(p.conn, journal.In, e.Data)
	return e.Data, nil
}

func media(resp *http.Response) string {
	m, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return m
}

func tryGet(p *probe) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodGet, nil, nil)
	if err != nil {
		return p.conn.timed(ctx, err, "GET")
	}
	defer resp.Body.Close()
	p.lines = append(p.lines, "> GET", fmt.Sprintf("< %s, Content-Type %q", resp.Status, resp.Header.Get("Content-Type")))
	switch {
	case resp.StatusCode == http.StatusMethodNotAllowed:
		return nil
	case resp.StatusCode == http.StatusOK && media(resp) == "text/event-stream":
		return nil
	case p.conn.isModern():
		return merely(check.Warning, "GET: %s, not 405", resp.Status)
	}
	return violated("GET: %s with Content-Type %q", resp.Status, resp.Header.Get("Content-Type"))
}

func tryVersionHeader(p *probe) error {
	a, err := p.exchange(string(p.conn.alive()), set("MCP-Protocol-Version", absurd))
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusBadRequest:
		return nil
	case a.status/100 == 4:
		return merely(check.Warning, "a request with MCP-Protocol-Version %s: %s, not status 400", absurd, a.summary())
	}
	return violated("a request with MCP-Protocol-Version %s: %s", absurd, a.summary())
}

// streamed are two answers with ids of events.
func (p *probe) streamed() (first, second answer, err error) {
	if first, err = p.exchange(string(p.conn.alive())); err == nil {
		second, err = p.exchange(string(p.conn.alive()))
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

func tryEventIDs(p *probe) error {
	first, second, err := p.streamed()
	if err != nil {
		return err
	}
	for _, a := range first.events {
		for _, b := range second.events {
			if a != "" && a == b {
				return violated("two streams had an event with id %q", a)
			}
		}
	}
	return nil
}

func tryResumption(p *probe) error {
	first, second, err := p.streamed()
	if err != nil {
		return err
	}
	last := first.events[len(first.events)-1]
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	resp, _, err := p.conn.start(ctx, http.MethodGet, nil, set("Last-Event-ID", last))
	if err != nil {
		return violated("GET with Last-Event-ID %q: %v", last, p.conn.timed(ctx, err, "GET"))
	}
	defer resp.Body.Close()
	p.lines = append(p.lines, "> GET with Last-Event-ID "+last, "< "+resp.Status)
	switch {
	case resp.StatusCode/100 == 4:
		return nil
	case resp.StatusCode != http.StatusOK || media(resp) != "text/event-stream":
		return violated("GET with Last-Event-ID %q: %s", last, resp.Status)
	}
	time.AfterFunc(settle, cancel)
	r := sse.NewReader(resp.Body, maxBody, maxBody)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) || ctx.Err() != nil || err != nil {
			return nil
		}
		if env, _ := jsonrpc.Scan(e.Data); env.ID != nil && jsonrpc.SameID(env.ID, second.env.ID) {
			return violated("GET with Last-Event-ID %q repeats the response of another stream", last)
		}
	}
}
