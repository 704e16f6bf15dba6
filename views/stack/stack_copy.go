package stack

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *stack) copyShapes(*tui.Ctx) []string { return config.DialectNames() }

func (v *stack) copyShape(c *tui.Ctx, shape string) tea.Cmd {
	p, ok := v.selected()
	if !ok {
		return nil
	}
	return pane.CopyEntry(c, "stack", config.Options{}, config.Server{Name: p.Name, Transport: config.HTTP, URL: p.URL}, shape)
}
