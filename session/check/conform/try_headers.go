package conform

import (
	"context"
	"net/http"
)

// mirrored try the rules of headers that repeat the body, which proxies read in its place: a server that does not compare them lets one request
// pass a proxy as another.
var mirrored = []trial{
	{"header-version", shared, tryHeaderVersion},
	{"header-method", shared, tryHeaderMethod},
	{"header-name", shared, tryHeaderName},
	{"header-encoded", shared, tryHeaderEncoded},
	{"unbuffered", shared, tryUnbuffered},
}

// tryMismatches makes a request with each of some changes of its headers, all of which have to be refused: with the error -32020 and status 400.
// changes are by what they do, for people, and made in the given order, so that the first finding is the same in each run.
func (p *probe) tryMismatches(method, params string, changes map[string]func(*http.Request), order ...string) error {
	for _, what := range order {
		a, err := p.exchange(p.request(method, params), changes[what])
		if err != nil {
			return err
		}
		what = method + " " + what
		if err := expectError(a, what, -32020); err != nil {
			return err
		}
		if err := p.badRequest(a, what); err != nil {
			return err
		}
	}
	return nil
}

// tryHeaderVersion writes a revision that exists: a server that speaks it as well has no other reason to refuse.
func tryHeaderVersion(p *probe) error {
	return p.tryMismatches(p.firstListOr("server/discover"), "{}", map[string]func(*http.Request){
		"with MCP-Protocol-Version 2025-11-25": set("MCP-Protocol-Version", rev2511),
	}, "with MCP-Protocol-Version 2025-11-25")
}

// tryHeaderMethod: without the header a proxy knows as little as with a wrong one.
func tryHeaderMethod(p *probe) error {
	return p.tryMismatches(p.firstListOr("server/discover"), "{}", map[string]func(*http.Request){
		"with Mcp-Method prompts/get": set("Mcp-Method", "prompts/get"),
		"without Mcp-Method":          set("Mcp-Method", ""),
	}, "with Mcp-Method prompts/get", "without Mcp-Method")
}

// namedRequest returns a read-only request that has an Mcp-Name. It is about something that does not exist: a server that does not compare
// headers finds nothing to do.
func (p *probe) namedRequest() (method, params string, err error) {
	switch {
	case p.declares("prompts"):
		return "prompts/get", `{"name":"` + missing + `"}`, nil
	case p.declares("resources"):
		return "resources/read", `{"uri":"mcphud://` + missing + `"}`, nil
	case p.declares("tools"):
		return "tools/call", `{"name":"` + missing + `","arguments":{}}`, nil
	}
	return "", "", skip("the server declares neither tools, resources nor prompts")
}

// tryHeaderName wants the mismatch told before the name is looked up: neither name exists.
func tryHeaderName(p *probe) error {
	method, params, err := p.namedRequest()
	if err != nil {
		return err
	}
	return p.tryMismatches(method, params, map[string]func(*http.Request){
		"with another Mcp-Name": set("Mcp-Name", "mcphud-other"),
		"without Mcp-Name":      set("Mcp-Name", ""),
	}, "with another Mcp-Name", "without Mcp-Name")
}

// tryHeaderEncoded writes a name in base64 that need not be: a server has to read either. Whether it then finds what is named is not asked.
func tryHeaderEncoded(p *probe) error {
	method, params, err := p.namedRequest()
	if err != nil {
		return err
	}
	a, err := p.exchange(p.request(method, params), func(r *http.Request) {
		r.Header.Set("Mcp-Name", base64Header(r.Header.Get("Mcp-Name")))
	})
	if err != nil {
		return err
	}
	if a.code() == -32020 {
		return newViolation("%s with Mcp-Name in base64: %s", method, a.summary())
	}
	return nil
}

// tryUnbuffered looks at the first answer that is a stream: proxies keep one back that does not say that they must not.
func tryUnbuffered(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()))
	if err != nil {
		return err
	}
	ack, err := p.subscriptionHead()
	if err != nil {
		return err
	}
	for _, h := range []http.Header{a.header, ack} {
		if media(&http.Response{Header: h}) == "text/event-stream" {
			if h.Get("X-Accel-Buffering") != "no" {
				return newViolation("a stream has no X-Accel-Buffering: no")
			}
			return nil
		}
	}
	return skip("the server answers without a stream")
}

// subscriptionHead opens a subscription, and returns the head of its answer. The stream is closed.
func (p *probe) subscriptionHead() (http.Header, error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	resp, asked, err := p.conn.start(ctx, http.MethodPost, p.conn.request("subscriptions/listen", []byte(`{"notifications":{"toolsListChanged":true}}`)), nil)
	if err != nil {
		return nil, p.conn.timeoutAsSilence(ctx, err, asked.Method)
	}
	_ = resp.Body.Close()
	return resp.Header, nil
}
