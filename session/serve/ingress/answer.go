package ingress

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Header and media types of the Streamable HTTP transport.
const (
	HeaderSession = "Mcp-Session-Id"
	TypeJSON      = "application/json"
	TypeSSE       = "text/event-stream"
)

// Refusal is the HTTP response to a request that gets an error instead of a result.
type Refusal struct {
	Status     int
	RetryAfter time.Duration // for the header of that name; 0 for none
	Frame      []byte        // the JSON-RPC error
	Failure    *jsonrpc.RequestError
}

// Refuse makes a Refusal of err: a *jsonrpc.RequestError or a *jsonrpc.Error in its chain as that says, anything else
// as -32603 without its text. id is the request's own bytes, nil where there is none to answer; modern is the era of
// 2026-07-28.
func Refuse(id []byte, modern bool, err error) Refusal {
	var rpc *jsonrpc.Error
	f, ok := jsonrpc.AsRequestError(err)
	switch {
	case ok:
	case errors.As(err, &rpc):
		f = &jsonrpc.RequestError{Kind: jsonrpc.KindInvalidRequest, Message: rpc.Message, Err: err, Status: jsonrpc.StatusOf(rpc.Code, modern)}
	default:
		f = &jsonrpc.RequestError{Kind: jsonrpc.KindInternal, Message: "internal error", Err: err}
	}
	if rpc == nil {
		rpc = f.RPC(modern)
	}
	return Refusal{f.HTTPStatus(modern), f.RetryAfter, jsonrpc.NewError(id, rpc.Code, rpc.Message, rpc.Data), f}
}

// Write sends the response.
func (r Refusal) Write(w http.ResponseWriter) {
	SetRetryAfter(w.Header(), r.RetryAfter)
	WriteJSON(w, r.Status, r.Frame)
}

// SetRetryAfter sets the header, in seconds rounded up, if d is not 0.
func SetRetryAfter(h http.Header, d time.Duration) {
	if d > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10))
	}
}

// WriteJSON sends a response with a body of JSON.
func WriteJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", TypeJSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// MethodNotAllowed answers 405. allow lists the methods that the path has.
func MethodNotAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	WriteJSON(w, http.StatusMethodNotAllowed, []byte(`{"error":"method_not_allowed"}`))
}

// IsEvents reports whether a message with these headers is an event stream. The type's letter case does not matter.
func IsEvents(h http.Header) bool {
	v := h["Content-Type"]
	return len(v) > 0 && len(v[0]) >= len(TypeSSE) && strings.EqualFold(v[0][:len(TypeSSE)], TypeSSE)
}

// NoSession is the error of a request without a valid session: 404 for an unknown one, 400 if the header is missing.
func NoSession(named bool) *jsonrpc.RequestError {
	f := &jsonrpc.RequestError{Kind: jsonrpc.KindSessionInvalid, Message: "Missing or invalid MCP session", Status: http.StatusNotFound}
	if !named {
		f.Status = http.StatusBadRequest
	}
	return f
}

// NotAcceptable is the error (406) of a request whose Accept header lists none of the types that its answer may have.
func NotAcceptable(types ...string) *jsonrpc.RequestError {
	return &jsonrpc.RequestError{
		Kind: jsonrpc.KindInvalidRequest, Status: http.StatusNotAcceptable,
		Message: "the response is " + strings.Join(types, " or ") + ": send Accept: " + strings.Join(types, ", "),
	}
}
