package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
)

// Kind classifies failures the way scripts see them: the kind of the error line on stderr, and through it the exit code.
type Kind string

// The kinds.
const (
	SpawnFailed        Kind = "SpawnFailed"        // the command could not be started, or exited before it answered
	ServerNotFound     Kind = "ServerNotFound"     // no server of that name
	ServerDisabled     Kind = "ServerDisabled"     // the configuration switches it off
	ServerNotConnected Kind = "ServerNotConnected" // a request without a connection
	InvalidToolName    Kind = "InvalidToolName"    // the server lists no such tool
	RpcError           Kind = "RpcError"           // the server answered with a JSON-RPC error
	Timeout            Kind = "Timeout"            // no answer in time
	ChannelClosed      Kind = "ChannelClosed"      // the connection ended while the request was waiting
	OAuth              Kind = "OAuth"              // authentication required or refused
	TransportFailed    Kind = "Transport"          // could not reach the server, or it refused the request
	Protocol           Kind = "Protocol"           // the server broke the protocol
	ToolError          Kind = "ToolError"          // a result with isError
	NotFound           Kind = "NotFound"           // no such resource or prompt
	NeedsInput         Kind = "NeedsInput"         // the server asks for input that nobody can give
	Interrupted        Kind = "Interrupted"        // cancelled by the user
	Assertion          Kind = "Assertion"
	Usage              Kind = "Usage" // wrong arguments or configuration
)

// Error is a failure of this package: what happened, where, and what to do next.
type Error struct {
	Kind    Kind
	Server  string          // name in the configs
	Stage   string          // what was being done: "starting", "connecting", "tools/call slow" …
	Code    *int64          // the JSON-RPC error code, nil if there is none
	Message string          // what happened; of a JSON-RPC error the server's own message
	Data    json.RawMessage // the JSON-RPC error's data, or the result that asks for input; bytes as sent, nil if none
	Status  int             // the HTTP status, 0 if there is none
	URL     string          // of the HTTP request
	Detail  string          // more from the server, may be several lines: the last lines of stderr, the start of a body
	Next    string          // what the user can do about it, "" if there is nothing to say
	Err     error           // the cause
}

// Error gives everything but Data in one line: server: stage: message (code …): detail; next.
func (e *Error) Error() string {
	var b strings.Builder
	for _, s := range [...]string{e.Server, e.Stage} {
		if s != "" {
			b.WriteString(s + ": ")
		}
	}
	b.WriteString(e.Message)
	if e.Code != nil {
		fmt.Fprintf(&b, " (code %d)", *e.Code)
	}
	if d := strings.TrimSpace(e.Detail); d != "" {
		b.WriteString(": " + strings.Join(strings.FieldsFunc(d, func(r rune) bool { return r == '\n' || r == '\r' }), " | "))
	}
	if e.Next != "" {
		b.WriteString("; " + e.Next)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain; for other errors Interrupted or Timeout when a context
// ended, "" when there is nothing to tell.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return ""
}

// at fills in where an error happened, leaving what is there already.
func at(err error, server, stage string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: TransportFailed, Message: err.Error(), Err: err}
		if k := KindOf(err); k != "" {
			e.Kind = k
		}
	} else {
		c := *e
		e = &c
	}
	if e.Server == "" {
		e.Server = server
	}
	if e.Stage == "" {
		e.Stage = stage
	}
	return e
}

// rpcError turns a JSON-RPC error object into an *Error; raw is the error member as sent.
func rpcError(raw []byte) *Error {
	e, err := jsonrpc.ParseError(raw)
	if err != nil {
		return &Error{
			Kind: Protocol, Message: "the server answered with a malformed error", Detail: clip(string(raw), 400), Err: err,
			Next: "see the frame in the traffic view",
		}
	}
	kind := RpcError
	code := e.Code
	msg := e.Message
	if msg == "" {
		msg = "the server answered with an error without a message"
	}
	return &Error{Kind: kind, Code: &code, Message: msg, Data: e.Data, Err: e}
}

// httpError explains a refused exchange.
func httpError(h *HTTPError) *Error {
	e := &Error{
		Kind: TransportFailed, Status: h.Status, URL: h.URL, Err: h,
		Message: h.Error(), Detail: clip(strings.ToValidUTF8(string(h.Body), "\uFFFD"), 400),
	}
	switch {
	case h.Status == 401 || h.Status == 403:
		e.Kind = OAuth
		if how := h.Header.Get("WWW-Authenticate"); how != "" {
			e.Message += " (WWW-Authenticate: " + clip(mask.Text(how), 400) + ")"
		}
		e.Next = "give credentials with -H \"Authorization: Bearer …\" or log in"
	case h.Status >= 300 && h.Status < 400:
		e.Next = "give the final URL itself"
		if to := h.Header.Get("Location"); to != "" {
			e.Message += ", a redirect to " + clip(mask.URL(to), 200)
		}
	case h.Status == 404:
		e.Next = "check the path of the URL (many servers listen at /mcp)"
	case h.Status == 405 || h.Status == 406 || h.Status == 415:
		e.Next = "check that the URL is an MCP endpoint, or try --transport sse"
	case h.Status == 429:
		e.Next = "wait and try again"
		if after := h.Header.Get("Retry-After"); after != "" {
			e.Next = "wait (the server says Retry-After: " + clip(after, 60) + ") and try again"
		}
	case h.Status >= 500:
		e.Next = "look at the server's own log, then try again"
	}
	return e
}

func timedOut(after time.Duration, max bool) *Error {
	e := &Error{Kind: Timeout, Message: fmt.Sprintf("no answer within %v", after), Next: "raise --timeout", Err: context.DeadlineExceeded}
	if max {
		e.Message = fmt.Sprintf("still no answer after %v, in spite of progress", after)
		e.Next = "raise --max-timeout"
	}
	return e
}

// clip cuts s to at most n bytes at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
