package flow

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Headers and types that several parts of the router speak of.
const (
	HeaderSession = "Mcp-Session-Id"
	TypeJSON      = "application/json"
	TypeSSE       = "text/event-stream"
)

// IsEvents reports whether a message with these headers is an event stream. The type's letter case does not matter.
func IsEvents(h http.Header) bool {
	v := h["Content-Type"]
	return len(v) > 0 && len(v[0]) >= len(TypeSSE) && strings.EqualFold(v[0][:len(TypeSSE)], TypeSSE)
}

// Refuse answers with a JSON-RPC error: err's own if it is a *jsonrpc.Failure or a *jsonrpc.Error, else -32603 without its
// text. The id is the request's own bytes, null where there is none to answer.
func (c *Call) Refuse(err error) {
	modern := c.Modern || c.Env.Kind == jsonrpc.Invalid && ingress.Modern(c.R)
	var rpc *jsonrpc.Error
	status := 0
	switch f, ok := jsonrpc.AsFailure(err); {
	case ok:
		c.Failure = f
		rpc, status = f.RPC(modern), f.HTTPStatus(modern)
		if f.RetryAfter > 0 {
			c.W.Header().Set("Retry-After", seconds(f.RetryAfter))
		}
	case errors.As(err, &rpc):
		c.Failure = &jsonrpc.Failure{Kind: jsonrpc.FailInvalid, Message: rpc.Message, Err: err}
		status = jsonrpc.StatusOf(rpc.Code, modern)
	default:
		c.Failure = &jsonrpc.Failure{Kind: jsonrpc.FailInternal, Message: "internal error", Err: err}
		rpc, status = c.Failure.RPC(modern), http.StatusInternalServerError
	}
	id := c.Env.ID
	switch c.Env.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		id = nil // is of a request that somebody else made
		fallthrough
	case jsonrpc.Notification: // to which an error is no answer: only the status says that it was not taken
		if status < http.StatusBadRequest {
			status = http.StatusBadRequest
		}
	}
	c.JSON(status, jsonrpc.NewError(id, rpc.Code, rpc.Message, rpc.Data))
}

// JSON answers with a status and a body of JSON.
func (c *Call) JSON(status int, body []byte) {
	c.Status, c.Sent = status, int64(len(body))
	JSON(c.W, status, body)
}

// JSON answers with a status and a body of JSON.
func JSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", TypeJSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// Empty answers with a status and no body.
func (c *Call) Empty(status int) {
	c.Status = status
	c.W.WriteHeader(status)
}

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
