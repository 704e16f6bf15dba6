package call

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

func (a *app) rawCommand() *cobra.Command {
	var second runner.Comparing
	c := &cobra.Command{
		Use: "raw METHOD [PARAMS] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Send any request", Annotations: cli.Rule("1-2"),
		Long:    "Sends METHOD with PARAMS, which are JSON, @FILE, or - for stdin. They are neither checked nor changed; from 2026-07-28 on the required _meta is added.\n\n" + runner.ComparingHelp,
		Example: "  mcphud raw tools/list '{\"cursor\":\"\"}' -- node server.js", Args: cobra.ArbitraryArgs,
		RunE: a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error { return a.raw(ctx, l, own, &second) }),
	}
	second.Register(c)
	return c
}

func (a *app) raw(ctx context.Context, l *cli.Link, own []string, second *runner.Comparing) error {
	both, err := second.Asked()
	if err != nil {
		return err
	}
	var params json.RawMessage
	if len(own) > 1 {
		b, err := a.ReadArg(own[1])
		if err != nil {
			return err
		}
		if err := jsonrpc.Valid(b); err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "PARAMS is not JSON: " + err.Error(), Err: err, Next: "give an object such as '{\"name\":\"echo\"}', @FILE, or - for stdin"}
		}
		params = b
	}
	method := own[0]
	if strings.HasPrefix(method, "notifications/") {
		return failure.UsageError(method+" is a notification: it has no answer", "name a request")
	}
	if method == "tools/call" && (l.Opts.ReadOnly || l.CanAsk()) {
		if _, err := jsonrpc.Canonical(params); err != nil && l.Opts.ReadOnly {
			return failure.UsageError("--read-only refuses PARAMS that can be read in two ways: "+err.Error(), "write each name once, in UTF-8")
		}
		it, err := runner.FindTool(ctx, l, jsonrpc.GetString(params, "name")) // without a name the server refuses it
		switch {
		case err == nil:
			err = l.Allow(ctx, it, jsonrpc.Get(params, "arguments"))
		case !l.Opts.ReadOnly:
			err = nil // what is not listed may be tried
		}
		if err != nil {
			return err
		}
	}
	o := runner.CallOptions(l)
	o.Exact = true
	if both {
		req, err := calls.NewRequest(l.Name(), method, params)
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the request"}
		}
		return runner.Compared(ctx, a.App, l, req, second)
	}
	r, err := l.Call(ctx, method, params, o)
	if err != nil {
		return err
	}
	return l.Print(cli.Reply(r, func(t *output.Text) { t.JSON(r.Result) }))
}
