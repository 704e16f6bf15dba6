package pane

import (
	"time"

	"github.com/mcphud/mcphud/tui"
)

// Tick changes ten times a second: a key for panes that show something moving.
// The shell redraws at that pace only while there is something to wait for.
func Tick() int64 { return time.Now().UnixMilli() / 100 }

// spinner is the picture of something that is under way.
func spinner() string { return tui.Spinner(time.Duration(time.Now().UnixNano())) }
