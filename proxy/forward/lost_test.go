package forward

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestOnlyALostSessionIsTakenForOne(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		lost   bool
	}{
		{404, "", true},
		{404, "Invalid session ID\n", true},
		{404, `{"error":"not_found"}`, true},
		{404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`, true},
		{404, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"what?"},"id":null}`, true},
		{404, `{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"Missing or invalid MCP session"}}`, true},
		{404, `{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"no such order"}}`, false},
		{404, `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}`, false},
		{404, `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Tool 'nf' not found"}}`, false},
		{404, `{"jsonrpc":"2.0","id":5,"result":{}}`, true}, // no answer in the words of the protocol
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`, true},
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`, true},
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Mcp-Session-Id header is required"},"id":null}`, true},
		{400, `{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"charged the card, but your shopping session is old"}}`, false},
		{400, `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"session id is no number"}}`, false},
		{400, "no session", false},
		{500, "Session not found", false},
		{200, `{"jsonrpc":"2.0","id":5,"error":{"code":-32001,"message":"Session not found"}}`, false},
	} {
		res := &http.Response{StatusCode: c.status, Body: io.NopCloser(strings.NewReader(c.body))}
		assert.Equalf(t, sessionLost(res, []byte("5")), c.lost, "%d %s: lost", c.status, c.body)
		if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != c.body {
			t.Errorf("%q is left, %v", rest, err)
		}
	}
}
