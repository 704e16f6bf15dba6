package conform

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// perRequest try the rules of the era in which each request says by itself what the client is.
var perRequest = []trial{
	{"discovery", shared, tryDiscover},
	{"version-refused", shared, tryVersionRefused},
	{"meta-required", shared, tryMetaRequired},
	{"stateless", alone, tryStateless},
	{"removed-methods", shared, tryRemoved},
	{"server-info", shared, tryServerInfo},
	{"log-level-refused", shared, tryModernLevel},
	{"subscription-acknowledged", shared, trySubscription},
	{"subscription-filter", shared, trySubscriptionFilter},
	{"fallback-named", alone, tryFallback},
}

// tryDiscover does not look at other revisions in the list: those are tried by themselves.
func tryDiscover(p *probe) error {
	a, err := p.call("server/discover", "")
	if err != nil {
		return err
	}
	if err := expectResult(a, "server/discover"); err != nil {
		return err
	}
	found := false
	_ = jsonrpc.Elements(jsonrpc.Get(a.result(), "supportedVersions"), func(v []byte) bool { // anything but an array has none
		s, _ := jsonrpc.String(v)
		found = found || s == p.revision
		return true
	})
	if !found {
		return newViolation("supportedVersions does not have %s", p.revision)
	}
	if c := jsonrpc.Get(a.result(), "capabilities"); len(c) == 0 || c[0] != '{' {
		return newViolation("the result has no capabilities")
	}
	return nil
}

// badRequest says what is wrong with the status of a refusal: over HTTP it has to be 400, where a proxy sees it too.
func (p *probe) badRequest(a answer, what string) error {
	if p.http != nil && a.status != http.StatusBadRequest {
		return newViolation("%s: %s, not status 400", what, a.summary())
	}
	return nil
}

// modernRequest is a request of the modern era whose _meta is given, as members of an object: that of a good request is metaOf.
func (p *probe) modernRequest(method, meta string) string {
	return string(jsonrpc.NewRequest(p.conn.id(), method, []byte(`{"_meta":{`+meta+`}}`)))
}

// tryVersionRefused has the same revision in header and body: servers compare these first, and a difference is another error.
func tryVersionRefused(p *probe) error {
	method := p.firstListOr("server/discover")
	what := method + " with protocolVersion " + absurd
	a, err := p.exchange(p.modernRequest(method, metaOf(absurd, "{}")), set("MCP-Protocol-Version", absurd))
	if err != nil {
		return err
	}
	if err := expectError(a, what, -32022); err != nil {
		return err
	}
	supported := 0
	_ = jsonrpc.Elements(jsonrpc.Get(a.env.Error, "data", "supported"), func([]byte) bool { // anything but an array has none
		supported++
		return true
	})
	if supported == 0 || jsonrpc.GetString(a.env.Error, "data", "requested") != absurd {
		return newViolation("%s: the error's data lacks supported or requested", what)
	}
	return p.badRequest(a, what)
}

// tryMetaRequired leaves out one thing at a time. Without a version a server may refuse what the header says, too: then it is -32020.
func tryMetaRequired(p *probe) error {
	method := p.firstListOr("server/discover")
	without := `"io.modelcontextprotocol/protocolVersion":"` + p.revision + `"`
	what := method + " without clientCapabilities in _meta"
	a, err := p.exchange(p.modernRequest(method, without))
	if err != nil {
		return err
	}
	if err := expectError(a, what, -32602); err != nil {
		return err
	}
	if err := p.badRequest(a, what); err != nil {
		return err
	}
	if p.http == nil {
		return nil // a server of both eras takes a request without a version for one of the other era
	}
	without = `"io.modelcontextprotocol/clientCapabilities":{}`
	what = method + " without protocolVersion in _meta"
	if a, err = p.exchange(p.modernRequest(method, without)); err != nil {
		return err
	}
	if err := expectError(a, what, -32602, -32020); err != nil {
		return err
	}
	return p.badRequest(a, what)
}

// tryStateless makes a request as the first on a connection. Where it fails it is made again on another, after server/discover: only a difference
// between the two says that the server waits for something.
func tryStateless(p *probe) error {
	p.conn.handshakeDone, p.conn.offered = true, p.sub.Capabilities
	method := "server/discover"
	if all := p.declaredLists(); len(all) > 0 {
		method = all[0]
	}
	a, err := p.call(method, "")
	if err != nil || a.result() != nil {
		return err
	}
	first := p.conn
	if p.conn, err = p.openConn(); err != nil {
		return err
	}
	if err := p.goodRequest(method, ""); err != nil { // also with an earlier request
		return err
	}
	p.conn = first
	return expectResult(a, method+" as the first message")
}

// tryRemoved wants no code of the refusal: that is for method-not-found.
func tryRemoved(p *probe) error {
	for _, m := range []string{"ping", "logging/setLevel", "resources/subscribe"} {
		params := map[string]string{"logging/setLevel": `{"level":"error"}`, "resources/subscribe": `{"uri":"mcphud://none"}`}[m]
		p.conn.unchecked.Store(true) // the revision has no rules for them
		a, err := p.call(m, params)
		p.conn.unchecked.Store(false)
		if err != nil {
			return err
		}
		if a.result() != nil {
			return newViolation("%s: %s", m, a.summary())
		}
	}
	return nil
}

