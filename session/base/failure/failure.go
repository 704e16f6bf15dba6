// Package failure has the kinds of errors, what can be done about them, and how long to wait before what failed is tried again.
//
// An [Error] is made where something fails, with a kind, a message and what to do next. On its way up each layer adds with [Wrap]
// what only it knows: which server, and what was being done. At the top a surface prints it: the terminal by Error or [Why], scripts
// by JSON and by the exit code that belongs to its [Kind]. Layers below a surface name no flag and no key: a [Remedy] is a code that
// the surface replaces by its own words with [Error.With].
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

// The kinds; [Kinds] has what each means.
const (
	SpawnFailed        Kind = "SpawnFailed"
	ServerNotFound     Kind = "ServerNotFound"
	ServerDisabled     Kind = "ServerDisabled"
	ServerNotConnected Kind = "ServerNotConnected"
	InvalidToolName    Kind = "InvalidToolName"
	RpcError           Kind = "RpcError"
	Timeout            Kind = "Timeout"
	ChannelClosed      Kind = "ChannelClosed"
	OAuth              Kind = "OAuth"
	Transport          Kind = "Transport"
	Protocol           Kind = "Protocol"
	ToolError          Kind = "ToolError"
	NotFound           Kind = "NotFound"
	NeedsInput         Kind = "NeedsInput"
	Interrupted        Kind = "Interrupted"
	Assertion          Kind = "Assertion"
	Usage              Kind = "Usage"
)

// KindMeaning is a kind, and what it means.
type KindMeaning struct {
	Kind    Kind
	Meaning string
}

// Kinds are all kinds with what they mean, as help lists them.
var Kinds = []KindMeaning{
	{Usage, "wrong arguments or configuration"},
	{OAuth, "authentication is required or was refused"},
	{SpawnFailed, "the command could not be started, or exited before it answered"},
	{ServerNotFound, "there is no server of that name, or none that speaks MCP at that URL"},
	{ServerDisabled, "the configuration switches the server off"},
	{ServerNotConnected, "a request without a connection"},
	{Transport, "the server could not be reached, or refused the request"},
	{ChannelClosed, "the connection ended while the request was waiting"},
	{ToolError, "a tool's result with isError"},
	{InvalidToolName, "the server lists no such tool"},
	{NotFound, "the server has no such resource or prompt"},
	{Timeout, "no answer in time"},
	{NeedsInput, "the server asks for input that nobody can give"},
	{Assertion, "the answer is not what was expected of it"},
	{RpcError, "the server answered with a JSON-RPC error"},
	{Protocol, "the server broke the protocol"},
	{Interrupted, "interrupted by the user"},
}

// Error is a failure of this package: what happened, where, and what to do next.
type Error struct {
	Kind    Kind
	Server  string          // name in the configs
	Stage   string          // what was being done: "starting", "connecting", "tools/call slow" …
	Code    *int64          // the JSON-RPC error code, nil if there is none
	Message string          // what happened; of a JSON-RPC error the server's own message
	Reason  string          // why, in a line, where Message does not say it: what a child's stderr has of it; "" for nothing more
	Data    json.RawMessage // the JSON-RPC error's data, or the result that asks for input; bytes as sent, nil if none
	Asked   json.RawMessage // of NeedsInput: what was asked, a JSON array; nil if it is not known
	Method  string          // of NeedsInput with Data: the request that can be made again with the answers; "" otherwise
	Params  json.RawMessage // of that request, never shown
	Status  int             // the HTTP status, 0 if there is none
	URL     string          // of the HTTP request
	Detail  string          // more from the server, may be several lines: the last lines of stderr, the start of a body
	Next    string          // what the user can do about it, in words that hold on every surface; "" if there is nothing to say
	Remedy  Remedy          // the same as a code, "" if no surface has anything special for it
	Object  string          // what the remedy is about: the name of the variable, the folder; "" where it needs none
	Err     error           // the cause
}

// Error gives everything but Data in one line: server: stage: message (code …): detail; next. With a reason: server: reason (stage: message):
// detail; next.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Server != "" {
		b.WriteString(e.Server + ": ")
	}
	what := e.Message
	if e.Stage != "" {
		what = e.Stage + ": " + what
	}
	if e.Reason != "" {
		what = e.Reason + " (" + what + ")"
	}
	b.WriteString(what)
	if e.Code != nil {
		fmt.Fprintf(&b, " (code %d)", *e.Code)
	}
	if d := e.more(); len(d) > 0 {
		b.WriteString(": " + strings.Join(d, " | "))
	}
	if next := e.advice(); next != "" {
		b.WriteString("; " + next)
	}
	return b.String()
}

// What is what happened, for people: the reason first where there is one.
func (e *Error) What() string {
	if e.Reason == "" {
		return e.Message
	}
	return e.Reason + " (" + e.Message + ")"
}

// more is the lines of Detail, without the reason in front of them.
func (e *Error) more() []string {
	lines := strings.FieldsFunc(strings.TrimSpace(e.Detail), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 0 && e.Reason != "" && strings.TrimSpace(lines[0]) == e.Reason {
		lines = lines[1:]
	}
	return lines
}

// advice is Next without the reason, where both stand beside each other.
func (e *Error) advice() string {
	if e.Reason == "" {
		return e.Next
	}
	return strings.TrimPrefix(e.Next, e.Reason+": ")
}

// Why is why something failed, in a line for where there is no room for more: the reason, or what happened. Whose failure it is and what
// to do about it stand beside it.
func Why(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return err.Error()
	case e.Reason != "":
		return e.Reason
	}
	c := *e
	c.Server, c.Next = "", ""
	if strings.Contains(strings.TrimSpace(c.Detail), "\n") {
		c.Detail = ""
	}
	return c.Error()
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

// Wrap fills in where an error happened, leaving what is there already: the innermost layer knows best. It returns a copy of an
// *Error, since callers may share one, and makes one of kind Transport, Timeout or Interrupted of any other error. nil stays nil.
// What was wrapped around an *Error, as with fmt.Errorf, is lost.
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

// UsageError is an error of the command line: what is wrong with it, and what to write instead.
func UsageError(message, next string) error {
	return &Error{Kind: Usage, Message: message, Next: next}
}
