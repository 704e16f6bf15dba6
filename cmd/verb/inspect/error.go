package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"

	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/process"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// inspectorError is any error as the Inspector reports it: what its HTTP client, its child processes and servers say in the words
// that it has for them, anything else in ours.
func inspectorError(err error) *inspector.Error {
	var own *inspector.Error
	if errors.As(err, &own) {
		return own
	}
	e := &failure.Error{Kind: failure.KindOf(err), Message: err.Error(), Err: err}
	_ = errors.As(err, &e)
	out := &inspector.Error{Exit: inspector.ExitUsage, Code: "error", Message: mask.Text(e.Message), Status: e.Status}
	var refused *transport.HTTPError
	var dial *net.OpError
	var dns *net.DNSError
	var u *unanswered
	_ = errors.As(err, &u)
	switch {
	case errors.As(err, &refused) && refused.Status != 0:
		out.Message = "Error POSTing to endpoint: " + mask.Text(string(refused.Body))
		if refused.Status == 401 || refused.Status == 403 {
			out.Exit, out.Code = inspector.ExitAuth, "auth_required"
		}
		out.Status = refused.Status
	case e.Kind == failure.OAuth:
		out.Exit, out.Code = inspector.ExitAuth, "auth_required"
	case e.Code != nil: // the server's own words
	case e.Kind == failure.Timeout && e.Remedy == failure.RaiseConnectTimeout && u != nil:
		out.Exit, out.Code = inspector.ExitUnreachable, "unreachable"
		out.Message = fmt.Sprintf("Connection timed out after %d ms. To accommodate a slower server, pass a larger --connect-timeout <ms>, or set connectionTimeout on the server's catalog or config entry.", u.server.ConnectTimeout.Milliseconds())
	case errors.As(err, &dns):
		unreachable(out, "getaddrinfo "+map[bool]string{true: "ENOTFOUND ", false: "EAI_AGAIN "}[dns.IsNotFound]+dns.Name)
	case errors.As(err, &dial) && dial.Op == "dial":
		cause := cmp.Or(map[error]string{syscall.ECONNREFUSED: "ECONNREFUSED", syscall.ETIMEDOUT: "ETIMEDOUT", syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.ENETUNREACH: "ENETUNREACH"}[errno(err)], fmt.Sprint(dial.Err))
		if dial.Addr != nil {
			cause += " " + dial.Addr.String()
		}
		unreachable(out, "connect "+cause)
	case e.Kind == failure.Transport && e.Status == 0:
		unreachable(out, mask.Text(e.Message))
	case e.Kind == failure.SpawnFailed && e.Stage == "starting" && u != nil && (errors.Is(err, process.ErrNotFound) || errors.Is(err, exec.ErrNotFound)):
		out.Message = "spawn " + u.server.Command + " ENOENT"
	case e.Kind == failure.SpawnFailed && errors.Is(err, syscall.EACCES) && u != nil:
		out.Message = "spawn " + u.server.Command + " EACCES"
	case e.Kind == failure.ChannelClosed || e.Kind == failure.SpawnFailed:
		out.Message = "Connection closed"
	case errors.Is(err, context.DeadlineExceeded):
		out.Message = "Request timed out"
	}
	return out
}

func unreachable(e *inspector.Error, cause string) {
	e.Exit, e.Code, e.Message, e.Cause = inspector.ExitUnreachable, "unreachable", "fetch failed", cause
}

func errno(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return nil
}
