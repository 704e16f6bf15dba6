package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

// Kinds of errors that are told apart by name; others have a number in theirs, such as "HTTP 503" and "JSON-RPC -32602".
const (
	KindTimeout    = "timeout"
	KindRefused    = "connection refused"
	KindConnection = "connection lost"
	KindProtocol   = "protocol"
	KindTool       = "tool error"
	KindInput      = "input required"
	kindCancelled  = "cancelled" // by us, at an early end: not counted
)

// httpStatus is an answer whose status is not a success.
type httpStatus struct {
	status int
	body   []byte
}

func (e *httpStatus) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d: %s", e.status, text.Clip(text.FirstLine(string(e.body)), 200)))
}

// judge says what kind of error an answer is, "" for none.
func judge(m *message, answer reply) (kind string, err error) {
	if answer.cut { // its end is missing, so that Scan would refuse it: only an error in its beginning is seen
		if raw := jsonrpc.Get(answer.frame, "error"); raw != nil {
			return ofError(raw)
		}
		return "", nil
	}
	env, err := jsonrpc.Scan(answer.frame)
	switch {
	case err != nil:
		return KindProtocol, err
	case env.Kind == jsonrpc.ErrorResponse:
		return ofError(env.Error)
	case env.Kind != jsonrpc.Response:
		return KindProtocol, fmt.Errorf("a %s is not an answer", env.Kind)
	case m.method == "tools/call" && offer.IsError(env.Result):
		return KindTool, errors.New(firstText(env.Result))
	case jsonrpc.GetString(env.Result, "resultType") == "input_required":
		return KindInput, errors.New("the server asks for input, which nobody gives here")
	}
	return "", nil
}

func ofError(raw []byte) (kind string, err error) {
	e, err := jsonrpc.ParseError(raw)
	if err != nil {
		return KindProtocol, err
	}
	return fmt.Sprintf("JSON-RPC %d", e.Code), e
}

// firstText is the first text of a result.
func firstText(result []byte) string {
	cs, err := offer.Contents(result)
	if err != nil {
		return err.Error()
	}
	for _, c := range cs {
		if line := text.FirstLine(strings.TrimSpace(c.Text)); line != "" {
			return line
		}
	}
	return "the tool reported an error without a text"
}

// kindOf is the kind of error of a request that has no answer.
func kindOf(ctx context.Context, err error) string {
	var status *httpStatus
	var e *failure.Error
	var n net.Error
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("HTTP %d", status.status)
	case errors.Is(err, errLate):
		return KindTimeout
	case ctx.Err() != nil: // the run's context and not the request's, which errLate ends
		return kindCancelled
	case errors.Is(err, syscall.ECONNREFUSED):
		return KindRefused
	case errors.As(err, &e) && e.Kind == failure.Protocol, errors.Is(err, errProtocol):
		return KindProtocol
	case errors.As(err, &n) && n.Timeout():
		return KindTimeout
	}
	return KindConnection
}

// errProtocol marks errors of what a server sent.
var errProtocol = errors.New("not an answer")

// example is what a report shows of an error.
func example(err error) string { return text.Clip(text.FirstLine(mask.Text(err.Error())), 300) }
