package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// withConsent runs a call, after asking where the tool is one that its server marks as destructive and nobody agreed to for the whole
// session. name is what the tool is called here.
func withConsent(c *tui.Ctx, p *consent.Policy, server, title string, it offer.Item, name string, args []byte, run func(*tui.Ctx) tea.Cmd) tea.Cmd {
	if p == nil || !p.Asks(server, it) {
		return run(c)
	}
	agreed := func(agree func()) func(*tui.Ctx) tea.Cmd {
		return func(c *tui.Ctx) tea.Cmd {
			agree()
			return run(c)
		}
	}
	return c.Confirm(tui.Confirmation{
		Title: "Call " + safe.Line(name, 120) + "?", Body: consent.Question(title, name, args),
		Yes: "once", No: "no", Danger: true, OnYes: run,
		Also: []tui.Answer{
			{Key: "s", Label: "this tool this session", Run: agreed(func() { p.Tool(server, it.Name) })},
			{Key: "a", Label: "this server this session", Run: agreed(func() { p.Server(server) })},
			{Key: "d", Label: "never ask this session", Run: agreed(p.All)},
		},
	})
}
