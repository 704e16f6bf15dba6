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

// Narrowed is a filter with the condition of a range behind it, in place of the range that it had.
func Narrowed(filter, had string, r Range) string {
	if had != "" {
		filter = strings.TrimSpace(strings.Replace(filter, had, "", 1))
	}
	return strings.TrimSpace(filter + " " + string(r))
}

// narrow lists what lies in a range.
func (v *JournalList) narrow(c *tui.Ctx, r Range) tea.Cmd {
	text := Narrowed(v.Feed.typed, v.ranged, r)
	v.ranged = string(r)
	return v.Filter(c, text)
}
