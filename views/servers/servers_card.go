package servers

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/catalog/card"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
)

// published is what was read of what is published about servers, by their name.
type published struct {
	docs map[string][]card.Comparison
	rev  uint64
}

// readCards is the outcome of reading what is published about a server.
type readCards struct {
	server string
	all    []card.Comparison
}

func (v *servers) cardAction() tui.Action {
	return tui.Action{
		ID: "servers.card", Word: "card", Title: "server card", Group: "Server",
		Help:     "Read what is published about the server (server cards, .well-known), and show where it says something else than the server.",
		Disabled: v.noCard, Run: v.readCard,
	}
}

// noCard is why nothing can be published about a server.
func (v *servers) noCard(c *tui.Ctx) string {
	if why := v.notConnected(c); why != "" {
		return why
	}
	if s := v.selected(); s.Config().URL == "" {
		return "it has no URL"
	}
	return ""
}

func (v *servers) readCard(c *tui.Ctx) tea.Cmd {
	s := v.selected()
	cmd, _ := c.Replace("servers", "card\x00"+s.Name(), "server card of "+safe.Line(s.Title(), 80), func(ctx context.Context) (any, error) {
		all, _, err := card.Check(ctx, s) // a list that cannot be read is shown where lists are
		return readCards{s.Name(), all}, err
	})
	return cmd
}

// keep shows what was read in the details of its server.
func (p *published) keep(c *tui.Ctx, r readCards, err error) tea.Cmd {
	if err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	if p.docs == nil {
		p.docs = map[string][]card.Comparison{}
	}
	p.docs[r.server] = r.all
	p.rev++
	found, other := 0, 0
	for _, d := range r.all {
		if other += len(d.Differences); d.Found {
			found++
		}
	}
	switch {
	case other > 0:
		return c.Toast(tui.Warning, "what is published differs from what the server says; see its details")
	case found > 0:
		return c.Toast(tui.Success, "what is published agrees with what the server says")
	}
	return c.Toast(tui.Note, "nothing is published about the server")
}

// draw adds what was read to the details of a server.
func (p *published) draw(c *tui.Ctx, server string, w int, lines []string) []string {
	read := p.docs[server]
	if read == nil {
		return lines
	}
	var is page.Page
	pages.Published(&is, read)
	return append(lines, is.Lines(c.Theme, w)...)
}
