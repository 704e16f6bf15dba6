package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	Transport          Kind = "Transport"          // could not reach the server, or it refused the request
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
	Asked   json.RawMessage // of NeedsInput: what was asked, a JSON array; nil if it is not known
	Status  int             // the HTTP status, 0 if there is none
	URL     string          // of the HTTP request
	Detail  string          // more from the server, may be several lines: the last lines of stderr, the start of a body
	Next    string          // what the user can do about it, in words that hold on every surface; "" if there is nothing to say
	Remedy  Remedy          // the same as a code, "" if no surface has anything special for it
	Object  string          // what the remedy is about: the name of the variable, the folder; "" where it needs none
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

// Wrap fills in where an error happened, leaving what is there already.
func Wrap(err error, server, stage string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: Transport, Message: err.Error(), Err: err}
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
