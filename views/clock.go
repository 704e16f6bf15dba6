package views

import (
	"time"

	"github.com/mcphud/mcphud/tui"
)

// tick changes ten times a second: a key for panes that show something moving.
// The shell redraws at that pace only while there is something to wait for.
func tick() int64 { return time.Now().UnixMilli() / 100 }

// spin is the picture of something that is under way.
func spin() string { return tui.Spinner(time.Duration(time.Now().UnixNano())) }
