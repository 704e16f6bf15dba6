package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// ErrorKind names what went wrong, independently of protocol era; it is data.kind of the error on the wire.
type ErrorKind string

// The kinds, in the groups of their numbers up to 2025-11-25: first those that JSON-RPC has numbers for, then -32000, -32001 (not found),
// -32002 (capacity) and -32003 (timeout); see Code.
const (
	KindParse          ErrorKind = "parse_error"
	KindInvalidRequest ErrorKind = "invalid_request"
	KindBatch          ErrorKind = "batch"
	KindTooLarge       ErrorKind = "too_large"
	KindMethodNotFound ErrorKind = "method_not_found"
	KindInvalidParams  ErrorKind = "invalid_params"
	KindToolNotFound   ErrorKind = "tool_not_found"
	KindInternal       ErrorKind = "internal"
	KindUnreachable    ErrorKind = "unreachable" // an upstream that cannot be reached
	KindOAuth          ErrorKind = "OAuth"       // an upstream that wants a login

	KindToolExecution  ErrorKind = "tool_execution" // a tool could not run at all
	KindTenantNotFound ErrorKind = "tenant_not_found"
	KindSessionInvalid ErrorKind = "session_invalid"
	KindUpstream       ErrorKind = "upstream"
	KindInterrupted    ErrorKind = "interrupted" // a restart ended it
	KindCancelled      ErrorKind = "cancelled"
	KindUnauthorized   ErrorKind = "unauthorized"
	KindForbidden      ErrorKind = "forbidden"

	KindResourceNotFound ErrorKind = "resource_not_found"
	KindAgentNotFound    ErrorKind = "agent_not_found"

	KindQueueFull   ErrorKind = "queue_full"
	KindRateLimited ErrorKind = "rate_limited"

	KindTimeout ErrorKind = "timeout"
)

// RequestError is why a request gets an error instead of a result, independent of the era, which decides the code on
// the wire. What a tool itself reports is not a RequestError but a result with isError.
type RequestError struct {
	Kind       ErrorKind
	Message    string
	Data       map[string]any // further members of the error's data, such as field, reason, phase
	Status     int            // HTTP status; 0 is the usual one of kind and era
	RetryAfter time.Duration  // data.retryAfterMs and the Retry-After header, 0 for neither
	Err        error          // the cause, for logs; never sent
}

// Errorf makes a RequestError with a formatted message; %w keeps a cause for errors.Is, which is never sent.
func Errorf(kind ErrorKind, format string, args ...any) *RequestError {
	err := fmt.Errorf(format, args...)
	return &RequestError{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AsRequestError finds the RequestError in err's chain.
func AsRequestError(err error) (*RequestError, bool) {
	var f *RequestError
	ok := errors.As(err, &f)
	return f, ok
}

// Error is kind and message.
func (e *RequestError) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap is the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// With is a copy of e with one more member in its data, in the place of one of that name; e stays as it is, so that it can be
// shared.
func (e *RequestError) With(key string, value any) *RequestError {
	with := *e
	with.Data = make(map[string]any, len(e.Data)+1)
	maps.Copy(with.Data, e.Data)
	with.Data[key] = value
	return &with
}

// class is the number that all kinds without one in JSON-RPC share with their likes, before the era moves it.
func (k ErrorKind) class() int64 {
	switch k {
	case KindParse:
		return -32700
	case KindInvalidRequest, KindBatch, KindTooLarge:
		return -32600
	case KindMethodNotFound:
		return -32601
	case KindInvalidParams, KindToolNotFound:
		return -32602
	case KindInternal, KindUnreachable, KindOAuth:
		return -32603
	case KindResourceNotFound, KindAgentNotFound:
		return -32001
	case KindQueueFull, KindRateLimited:
		return -32002
	case KindTimeout:
		return -32003
	}
	return -32000
}

// Code is the JSON-RPC error code. Up to 2025-11-25 the classes are -32000 (generic), -32001 (not found), -32002
// (capacity) and -32003 (timeout). Revision 2026-07-28 reserves these, so that there they become -31000 to -31003, and a
// missing resource is -32602 as that revision demands.
func (e *RequestError) Code(modern bool) int64 {
	c := e.Kind.class()
	switch {
	// The codes of JSON-RPC itself stay as they are.
	case !modern || c < -32003:
		return c
	case e.Kind == KindResourceNotFound:
		return -32602
	}
	// -32000 to -32003 become -31000 to -31003.
	return c + 1000
}

// RPC is the error object: data has kind, where the era moved the number legacyCode, and retryAfterMs if there is one.
func (e *RequestError) RPC(modern bool) *Error {
	data := maps.Clone(e.Data)
	if data == nil {
		data = map[string]any{}
	}
	data["kind"] = e.Kind
	code := e.Code(modern)
	if legacy := e.Kind.class(); legacy != code {
		data["legacyCode"] = legacy
	}
	if e.RetryAfter > 0 {
		data["retryAfterMs"] = e.RetryAfter.Milliseconds()
	}
	raw, err := json.Marshal(data)
	if err != nil { // a member of Data that JSON cannot hold
		raw = fmt.Appendf(nil, `{"kind":%q}`, e.Kind)
	}
	return &Error{Code: code, Message: e.Message, Data: raw}
}

// HTTPStatus is the status of the response that carries the error: Status if set; 404 for an unknown session in either
// era; otherwise up to 2025-11-25 400 for frames that are not requests and 200 for the rest, and in 2026-07-28 400 for
// those and bad parameters, 404 for unknown methods, 200 for the rest.
func (e *RequestError) HTTPStatus(modern bool) int {
	if e.Status != 0 {
		return e.Status
	}
	switch e.Kind {
	case KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case KindSessionInvalid:
		return http.StatusNotFound
	case KindUnauthorized:
		return http.StatusUnauthorized
	case KindForbidden:
		return http.StatusForbidden
	}
	return StatusOf(e.Code(modern), modern)
}

// StatusOf is the HTTP status that goes with a JSON-RPC error code in an era.
func StatusOf(code int64, modern bool) int {
	switch code {
	case -32700, -32600:
		return http.StatusBadRequest
	case -32601:
		if modern {
			return http.StatusNotFound
		}
	case -32602, -32020, -32021, -32022:
		if modern {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// Hidden is a cause that adds nothing to the message of an error which wraps it: for callers that look for it, and not for readers.
func Hidden(cause error) error { return hidden{cause} }

type hidden struct{ error }

// Error is empty, so that %w adds nothing.
func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
