package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
	"github.com/mcphud/mcphud/session/text"
)

// rpcError turns a JSON-RPC error object into an *Error; raw is the error member as sent.
func rpcError(raw []byte) *failure.Error {
	e, err := jsonrpc.ParseError(raw)
	if err != nil {
		return &failure.Error{
			Kind: failure.Protocol, Message: "the server answered with a malformed error", Detail: text.Clip(string(raw), 400), Err: err,
			Next: "see the frame in the traffic view",
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

// httpError explains a refused exchange.
func httpError(h *HTTPError) *failure.Error {
	e := &failure.Error{
		Kind: failure.Transport, Status: h.Status, URL: h.URL, Err: h,
		Message: h.Error(), Detail: text.Clip(strings.ToValidUTF8(string(h.Body), "\uFFFD"), 400),
	}
	switch {
	case h.Status == 401 || h.Status == 403:
		e.Kind = failure.OAuth
		if how := h.Header.Get("WWW-Authenticate"); how != "" {
			e.Message += " (WWW-Authenticate: " + text.Clip(mask.Text(how), 400) + ")"
		}
		e.Next = "give credentials with -H \"Authorization: Bearer …\" or log in"
	case h.Status >= 300 && h.Status < 400:
		e.Next = "give the final URL itself"
		if to := h.Header.Get("Location"); to != "" {
			e.Message += ", a redirect to " + text.Clip(mask.URL(to), 200)
		}
	case h.Status == 404:
		e.Next = "check the path of the URL (many servers listen at /mcp)"
	case h.Status == 405 || h.Status == 406 || h.Status == 415:
		e.Next = "check that the URL is an MCP endpoint, or try --transport sse"
	case h.Status == 429:
		e.Next = "wait and try again"
		if after := h.Header.Get("Retry-After"); after != "" {
			e.Next = "wait (the server says Retry-After: " + text.Clip(after, 60) + ") and try again"
		}
	case h.Status >= 500:
		e.Next = "look at the server's own log, then try again"
	}
	return e
}

func timedOut(after time.Duration, max bool) *failure.Error {
	e := &failure.Error{Kind: failure.Timeout, Message: fmt.Sprintf("no answer within %v", after), Next: "raise --timeout", Err: context.DeadlineExceeded}
	if max {
		e.Message = fmt.Sprintf("still no answer after %v, in spite of progress", after)
		e.Next = "raise --max-timeout"
	}
	return e
}
