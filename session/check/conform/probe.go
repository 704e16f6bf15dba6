package conform

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// probe is one trial of a rule: what it may use, and what becomes of it. Methods that send record what was sent and what came back.
type probe struct {
	*run
	ctx      context.Context // of the run; each exchange has the target's timeout below it
	rule     *rule
	conn     *conn     // shared or its own, as the rule says; a trial may put another one of opened in its place
	opened   []*conn   // of this trial alone: closed after it
	lines    []string  // what was sent and received, masked, for evidence; the last 40
	repro    [2]string // method and params of the last call, for who wants to make it again
	raw      bool      // frames were sent that no call makes
	unusable bool      // nothing more can be tried on the connection
}

// newConn returns a further connection in the run's revision, on which nothing was sent yet. It is closed when the trial ends.
func (p *probe) newConn() *conn {
	c := p.connection(p.revision)
	p.opened = append(p.opened, c)
	return c
}

// openConn returns a further connection, with the handshake done.
func (p *probe) openConn() (*conn, error) {
	c := p.newConn()
	if err := c.open(p.ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// call makes a good request on the rule's connection. params is JSON, "" for none; in the modern era _meta is added to it. An error response is not
// an error, here and below: that is a silence, or says that the connection or the request failed.
func (p *probe) call(method, params string) (answer, error) {
	a, err := p.conn.call(p.ctx, method, params)
	p.record(method+" "+params, a, err)
	p.repro = [2]string{method, params}
	return a, err
}

// exchange sends a frame as it is and waits for what answers it: over pipes the first response that comes, whatever its id. change is made to
// the HTTP request, and of no effect over pipes.
func (p *probe) exchange(frame string, change ...func(*http.Request)) (answer, error) {
	p.raw = true
	a, err := p.conn.exchange(p.ctx, []byte(frame), change...)
	p.record(frame, a, err)
	return a, err
}

// deliver sends a frame that may have no answer, and returns what was said to it, the zero answer where nothing was.
func (p *probe) deliver(frame string, change ...func(*http.Request)) (answer, error) {
	p.raw = true
	a, err := p.conn.deliver(p.ctx, []byte(frame), change...)
	p.record(frame, a, err)
	return a, err
}

// exchangeUnchecked sends a frame that no client should send: answers to it are not checked by the rules of live.yaml.
func (p *probe) exchangeUnchecked(frame string, change ...func(*http.Request)) (answer, error) {
	p.conn.unchecked.Store(true)
	defer p.conn.unchecked.Store(false)
	return p.deliver(frame, change...)
}

// request is a good request of the revision as a frame, for those that change something about it.
func (p *probe) request(method, params string) string {
	var raw []byte
	if params != "" {
		raw = []byte(params)
	}
	return string(p.conn.request(method, raw))
}

// reproCommand returns the command line that shows what the rule found, "" where no call of a client does: what is wrong on purpose is not
// what our commands send.
func (p *probe) reproCommand() string {
	if p.raw || p.repro[0] == "" || p.command == nil {
		return ""
	}
	return p.command(p.revision, p.repro[0], p.repro[1])
}

// record keeps an exchange for the evidence of a finding.
func (p *probe) record(sent string, a answer, err error) {
	p.lines = append(p.lines, line(journal.Out, []byte(strings.TrimSpace(sent))))
	for _, o := range a.others[:min(len(a.others), 5)] {
		p.lines = append(p.lines, line(journal.In, o))
	}
	switch {
	case err != nil:
		p.lines = append(p.lines, "  "+mask.Text(err.Error()))
	case a.frame != nil:
		p.lines = append(p.lines, line(journal.In, a.frame))
	case a.status == 0:
		p.lines = append(p.lines, "  no answer")
	}
	if a.status != 0 {
		p.lines = append(p.lines, fmt.Sprintf("  HTTP status %d, Content-Type %q", a.status, a.header.Get("Content-Type")))
	}
	if n := len(p.lines); n > 40 {
		p.lines = p.lines[n-40:]
	}
}

// evidence is what was seen, under where the specification speaks of it.
func (p *probe) evidence(section string) string {
	return strings.TrimSpace(section + "\n" + strings.Join(p.lines, "\n"))
}

// encodeHeader returns a value as a header of the modern era has it: as it is where it is plain ASCII without spaces around it, and in base64
// otherwise, also where it looks as if it were that already.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
func encodeHeader(s string) string {
	plain := s != "" && s == strings.TrimSpace(s) && !strings.HasPrefix(s, "=?base64?")
	for _, r := range s {
		plain = plain && r >= 0x20 && r < 0x7f
	}
	if plain {
		return s
	}
	return base64Header(s)
}

func base64Header(s string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// declares reports whether the server declares a capability, which is given by its path. Any value but false and null does: {} is the usual one.
func (p *probe) declares(at ...string) bool {
	raw := jsonrpc.Get(p.conn.offered, at...)
	return raw != nil && string(raw) != "false" && string(raw) != "null"
}

// require returns a skip where the server does not declare a capability.
func (p *probe) require(at ...string) error {
	if p.declares(at...) {
		return nil
	}
	return skip("the server does not declare " + strings.Join(at, "."))
}

// internal is the error of a server that could not do what it was asked, for a reason of its own. It may have been about to refuse it, and
// failed for another reason, so that no trial learns anything from it.
const internal = -32603

// expectError says what is wrong with an answer that should be an error with one of some codes; what names the request for people. An internal
// error is inconclusive.
func expectError(a answer, what string, codes ...int64) error {
	if a.env.Error == nil {
		return newViolation("%s: %s, not an error", what, a.summary())
	}
	code := a.code()
	if code == internal {
		return inconclusiveSkip("%s: %s, which does not say why", what, a.summary())
	}
	for _, c := range codes {
		if code == c {
			return nil
		}
	}
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = fmt.Sprint(c)
	}
	return newViolation("%s: %s, not %s", what, a.summary(), strings.Join(words, " or "))
}

// expectResult says what is wrong with an answer that should be a result. An internal error is inconclusive here as well.
func expectResult(a answer, what string) error {
	if a.code() == internal {
		return inconclusiveSkip("%s: %s, which does not say why", what, a.summary())
	}
	if a.result() == nil {
		return newViolation("%s: %s, not a result", what, a.summary())
	}
	return nil
}

// tool is the first tool that may be called and that fits, with arguments for it as JSON. The error is a skip where there is none. Which may be
// called is the user's to say: trials call no tool beyond that.
func (p *probe) tool(fits func(offer.Item) bool) (name, arguments string, err error) {
	if err := p.require("tools"); err != nil {
		return "", "", err
	}
	for _, it := range p.sub.Tools {
		if it.Barred != nil || !p.sub.May(it) || fits != nil && !fits(it) {
			continue
		}
		return it.Name, argumentsOf(it), nil
	}
	return "", "", skip("no tool that may be called is fit for it")
}

// argumentsOf are arguments for a tool that its schema allows, as far as a schema says it: the required ones, as small as they may be. The tool
// may refuse them all the same, which is not a fault.
func argumentsOf(it offer.Item) string {
	v := schema.ParseArguments(it.InputSchema).Root().Skeleton()
	if !v.IsSet() || v.Kind() != schema.Object {
		return "{}"
	}
	return string(v.JSON())
}

// wait waits for a frame on a pipe after a mark, at most as long as for an answer: then the error is a silence.
func (p *probe) wait(mark int, wanted func(jsonrpc.Envelope) bool) (answer, error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	a, err := p.conn.pipe.await(ctx, mark, wanted)
	return a, p.conn.timeoutAsSilence(ctx, err, "the message")
}
