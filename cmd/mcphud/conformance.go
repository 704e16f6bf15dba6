package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/schema"
)

// conformanceCommand is the client that the official suite tests: it starts the command with the URL of a scenario's server, and
// says what to do there in the environment. Here is only what to call; how that is done is the session's ordinary behaviour.
func (a *app) conformanceCommand() *cobra.Command {
	body := a.serverCommand(func(ctx context.Context, l *link, _ []string) error {
		p, err := newPlay(l)
		if err != nil {
			return err
		}
		return p.run(ctx)
	})
	return &cobra.Command{
		Use: "conformance URL", Short: "Play the client in a scenario of the official conformance suite", Hidden: true, Annotations: rule("none"),
		Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
			if a.o.protocol == "" {
				a.o.protocol = os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
			}
			return body(cmd, args)
		},
	}
}

// play is one scenario.
type play struct {
	*link
	scenario string
	calls    []toolCall // that the suite wants made; nil where it leaves them to the client
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func newPlay(l *link) (*play, error) {
	p := &play{link: l, scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO")}
	if p.scenario == "" {
		return nil, usageError("MCP_CONFORMANCE_SCENARIO is not set", "let the conformance suite start this command")
	}
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		var c struct {
			ToolCalls []toolCall `json:"toolCalls"`
		}
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: "MCP_CONFORMANCE_CONTEXT: " + err.Error(), Err: err, Next: "let the conformance suite start this command"}
		}
		p.calls = c.ToolCalls
	}
	return p, nil
}

// run lists what the server offers and then uses all of it, but where the scenario is about the list alone.
func (p *play) run(ctx context.Context) error {
	var lists [offer.NumKinds][]offer.Item
	for kind := range offer.NumKinds {
		if kind != offer.Tools && !p.Supports(kind.Method()) {
			continue
		}
		l, err := p.List(ctx, kind)
		if err != nil {
			return err
		}
		lists[kind] = l.Items
	}
	calls := p.calls
	switch p.scenario {
	case "json-schema-ref-no-deref": // what its one tool does is not there
		for _, it := range lists[offer.Tools] {
			example(it) // as a form does
		}
		return nil
	case "json-schema-2020-12-preservation":
		calls = echoSchema(lists[offer.Tools])
	}
	if calls == nil {
		for _, it := range lists[offer.Tools] {
			calls = append(calls, toolCall{it.Name, example(it)})
		}
	}
	if err := p.call(ctx, calls, lists[offer.Tools]); err != nil {
		return err
	}
	for _, it := range lists[offer.Resources] {
		if _, err := p.ReadResource(ctx, it.URI, p.link.call()); err != nil {
			return err
		}
	}
	for _, it := range lists[offer.Prompts] {
		args := map[string]string{}
		for _, arg := range it.Args {
			args[arg.Name] = "x"
		}
		if _, err := p.GetPrompt(ctx, it.Name, args, p.link.call()); err != nil {
			return err
		}
	}
	return nil
}

// call makes tool calls, all at once: nothing of one may get into another. That a barred tool is not called is no failure.
func (p *play) call(ctx context.Context, calls []toolCall, tools []offer.Item) error {
	barred := map[string]bool{}
	for _, it := range tools {
		barred[it.Name] = it.Barred != nil
	}
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() {
			_, err := p.CallTool(ctx, c.Name, c.Arguments, p.link.call())
			switch {
			case !barred[c.Name]:
				errs[i] = err
			case err == nil:
				errs[i] = fmt.Errorf("%s was called", c.Name)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// example are arguments to start from.
func example(it offer.Item) json.RawMessage {
	return schema.ParseArguments(it.InputSchema).Root().Example().JSON()
}

// echoSchema gives the schema of the first tool to the tool that echoes one.
func echoSchema(tools []offer.Item) (calls []toolCall) {
	for _, it := range tools {
		if schema := jsonrpc.Get(it.InputSchema, "properties"); jsonrpc.Get(schema, "schema") != nil {
			calls = append(calls, toolCall{it.Name, fmt.Appendf(nil, `{"schema":%s}`, tools[0].InputSchema)})
		}
	}
	return calls
}
