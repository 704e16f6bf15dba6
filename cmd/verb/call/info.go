package call

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
)

func (a *app) infoCommand() *cobra.Command {
	card := false
	c := &cobra.Command{
		Use: "info [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show the server's identity, protocol version and capabilities", Annotations: cli.Rule("none"),
		Example: "  mcphud info -- node server.js\n  mcphud info --server github --format json\n  mcphud info https://host/mcp --card",
		Args:    cobra.ArbitraryArgs,
		RunE: a.ServerCommand(func(ctx context.Context, l *cli.Link, _ []string) error {
			return info(ctx, l, card)
		}),
	}
	c.Flags().BoolVar(&card, "card", false, "also show what is published about the server (server cards, .well-known), and where it says something else")
	return c
}

// serverInfo is what info prints as JSON. No single result of a server has all of it.
type serverInfo struct {
	Name            string          `json:"name"`      // in the configs, or from the command line
	Transport       string          `json:"transport"` // as configurations call it
	URL             string          `json:"url,omitempty"`
	Era             session.Era     `json:"era"`
	ProtocolVersion string          `json:"protocolVersion"`
	ServerInfo      json.RawMessage `json:"serverInfo"`   // as sent
	Capabilities    json.RawMessage `json:"capabilities"` // as sent
	Instructions    string          `json:"instructions,omitempty"`
	LatencyMs       float64         `json:"latencyMs"` // of the ping that info sends; of server/discover in the modern era
	Published       *[]PublishedDoc `json:"published,omitempty"`
}

func info(ctx context.Context, l *cli.Link, card bool) error {
	took, err := l.Ping(ctx)
	if err != nil {
		return err
	}
	st := l.Status()
	i := serverInfo{
		Name: l.Name(), Transport: st.Transport, URL: mask.URL(st.URL), Era: st.Era, ProtocolVersion: st.Version,
		ServerInfo: output.OrNull(st.ServerInfo), Capabilities: output.OrNull(st.Capabilities), Instructions: st.Instructions,
		LatencyMs: output.Ms(took),
	}
	var docs page.Page
	if card {
		if i.Published, err = published(ctx, l, &docs); err != nil {
			return err
		}
	}
	frames := l.Responses("initialize")
	if st.Era == session.Modern {
		frames = l.Responses("server/discover")
	}
	if len(frames) > 1 {
		frames = frames[:1]
	}
	var p page.Page
	p.Field("server", output.Identity(st.ServerInfo))
	pages.Connection(&p, st)
	p.Field("url", i.URL).Field("latency", fmt.Sprintf("%.2f ms", i.LatencyMs))
	p.Field("icons", strings.Join(offer.Icons(jsonrpc.Get(st.ServerInfo, "icons")), "\n"))
	if len(frames) == 1 { // the answer to server/discover may be kept for some time
		p.Field("cache", offer.ReadHints(jsonrpc.Get(frames[0], "result")).String())
	}
	pages.Offered(&p, st)
	if p.Append(docs); st.Instructions != "" {
		p.Heading("Instructions").Text(page.Plain, st.Instructions)
	}
	p.Value = i
	l.Side.Finish()
	return l.Out.Page(p, frames...)
}
