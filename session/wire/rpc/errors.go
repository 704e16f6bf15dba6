package rpc

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// ErrorOf turns a JSON-RPC error object into a failure of kind RpcError, or Protocol where it is malformed; raw is the error member
// as sent.
func ErrorOf(raw []byte) *failure.Error {
	e, err := jsonrpc.ParseError(raw)
	if err != nil {
		return &failure.Error{
			Kind: failure.Protocol, Message: "the server answered with a malformed error", Detail: text.Clip(string(raw), 400), Err: err,
			Next: "see the frame as it was sent", Remedy: failure.SeeTraffic,
		}
	}
	kind := failure.RpcError
	code := e.Code
	msg := e.Message
	if msg == "" {
		msg = "the server answered with an error without a message"
	}
	return &failure.Error{Kind: kind, Code: &code, Message: msg, Data: e.Data, Err: e}
}

// timedOut is the failure of a call that got no answer in time: without progress, or with max in all.
func timedOut(after time.Duration, max bool) *failure.Error {
	e := &failure.Error{Kind: failure.Timeout, Message: fmt.Sprintf("no answer within %v", after), Next: "raise the timeout", Remedy: failure.RaiseTimeout, Err: context.DeadlineExceeded}
	if max {
		e.Message = fmt.Sprintf("still no answer after %v, in spite of progress", after)
		e.Next, e.Remedy = "raise the longest time that a request may take", failure.RaiseMaxTimeout
	}
	return e
}
