package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
)

func (a *app) pingCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ping [flags] [-- COMMAND ARGS…]", Short: "Ask the server whether it is there, and time it", Annotations: rule("none"),
		Long: "Sends ping, or server/discover where the protocol version has no ping any more. A server that answers \"method not found\" is there as well.",
		Args: cobra.ArbitraryArgs, RunE: a.serverCommand(ping),
	}
}

func ping(ctx context.Context, l *link, _ []string) error {
	took, err := l.Ping(ctx)
	if err != nil {
		return err
	}
	method := "ping"
	if l.Status().Era == session.Modern {
		method = "server/discover"
	}
	frames := l.responses(method)
	if len(frames) > 1 {
		frames = frames[len(frames)-1:]
	}
	ms := float64(took.Microseconds()) / 1000
	raw, err := marshal(struct {
		Method    string  `json:"method"`
		LatencyMs float64 `json:"latencyMs"`
	}{method, ms})
	if err != nil {
		return err
	}
	return l.print(answer{result: raw, frames: frames, text: func(t *textOutput) {
		t.block(fmt.Sprintf("%s answered %s in %.2f ms", l.Name(), method, ms))
	}})
}
