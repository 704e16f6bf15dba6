package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// FailureKind names what went wrong, independently of protocol era; it is data.kind of the error on the wire.
type FailureKind string

// The kinds. The last four groups are classes of their own numbers, see Code.
const (
	FailParse       FailureKind = "parse_error"
	FailInvalid     FailureKind = "invalid_request"
	FailBatch       FailureKind = "batch"
	FailTooLarge    FailureKind = "too_large"
	FailMethod      FailureKind = "method_not_found"
	FailParams      FailureKind = "invalid_params"
	FailTool        FailureKind = "tool_not_found"
	FailInternal    FailureKind = "internal"
	FailUnreachable FailureKind = "unreachable" // an upstream that cannot be reached

	FailExecution    FailureKind = "tool_execution" // a tool could not run at all
	FailTenant       FailureKind = "tenant_not_found"
	FailSession      FailureKind = "session_invalid"
	FailUpstream     FailureKind = "upstream"
	FailInterrupted  FailureKind = "interrupted" // a restart ended it
	FailCancelled    FailureKind = "cancelled"
	FailUnauthorized FailureKind = "unauthorized"
	FailForbidden    FailureKind = "forbidden"

	FailResource FailureKind = "resource_not_found"
	FailAgent    FailureKind = "agent_not_found"

	FailQueueFull   FailureKind = "queue_full"
	FailRateLimited FailureKind = "rate_limited"

	FailTimeout FailureKind = "timeout"
)

// Failure is why a request gets an error instead of a result, before it is known which era's numbers say so. What a tool
// itself reports is no Failure but a result with isError.
type Failure struct {
	Kind       FailureKind
	Message    string
	Data       map[string]any // further members of the error's data, such as field, reason, phase
	Status     int            // HTTP status; 0 is the usual one of kind and era
	RetryAfter time.Duration  // data.retryAfterMs and the Retry-After header, 0 for neither
	Err        error          // the cause, for logs; never sent
}

// Fail makes a Failure with a formatted message; %w keeps a cause for errors.Is, which is never sent.
func Fail(kind FailureKind, format string, args ...any) *Failure {
	err := fmt.Errorf(format, args...)
	return &Failure{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AsFailure finds the Failure in err's chain.
func AsFailure(err error) (*Failure, bool) {
	var f *Failure
	ok := errors.As(err, &f)
	return f, ok
}

// Error is kind and message.
func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Message }

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// With is a copy of f with one more member in its data; f stays as it is.
func (f *Failure) With(key string, value any) *Failure {
	with := *f
	with.Data = make(map[string]any, len(f.Data)+1)
	maps.Copy(with.Data, f.Data)
	with.Data[key] = value
	return &with
}

// class is the number that all kinds without one in JSON-RPC share with their likes, before the era moves it.
func (k FailureKind) class() int64 {
	switch k {
	case FailParse:
		return -32700
	case FailInvalid, FailBatch, FailTooLarge:
		return -32600
	case FailMethod:
		return -32601
	case FailParams, FailTool:
		return -32602
	case FailInternal, FailUnreachable:
		return -32603
	case FailResource, FailAgent:
		return -32001
	case FailQueueFull, FailRateLimited:
		return -32002
	case FailTimeout:
		return -32003
	}
	return -32000
}

// Code is the JSON-RPC error code. Up to 2025-11-25 the classes are -32000 (generic), -32001 (not found), -32002
// (capacity) and -32003 (timeout). Revision 2026-07-28 reserves these, so that there they become -31000 to -31003, and a
// missing resource is -32602 as that revision demands.
func (f *Failure) Code(modern bool) int64 {
	c := f.Kind.class()
	switch {
	case !modern || c < -32003:
		return c
	case f.Kind == FailResource:
		return -32602
	}
	return c + 1000
}

// RPC is the error object: data has kind, where the era moved the number legacyCode, and retryAfterMs if there is one.
func (f *Failure) RPC(modern bool) *Error {
	data := maps.Clone(f.Data)
	if data == nil {
		data = map[string]any{}
	}
	data["kind"] = f.Kind
	code := f.Code(modern)
	if legacy := f.Kind.class(); legacy != code {
		data["legacyCode"] = legacy
	}
	if f.RetryAfter > 0 {
		data["retryAfterMs"] = f.RetryAfter.Milliseconds()
	}
	raw, err := json.Marshal(data)
	if err != nil { // a member of Data that JSON cannot hold
		raw = fmt.Appendf(nil, `{"kind":%q}`, f.Kind)
	}
	return &Error{Code: code, Message: f.Message, Data: raw}
}

// HTTPStatus is the status of the response that carries the error: Status if set; 404 for an unknown session in either
// era; otherwise up to 2025-11-25 400 for frames that are no requests and 200 for the rest, and in 2026-07-28 400 for
// those and bad parameters, 404 for unknown methods, 200 for the rest.
func (f *Failure) HTTPStatus(modern bool) int {
	if f.Status != 0 {
		return f.Status
	}
	switch f.Kind {
	case FailTooLarge:
		return http.StatusRequestEntityTooLarge
	case FailSession:
		return http.StatusNotFound
	case FailUnauthorized:
		return http.StatusUnauthorized
	case FailForbidden:
		return http.StatusForbidden
	}
	return StatusOf(f.Code(modern), modern)
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
