package runner

import (
	"context"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Of makes calls over a connection, and asks the person at the terminal.
func Of(l *cli.Link) *calls.Runner {
	return &calls.Runner{
		Session: l.Session, Journal: l.Journal, Options: CallOptions(l), Server: l.Title(), Asking: l.Asking,
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

// One makes one call and prints what it gave.
func One(ctx context.Context, l *cli.Link, c calls.Call) error {
	reply, err := Of(l).Make(ctx, c)
	if err != nil {
		return err
	}
	return Print(l, c, reply)
}

// Print prints what a call gave, and is the error of a tool that failed.
func Print(l *cli.Link, c calls.Call, r rpc.Reply) error {
	switch c.Method {
	case calls.ResourcesRead:
		return l.Print(cli.Reply(r, func(t *output.Text) { printResource(t, r.Result) }))
	case calls.PromptsGet:
		return l.Print(cli.Reply(r, func(t *output.Text) { printMessages(t, r.Result) }))
	}
	return PrintTool(l, c.Method+" "+c.Target, r)
}

// PrintTool prints the result of a tool, and is the error of one that failed. stage names the call in it.
func PrintTool(l *cli.Link, stage string, r rpc.Reply) error {
	if err := l.Print(cli.Reply(r, func(t *output.Text) { t.ToolResult(r.Result) })); err != nil || l.Out.JudgesToolError() {
		return err
	}
	return calls.ToolError(l.Name(), stage, r.Result)
}
