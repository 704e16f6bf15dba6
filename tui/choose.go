package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Choose asks for one of some words: in a menu, with the cursor on the current one ("" if it is not known), and in linear
// mode in the prompt. what names them ("log level").
func (c *Ctx) Choose(what, current string, words []string, done func(c *Ctx, word string) tea.Cmd) tea.Cmd {
	if c.Linear {
		return c.Ask(Question{
			Label: what + " (" + strings.Join(words, ", ") + ")", Initial: current,
			Complete: func(text string) []string {
				return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, text) })
			},
			Check: func(text string) string {
				if !slices.Contains(words, text) {
					return "one of " + strings.Join(words, ", ")
				}
				return ""
			},
			OnDone: done,
		})
	}
	items := make([]item, len(words))
	at := 0
	for i, w := range words {
		items[i] = item{title: w, group: "Choose", pick: func(a *App) tea.Cmd { return done(&a.ctx, w) }}
		if w == current {
			items[i].help, at = "current", i
		}
	}
	p := newPicker(strings.ToUpper(what[:1])+what[1:]+": type to search, enter chooses", items)
	p.at = at
	return c.Open(p)
}
