package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

func (a *app) answerCommand() *cobra.Command {
	var how struct {
		decline, cancel bool
		whole           string
	}
	c := &cobra.Command{
		Use: "answer ID [KEY=VALUE…] [KEY:=JSON…]", Annotations: cli.Rule("any"), Short: "Answer what a call of a kept session waits for",
		Long: "Answers the question that a call of a kept session waits for, and goes on with that same call: it prints the result as the command would have that made the call. " +
			"KEY=VALUE is converted by the schema of what was asked; --json gives a form's content, or a whole result, as --answer does. " +
			"mcphud session list shows what waits. Several questions at once get the same answer, of which each takes the fields that it asks for.",
		Example: "  mcphud answer shop-1 size=large\n  mcphud answer shop-1 --decline",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: completeWaiting,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return failure.UsageError("no call was named", "mcphud session list has the ids of the calls that wait")
			}
			name, waits, release, err := kept.Take(ctx, args[0])
			if err != nil {
				return waitingError(args[0], err)
			}
			defer release()
			if a.Options.Answers, err = answers(waits, args[1:], how.whole, how.decline, how.cancel); err != nil {
				return err
			}
			a.Options.Session = name
			if err := a.Options.Check(cmd); err != nil {
				return err
			}
			server, err := a.Options.Target(cmd, nil, false)
			if err != nil {
				return err
			}
			return a.Connected(ctx, server, func(ctx context.Context, l *cli.Link) error { return a.goOn(ctx, l, waits, how.decline || how.cancel) })
		}),
	}
	c.Flags().BoolVar(&how.decline, "decline", false, "refuse to answer")
	c.Flags().BoolVar(&how.cancel, "cancel", false, "cancel the question")
	c.Flags().StringVar(&how.whole, "json", "", "answer `JSON`: a form's content, or a whole result; @FILE has it in a file")
	return c
}

// goOn goes on with a call that waits. It waits on where the server has not said how it ended, unless it was refused an answer.
func (a *app) goOn(ctx context.Context, l *cli.Link, waits kept.Waiting, refused bool) error {
	a.Waiting = waits.ID
	c := calls.Call{Method: waits.Method, Target: waits.Target, Arguments: jsonrpc.Get(waits.Params, "arguments"), Meta: jsonrpc.Get(waits.Params, "_meta")}
	if c.Arguments == nil {
		c.Arguments = json.RawMessage("{}")
	}
	if waits.Method == calls.ToolsCall {
		if _, err := l.List(ctx, offer.Tools); err != nil { // its schema says what its headers are
			return err
		}
	}
	maker := runner.Of(l)
	maker.Options.Resume = waits.Result
	r, err := maker.Send(ctx, c)
	var e *failure.Error
	said := errors.As(err, &e) && e.Code != nil
	if err == nil || said && e.Kind != failure.NeedsInput || refused && ctx.Err() == nil {
		if lost := kept.Forget(ctx, waits.ID); lost != nil {
			l.Side.Warn("warning: " + lost.Error())
		}
	}
	if err != nil {
		return err
	}
	return runner.Print(l, c.Method, c.Method+" "+c.Target, r)
}

// answers are what --answer would have been, for each question of a call.
func answers(waits kept.Waiting, given []string, whole string, decline, cancel bool) (out []string, err error) {
	ways := 0
	for _, is := range []bool{len(given) > 0, whole != "", decline, cancel} {
		if is {
			ways++
		}
	}
	if ways > 1 {
		return nil, failure.UsageError("values, --json, --decline and --cancel exclude each other", "give one of them")
	}
	used := map[string]bool{}
	_ = jsonrpc.Members(jsonrpc.Get(waits.Result, "inputRequests"), func(_ string, request []byte) bool { // was read as an object before
		var one string
		switch kind := pending.KindOf(jsonrpc.GetString(request, "method"), jsonrpc.Get(request, "params")); {
		case kind == pending.Other: // the session answers it
			return true
		case decline:
			one = pending.Decline
		case cancel:
			one = pending.Cancel
		case whole != "":
			one = whole
		case len(given) == 0 || kind == pending.URL:
			one = pending.Accept
		case kind != pending.Form:
			err = failure.UsageError("the call waits for a whole result ("+jsonrpc.GetString(request, "method")+"), which has no fields", "give it by --json")
		default:
			one, err = content(waits.ID, jsonrpc.Get(request, "params", "requestedSchema"), given, used)
		}
		out = append(out, one)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	for _, g := range given {
		if !used[g] {
			return nil, failure.UsageError(fmt.Sprintf("nothing that waits asks for %q", g), "mcphud session list --format json has what is asked")
		}
	}
	return out, nil
}

// content is that of a form, of those of the values that it has fields for, which are noted in used.
func content(id string, schema json.RawMessage, given []string, used map[string]bool) (string, error) {
	var mine []string
	for _, g := range given {
		if asksFor(schema, g) {
			mine = append(mine, g)
			used[g] = true
		}
	}
	object, err := calls.Arguments(id, offer.Item{Name: id, InputSchema: schema}, nil, mine)
	return string(object), err
}

// asksFor reports whether a form has the field that KEY=VALUE is for; one without fields takes any.
func asksFor(schema json.RawMessage, given string) bool {
	if len(jsonrpc.Get(schema, "properties")) == 0 {
		return true
	}
	key, _, _ := strings.Cut(given, "=")
	key, _, _ = strings.Cut(strings.TrimSuffix(key, ":"), ".")
	key, _, _ = strings.Cut(key, "[")
	return jsonrpc.Get(schema, "properties", key) != nil
}

// waitingError says what to do about a call that does not wait.
func waitingError(id string, err error) error {
	if errors.Is(err, kept.ErrNotWaiting) || errors.Is(err, kept.ErrTaken) {
		return &failure.Error{Kind: failure.NotFound, Message: fmt.Sprintf("%q: %v", id, err), Err: err, Next: "mcphud session list shows what waits"}
	}
	return cli.SessionError(kept.SessionOf(id), err)
}

// completeWaiting offers the ids of the calls that wait.
func completeWaiting(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, stop := context.WithTimeout(cmd.Context(), cli.ShellTimeout)
	defer stop()
	for _, s := range kept.List(ctx) {
		for _, c := range s.Waiting {
			ids = append(ids, c.ID+"\t"+output.OneCell(c.Method+" "+c.Target))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
