package pane

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
)

// Filtered is Navigate's argument for a [JournalList] that is to list what passes a filter.
type Filtered string

// Range is a message for all screens: a condition that narrows what they list to a part of the time, "" for all of it.
type Range string

// narrow puts the condition of a range behind the filter, in place of the one before.
func (v *JournalList) narrow(c *tui.Ctx, r Range) tea.Cmd {
	text := v.Feed.typed
	if v.ranged != "" {
		text = strings.TrimSpace(strings.Replace(text, v.ranged, "", 1))
	}
	v.ranged = string(r)
	return v.Filter(c, strings.TrimSpace(text+" "+v.ranged))
}
