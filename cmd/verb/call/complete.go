package call

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

func (a *app) completeCommand() *cobra.Command {
	var given []string
	c := &cobra.Command{
		Use:   "complete REF ARG VALUE [flags] [SERVER | URL | -- COMMAND ARGS…]",
		Short: "Ask the server to complete an argument",
		Long: "REF is the name of a prompt or the URI of a resource template. Write prompt:NAME or resource:URI where it could be either.\n" +
			"--context passes arguments that are already set.",
		Example: "  mcphud complete greet name a -- node server.js\n  mcphud complete 'file:///{path}' path READ -- node server.js", Annotations: cli.Rule("three"),
		Args: cobra.ArbitraryArgs,
	}
	c.RunE = a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error {
		known, err := calls.Texts(given)
		if err != nil {
			return err
		}
		r, err := l.Complete(ctx, reference(own[0]), own[1], own[2], known)
		if err != nil {
			return err
		}
		return l.Print(cli.Reply(r, func(t *output.Text) { printCompletion(t, r.Result) }))
	})
	c.Flags().StringArrayVar(&given, "context", nil, "`KEY=VALUE` of an argument that is already set (repeatable)")
	return c
}

// reference makes a completion's ref object.
func reference(s string) json.RawMessage {
	ref := map[string]string{"type": "ref/prompt", "name": s}
	if uri, ok := strings.CutPrefix(s, "resource:"); ok {
		ref = map[string]string{"type": "ref/resource", "uri": uri}
	} else if name, ok := strings.CutPrefix(s, "prompt:"); ok {
		ref["name"] = name
	} else if strings.Contains(s, "://") || strings.Contains(s, "{") {
		ref = map[string]string{"type": "ref/resource", "uri": s}
	}
	raw, err := json.Marshal(ref)
	if err != nil {
		return nil // strings do not fail
	}
	return raw
}

func printCompletion(t *output.Text, result []byte) {
	var r struct {
		Completion struct {
			Values  []string
			Total   float64
			HasMore bool
		}
	}
	if json.Unmarshal(result, &r) != nil {
		t.JSON(result)
		return
	}
	for _, v := range r.Completion.Values {
		t.Block(v)
	}
	if more := r.Completion.Total - float64(len(r.Completion.Values)); more > 0 {
		t.Block(fmt.Sprintf("… and %.0f more", more))
	} else if r.Completion.HasMore {
		t.Block("… and more")
	}
}
