package servers

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *servers) copyShapes(*tui.Ctx) []string { return config.DialectNames() }

func (v *servers) copyShape(c *tui.Ctx, shape string) tea.Cmd {
	s := v.selected()
	if s == nil {
		return nil
	}
	where := config.Options{}
	if v.configs != nil {
		where = v.configs.Where
	}
	return pane.CopyEntry(c, "servers", where, s.Config(), shape)
}
