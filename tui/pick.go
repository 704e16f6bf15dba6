package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Option is one thing to choose by [Ctx.Pick]. Title and Help may be a server's.
type Option struct {
	Group, Title, Help string
	// Disabled is why it cannot be chosen, "" if it can.
	Disabled string
	Run      func(*Ctx) tea.Cmd
}

// Pick lets one of several things be chosen: in a menu that also lists what cannot be chosen and why, and in linear mode in the
// prompt. title is the question ("Send to").
func (c *Ctx) Pick(title string, picks []Option) tea.Cmd {
	if c.Linear {
		var words, refused []string
		run := map[string]func(*Ctx) tea.Cmd{}
		for _, p := range picks {
			word := p.Title
			if run[word] != nil { // of another group
				word = p.Group + " " + p.Title
			}
			for n := 2; run[word] != nil; n++ {
				word = fmt.Sprintf("%s %s %d", p.Group, p.Title, n)
			}
			if p.Disabled != "" {
				refused = append(refused, p.Title+": "+p.Disabled)
				continue
			}
			words, run[word] = append(words, word), p.Run
		}
		if len(words) == 0 {
			return c.Toast(Warning, "nothing can be chosen: "+strings.Join(refused, "; "))
		}
		return c.Choose(strings.ToLower(title), "", words, func(c *Ctx, word string) tea.Cmd { return run[word](c) })
	}
	items := make([]item, len(picks))
	for i, p := range picks {
		items[i] = item{title: p.Title, help: p.Help, group: p.Group, why: p.Disabled, pick: func(a *App) tea.Cmd { return p.Run(&a.ctx) }}
	}
	return c.Open(newPicker(title+": type to search, enter chooses", items))
}
