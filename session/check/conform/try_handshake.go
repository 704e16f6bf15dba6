package conform

import (
	"fmt"
	"slices"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
)

// handshake try the rules of initialize, which the modern era does not have. Each has a connection of its own: a second initialize on one is
// itself a trial.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
var handshake = []trial{
	{"version-supported", alone, tryVersionSupported},
	{"version-offered", alone, tryVersionUnknown},
	{"version-newest", alone, tryVersionNewest},
	{"initialize-shape", alone, tryInitializeShape},
	{"initialize-unknown-capability", alone, tryUnknownCapability},
	{"before-initialize", alone, tryBeforeInitialize},
	{"initialize-again", alone, tryInitializeAgain},
	{"probe-survived", alone, tryProbeSurvived},
}

// initialize is the first message of a connection as a frame, with capabilities as JSON: for those that change something about it.
func initialize(c *conn, revision, capabilities string) string {
	return string(jsonrpc.NewRequest(c.id(), "initialize", fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"mcphud","version":"1"}}`, revision, capabilities)))
}

// initialize sends it, and lets the connection know.
func (p *probe) initialize(c *conn, revision string) (answer, error) {
	a, err := c.initialize(p.ctx, revision)
	p.record(fmt.Sprintf(`initialize {"protocolVersion":%q,…}`, revision), a, err)
	return a, err
}

// tryVersionSupported asks for a revision that the server was seen to speak: another answer means that it depends on something else.
func tryVersionSupported(p *probe) error {
	a, err := p.initialize(p.conn, p.revision)
	if err != nil {
		return err
	}
	if err := expectResult(a, "initialize"); err != nil {
		return err
	}
	if got := jsonrpc.GetString(a.result(), "protocolVersion"); got != p.revision {
		return newViolation("asked for %s, and was answered with %q", p.revision, got)
	}
	return nil
}

// tryVersionUnknown asks for revisions that are none, an old one and one to come. A server answers with one that it has, and does not refuse.
func tryVersionUnknown(p *probe) error {
	for _, asked := range []string{absurd, "2999-01-01"} {
		c := p.newConn()
		a, err := p.initialize(c, asked)
		if err != nil {
			return fmt.Errorf("initialize with protocolVersion %q: %w", asked, err)
		}
		if err := expectResult(a, fmt.Sprintf("initialize with protocolVersion %q", asked)); err != nil {
			return err
		}
		if got := jsonrpc.GetString(a.result(), "protocolVersion"); got == asked || got == "" {
			return newViolation("initialize with protocolVersion %q was answered with %q", asked, got)
		}
	}
	return nil
}

// tryVersionNewest asks for a revision to come: what a server offers then is the newest that it has.
func tryVersionNewest(p *probe) error {
	a, err := p.initialize(p.conn, "2999-01-01")
	if err != nil {
		return err
	}
	got := jsonrpc.GetString(a.result(), "protocolVersion")
	if a.result() == nil || !slices.Contains(rules.Revisions(), got) {
		return skip("it offers no revision, which is another rule")
	}
	if got < p.revision {
		return newViolation("offers %s, and speaks %s", got, p.revision)
	}
	return nil
}

// tryInitializeShape looks at what all revisions require. What came later may be there, or not.
func tryInitializeShape(p *probe) error {
	a, err := p.initialize(p.conn, p.revision)
	if err != nil {
		return err
	}
	if err := expectResult(a, "initialize"); err != nil {
		return err
	}
	r := a.result()
	for _, at := range [][]string{{"protocolVersion"}, {"capabilities"}, {"serverInfo"}, {"serverInfo", "name"}, {"serverInfo", "version"}} {
		v := jsonrpc.Get(r, at...)
		name := at[len(at)-1]
		want := byte('"')
		if name == "capabilities" || name == "serverInfo" {
			want = '{'
		}
		if len(v) == 0 || v[0] != want {
			return newViolation("the result of initialize has no %s, or one of the wrong type", name)
		}
	}
	return nil
}

// tryUnknownCapability makes the handshake by hand, so that the connection has to be told of its session.
func tryUnknownCapability(p *probe) error {
	a, err := p.exchange(initialize(p.conn, p.revision, `{"experimental":{"mcphud":{}},"mcphudUnknown":{"a":true}}`))
	if err != nil {
		return err
	}
	p.conn.session = a.header.Get("Mcp-Session-Id")
	return expectResult(a, "initialize with unknown capabilities")
}

// tryBeforeInitialize asks for a list too early. Whether that is answered is up to the server; initialize has to work after it. Over HTTP that is
// another client's, for the first one has no session.
func tryBeforeInitialize(p *probe) error {
	c := p.conn
	what := "tools/list before initialize"
	if _, err := p.exchange(string(jsonrpc.NewRequest(c.id(), "tools/list", nil))); err != nil {
		if c.lostErr() != nil || p.http != nil {
			return violatedAs(check.Error, "%s: %v", what, err)
		}
		return newViolation("%s: %v", what, err)
	}
	if p.http != nil {
		c = p.newConn()
	}
	a, err := p.initialize(c, p.revision)
	if err != nil {
		return violatedAs(check.Error, "initialize after %s: %v", what, err)
	}
	return expectResult(a, "initialize after "+what)
}

// tryInitializeAgain makes the handshake twice. The second may be refused or served, and the server has to go on.
func tryInitializeAgain(p *probe) error {
	if err := p.conn.open(p.ctx); err != nil {
		return err
	}
	a, err := p.exchange(initialize(p.conn, p.revision, "{}"))
	if err != nil {
		return violatedAs(check.Error, "a second initialize: %v", err)
	}
	if p.http != nil {
		if a.status/100 == 5 {
			return newViolation("a second initialize: %s", a.summary())
		}
		return nil
	}
	if a, err = p.call("ping", ""); err != nil {
		return violatedAs(check.Error, "ping after a second initialize: %v", err)
	}
	return expectResult(a, "ping after a second initialize")
}

// tryProbeSurvived asks server/discover first, as clients of both eras do. A server that ends is lost to them; one that says nothing costs them the
// time until they give up, unless it answers once initialize came.
func tryProbeSurvived(p *probe) error {
	c := p.conn
	a, err := p.exchange(`{"jsonrpc":"2.0","id":"probe","method":"server/discover","params":{"_meta":{` + metaOf(modern, "{}") + `}}}`)
	if c.lostErr() != nil {
		return newViolation("it ended: %v", c.lostErr())
	}
	if err != nil {
		a, err = p.initialize(c, p.revision)
		if err != nil {
			return newViolation("initialize after server/discover: %v", err)
		}
		if err := expectResult(a, "initialize after server/discover"); err != nil {
			return err
		}
		_, envs := c.pipe.framesAfter(0)
		if slices.ContainsFunc(envs, func(e jsonrpc.Envelope) bool { return string(e.ID) == `"probe"` }) {
			return nil // late, as initialize would have been
		}
		return violatedAs(check.Warning, "server/discover before initialize was not answered; a client of both eras waits for it")
	}
	if a.result() != nil {
		return nil // it speaks that era as well, and the client stays there
	}
	if a, err = p.initialize(c, p.revision); err != nil {
		return newViolation("initialize after server/discover: %v", err)
	}
	return expectResult(a, "initialize after server/discover")
}
