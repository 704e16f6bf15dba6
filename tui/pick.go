package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Pick is one thing to choose by [Ctx.Pick]. Title and Help may be a server's.
type Pick struct {
	Group, Title, Help string
	// Why is why it cannot be chosen, "" if it can.
	Why string
	Run func(*Ctx) tea.Cmd
}

// Pick lets one of several things be chosen: in a menu that also lists what cannot be chosen and why, and in linear mode in the
// prompt. title is the question ("Send to").
func (c *Ctx) Pick(title string, picks []Pick) tea.Cmd {
	if c.Linear {
		var words []string
		for _, p := range picks {
			if p.Why == "" {
				words = append(words, p.Title)
			}
		}
		return c.Choose(strings.ToLower(title), "", words, func(c *Ctx, word string) tea.Cmd {
			return picks[slices.IndexFunc(picks, func(p Pick) bool { return p.Title == word && p.Why == "" })].Run(c)
		})
	}
	items := make([]item, len(picks))
	for i, p := range picks {
		items[i] = item{title: p.Title, help: p.Help, group: p.Group, why: p.Why, pick: func(a *App) tea.Cmd { return p.Run(&a.ctx) }}
	}
	return c.Open(newPicker(title+": type to search, enter chooses", items))
}
