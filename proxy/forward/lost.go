package forward

import (
	"bytes"
	"io"
	"net/http"
	"regexp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxRefusal is how many bytes are read of an answer that may report an unknown session.
const maxRefusal = 4 << 10

// gone matches messages that report an unknown session. That an error mentions a session is not enough: a tool may
// speak of sessions of its own.
var gone = regexp.MustCompile(`(?i)session[ -]?id|(mcp|valid|no|no such|unknown|missing) session|session (was )?(not found|expired|terminated|closed|unknown|invalid)|not initialized`)

// lost reports whether the agent says that it does not know the session, given the id of the request. By the specification it
// answers 404; some servers of the TypeScript SDK's examples answer 400 and say it in words. A JSON-RPC error is an answer to
// the request otherwise: 404 is also how the modern era says that there is no such method, and how some say that of a tool.
func lost(res *http.Response, id []byte) bool {
	if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusBadRequest {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	rest := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	plain := res.StatusCode == http.StatusNotFound
	if err != nil {
		return plain
	}
	env, err := jsonrpc.Scan(bytes.TrimSpace(head))
	if err != nil || env.Kind != jsonrpc.ErrorResponse {
		return plain
	}
	e, err := jsonrpc.ParseError(env.Error)
	if err != nil || e.Code < -32099 || e.Code > -32000 {
		return false
	}
	return plain && !bytes.Equal(env.ID, id) || gone.MatchString(e.Message)
}
