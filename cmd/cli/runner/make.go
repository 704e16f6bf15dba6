package runner

import (
	"context"
	"encoding/json"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Of makes calls over a connection, and asks the person at the terminal.
func Of(l *cli.Link) *calls.Runner {
	return &calls.Runner{
		Session: l.Session, Journal: l.Journal, Options: CallOptions(l), Server: l.Name(), Asking: l.Asking,
		Find:  func(ctx context.Context, name string) (offer.Item, error) { return FindTool(ctx, l, name) },
		Allow: l.Allow,
		Doubt: func(problem string) { l.Side.Warn("warning: argument " + problem) },
		Secret: func(ctx context.Context, key string) (string, bool, error) {
			if !l.CanAsk() {
				return "", false, nil
			}
			value, err := cli.SecretOf(ctx, l.Std.In, l.Name(), func() { l.Side.Ask(key + cli.HiddenPrompt) }, func() { l.Side.Raw("\n") })
			return value, true, err
		},
		Unlisted: func(ctx context.Context, c calls.Call, err error) error {
			kind := offer.Prompts
			if c.Method == calls.ResourcesRead {
				kind = offer.Resources
			}
			return cli.Unlisted(ctx, l, kind, c.Target, err)
		},
		Explain: cli.Explain,
	}
}

// One makes a call by the runner of a connection and prints what it gave. The error is that of a call that is not as it should be.
func One(ctx context.Context, l *cli.Link, r *calls.Runner, c calls.Call) error {
	o := advised(r.Run(ctx, c, nothingCaptured, func(string, json.RawMessage) {}))
	switch {
	case o.Error == nil:
		if r.Options.Task && o.Reply.Task == "" {
			l.Side.Warn("the server answered at once: it made no task of the call")
		}
		if err := printReply(l, c.Method, o.Reply); err != nil { // also where it is not what the flags expect
			return err
		}
	case o.Verdict != calls.OK && o.Verdict != calls.Unmet: // nobody expected an error
		return o.Err
	default:
		raw := append(append([]byte(`{"error":`), o.Error...), '}')
		if err := l.Print(output.Answer{Result: raw, Frames: [][]byte{raw}, Text: func(t *output.Text) { t.JSON(raw) }}); err != nil {
			return err
		}
	}
	if o.Snapshot != "" {
		l.Side.Warn("snapshot written: " + o.Snapshot)
	}
	if o.Verdict == calls.IsError && l.Out.JudgesToolError() {
		return nil
	}
	return o.Err
}

// nothingCaptured is what a call that is made alone has of earlier ones.
func nothingCaptured(string) (json.RawMessage, bool) { return nil, false }

// printReply prints what a method gave. The error may be that it is not what the command's flags expect.
func printReply(l *cli.Link, method string, r rpc.Reply) error {
	return l.Print(cli.Reply(r, func(t *output.Text) {
		switch method {
		case calls.ResourcesRead:
			printResource(t, r.Result)
		case calls.PromptsGet:
			printMessages(t, r.Result)
		default:
			t.ToolResult(r.Result)
		}
	}))
}

// Print prints what a method gave otherwise than by One, and is the error of a tool that failed, in which stage names the call.
func Print(l *cli.Link, method, stage string, r rpc.Reply) error {
	if err := printReply(l, method, r); err != nil || method != calls.ToolsCall || l.Out.JudgesToolError() {
		return err
	}
	return calls.ToolError(l.Name(), stage, r.Result)
}
