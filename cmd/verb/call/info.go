package call

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
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
	var docs [][2]string
	if card {
		published, rows, err := published(ctx, l)
		if err != nil {
			return err
		}
		i.Published, docs = &published, rows
	}
	raw, err := output.Marshal(i)
	if err != nil {
		return err
	}
	frames := l.Responses("initialize")
	if st.Era == session.Modern {
		frames = l.Responses("server/discover")
	}
	if len(frames) > 1 {
		frames = frames[:1]
	}
	return l.Print(output.Answer{Result: raw, Frames: frames, Text: func(t *output.Text) {
		t.Fields(slices.Concat([][2]string{
			{"server", output.Identity(st.ServerInfo)},
			{"protocol", fmt.Sprintf("%s (%s era)", st.Version, st.Era)},
			{"transport", strings.TrimSpace(config.TransportName(st.Transport) + " " + i.URL)},
			{"capabilities", capabilities(st.Capabilities)},
		}, notes(st, frames), [][2]string{
			{"latency", fmt.Sprintf("%.2f ms", i.LatencyMs)},
			{"instructions", st.Instructions},
		}, docs)...)
	}})
}

// notes are what is to be known of what a server offers: its extensions, what of it is deprecated, icons, and how long the answer to
// server/discover, which frames hold, may be kept.
func notes(st session.Status, frames [][]byte) (out [][2]string) {
	label := "extensions"
	for _, e := range offer.Extensions(st.Capabilities) {
		name := e.Name
		if e.Experimental {
			name += " (experimental)"
		}
		out = append(out, [2]string{label, name + ": " + e.Support})
		label = ""
	}
	for _, feature := range []string{"logging", "sse"} {
		if feature == "sse" && st.Transport != feature || feature != "sse" && jsonrpc.Get(st.Capabilities, feature) == nil {
			continue
		}
		out = append(out, [2]string{"note", feature + " is " + offer.Deprecated(feature)})
	}
	label = "icons"
	for _, icon := range offer.Icons(jsonrpc.Get(st.ServerInfo, "icons")) {
		out = append(out, [2]string{label, icon})
		label = ""
	}
	if len(frames) == 1 {
		if hints := offer.ReadHints(jsonrpc.Get(frames[0], "result")).String(); hints != "" {
			out = append(out, [2]string{"cache", hints})
		}
	}
	return out
}

// capabilities lists the advertised ones with their switched-on options: "prompts, tools (listChanged)".
func capabilities(raw json.RawMessage) string {
	var out []string
	_ = jsonrpc.Members(raw, func(name string, value []byte) bool {
		var on []string
		_ = jsonrpc.Members(value, func(k string, v []byte) bool {
			if string(v) != "false" {
				on = append(on, k)
			}
			return true
		})
		out = append(out, strings.TrimSpace(name+" "+output.Bracketed(on...)))
		return true
	})
	sort.Strings(out)
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
