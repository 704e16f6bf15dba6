package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
)

const (
	maxFound     = 20_000 // things of one kind that the palette lists
	maxFoundText = 400    // bytes of what each says of itself
)

// kindWords name one item of a kind.
var kindWords = [offer.NumKinds]string{offer.Tools: "tool", offer.Resources: "resource", offer.Templates: "template", offer.Prompts: "prompt", offer.Skills: "skill"}

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
			about := aboutItem(it)
			if len(servers) > 1 {
				about = s.Title() + ": " + about
			}
			out = append(out, tui.Found{
				Kind: kindWords[kind], Name: name, About: text.Cut(about, maxFoundText),
				Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(s.Name(), screen, name) },
			})
		}
	}
	return out
}
