package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/serve/kept"
)

// keptServer is the server of a session, which is as it was opened.
func keptServer(cmd *cobra.Command, name string) (config.Server, error) {
	given := TargetFlags(cmd)
	for _, name := range []string{"as", "capabilities"} { // what its server was told of us
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	for _, flag := range given {
		if flag != "--session" && flag != "--log-level" {
			return config.Server{}, failure.UsageError(flag+" does not go with --session, which is open already", "give it to mcphud session open, or leave it out")
		}
	}
	s, err := kept.Server(cmd.Context(), name)
	if err != nil {
		return s, SessionError(name, err)
	}
	return s, nil
}

// SessionError says what to do about a kept session that cannot be used.
func SessionError(name string, err error) error {
	e := &failure.Error{Kind: failure.ServerNotConnected, Message: err.Error(), Err: err}
	switch {
	case errors.Is(err, kept.ErrOpening):
		e.Next = "wait for mcphud session open, or end it by mcphud session close " + name
	case errors.Is(err, kept.ErrEnded):
		e.Next = "mcphud session close " + name + ", and open it again"
	case errors.Is(err, kept.ErrNone):
		e.Kind = failure.ServerNotFound
		others := slices.DeleteFunc(kept.Names(), func(n string) bool { return n == name }) // its socket may still be there
		e.Next = output.DidYouMean(name, others) + "mcphud session list shows what is open, mcphud session open " + name + " -- COMMAND opens it"
	}
	return e
}

// CompleteSessions offers the names of the kept sessions.
func CompleteSessions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return kept.Names(), cobra.ShellCompDirectiveNoFileComp
}

// keepTime bounds giving a call to its session: the answer to the command is there already.
const keepTime = 5 * time.Second

// keepWaiting leaves a call that waits for an answer with its session, and says in the error how to answer.
func (a *App) keepWaiting(e *failure.Error) {
	if a.Options.Session == "" || e.Method == "" || len(jsonrpc.Get(e.Data, "inputRequests")) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepTime)
	defer cancel()
	target := jsonrpc.GetString(e.Params, "name")
	if target == "" {
		target = jsonrpc.GetString(e.Params, "uri")
	}
	waits, err := kept.Keep(ctx, a.Options.Session, kept.Waiting{ID: a.Waiting, Method: e.Method, Target: target, Asked: e.Asked, Params: e.Params, Result: e.Data})
	if err != nil {
		e.Next += " (the call could not be kept: " + err.Error() + ")"
		return
	}
	e.Message = "the server asks for input (" + jsonrpc.GetString(firstOf(e.Asked), "method") + "), and the call waits for it"
	e.Next = fmt.Sprintf("%s goes on with this call, until %s", AnswerTo(waits), waits.Until.Local().Format("15:04:05"))
}

// AnswerTo is the command that answers what a call waits for, as far as it can be known: values are left to who answers. Of several
// questions it is the first.
func AnswerTo(c kept.Waiting) string {
	command := "mcphud answer " + c.ID
	first := firstOf(c.Asked)
	switch jsonrpc.GetString(first, "kind") {
	case string(pending.URL):
		return command + ", once the page was visited,"
	case string(pending.Sampling):
		return command + " --json RESULT"
	}
	schema := jsonrpc.Get(first, "params", "requestedSchema")
	var fields []string
	_ = jsonrpc.Elements(jsonrpc.Get(schema, "required"), func(name []byte) bool { // a server may say anything
		if s, ok := jsonrpc.String(name); ok && config.ValidName(s) {
			fields = append(fields, s+"=VALUE")
		}
		return len(fields) < 5
	})
	if len(fields) == 0 {
		return command + " KEY=VALUE…"
	}
	return command + " " + strings.Join(fields, " ")
}

// firstOf is the first element of a list, nil where it has none.
func firstOf(list []byte) (first []byte) {
	_ = jsonrpc.Elements(list, func(e []byte) bool { // what is not a list has none
		first = e
		return false
	})
	return first
}
