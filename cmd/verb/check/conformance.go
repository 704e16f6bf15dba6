package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// conformanceCommand is the client that the official suite tests: it starts the command with the URL of a scenario's server, and
// says what to do there in the environment. Here is only what to call; how that is done is the session's ordinary behaviour.
func (a *app) conformanceCommand() *cobra.Command {
	p := &play{scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO")}
	run := a.ServerCommand(func(ctx context.Context, l *cli.Link, _ []string) error {
		p.Link = l
		return p.run(ctx)
	})
	return &cobra.Command{
		Use: "conformance URL", Short: "Play the client in a scenario of the official conformance suite", Hidden: true, Annotations: cli.Rule("none"),
		Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.prepare(); err != nil {
				return a.Action(func(context.Context, *cobra.Command, []string) error { return err })(cmd, args)
			}
			if a.Options.Protocol == "" {
				a.Options.Protocol = os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
			}
			if a.Options.Answers == nil {
				a.Options.Answers = []string{pending.Accept}
			}
			if p.between != "" {
				a.First = p
			}
			a.Login = &auth.Options{Document: "https://conformance-test.local/client-metadata.json"} // as the suite wants it
			a.Person, a.Options.Oauth = bot{}, p.identity.configured(p.scenario)
			return run(cmd, args)
		},
	}
}

// play is one scenario.
type play struct {
	*cli.Link
	scenario string
	calls    []toolCall // that the suite wants made; nil where it leaves them to the client
	between  string     // the tool to call while another call waits for an answer; "" for none
	err      error      // of that
	identity suiteIdentity
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// prepare takes what the suite says in the environment.
func (p *play) prepare() error {
	if p.scenario == "" {
		return failure.UsageError("MCP_CONFORMANCE_SCENARIO is not set", "let the conformance suite start this command")
	}
	if p.scenario == "sep-2322-client-request-state" {
		p.between = "test_mrtr_unrelated"
	}
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		var c struct {
			ToolCalls []toolCall `json:"toolCalls"`
			suiteIdentity
		}
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "MCP_CONFORMANCE_CONTEXT: " + err.Error(), Err: err, Next: "let the conformance suite start this command"}
		}
		p.calls = c.ToolCalls
		p.identity = c.suiteIdentity
	}
	return nil
}

// Name implements pending.Rule.
func (p *play) Name() string { return "conformance" }

// Answer implements pending.Rule. It answers nothing: another call is made, of which nothing may get into the one that waits.
func (p *play) Answer(ctx context.Context, _ pending.Question) (json.RawMessage, *jsonrpc.Error, bool) {
	_, err := p.CallTool(ctx, p.between, nil, runner.CallOptions(p.Link))
	p.err = errors.Join(p.err, err)
	return nil, nil, false
}

// run lists what the server offers and then uses all of it, but where the scenario is about the list alone.
func (p *play) run(ctx context.Context) error {
	var lists [offer.NumKinds][]offer.Item
	for kind := range offer.NumKinds {
		if kind != offer.Tools && !p.Supports(kind.Method()) {
			continue // a request is wanted of some scenarios that offer nothing, so that tools are always listed
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
	case "sep-2640-client-no-prefetch": // what is listed stays where it is
		return nil
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
		if _, err := p.ReadResource(ctx, it.URI, runner.CallOptions(p.Link)); err != nil {
			return err
		}
	}
	for _, it := range lists[offer.Prompts] {
		args := map[string]string{}
		for _, arg := range it.Args {
			args[arg.Name] = "x"
		}
		if _, err := p.GetPrompt(ctx, it.Name, args, runner.CallOptions(p.Link)); err != nil {
			return err
		}
	}
	for _, it := range lists[offer.Skills] {
		if err := p.load(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// load loads a skill, and with it the files that it comes with. One that is refused because it is not what was listed is done with.
func (p *play) load(ctx context.Context, it offer.Item) error {
	sk, err := skills.Entry(p.Session, it)
	if err == nil {
		_, err = skills.Load(ctx, p.Session, sk)
	}
	for _, f := range sk.Files {
		if err == nil && f.URI != sk.URI {
			_, err = skills.Read(ctx, p.Session, sk, f.URI)
		}
	}
	var refused *skills.Mismatch
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// call makes tool calls. A barred tool that is not called is done with.
func (p *play) call(ctx context.Context, calls []toolCall, tools []offer.Item) error {
	barred := map[string]bool{}
	for _, it := range tools {
		barred[it.Name] = it.Barred != nil
	}
	for _, c := range calls {
		_, err := p.CallTool(ctx, c.Name, c.Arguments, runner.CallOptions(p.Link))
		switch {
		case err != nil && !barred[c.Name]:
			return err
		case err == nil && barred[c.Name]:
			return fmt.Errorf("%s was called", c.Name)
		}
	}
	return p.err
}

// example are arguments to start from.
func example(it offer.Item) json.RawMessage {
	return schema.ParseArguments(it.InputSchema).Root().Example().JSON()
}

// echoSchema gives the schema of the first tool to the tool that echoes one.
func echoSchema(tools []offer.Item) (calls []toolCall) {
	for _, it := range tools {
		if jsonrpc.Get(it.InputSchema, "properties", "schema") != nil {
			calls = append(calls, toolCall{it.Name, fmt.Appendf(nil, `{"schema":%s}`, tools[0].InputSchema)})
		}
	}
	return calls
}
