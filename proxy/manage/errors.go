package manage

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// refusal is an error with its HTTP status.
type refusal struct {
	e      *failure.Error
	status int
}

func (r refusal) Error() string { return r.e.Error() }

// statusOf maps kinds of errors to HTTP statuses; others are 502.
var statusOf = map[failure.Kind]int{
	failure.Usage:              http.StatusBadRequest,
	failure.ServerNotFound:     http.StatusNotFound,
	failure.ServerDisabled:     http.StatusConflict,
	failure.ServerNotConnected: http.StatusConflict,
	failure.Timeout:            http.StatusGatewayTimeout,
	failure.Interrupted:        http.StatusConflict,
}

func usageError(status int, format string, args ...any) error {
	return refusal{&failure.Error{Kind: failure.Usage, Message: fmt.Sprintf(format, args...)}, status}
}

func failureOf(kind failure.Kind, name, format string, args ...any) *failure.Error {
	return &failure.Error{Kind: kind, Server: clip(name), Message: fmt.Sprintf(format, args...)}
}

func notFound(name string) error {
	return failureOf(failure.ServerNotFound, name, "no such server; ListMcpServers lists them")
}

// refusalOf gives any error its status.
func refusalOf(err error) refusal {
	var r refusal
	if errors.As(err, &r) {
		return r
	}
	if f, ok := jsonrpc.AsRequestError(err); ok {
		return refusal{&failure.Error{Kind: failure.Usage, Message: f.Message}, f.HTTPStatus(false)}
	}
	var e *failure.Error
	if !errors.As(err, &e) {
		e = &failure.Error{Kind: failure.KindOf(err), Message: err.Error()}
		if e.Kind == "" {
			e.Kind = failure.Usage
		}
	}
	status, ok := statusOf[e.Kind]
	if !ok {
		status = http.StatusBadGateway
	}
	return refusal{e, status}
}

// explain is the error of a failed session with a server, without secrets. stderr is the end of its processes' stderr.
func explain(err error, route *routes.Route, stderr string) *failure.Error {
	var e *failure.Error
	if !errors.As(err, &e) {
		e = &failure.Error{Kind: failure.KindOf(err), Message: err.Error()}
		if e.Kind == "" {
			e.Kind = failure.Transport
		}
	}
	// The transport's own error says more than the HTTP client's around it.
	for inner := e; errors.As(e.Err, &inner); inner = e {
		e = inner
	}
	out := &failure.Error{
		Kind: e.Kind, Server: route.Name, Stage: e.Stage, Code: e.Code, Message: mask.Text(e.Message), Data: e.Data, Status: e.Status,
		Detail: mask.Text(e.Detail), Next: e.Next,
	}
	if f, ok := jsonrpc.AsRequestError(err); ok {
		out.Message = mask.Text(f.Message)
	}
	switch {
	case e.Kind != failure.OAuth || route.Command != "" && route.OAuth == nil:
	case route.OAuth == nil:
		out.Next = `register it with "oauth": {} to log in there`
	case e.Remedy == failure.LogIn:
		out.Message, out.Remedy, out.Next = mask.Text(e.Message), e.Remedy, "log in with StartMcpOAuth"
	}
	switch {
	case route.Endpoint() != nil:
		out.URL = mask.URL(route.Address())
	case out.Kind == failure.ChannelClosed:
		out.Kind, out.Message, out.Next = failure.SpawnFailed, out.Message+" before responding", "run the command by itself to see what is wrong"
		out.Detail = mask.Text(stderr)
	}
	return out
}

// clip bounds untrusted text in messages.
func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, 100), "\uFFFD") }
