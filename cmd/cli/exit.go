package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Exit codes. Scripts depend on them; [Exits] has what each means.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitAuth        = 3
	ExitUnreachable = 4
	ExitTool        = 5
	ExitStrict      = 6
	ExitTimeout     = 7
	ExitNeedsInput  = 8
	ExitAssertion   = 9
	ExitRPC         = 10
	ExitProtocol    = 11
	ExitInterrupted = 130
)

// Exit is an exit code, as help lists it.
type Exit struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

// Exits are all exit codes.
var Exits = []Exit{
	{ExitOK, "done"},
	{ExitFailure, "wrong usage, or an unexpected failure of mcphud"},
	{ExitAuth, "a login is needed or was refused"},
	{ExitUnreachable, "could not reach or start the server, or it is not trusted"},
	{ExitTool, "the tool reported an error, or there is no such tool, resource or prompt"},
	{ExitStrict, "a skill does not match its entry, or a strict check failed"},
	{ExitTimeout, "timed out"},
	{ExitNeedsInput, "the server needs input that nobody gave"},
	{ExitAssertion, "an assertion, a threshold or a rule of --fail-on does not hold"},
	{ExitRPC, "a JSON-RPC error"},
	{ExitProtocol, "the server broke the protocol"},
	{ExitInterrupted, "interrupted; the server was notified"},
}

// ExitCodes are what the program exits with, by the kind of the error.
var ExitCodes = map[failure.Kind]int{
	failure.Usage:              ExitFailure,
	failure.OAuth:              ExitAuth,
	failure.SpawnFailed:        ExitUnreachable,
	failure.ServerNotFound:     ExitUnreachable,
	failure.ServerDisabled:     ExitUnreachable,
	failure.ServerNotConnected: ExitUnreachable,
	failure.Transport:          ExitUnreachable,
	failure.ChannelClosed:      ExitUnreachable,
	failure.ToolError:          ExitTool,
	failure.InvalidToolName:    ExitTool,
	failure.NotFound:           ExitTool,
	failure.Timeout:            ExitTimeout,
	failure.NeedsInput:         ExitNeedsInput,
	failure.Assertion:          ExitAssertion,
	failure.RpcError:           ExitRPC,
	failure.Protocol:           ExitProtocol,
	failure.Interrupted:        ExitInterrupted,
}

// ExitStatus is the exit code of a program that was run instead of a command. It has printed its own errors.
type ExitStatus int

func (e ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// StrictError is an error about a rule that a server broke, where the command looked for that.
type StrictError struct{ Err error }

func (e *StrictError) Error() string { return e.Err.Error() }
func (e *StrictError) Unwrap() error { return e.Err }

// Report prints err in the requested format and returns its exit code.
func (a *App) Report(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, output.ErrOutputClosed) {
		return ExitOK // as in mcphud … | head
	}
	var own ExitStatus
	if errors.As(err, &own) {
		return int(own)
	}
	e := a.Sent.RedactError(Explain(ctx, err))
	code, ok := ExitCodes[e.Kind]
	if !ok {
		code = ExitFailure
	}
	var differs *skills.Mismatch
	var strict *StrictError
	if errors.As(err, &differs) || errors.As(err, &strict) {
		code = ExitStrict
	}
	if a.Options.FormatFor(a.Out) == output.FormatText {
		writeErrorText(a.Err, e, output.Terminal(a.Err), output.WidthOf(a.Err))
	} else {
		writeErrorJSON(a.Err, e, output.Terminal(a.Err))
	}
	return code
}

