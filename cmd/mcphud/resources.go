package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

func (a *app) resourcesCommand() *cobra.Command {
	return a.group("resources", "List and read resources",
		&cobra.Command{
			Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's resources", Annotations: rule("none"),
			Example: "  mcphud resources list -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesList),
		},
		&cobra.Command{
			Use: "templates [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's resource templates", Annotations: rule("none"),
			Example: "  mcphud resources templates --url http://127.0.0.1:3000/mcp",
			Args:    cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesTemplates),
		},
		&cobra.Command{
			Use: "read URI [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Read one resource", Annotations: rule("one"),
			Example: "  mcphud resources read file:///etc/hosts -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesRead), ValidArgsFunction: a.completeNames(offer.Resources),
		},
		&cobra.Command{
			Use: "subscribe URI… [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Print notifications about resources until interrupted", Annotations: rule("some"),
			Example: "  mcphud resources subscribe file:///etc/hosts file:///etc/motd --format jsonl -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesSubscribe), ValidArgsFunction: a.completeNames(offer.Resources),
		})
}

// resourcesSubscribe prints a line for each notification about the resources, until it is interrupted or the connection ends.
// Both are errors: a subscription has no end of its own.
func resourcesSubscribe(ctx context.Context, l *link, uris []string) error {
	if l.out.expect.Any() {
		return usageError("a subscription has no answer that could be expected", "leave --expect, --expect-schema and --max-latency out")
	}
	emit := l.out.notification
	if l.out.format == formatText {
		emit = func(_ string, frame []byte) error {
			t := &textOutput{tty: l.out.tty}
			t.notification(frame)
			_, err := io.WriteString(l.out.w, t.b.String())
			return err
		}
	}
	l.side.stream(emit)
	for i, uri := range uris {
		if err := l.Subscribe(ctx, uri); err != nil {
			l.unsubscribe(ctx, uris[:i])
			return err
		}
	}
	defer l.unsubscribe(ctx, uris)
	for {
		if err := l.side.broken(); err != nil {
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
		case <-l.manager.Changed():
		}
	}
}

// unsubscribe tells a server that it need not send more, also after an interrupt; that it cannot be told is its own affair.
func (l *link) unsubscribe(ctx context.Context, uris []string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	for _, uri := range uris {
		if l.Status().State != session.Connected || ctx.Err() != nil {
			return
		}
		_ = l.Unsubscribe(ctx, uri)
	}
}

// notification writes one as its method and uri, or its params where it has none.
func (t *textOutput) notification(frame []byte) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		t.block(string(frame))
		return
	}
	what := string(oneLine(env.Params))
	_ = jsonrpc.Members(env.Params, func(key string, value []byte) bool {
		if uri, ok := jsonrpc.String(value); ok && key == "uri" {
			what = uri
		}
		return true
	})
	t.block(strings.TrimPrefix(env.Method, "notifications/") + " " + what)
}

func resourcesList(ctx context.Context, l *link, _ []string) error {
	return l.printList(ctx, offer.Resources, uriTable(l.out.width))
}

func resourcesTemplates(ctx context.Context, l *link, _ []string) error {
	return l.printList(ctx, offer.Templates, uriTable(l.out.width))
}

func uriTable(width int) func(*textOutput, []offer.Item) {
	return func(t *textOutput, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			rows = append(rows, []string{it.URI, it.Name, it.MIME, markMalformed(it, text.FirstLine(describe(it)))})
		}
		t.table(width, dropEmptyColumn(rows, 2))
	}
}

func resourcesRead(ctx context.Context, l *link, args []string) error {
	r, err := l.ReadResource(ctx, args[0], l.call())
	if err != nil {
		return unlisted(ctx, l, offer.Resources, args[0], err)
	}
	return l.print(reply(r, func(t *textOutput) { t.resource(r.Result) }))
}

// resource writes the contents of a resources/read result.
func (t *textOutput) resource(result []byte) {
	cs, err := offer.Contents(result)
	if err != nil {
		t.json(result)
		return
	}
	for i, c := range cs {
		if len(cs) > 1 {
			if i > 0 {
				t.block("")
			}
			t.block(strings.TrimSpace(c.URI+" "+bracketed(c.MIME)) + ":")
		}
		if c.Data != nil {
			t.block(blob(c))
		} else {
			t.block(c.Text)
		}
	}
}
