package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

func (a *app) rawCommand() *cobra.Command {
	var second comparing
	c := &cobra.Command{
		Use: "raw METHOD [PARAMS] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Send any request", Annotations: rule("1-2"),
		Long:    "Sends METHOD with PARAMS, which are JSON, @FILE, or - for stdin. They are neither checked nor changed; from 2026-07-28 on the required _meta is added.\n\n" + comparingHelp,
		Example: "  mcphud raw tools/list '{\"cursor\":\"\"}' -- node server.js", Args: cobra.ArbitraryArgs,
		RunE: a.serverCommand(func(ctx context.Context, l *link, own []string) error { return a.raw(ctx, l, own, &second) }),
	}
	second.register(c)
	return c
}

func (a *app) raw(ctx context.Context, l *link, own []string, second *comparing) error {
	both, err := second.asked()
	if err != nil {
		return err
	}
	var params json.RawMessage
	if len(own) > 1 {
		b, err := a.readArg(own[1])
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
		return usageError(method+" is a notification: it has no answer", "name a request")
	}
	if method == "tools/call" && (l.opts.readOnly || l.canAsk()) {
		if _, err := jsonrpc.Canonical(params); err != nil && l.opts.readOnly {
			return usageError("--read-only refuses PARAMS that can be read in two ways: "+err.Error(), "write each name once, in UTF-8")
		}
		it, err := findTool(ctx, l, jsonrpc.GetString(params, "name")) // without a name the server refuses it
		switch {
		case err == nil:
			err = l.allow(ctx, it, jsonrpc.Get(params, "arguments"))
		case !l.opts.readOnly:
			err = nil // what is not listed may be tried
		}
		if err != nil {
			return err
		}
	}
	o := l.call()
	o.Exact = true
	if both {
		return a.compared(ctx, l, method, params, second)
	}
	r, err := l.Call(ctx, method, params, o)
	if err != nil {
		return err
	}
	return l.print(reply(r, func(t *textOutput) { t.json(r.Result) }))
}
