package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/card"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// offers are the capabilities a server can advertise, in the order of the screens.
var offers = []string{"tools", "resources", "prompts", "completions", "logging", "tasks", "extensions", "experimental"}

// Connection adds the protocol that is spoken with a server.
func Connection(p *page.Page, st session.Status) {
	if st.Version == "" {
		return
	}
	p.Field("protocol", fmt.Sprintf("%s (%s era) over %s", st.Version, st.Era, config.TransportName(st.Transport)))
	if old := offer.Deprecated(st.Transport); old != "" {
		p.Field("", "! HTTP+SSE is "+old)
	}
}

// Offered adds what a server advertises, what not, and what it offers beyond the core protocol.
func Offered(p *page.Page, st session.Status) {
	if st.State != session.Connected && len(st.Capabilities) == 0 {
		return
	}
	p.Heading("Capabilities")
	got, all := map[string]string{}, slices.Clone(offers)
	_ = jsonrpc.Members(st.Capabilities, func(key string, value []byte) bool {
		got[key] = CapabilityText(value)
		if !slices.Contains(offers, key) && len(all) < len(offers)+50 {
			all = append(all, key)
		}
		return true
	})
	for _, name := range all {
		about, ok := got[name]
		if !ok {
			p.Item(page.Text{S: "·", Tone: page.Quiet}, "", name+" not offered")
			continue
		}
		p.Item(page.Text{S: "✓", Tone: page.Good}, name, about)
		if old := offer.Deprecated(name); old != "" {
			p.Item(page.Text{S: "  !", Tone: page.Warn}, "", old)
		}
	}
	list := offer.Extensions(st.Capabilities)
	if len(list) > 0 {
		p.Heading("Extensions")
	}
	for _, e := range list {
		name, settings := e.Name, ""
		if e.Experimental {
			name += " (experimental)"
		}
		if e.Settings != "{}" && e.Settings != "true" {
			settings = text.Clip(e.Settings, 200)
		}
		p.Item(page.Text{}, name, settings).Item(page.Text{S: " "}, "", e.Support)
	}
}

// Published adds what others say of a server in documents, and where it says something else.
func Published(p *page.Page, docs []card.Comparison) {
	p.Heading("Published")
	for _, l := range card.Lines(docs) {
		switch l = strings.TrimSpace(safe.Line(l, 0)); {
		case strings.HasPrefix(l, "≠"):
			p.Field("  differs", strings.TrimSpace(strings.TrimPrefix(l, "≠")))
		case strings.HasPrefix(l, "!"):
			p.Field("  wrong", strings.TrimSpace(strings.TrimPrefix(l, "!")))
		default:
			p.Field("document", l)
		}
	}
}

// CapabilityText is a capability's members in a line: "listChanged, subscribe".
func CapabilityText(value []byte) string {
	var parts []string
	err := jsonrpc.Members(value, func(key string, v []byte) bool {
		switch string(v) {
		case "true", "{}":
			parts = append(parts, key)
		default:
			parts = append(parts, key+" "+text.Clip(string(v), 80))
		}
		return len(parts) < 20
	})
	if err != nil {
		return text.Clip(string(value), 80)
	}
	return strings.Join(parts, ", ")
}
