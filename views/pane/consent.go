package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// ConsentQuestion is what is asked before run makes a call of a tool that the policy asks about; nil where it does not, or where that was
// agreed to for the whole session. name is what the tool is called here.
func ConsentQuestion(p *consent.Policy, server, title string, it offer.Item, name string, args []byte, run func(*tui.Ctx) tea.Cmd) *tui.Confirmation {
	if p == nil || !p.Asks(server, it) {
		return nil
	}
	agreed := func(agree func()) func(*tui.Ctx) tea.Cmd {
		return func(c *tui.Ctx) tea.Cmd {
			agree()
			return run(c)
		}
	}
	return &tui.Confirmation{
		Title: "Call " + safe.Line(name, 120) + "?", Body: consent.Question(title, it, name, args),
		Yes: "once", No: "no", Danger: true, OnYes: run,
		Also: []tui.Answer{
			{Key: "s", Label: "this tool this session", Run: agreed(func() { p.Tool(server, it.Name) })},
			{Key: "a", Label: "this server this session", Run: agreed(func() { p.Server(server) })},
			{Key: "d", Label: "never ask this session", Run: agreed(p.All)},
		},
	}
}