// tryServerInfo looks at a list where one works: it is of such results that nobody could tell which server they came from.
func tryServerInfo(p *probe) error {
	method := p.firstListOr("server/discover")
	a, err := p.call(method, "")
	if err != nil {
		return err
	}
	if a.result() == nil {
		return skip(method + " is not answered, which is another rule: " + a.summary())
	}
	if jsonrpc.Get(a.result(), "_meta", "io.modelcontextprotocol/serverInfo") == nil {
		return newViolation("the result of %s has no serverInfo in _meta", method)
	}
	return nil
}

// tryModernLevel: the era has no request for the level. Each says by itself how much it wants to hear.
func tryModernLevel(p *probe) error {
	if err := p.require("logging"); err != nil {
		return err
	}
	method := p.firstListOr("server/discover")
	a, err := p.call(method, `{"_meta":{"io.modelcontextprotocol/logLevel":"mcphud"}}`)
	if err != nil {
		return err
	}
	return expectError(a, method+" with logLevel \"mcphud\"", -32602)
}

// listen opens a subscription and returns the first message of it, and ends it. filter is JSON. Over a pipe other messages may come before, which
// are told apart by the subscription's id in _meta; over HTTP the stream has no others.
func (p *probe) listen(filter string) (first []byte, err error) {
	c := p.conn
	frame := c.request("subscriptions/listen", []byte(`{"notifications":`+filter+`}`))
	env, _ := jsonrpc.Scan(frame)
	sent := string(frame)
	defer func() {
		p.record(sent, answer{frame: first}, err)
	}()
	if p.http != nil {
		return p.firstMessage(frame, env)
	}
	mark := c.pipe.framesSoFar()
	if err := c.pipe.write(p.ctx, frame, env); err != nil {
		return nil, err
	}
	a, err := p.wait(mark, func(e jsonrpc.Envelope) bool {
		return e.Method != "" && strings.Contains(string(jsonrpc.Get(e.Params, "_meta")), "subscriptionId") || jsonrpc.SameID(e.ID, env.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("subscriptions/listen: %w", err)
	}
	_, err = c.deliver(p.ctx, jsonrpc.NewNotification("notifications/cancelled", fmt.Appendf(nil, `{"requestId":%s}`, env.ID)))
	return a.frame, err
}

// readAcknowledgement opens a subscription, and returns the params of its first message, which has to be the acknowledgement. A server without
// the method has no subscriptions, which is a skip.
func (p *probe) readAcknowledgement(filter string) (params []byte, err error) {
	if _, err := p.call("server/discover", ""); err != nil {
		return nil, err
	}
	first, err := p.listen(filter)
	if err != nil {
		return nil, err
	}
	env, _ := jsonrpc.Scan(first)
	if env.Error != nil {
		e := answer{env: env}
		if e.code() == internal {
			return nil, inconclusiveSkip("subscriptions/listen: %s, which does not say why", e.summary())
		}
		if e.code() == -32601 {
			return nil, skip("the server has no subscriptions")
		}
		return nil, newViolation("subscriptions/listen: %s", e.summary())
	}
	if env.Method != "notifications/subscriptions/acknowledged" {
		what := env.Method
		if what == "" {
			what = "a response"
		}
		return nil, newViolation("the first message of the subscription is %s", what)
	}
	return env.Params, nil
}

// trySubscription wants the id in _meta: by that a client tells several subscriptions over one pipe apart.
func trySubscription(p *probe) error {
	params, err := p.readAcknowledgement(`{"toolsListChanged":true}`)
	if err != nil {
		return err
	}
	if jsonrpc.Get(params, "_meta", "io.modelcontextprotocol/subscriptionId") == nil {
		return newViolation("the acknowledgement has no subscriptionId in _meta")
	}
	if n := jsonrpc.Get(params, "notifications"); len(n) == 0 || n[0] != '{' {
		return newViolation("the acknowledgement does not say what is honoured")
	}
	return nil
}

// trySubscriptionFilter asks for prompts alone, also of a server without any: less than that may be acknowledged, and never more.
func trySubscriptionFilter(p *probe) error {
	params, err := p.readAcknowledgement(`{"promptsListChanged":true}`)
	if err != nil {
		return err
	}
	for _, name := range []string{"toolsListChanged", "resourcesListChanged"} {
		if string(jsonrpc.Get(params, "notifications", name)) == "true" {
			return newViolation("%s was acknowledged, and not asked for", name)
		}
	}
	return nil
}

// tryFallback begins as a client of the older era does: a server that has left it behind says which revision to use, so that a person can act on it.
func tryFallback(p *probe) error {
	c := p.connection(rev2511)
	p.opened = append(p.opened, c)
	a, err := p.initialize(c, rev2511)
	if err != nil {
		return err
	}
	if a.result() != nil {
		return skip("the server speaks an older revision as well")
	}
	if !strings.Contains(string(a.env.Error), p.revision) {
		return newViolation("initialize: %s, which does not name %s", a.summary(), p.revision)
	}
	return nil
}
