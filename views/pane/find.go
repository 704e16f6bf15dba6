package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// maxFound bounds what the palette lists of one kind.
const maxFound = 20_000

// kindWords name one item of a kind.
var kindWords = [offer.NumKinds]string{offer.Tools: "tool", offer.Resources: "resource", offer.Templates: "template", offer.Prompts: "prompt"}

// Find lists what all open servers offer of a kind, the current server first. to gives an item's name and the screen that
// opens it; what has no name is left out.
func Find(c *tui.Ctx, kind offer.Kind, to func(offer.Item) (name, screen string)) (out []tui.Found) {
	servers := c.Sessions.Servers()
	slices.SortStableFunc(servers, func(a, b *session.Session) int {
		switch {
		case a == c.Server:
			return -1
		case b == c.Server:
			return 1
		}
		return 0
	})
	for _, s := range servers {
		items := s.Listing(kind).Items
		if c.ReadOnly && kind == offer.Tools {
			items, _ = readOnly(items)
		}
		for _, it := range items[:min(len(items), maxFound-len(out))] {
			name, screen := to(it)
			if name == "" {
				continue
			}
			about := safe.Line(aboutItem(it), 400)
			if len(servers) > 1 {
				about = safe.Line(s.Title(), 40) + ": " + about
			}
			out = append(out, tui.Found{
				Kind: kindWords[kind], Name: safe.Line(name, 300), About: text.Clip(about, 400),
				Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(s.Name(), screen, name) },
			})
		}
	}
	return out
}
