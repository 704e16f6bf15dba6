package call

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
)

func (a *app) pingCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ping [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Ping the server and show the round-trip time", Annotations: cli.Rule("none"),
		Example: "  mcphud ping --url http://127.0.0.1:3000/mcp",
		Long:    "Sends ping, or server/discover in protocol versions without ping. The answer \"method not found\" counts: the server is there.",
		Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(ping),
	}
}

func ping(ctx context.Context, l *cli.Link, _ []string) error {
	took, err := l.Ping(ctx)
	if err != nil {
		return err
	}
	method := "ping"
	if l.Status().Era == session.Modern {
		method = "server/discover"
	}
	frames := l.Responses(method)
	if len(frames) > 1 {
		frames = frames[len(frames)-1:]
	}
	raw, err := output.Marshal(struct {
		Method    string  `json:"method"`
		LatencyMs float64 `json:"latencyMs"`
	}{method, output.Ms(took)})
	if err != nil {
		return err
	}
	return l.Print(output.Answer{Result: raw, Frames: frames, Text: func(t *output.Text) {
		t.Block(fmt.Sprintf("%s answered %s in %.2f ms", l.Name(), method, output.Ms(took)))
	}})
}
