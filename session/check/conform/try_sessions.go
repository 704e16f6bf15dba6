package conform

import (
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
)

// sessions try the rules of sessions over HTTP, which the modern era does not have. A server need not have any: then nothing is tried, but that it
// stays so.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
var sessions = []trial{
	{"session-id", shared, trySessionID},
	{"session-absent", shared, trySessionAbsent},
	{"session-unknown", shared, trySessionUnknown},
	{"session-delete", shared, trySessionDelete},
	{"session-none", shared, trySessionNone},
}

var noSession = skip("the server has no sessions")

// trySessionID looks at the ids of two sessions. One of fewer than 16 characters has no room for 64 random bits as digits of base 16.
func trySessionID(p *probe) error {
	if p.conn.session == "" {
		return noSession
	}
	c, err := p.openConn()
	if err != nil {
		return err
	}
	p.lines = append(p.lines, "two sessions were opened")
	if strings.ContainsFunc(c.session, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		return newViolation("the session id %q has other characters than visible ASCII", c.session)
	}
	if c.session == p.conn.session {
		return newViolation("two clients were given the same session id")
	}
	if len(c.session) < 16 {
		return violatedAs(check.Warning, "the session id has %d characters, which can be guessed", len(c.session))
	}
	return nil
}

// trySessionAbsent asks for a list where there is one: that says something of the server, as ping does not.
func trySessionAbsent(p *probe) error {
	if p.conn.session == "" {
		return noSession
	}
	a, err := p.exchange(string(p.conn.request(p.firstListOr("ping"), nil)), set("Mcp-Session-Id", ""))
	if err != nil {
		return err
	}
	switch {
	case a.status/100 == 2 && a.result() != nil:
		return newViolation("a request without Mcp-Session-Id: %s", a.summary())
	case a.status != http.StatusBadRequest:
		return violatedAs(check.Warning, "a request without Mcp-Session-Id: %s, not status 400", a.summary())
	}
	return nil
}

// trySessionUnknown makes up an id of the usual form: one that cannot be an id may be refused for that, with another status.
func trySessionUnknown(p *probe) error {
	if p.conn.session == "" {
		return noSession
	}
	a, err := p.exchange(string(p.conn.harmlessRequest()), set("Mcp-Session-Id", jsonrpc.UUID()))
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusNotFound:
		return nil
	case a.status/100 == 4:
		return violatedAs(check.Warning, "a request with an unknown Mcp-Session-Id: %s, not status 404", a.summary())
	}
	return newViolation("a request with an unknown Mcp-Session-Id: %s", a.summary())
}

// trySessionDelete ends a session that was opened for it, and uses it again. A server may refuse to have sessions ended by clients, with status 405.
func trySessionDelete(p *probe) error {
	if p.conn.session == "" {
		return noSession
	}
	c, err := p.openConn()
	if err != nil {
		return err
	}
	p.conn = c
	a, err := c.bodiless(p.ctx, http.MethodDelete, nil)
	p.record("DELETE", a, err)
	if err != nil {
		return err
	}
	switch {
	case a.status == http.StatusMethodNotAllowed:
		return nil
	case a.status/100 != 2:
		return newViolation("DELETE: %s", a.summary())
	}
	if a, err = p.exchange(string(c.harmlessRequest())); err != nil {
		return err
	}
	c.session = ""
	if a.status != http.StatusNotFound {
		if a.status/100 == 4 {
			return violatedAs(check.Warning, "a request in a session that was ended: %s, not status 404", a.summary())
		}
		return newViolation("a request in a session that was ended: %s", a.summary())
	}
	return nil
}

// trySessionNone sends an id all the same, as a client does that spoke to the server in the era before.
func trySessionNone(p *probe) error {
	a, err := p.exchange(string(p.conn.harmlessRequest()), set("Mcp-Session-Id", jsonrpc.UUID()))
	if err != nil {
		return err
	}
	if err := expectResult(a, "a request with an Mcp-Session-Id"); err != nil {
		return err
	}
	if a.header.Get("Mcp-Session-Id") != "" {
		return newViolation("an answer has an Mcp-Session-Id")
	}
	return nil
}
