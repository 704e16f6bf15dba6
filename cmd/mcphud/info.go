package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
)

func (a *app) infoCommand() *cobra.Command {
	card := false
	c := &cobra.Command{
		Use: "info [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show the server's identity, protocol version and capabilities", Annotations: rule("none"),
		Example: "  mcphud info -- node server.js\n  mcphud info --server github --format json\n  mcphud info https://host/mcp --card",
		Args:    cobra.ArbitraryArgs,
		RunE: a.serverCommand(func(ctx context.Context, l *link, _ []string) error {
			return info(ctx, l, card)
		}),
	}
	c.Flags().BoolVar(&card, "card", false, "also show what is published about the server (server cards, .well-known), and where it says something else")
	return c
}

// serverInfo is what info prints as JSON. No single result of a server has all of it.
type serverInfo struct {
	Name            string          `json:"name"`      // in the configs, or from the command line
	Transport       string          `json:"transport"` // stdio, http, sse or ws
	URL             string          `json:"url,omitempty"`
	Era             session.Era     `json:"era"`
	ProtocolVersion string          `json:"protocolVersion"`
	ServerInfo      json.RawMessage `json:"serverInfo"`   // as sent
	Capabilities    json.RawMessage `json:"capabilities"` // as sent
	Instructions    string          `json:"instructions,omitempty"`
	LatencyMs       float64         `json:"latencyMs"` // of the ping that info sends; of server/discover in the modern era
	Published       *[]publishedDoc `json:"published,omitempty"`
}

func info(ctx context.Context, l *link, card bool) error {
	took, err := l.Ping(ctx)
	if err != nil {
		return err
	}
	st := l.Status()
	i := serverInfo{
		Name: l.Name(), Transport: st.Transport, URL: mask.URL(st.URL), Era: st.Era, ProtocolVersion: st.Version,
		ServerInfo: orNull(st.ServerInfo), Capabilities: orNull(st.Capabilities), Instructions: st.Instructions,
		LatencyMs: ms(took),
	}
	var docs [][2]string
	if card {
		published, rows, err := l.published(ctx)
		if err != nil {
			return err
		}
		i.Published, docs = &published, rows
	}
	raw, err := marshal(i)
	if err != nil {
		return err
	}
	frames := l.responses("initialize")
	if st.Era == session.Modern {
		frames = l.responses("server/discover")
	}
	if len(frames) > 1 {
		frames = frames[:1]
	}
	return l.print(answer{result: raw, frames: frames, text: func(t *textOutput) {
		t.fields(slices.Concat([][2]string{
			{"server", identity(st.ServerInfo)},
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

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// identity is a serverInfo object in a line: title, name and version.
func identity(raw json.RawMessage) string {
	var i struct{ Name, Title, Version string }
	if json.Unmarshal(raw, &i) != nil || i.Name == "" && i.Title == "" {
		return string(raw)
	}
	name := i.Name
	if i.Title != "" && i.Title != i.Name {
		name = i.Title + " (" + i.Name + ")"
	}
	return strings.TrimSpace(name + " " + i.Version)
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
		out = append(out, strings.TrimSpace(name+" "+bracketed(on...)))
		return true
	})
	sort.Strings(out)
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
