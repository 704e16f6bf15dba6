package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
)

func (a *app) resourcesCommand() *cobra.Command {
	return a.group("resources", "List and read resources",
		&cobra.Command{
			Use: "list [flags] [-- COMMAND ARGS…]", Short: "List the server's resources", Annotations: rule("none"),
			Args: cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesList),
		},
		&cobra.Command{
			Use: "templates [flags] [-- COMMAND ARGS…]", Short: "List the server's resource templates", Annotations: rule("none"),
			Args: cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesTemplates),
		},
		&cobra.Command{
			Use: "read URI [flags] [-- COMMAND ARGS…]", Short: "Read one resource", Annotations: rule("one"),
			Args: cobra.ArbitraryArgs, RunE: a.serverCommand(resourcesRead), ValidArgsFunction: a.completeNames(session.Resources),
		})
}

func resourcesList(ctx context.Context, l *link, _ []string) error {
	return l.printList(ctx, session.Resources, uriTable(l.width()))
}

func resourcesTemplates(ctx context.Context, l *link, _ []string) error {
	return l.printList(ctx, session.Templates, uriTable(l.width()))
}

func uriTable(width int) func(*text, []session.Item) {
	return func(t *text, items []session.Item) {
		rows := [][]string{}
		for _, it := range items {
			rows = append(rows, []string{it.URI, it.Name, it.MIME, flawed(it, firstLine(describe(it)))})
		}
		t.table(width, dropEmptyColumn(rows, 2))
	}
}

func resourcesRead(ctx context.Context, l *link, args []string) error {
	r, err := l.ReadResource(ctx, args[0], l.call())
	if err != nil {
		return err
	}
	return l.print(reply(r, func(t *text) { t.resource(r.Result) }))
}

// resource writes the contents of a resources/read result.
func (t *text) resource(result []byte) {
	cs, err := session.Contents(result)
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
