package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
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

// Known is what there is to say of a server besides what its session knows; what is empty is left out.
type Known struct {
	Log    string // the last line that it logged or wrote
	Doctor string // what the last diagnosis came to
	Stack  string // the process that it is, where this program runs it
}

// Leads adds the sections of a server, each with where it stands: where Lead leads is the id of the screen.
func Leads(p *page.Page, s *session.Session, st session.Status, k Known) {
	up := st.State == session.Connected
	p.Lead("seen as", cmp.Or(s.Presented().Name(), "mcphud")+" · change", "personas")
	if up && st.Instructions != "" {
		p.Lead("instructions", strconv.Quote(text.Clip(text.FirstLine(st.Instructions), 200)), "instructions")
	}
	if up && s.Supports(offer.Skills.Method()) {
		p.Lead("skills", listed(s.Listing(offer.Skills)), "skills")
	}
	p.Lead("roots", cmp.Or(strings.Join(s.Roots(), ", "), "none given"), "roots")
	if up && s.Supports("resources/subscribe") || len(s.Subscriptions()) > 0 {
		p.Lead("watching", watched(s.Subscriptions()), "subscriptions")
	}
	if a := s.Authorizer(); a != nil {
		p.Lead("login", login(a.Known(), st.State), "login")
	}
	if k.Stack != "" {
		p.Lead("process", k.Stack, "stack")
	}
	p.Lead("log", cmp.Or(k.Log, "nothing yet"), "logs")
	p.Lead("doctor", cmp.Or(k.Doctor, "not asked yet"), "doctor")
	if s.Config().Source.File != "" {
		p.Lead("entry", "all settings · edit", "entry")
	}
}

// listed is the number of items of a list and their names.
func listed(l offer.Listing) string {
	if !l.Loaded {
		return "not listed yet"
	}
	names := make([]string, 0, len(l.Items))
	for _, it := range l.Items[:min(len(l.Items), 10)] {
		names = append(names, cmp.Or(it.Name, it.URI))
	}
	return strings.TrimSpace(strconv.Itoa(len(l.Items)) + "  " + strings.Join(names, ", "))
}

// watched is the resources that are subscribed.
func watched(all []session.Subscription) string {
	if len(all) == 0 {
		return "nothing"
	}
	s := all[0].URI + " · " + text.Count(all[0].Count, "change")
	if len(all) > 1 {
		s += fmt.Sprintf(" · +%d", len(all)-1)
	}
	return s
}

// login is whether somebody is logged in, or has to.
func login(known auth.Status, state session.State) string {
	switch {
	case known.LoggedIn:
		return strings.TrimSpace("logged in · " + strings.Join(known.Scopes, " "))
	case state == session.NeedsLogin:
		return "needed"
	case state == session.Connected:
		return "not needed"
	}
	return "not logged in"
}

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
