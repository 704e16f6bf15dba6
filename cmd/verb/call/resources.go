package call

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

func (a *app) resourcesCommand() *cobra.Command {
	return a.Group("resources", "List and read resources",
		&cobra.Command{
			Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's resources", Annotations: cli.Listing(),
			Example: "  mcphud resources list -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(resourcesList),
		},
		&cobra.Command{
			Use: "templates [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's resource templates", Annotations: cli.Listing(),
			Example: "  mcphud resources templates --url http://127.0.0.1:3000/mcp",
			Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(resourcesTemplates),
		},
		&cobra.Command{
			Use: "read URI [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Read one resource", Annotations: cli.Rule("one"),
			Example: "  mcphud resources read file:///etc/hosts -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(resourcesRead), ValidArgsFunction: runner.CompleteNames(a.App, offer.Resources),
		},
		&cobra.Command{
			Use: "subscribe URI… [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Print notifications about resources until interrupted", Annotations: cli.Rule("some"),
			Example: "  mcphud resources subscribe file:///etc/hosts file:///etc/motd --format jsonl -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(resourcesSubscribe), ValidArgsFunction: runner.CompleteNames(a.App, offer.Resources),
		})
}

// resourcesSubscribe prints a line for each notification about the resources, until it is interrupted or the connection ends.
// Both are errors: a subscription has no end of its own. The limit of what is printed is one.
func resourcesSubscribe(ctx context.Context, l *cli.Link, uris []string) error {
	if l.Out.Expect.Any() {
		return failure.UsageError("a subscription has no answer that could be expected", "leave --expect, --expect-schema and --max-latency out")
	}
	emit := l.Out.Notification
	if l.Out.Format == output.FormatText {
		emit = func(_ string, frame []byte) error {
			t := &output.Text{Tty: l.Out.Tty}
			printNotification(t, frame)
			_, err := io.WriteString(l.Out, t.B.String())
			return err
		}
	}
	l.Side.Stream(func(method string, frame []byte) error {
		if err := emit(method, frame); err != nil || !l.Out.Ends() {
			return err
		}
		return errLimit
	})
	for i, uri := range uris {
		if err := l.Subscribe(ctx, uri); err != nil {
			unsubscribe(ctx, l, uris[:i])
			return err
		}
	}
	defer unsubscribe(ctx, l, uris)
	for {
		if err := l.Side.Broken(); errors.Is(err, errLimit) {
			return nil
		} else if err != nil {
			return err
		}
		if st := l.Status(); st.State != session.Connected {
			if st.Err != nil {
				return st.Err
			}
			return &failure.Error{Kind: failure.ChannelClosed, Server: l.Name(), Stage: "resources/subscribe", Message: "the connection ended", Next: "run it again"}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.Manager.Changed():
		}
	}
}

// errLimit ends a subscription where nothing more is printed.
var errLimit = errors.New("the limit of what is printed is reached")

// unsubscribe tells a server that it need not send more, also after an interrupt; that it cannot be told is its own affair.
func unsubscribe(ctx context.Context, l *cli.Link, uris []string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	for _, uri := range uris {
		if l.Status().State != session.Connected || ctx.Err() != nil {
			return
		}
		_ = l.Unsubscribe(ctx, uri)
	}
}

// printNotification writes one as its method and uri, or its params where it has none.
func printNotification(t *output.Text, frame []byte) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		t.Block(string(frame))
		return
	}
	what := string(output.OneLine(env.Params))
	_ = jsonrpc.Members(env.Params, func(key string, value []byte) bool {
		if uri, ok := jsonrpc.String(value); ok && key == "uri" {
			what = uri
		}
		return true
	})
	t.Block(strings.TrimPrefix(env.Method, "notifications/") + " " + what)
}

func resourcesList(ctx context.Context, l *cli.Link, _ []string) error {
	return runner.PrintList(ctx, l, offer.Resources, briefResource, uriTable(l.Out.Width))
}

func resourcesTemplates(ctx context.Context, l *cli.Link, _ []string) error {
	return runner.PrintList(ctx, l, offer.Templates, briefResource, uriTable(l.Out.Width))
}

func uriTable(width int) func(*output.Text, []offer.Item) {
	return func(t *output.Text, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			rows = append(rows, []string{it.URI, it.Name, it.MIME, markMalformed(it, text.FirstLine(runner.Describe(it)))})
		}
		t.Table(width, output.DropEmptyColumn(rows, 2))
	}
}

func resourcesRead(ctx context.Context, l *cli.Link, args []string) error {
	return runner.One(ctx, l, runner.Of(l), calls.Call{Method: calls.ResourcesRead, Target: args[0]})
}
