package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

func (a *app) promptsCommand() *cobra.Command {
	get := &cobra.Command{
		Use: "get NAME [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Get one prompt", Annotations: rule("some"),
		Example: "  mcphud prompts get greet name=Ada -- node server.js",
		Args:    cobra.ArbitraryArgs, RunE: a.serverCommand(promptsGet), ValidArgsFunction: a.completeNames(offer.Prompts),
	}
	registerName(get)
	return a.group("prompts", "List and get prompts",
		&cobra.Command{
			Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's prompts", Annotations: rule("none"),
			Example: "  mcphud prompts list -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.serverCommand(promptsList),
		},
		get)
}

func promptsList(ctx context.Context, l *link, _ []string) error {
	return l.printList(ctx, offer.Prompts, func(t *textOutput, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			var args []string
			for _, p := range it.Args {
				if p.Required {
					args = append(args, p.Name)
				} else {
					args = append(args, "["+p.Name+"]")
				}
			}
			rows = append(rows, []string{it.Name, strings.Join(args, " "), markMalformed(it, text.FirstLine(describe(it)))})
		}
		t.table(l.out.width, dropEmptyColumn(rows, 1))
	})
}

func promptsGet(ctx context.Context, l *link, own []string) error {
	args, err := stringArgs(own[1:])
	if err != nil {
		return err
	}
	r, err := l.GetPrompt(ctx, own[0], args, l.call())
	if err != nil {
		return unlisted(ctx, l, offer.Prompts, own[0], err) // invalid params may mean the name or the arguments
	}
	return l.print(reply(r, func(t *textOutput) { t.messages(r.Result) }))
}

// stringArgs reads KEY=VALUE texts: the arguments of prompts are strings, all of them.
func stringArgs(texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range texts {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" || strings.HasSuffix(k, ":") {
			return nil, usageError(fmt.Sprintf("%q is not a valid argument", s), "arguments of prompts are strings: write KEY=VALUE")
		}
		out[k] = v
	}
	return out, nil
}

// messages writes a prompts/get result, each message under its role.
func (t *textOutput) messages(result []byte) {
	cs, err := offer.Contents(result)
	if err != nil {
		t.json(result)
		return
	}
	for i, c := range cs {
		if i > 0 {
			t.block("")
		}
		t.block("[" + c.Role + "]")
		t.content(c)
	}
}