// Explain makes any error a *failure.Error.
func Explain(ctx context.Context, err error) *failure.Error {
	var e *failure.Error
	if !errors.As(err, &e) {
		e = &failure.Error{Kind: failure.KindOf(err), Message: err.Error(), Err: err}
	}
	c := *e.With(Remedies, safe.Quote)
	if c.Kind == failure.RpcError && c.Code != nil && *c.Code == jsonrpc.CodeMissingCapability {
		c.Kind, c.Next = failure.NeedsInput, "--answer says what to answer, --capabilities what to declare"
	}
	if c.Kind == failure.RpcError && c.Status == http.StatusNotFound && c.Stage == "initialize" { // what answered is not the server
		c.Kind, c.Next = failure.ServerNotFound, "correct the name or the URL"
	}
	if errors.Is(context.Cause(ctx), ErrInterrupted) && (c.Kind == failure.Interrupted || errors.Is(err, context.Canceled) || errors.Is(err, ErrInterrupted)) {
		c.Kind, c.Message, c.Err, c.Next = failure.Interrupted, "interrupted; server notified", ErrInterrupted, ""
		for _, mark := range []error{errNotSent, ErrGoesOn, ErrNotLoggedIn, ErrNotLoggedOut} {
			if errors.Is(err, mark) {
				c.Message = "interrupted; " + mark.Error()
			}
		}
	}
	if c.Kind == failure.RpcError && c.Code != nil && *c.Code == jsonrpc.CodeURLElicitation {
		c.Kind, c.Asked, c.Next = failure.NeedsInput, askedPages(&c), "--answer accept agrees to visit the page and calls again"
	}
	if c.Kind == failure.Interrupted && ctx.Err() == nil { // sampling of the modern era has no other answer for that
		c.Kind, c.Next = failure.NeedsInput, cmp.Or(c.Next, "the tool gives no result without an answer")
	}
	if c.Next == "" {
		switch c.Kind {
		case failure.RpcError, failure.NotFound, failure.NeedsInput:
			c.Next = "the server answered this; --journal FILE records the exchange"
		case failure.ToolError:
			c.Next = "the result on stdout says why"
		}
	}
	if c.Kind == "" {
		c.Kind = failure.Usage // the kind of exit code 1: what is wrong is on this side
		if path := (*os.PathError)(nil); !errors.As(err, &path) {
			c.Next = "if this looks like a bug in mcphud, please report it"
		}
	}
	if c.Kind == failure.Usage && full(err) && !strings.Contains(c.Message+c.Next, "make room") {
		c.Next = "make room on its disk, or name another place"
	}
	return &c
}

// writeErrorJSON writes the error line that ends stderr in the formats for scripts. Where stdout is a pipe, stderr may still be
// a terminal (tty).
func writeErrorJSON(w io.Writer, e *failure.Error, tty bool) {
	line := fmt.Appendf(nil, "{\"error\":%s}\n", e.JSON())
	if tty {
		line = output.Escaped(line)
	}
	_, _ = w.Write(line)
}

// writeErrorText writes the error for people: what, where, next step. Everything in it may come from a server. On a terminal of some
// width (cells, 0 elsewhere) lines are broken at blanks.
func writeErrorText(w io.Writer, e *failure.Error, tty bool, width int) {
	var b strings.Builder
	put := func(head, value string) {
		indent := strings.Repeat(" ", len(head))
		for _, line := range paint.Words(strings.TrimRight(value, "\r\n"), width-len(head)) {
			b.WriteString(head + line + "\n")
			head = indent
		}
	}
	put("error: ", e.What())
	field := func(name, value string) {
		if strings.TrimRight(value, "\r\n") != "" {
			put(fmt.Sprintf("  %-7s ", name), value)
		}
	}
	field("server", e.Server)
	field("stage", e.Stage)
	if e.Code != nil {
		field("code", fmt.Sprint(*e.Code))
	}
	if e.Status != 0 {
		field("status", fmt.Sprint(e.Status))
	}
	field("url", e.URL)
	if e.Asked == nil && e.Kind != failure.Assertion { // whose detail has the same for people
		field("data", string(e.Data))
	}
	field("asked", askedText(e.Asked))
	field("detail", e.Detail)
	if e.Err != nil && !strings.Contains(e.Message, e.Err.Error()) && e.Code == nil && e.Status == 0 {
		field("cause", e.Err.Error())
	}
	field("next", e.Next)
	text := b.String()
	if tty {
		text = safe.Text(text)
	}
	_, _ = io.WriteString(w, text)
}

// ErrNotLoggedIn marks the error of a login that was interrupted.
var ErrNotLoggedIn = errors.New("not logged in")

// ErrNotLoggedOut marks the error of a logout that was interrupted.
var ErrNotLoggedOut = errors.New("still logged in")

// ErrGoesOn marks the error of who does not wait for a task any more.
var ErrGoesOn = errors.New("the task goes on at the server")
